"""What the chat model improves in the background: types that nobody chose, summaries of long memories.

Optional in every way: a model that is slow, wrong or away delays nothing, and what the rules made stays.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from automem.enrichment.board import Desk
from automem.enrichment.summary import ChatSummaries
from automem.errors import Unavailable
from automem.memory.classification import Classifier
from automem.stores.base import GraphStore
from automem.stores.enrichment import ChatClaim
from automem.utils.backoff import backoff
from automem.workers.embedding import EmbeddingWorker
from automem.workers.thread import WorkerThread

_log = logging.getLogger("automem.enrichment")


@dataclass(frozen=True, slots=True)
class ChatPace:
    """How the worker works; times in seconds. A memory is given up after ``attempts`` tries.

    :param backoff: wait after a first failure; it doubles with each further one, up to ``longest``.
    :param goodbye: the most that a stop waits for the model.
    """

    attempts: int = 8
    backoff: float = 30.0
    longest: float = 3600.0
    batch: int = 4
    lease: float = 180.0
    idle: float = 2.0
    outage: float = 2.0
    goodbye: float = 3.0


class ChatWorker(WorkerThread):
    """Asks the chat model about one memory after another."""

    def __init__(
        self,
        graph: GraphStore,
        classifier: Classifier,
        summaries: ChatSummaries,
        embedder: EmbeddingWorker,
        desk: Desk,
        pace: ChatPace | None = None,
    ) -> None:
        super().__init__("chat")
        self._graph = graph
        self._classifier = classifier
        self._summaries = summaries
        self._embedder = embedder
        self._desk = desk
        self._pace = pace or ChatPace()

    def stop(self, timeout: float | None = None) -> None:
        """End, without waiting long for the model: what it is asked for is asked again after a start."""
        super().stop(self._pace.goodbye if timeout is None else timeout)

    def _run_once(self) -> float:
        try:
            claims = self._claim()
            for claim in claims:
                if not self._stopping.is_set():
                    self._improve(claim)
        except Unavailable as error:
            _log.warning("the chat model's work waits: %s", error)
            self._rest(self._pace.outage)
            return 0.0
        except Exception:  # a fault of ours: the thread must outlive it; the claims end with their lease
            _log.exception("improving a memory failed unexpectedly")
            return self._pace.outage
        if claims:
            self._embedder.notify()
        return 0.0 if claims else self._pace.idle

    def _claim(self) -> list[ChatClaim]:
        return self._graph.claim_chat(self._desk.lease(self._pace.lease), self._pace.batch)

    def _improve(self, claim: ChatClaim) -> None:
        found, complete = self._ask(claim)
        final = claim.attempt >= self._pace.attempts
        if complete or (final and found):
            if not self._graph.finish_chat(self._desk.owner, claim.memory, found):
                # It was changed meanwhile: look at it again as it is now.
                self._graph.chat_failed(self._desk.owner, claim.memory.id, self._desk.clock.now())
            return
        wait = backoff(self._pace.backoff, claim.attempt - 1, self._pace.longest)
        retry_at = None if final else self._desk.clock.now() + timedelta(seconds=wait)
        self._graph.chat_failed(self._desk.owner, claim.memory.id, retry_at)

    def _ask(self, claim: ChatClaim) -> tuple[Mapping[str, Any], bool]:
        """Give what the model said, and whether it answered everything."""
        found: dict[str, Any] = {}
        complete = True
        if claim.provisional:
            kind = self._classifier.upgrade(claim.memory.content)
            complete = kind is not None
            found |= {} if kind is None else {"type": kind.type, "confidence": kind.confidence}
        if self._summaries.wanted(claim.memory.content):
            summary = self._summaries.write(claim.memory.content)
            complete = complete and summary is not None
            found |= {} if summary is None else {"summary": summary}
        return found, complete
