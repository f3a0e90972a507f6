"""The embedding worker: pays what memories owe the vector store (D22, D23, background.md 1.1).

What is owed stands in the graph, written with the memory itself; so a start after ``kill -9`` finds
it, and nothing waits in a queue that could be lost. The worker starts at once when it is notified:
a batch is what is owed at that moment. It never stores a made-up vector.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event

from automem.embedding.base import EmbeddingRefused, Provider
from automem.errors import Unavailable
from automem.stores.base import GraphStore, PendingVector, VectorStore
from automem.utils.backoff import backoff
from automem.utils.clock import Clock
from automem.utils.time import to_epoch
from automem.workers.reembed import embed_texts
from automem.workers.thread import WorkerThread
from automem.workers.vectors import Embedded, VectorWriter
from automem.workers.watch import EmbeddingStats, Watch, WorkBoard

_log = logging.getLogger("automem.embedding")

_TOMBSTONES = 500
_HARMLESS = "Does it answer?"
_TIDY_EVERY = timedelta(hours=1)
_OUTAGE_AFTER = 3
"""So many failures in a row, none of them a refusal, mean that the provider is down, not one text bad."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How the worker works; times in seconds.

    :param batch_size: memories embedded in one call (EMBEDDING_BATCH_SIZE).
    :param first_retry: wait after a first failure; it doubles with each further one.
    :param longest_retry: the most that one memory waits for its next try.
    :param longest_outage: the most that the worker waits while a store or the provider is down.
    :param idle: how often it looks for memories that have become due.
    :param refusals: tries before a text is given up that the provider refuses while it takes others.
    """

    batch_size: int = 20
    first_retry: float = 1.0
    longest_retry: float = 120.0
    longest_outage: float = 15.0
    idle: float = 5.0
    refusals: int = 5

    def retry(self, attempts: int) -> float:
        """Give the wait of a memory that has failed ``attempts`` times before."""
        return backoff(self.first_retry, attempts, self.longest_retry)

    def outage(self, failures: int) -> float:
        """Give the wait after the worker's ``failures``-th failed round in a row, from 1."""
        return backoff(self.first_retry, failures - 1, self.longest_outage)


class _Outage(Exception):
    """The provider is down as a whole; asking for each memory would only take time."""


