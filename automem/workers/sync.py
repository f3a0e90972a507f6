"""Bringing the vector store in step with the graph: on demand, and every so often (background.md 7)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from automem.errors import Conflict, Unavailable
from automem.stores.base import GraphStore, VectorStore
from automem.workers.drift import Comparison, Drift
from automem.workers.embedding import EmbeddingWorker
from automem.workers.exclusive import ExclusiveRuns, Lease
from automem.workers.reembed import Outcome, Reembedder, batches
from automem.workers.thread import WorkerThread

_log = logging.getLogger("automem.sync")

RUN = "repair"
"""The run that repairs of all kinds share: one at a time on one store."""
BUSY = "Another sync or re-embedding is running; try again when it has ended"

_PAGE = 200
_MANY = 100


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What was found and, unless it was a dry run, done. Counts leave the excluded types out."""

    drift: Drift
    memories: int
    points: int
    outcome: Outcome = Outcome()
    refreshed: int = 0
    removed: int = 0


class StoreSync:
    """Compares and repairs. One run at a time across processes."""

    def __init__(
        self,
        graph: GraphStore,
        vectors: VectorStore,
        embedder: EmbeddingWorker,
        runs: ExclusiveRuns,
        excluded_types: Sequence[str],
    ) -> None:
        self._graph = graph
        self._vectors = vectors
        self._embedder = embedder
        self.runs = runs
        self._excluded = tuple(excluded_types)

    def examine(self) -> SyncReport:
        """Look only."""
        return self._report(self._drift(None))

    def repair(self, reembedder: Reembedder, batch_size: int, force: bool) -> SyncReport:
        """Repair now, and wait for it. What cannot be embedded stays owed.

        :param force: remove orphans even when they are suspiciously many.
        :raises Conflict: while another run is on.
        """
        with self.runs.run(RUN, BUSY) as lease:
            drift = self._drift(lease)
            outcome = reembedder.run(drift.unembedded, batch_size, lease)
            self._owe(outcome.failed, "vector")
            refreshed = sum(
                len(self._embedder.writer.refresh(page)) for page in batches(drift.stale_payloads, _PAGE)
            )
            removed = self._remove_orphans(drift, force)
            found = self._report(drift)
        return SyncReport(drift, found.memories, found.points, outcome, refreshed, removed)

    def repair_later(self) -> SyncReport:
        """Record in the graph what is owed, for the worker; remove orphans. A dead process loses nothing.

        :raises Conflict: while another run is on.
        """
        with self.runs.run(RUN, BUSY) as lease:
            drift = self._drift(lease)
            self._owe([name for name in drift.unembedded if name not in drift.owed], "vector")
            self._owe(drift.stale_payloads, "payload")
            removed = self._remove_orphans(drift, force=False)
            found = self._report(drift)
        return SyncReport(drift, found.memories, found.points, removed=removed)

    def _drift(self, lease: Lease | None) -> Drift:
        comparison = Comparison(self._graph, self._vectors, self._excluded)
        pages = []
        for page in chain(comparison.memories(), comparison.points()):
            pages.append(page)
            if lease is not None:
                lease.check()
        return Drift.of(pages)

    def _owe(self, memory_ids: Sequence[str], debt: Literal["vector", "payload"]) -> None:
        for page in batches(memory_ids, _PAGE):
            self._graph.owe(page, debt)
        if memory_ids:
            self._embedder.notify()

    def _remove_orphans(self, drift: Drift, force: bool) -> int:
        orphaned = drift.orphaned
        if not force and too_many_orphans(len(orphaned), self._vectors.count(())):
            _log.error(
                "so many vectors have no memory that the graph may have lost some; the vectors are kept",
                extra={"orphaned": len(orphaned)},
            )
            return 0
        for page in batches(orphaned, _PAGE):
            # The writer looks again: a memory stored under such an id meanwhile gets its vector anew.
            self._embedder.writer.remove(page)
        return len(orphaned)

    def _report(self, drift: Drift) -> SyncReport:
        return SyncReport(drift, self._graph.count(self._excluded), self._vectors.count(self._excluded))


def too_many_orphans(orphaned: int, points: int) -> bool:
    """Say whether orphans are rather the rest of a graph that is lost than left-overs: more than 100,
    and more than half of the points. They hold the texts of their memories."""
    return orphaned > _MANY and 2 * orphaned > points


class SyncWorker(WorkerThread):
    """Repairs every ``interval`` seconds, the first time one interval after the start."""

    def __init__(self, sync: StoreSync, interval: float, retry: float = 60.0) -> None:
        super().__init__("sync")
        self._sync = sync
        self._interval = max(1.0, interval)
        self._retry = min(retry, self._interval)

    def _loop(self) -> None:
        self._rest(self._interval)
        super()._loop()

    def _run_once(self) -> float:
        try:
            report = self._sync.repair_later()
        except Conflict:
            pause = self._interval  # another process does it
        except Unavailable as error:
            _log.warning("the stores could not be compared: %s", error)
            pause = self._retry
        except Exception:  # a fault of ours must not end all later repairs
            _log.exception("the comparison of the stores failed")
            pause = self._interval
        else:
            _tell(report)
            pause = self._interval
        self._rest(pause)
        return 0.0


def _tell(report: SyncReport) -> None:
    drift = report.drift
    found = {
        "missing": len(drift.missing),
        "stale": len(drift.stale_texts) + len(drift.stale_payloads),
        "orphaned": len(drift.orphaned),
    }
    if any(found.values()):
        _log.info("the stores were not in step", extra={**found, "orphaned_removed": report.removed})
