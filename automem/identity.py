"""What the data was made with (D30): recorded in the graph, compared at every start."""

from __future__ import annotations

import logging
import os
import signal

from automem.errors import GraphUnavailable, StartupError
from automem.stores.base import GraphStore, StoreIdentity
from automem.workers.thread import WorkerThread

_log = logging.getLogger(__name__)


class IdentityKeeper(WorkerThread):
    """Settles the identity at the start, or as soon as a graph server that was away then answers."""

    def __init__(self, graph: GraphStore, wanted: StoreIdentity, interval: float = 2.0) -> None:
        super().__init__("identity")
        self._graph = graph
        self._wanted = wanted
        self._interval = interval

    def settle(self) -> None:
        """Settle it now, or begin to wait for the graph. Raises ``StartupError`` on a difference."""
        try:
            settle_identity(self._graph, self._wanted)
        except GraphUnavailable as error:
            _log.warning("FalkorDB does not answer yet", extra={"reason": error.message})
            self.start()

    def _run_once(self) -> float:
        try:
            settle_identity(self._graph, self._wanted)
        except GraphUnavailable:
            return self._interval
        except StartupError as error:
            _log.critical(error.message)
            # Too late to refuse the start: end in good order, before vectors of two models mix.
            os.kill(os.getpid(), signal.SIGTERM)
        self._stopping.set()
        return 0.0


def settle_identity(graph: GraphStore, wanted: StoreIdentity) -> None:
    """Record the identity of new data; refuse data that another embedding model made.

    Raises ``StartupError`` on a difference, ``GraphUnavailable`` when the graph does not answer.
    """
    found = graph.identity()
    if found is None:
        graph.record_identity(wanted)
    else:
        compare_identity(found, wanted)


def compare_identity(found: StoreIdentity, wanted: StoreIdentity) -> None:
    """Raise ``StartupError`` when another model made the data; another analysis is only logged."""
    if (found.embedding_model, found.dimension) != (wanted.embedding_model, wanted.dimension):
        raise StartupError(_difference(found, wanted))
    if found.analysis != wanted.analysis:
        _log.warning(
            "older memories were analysed by another version and are found by its words until re-indexed",
            extra={"recorded": found.analysis, "current": wanted.analysis},
        )


def _difference(found: StoreIdentity, wanted: StoreIdentity) -> str:
    return (
        f"The memories here were embedded with {found.embedding_model} ({found.dimension} values a vector), "
        f"the settings now choose {wanted.embedding_model} ({wanted.dimension}). Vectors of two models "
        "cannot be compared. Restore the settings of that model (EMBEDDING_PROVIDER, EMBEDDING_MODEL, "
        "VOYAGE_MODEL, OLLAMA_MODEL, AUTOMEM_LOCAL_MODEL, VECTOR_SIZE); or, to re-embed all memories with the "
        "new one, run `automem reembed` with these settings."
    )
