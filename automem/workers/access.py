"""Records when memories were last read, in the background (D18, storage.md 5)."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from threading import Lock

from automem.errors import Unavailable
from automem.stores.base import GraphStore
from automem.utils.clock import Clock
from automem.workers.thread import WorkerThread

_log = logging.getLogger("automem.access")

_MOST_WAITING = 20_000
"""With the graph away, further accesses are dropped: they are statistics, not the client's data."""
_PAGE = 1_000


class AccessRecorder(WorkerThread):
    """Collects ids and writes each at most once per ``interval`` seconds, all in one query."""

    def __init__(self, graph: GraphStore, clock: Clock, interval: float = 0.5) -> None:
        super().__init__("access")
        self._graph = graph
        self._clock = clock
        self._interval = interval
        self._lock = Lock()
        self._waiting: dict[str, str] = {}

    def record(self, memory_ids: Iterable[str]) -> None:
        """Note that these memories were just read. Never blocks on a store and never fails."""
        now = self._clock.now().isoformat()
        with self._lock:
            for memory_id in memory_ids:
                if memory_id in self._waiting or len(self._waiting) < _MOST_WAITING:
                    self._waiting[memory_id] = now
        self.notify()

    def stop(self, timeout: float | None = None) -> None:
        """Write what is waiting, then end."""
        super().stop(timeout)
        self._flush()

    def _run_once(self) -> float:
        if not self._flush():
            return 3600.0
        # Collect for a while, so that many reads of the same memories are one write.
        self._rest(self._interval)
        return 0.0

    def _flush(self) -> bool:
        """Write what is waiting; say whether there was anything. A failure is retried later."""
        with self._lock:
            taken, self._waiting = self._waiting, {}
        memory_ids = list(taken)
        try:
            for start in range(0, len(memory_ids), _PAGE):
                page = memory_ids[start : start + _PAGE]
                self._graph.touch(page, max(taken[memory_id] for memory_id in page))
        except Unavailable as error:
            _log.warning("last_accessed could not be recorded: %s", error)
            with self._lock:
                self._waiting = {**taken, **self._waiting}
        return bool(taken)
