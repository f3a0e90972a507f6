"""Takes in memories that this version did not write: another service's, or an older analysis's."""

from __future__ import annotations

import logging

from automem.errors import GraphUnavailable
from automem.stores.base import GraphStore
from automem.workers.thread import WorkerThread

_log = logging.getLogger(__name__)

_PAGE = 200
_RETRY_SECONDS = 5.0


class AdoptionWorker(WorkerThread):
    """Derives what searches need of such memories, page by page after the start, then ends.

    Until it has come to a memory, that is read and listed but not found by words or tags.
    """

    def __init__(self, graph: GraphStore) -> None:
        super().__init__("adoption")
        self._graph = graph
        self._done = 0

    def _run_once(self) -> float:
        try:
            taken = self._graph.adopt(_PAGE)
        except GraphUnavailable:
            self._rest(_RETRY_SECONDS)
            return 0.0
        self._done += taken
        if taken == 0:
            if self._done:
                _log.info("older memories were taken in", extra={"count": self._done})
            self._stopping.set()
        return 0.0
