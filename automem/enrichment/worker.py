"""The enrichment worker: does what memories wait for in the graph (D22, D37, background.md 1.2).

A memory is enriched when its vector is stored; while no vectors can be made, all but what needs one is done
ahead. Work is claimed, so that several processes share it, and a dead one's claims run out.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import timedelta
from threading import Event

from automem.enrichment.board import Desk, EnrichmentBoard, EnrichmentStats
from automem.enrichment.enricher import Enricher
from automem.enrichment.result import Findings
from automem.errors import Unavailable
from automem.models import Memory
from automem.stores.enrichment import Claim, Enriched
from automem.utils.backoff import backoff
from automem.workers.embedding import EmbeddingWorker
from automem.workers.thread import WorkerThread

_log = logging.getLogger("automem.enrichment")

_LONGEST_WAIT = 1024
"""Times the first wait after a failure."""
_RACES = 20
"""So often a result is fitted to a memory that clients change at the same time."""


@dataclass(frozen=True, slots=True)
class EnrichmentPace:
    """How the worker works; times in seconds.

    :param attempts: tries before a memory is given up (ENRICHMENT_MAX_ATTEMPTS).
    :param backoff: wait after a first failure; it doubles with each further one.
    :param idle: how often it looks for memories that have become due, when nobody rings.
    :param lease: how long a claim holds; long enough for a batch, short enough to wait for a dead process.
    :param outage: wait while a store is down.
    """

    attempts: int = 3
    backoff: float = 5.0
    idle: float = 2.0
    batch: int = 25
    lease: float = 120.0
    outage: float = 2.0


class EnrichmentWorker(WorkerThread):
    """Enriches in batches; a memory that makes its batch fail is tried alone, later again, and given up."""

    def __init__(
        self,
        enricher: Enricher,
        embedder: EmbeddingWorker,
        board: EnrichmentBoard,
        desk: Desk,
        pace: EnrichmentPace,
        bell: Event | None = None,
    ) -> None:
        """:param bell: rung by others when there may be work."""
        super().__init__("enrichment", bell)
        self._desk = desk
        self._graph = enricher.stores.graph
        self._enricher = enricher
        self._embedder = embedder
        self._board = board
        self._pace = pace

    @property
    def stats(self) -> EnrichmentStats:
        """Counters since the start."""
        return self._board.stats

    @property
    def attempts(self) -> int:
        """Tries before a memory is given up."""
        return self._pace.attempts

    def _run_once(self) -> float:
        try:
            claims = self._claim()
        except Unavailable as error:
            return self._sit_out(error)
        if not claims:
            return self._pace.idle
        for claim in claims:
            self._board.started(claim)
        try:
            self._enrich(claims)
        except Unavailable as error:
            self._give_back(claims)
            return self._sit_out(error)
        self._embedder.notify()
        return 0.0

    def _claim(self) -> list[Claim]:
        lease = self._desk.lease(self._pace.lease)
        return self._graph.claim_enrichment(lease, self._pace.batch, ahead=self._embedder.failing)

    def _enrich(self, claims: Sequence[Claim]) -> None:
        try:
            self._finish(claims, self._enricher.examine(claims))
        except Exception as error:  # one odd memory must neither keep the others nor end the thread
            if isinstance(error, Unavailable) and self._is_down():
                raise
            if len(claims) == 1:
                self._failed(claims[0], error)
                return
            _log.info("a batch of %d failed, trying one by one: %r", len(claims), error)
            for claim in claims:
                self._enrich([claim])

    def _finish(self, claims: Sequence[Claim], found: Mapping[str, Findings]) -> None:
        """Write the results; a memory that was changed meanwhile is read again and keeps its changes."""
        waiting = {claim.memory.id: claim for claim in claims}
        memories = {claim.memory.id: claim.memory for claim in claims}
        for _ in range(_RACES):
            results = [
                self._enricher.result(waiting[memory_id], memory, found[memory_id])
                for memory_id, memory in memories.items()
            ]
            done = self._graph.finish_enrichment(self._desk.owner, results)
            self._tell(result for result in results if result.memory.id in done)
            memories = self._changed_meanwhile(waiting, memories.keys() - done)
            if not memories:
                return
        self._graph.release_enrichment(self._desk.owner, list(memories), self._desk.clock.now())

    def _tell(self, written: Iterable[Enriched]) -> None:
        for result in written:
            if result.complete:
                self._board.completed(result.memory.id)
            else:
                self._board.postponed(result.memory.id)

    def _changed_meanwhile(self, claims: Mapping[str, Claim], left: Set[str]) -> dict[str, Memory]:
        """Give the memories that still have the text of their claim; another, or none, is no work of ours."""
        memories = self._graph.get_many(sorted(left)) if left else {}
        same = {
            memory_id: memory
            for memory_id, memory in memories.items()
            if memory.content == claims[memory_id].memory.content
        }
        for memory_id in left - same.keys():
            self._board.completed(memory_id, skipped=True)
        return same

    def _is_down(self) -> bool:
        """Tell an outage from a store that refuses what it was asked."""
        try:
            self._graph.ping()
            self._enricher.stores.vectors.ping()
        except Unavailable:
            return True
        return False

    def _failed(self, claim: Claim, error: Exception) -> None:
        _log.exception("enrichment of memory %s failed", claim.memory.id)
        final = claim.attempt >= self._pace.attempts
        wait = backoff(self._pace.backoff, claim.attempt - 1, self._pace.backoff * _LONGEST_WAIT)
        retry_at = None if final else self._desk.clock.now() + timedelta(seconds=wait)
        reason = f"{type(error).__name__}: {error}"
        self._graph.enrichment_failed(self._desk.owner, claim.memory.id, reason, retry_at)
        self._board.failed(claim, reason, will_retry=not final)

    def _give_back(self, claims: Sequence[Claim]) -> None:
        now = self._desk.clock.now()
        try:
            self._graph.release_enrichment(self._desk.owner, [claim.memory.id for claim in claims], now)
        except Unavailable as error:
            _log.info("claims end with their lease: %s", error)

    def _sit_out(self, error: Unavailable) -> float:
        _log.warning("enrichment waits: %s", error)
        self._rest(self._pace.outage)
        return 0.0
