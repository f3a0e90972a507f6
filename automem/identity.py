"""What the data was made with (D30): recorded in the graph, compared at every start."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from automem.errors import GraphUnavailable, StartupError
from automem.stores.base import GraphStore, StoreIdentity
from automem.workers.thread import WorkerThread

_log = logging.getLogger(__name__)


class IdentityKeeper(WorkerThread):
    """Settles the identity at the start, or as soon as a graph server that was away then answers.

    With ``watch`` it goes on looking: another process on the same graph may change the model.
    """

    def __init__(
        self, graph: GraphStore, wanted: StoreIdentity, watch: bool = False, interval: float = 2.0
    ) -> None:
        super().__init__("identity")
        self._graph = graph
        self._wanted = wanted
        self._watch = watch
        self._interval = interval
        self._looking = Lock()
        self._settled = False

    def settle(self) -> None:
        """Settle it now, or begin to wait for the graph. Raises ``StartupError`` on a difference."""
        try:
            self._look()
        except GraphUnavailable as error:
            _log.warning("FalkorDB does not answer yet", extra={"reason": error.message})
            self.start()
            return
        if self._watch:
            self.start()

    @contextmanager
    def changing(self, wanted: StoreIdentity) -> Iterator[None]:
        """Look at nothing while this process changes the model in the block, then for the new one."""
        with self._looking:
            yield
            self._wanted = wanted

    def _look(self) -> None:
        if not self._settled:
            settle_identity(self._graph, self._wanted)
            self._settled = True
        elif (found := self._graph.identity()) is not None:
            compare_model(found, self._wanted)

    def _run_once(self) -> float:
        try:
            with self._looking:
                self._look()
        except GraphUnavailable:
            return self._interval
        except StartupError as error:
            _log.critical(error.message)
            # Too late to refuse the start: end in good order, before vectors of two models mix.
            os.kill(os.getpid(), signal.SIGTERM)
        else:
            if self._watch:
                return self._interval
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
    compare_model(found, wanted)
    if found.analysis != wanted.analysis:
        _log.warning(
            "older memories were analysed by another version and are found by its words until re-indexed",
            extra={"recorded": found.analysis, "current": wanted.analysis},
        )


def compare_model(found: StoreIdentity, wanted: StoreIdentity) -> None:
    """Raise ``StartupError`` when another model made the data."""
    if (found.embedding_model, found.dimension) != (wanted.embedding_model, wanted.dimension):
        raise StartupError(_difference(found, wanted))


def _difference(found: StoreIdentity, wanted: StoreIdentity) -> str:
    return (
        f"The memories here were embedded with {found.embedding_model} ({found.dimension} values a vector), "
        f"the settings now choose {wanted.embedding_model} ({wanted.dimension}). Vectors of two models "
        "cannot be compared. Restore the settings of that model (EMBEDDING_PROVIDER, EMBEDDING_MODEL, "
        "VOYAGE_MODEL, OLLAMA_MODEL, AUTOMEM_LOCAL_MODEL, VECTOR_SIZE); or, to re-embed all memories with "
        "the new one, run `automem reembed` with these settings."
    )