class EmbeddingWorker(WorkerThread):
    """Embeds owed memories in batches; oldest first, failed ones later and one by one."""

    def __init__(
        self,
        graph: GraphStore,
        vectors: VectorStore,
        provider: Provider,
        clock: Clock,
        pace: Pace | None = None,
        followers: Event | None = None,
    ) -> None:
        """:param followers: the bell of who waits for vectors."""
        super().__init__("embedding")
        self.writer = VectorWriter(graph, vectors, followers)
        self._graph = graph
        self._vectors = vectors
        self._provider = provider
        self._clock = clock
        self._pace = pace or Pace()
        self._board = WorkBoard()
        self._soonest_retry = self._pace.idle
        self._tidied_at: datetime | None = None

    def stats(self) -> EmbeddingStats:
        """Give the counters since the start, without asking the stores."""
        return self._board.stats()

    @property
    def failing(self) -> bool:
        """Say whether the last try failed: what is stored now will probably have to wait (D23)."""
        stats = self._board.stats()
        return stats.outage_rounds > 0 or stats.failures_in_a_row > 0

    def watch(self, memory_ids: Sequence[str]) -> Watch:
        """Begin to watch memories; to be called before the write that makes them owe, and closed."""
        return self._board.watch(memory_ids)

    def _run_once(self) -> float:
        try:
            worked = self._clear_tombstones() | self._pay_debts()
            self._tidy()
        except (Unavailable, _Outage) as error:
            _log.warning("embedding waits: %s", error)
            return self._sit_out(str(error))
        except Exception as error:  # a fault of ours: the thread must outlive it, or all later vectors fail
            _log.exception("embedding failed unexpectedly")
            return self._sit_out(f"{type(error).__name__}: {error}")
        self._board.recovered()
        return 0.0 if worked else self._pause()

    def _pause(self) -> float:
        """Give the wait of an idle worker: not longer than the shortest that a failed memory was given."""
        pause, self._soonest_retry = min(self._pace.idle, self._soonest_retry), self._pace.idle
        return pause

    def _sit_out(self, error: str) -> float:
        """Wait a little even if there is new work, which may then end the wait for a new try."""
        rounds = self._board.outage(error, self._clock.now())
        self._rest(self._pace.first_retry)
        return self._pace.outage(rounds)

    def _clear_tombstones(self) -> bool:
        deleted = self._graph.tombstones(_TOMBSTONES)
        if deleted:
            self.writer.remove(deleted)
        return bool(deleted)

    def _tidy(self) -> None:
        """Forget expired answers of repeated writes (D25) from time to time."""
        now = self._clock.now()
        if self._tidied_at is None or now - self._tidied_at >= _TIDY_EVERY:
            self._graph.forget_receipts(to_epoch(now))
            self._tidied_at = now

    def _pay_debts(self) -> bool:
        owed = self._graph.pending_vectors(self._pace.batch_size, self._clock.now())
        waiting = self._settle_payloads(owed)
        fresh = [debt for debt in waiting if debt.attempts == 0]
        retried = [debt for debt in waiting if debt.attempts > 0]
        if fresh:
            self._try_together(fresh)
        if retried:
            self._try_singly(retried)
        return bool(owed)

    def _settle_payloads(self, owed: Sequence[PendingVector]) -> list[PendingVector]:
        """Write payloads where only these are owed; give the memories that need a vector."""
        payloads = [debt.memory.id for debt in owed if not debt.memory.vector_pending]
        settled = self.writer.refresh(payloads) if payloads else frozenset()
        self._board.refreshed(settled)
        return [debt for debt in owed if debt.memory.id not in settled]

    def _try_together(self, debts: Sequence[PendingVector]) -> None:
        try:
            self._pay(debts)
        except Unavailable as error:
            if len(debts) == 1:
                self._failed(debts[0], error)
                return
            _log.info("a batch of %d failed, trying one by one: %s", len(debts), error)
            self._try_singly(debts)

    def _try_singly(self, debts: Sequence[PendingVector]) -> None:
        """Try each: a bad one does not keep the others, but many failures in a row are an outage."""
        for debt in debts:
            if self._stopping.is_set():
                return
            try:
                self._pay([debt])
            except Unavailable as error:
                self._failed(debt, error)

    def _pay(self, debts: Sequence[PendingVector]) -> None:
        embedded = {
            debt.memory.id: Embedded(debt.memory.content, debt.vector)
            for debt in debts
            if debt.vector is not None and len(debt.vector) == self._vectors.dimension
        }
        # A client's vector may have been meant for a model that was changed since.
        texts = [debt for debt in debts if debt.memory.id not in embedded]
        if texts:
            embedded |= self._embed(texts)
        self._board.paid(self.writer.put(embedded), embedded=bool(texts))

    def _embed(self, debts: Sequence[PendingVector]) -> dict[str, Embedded]:
        return embed_texts(self._provider, [debt.memory for debt in debts], self.writer.epoch)

    def _failed(self, debt: PendingVector, error: Unavailable) -> None:
        now, wait = self._clock.now(), self._pace.retry(debt.attempts)
        if debt.attempts + 1 >= self._pace.refusals and self._is_text_at_fault(error):
            _log.error("memory %s gets no vector, its text is refused: %s", debt.memory.id, error)
            self._board.failed(debt.memory.id, error, now)
            self._graph.vector_refused(debt.memory.id, error.message)
            return
        _log.warning("memory %s has no vector yet, next try in %g s: %s", debt.memory.id, wait, error)
        in_a_row = self._board.failed(debt.memory.id, error, now)
        self._graph.vector_failed([debt.memory.id], now + timedelta(seconds=wait))
        self._soonest_retry = min(self._soonest_retry, wait)
        if in_a_row >= _OUTAGE_AFTER:
            raise _Outage(str(error))

    def _is_text_at_fault(self, error: Unavailable) -> bool:
        """Tell a text that is refused from a provider that refuses everything."""
        if not isinstance(error, EmbeddingRefused):
            return False
        try:
            self._provider.embed_query(_HARMLESS)
        except Unavailable:
            return False
        return True
