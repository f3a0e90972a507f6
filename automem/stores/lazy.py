"""A vector store on a server that may be away, also at the start: opened when it is first needed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from threading import Lock

from automem.errors import StartupError, VectorsUnavailable
from automem.models import Memory, Scope
from automem.stores.base import Hit, VectorPoint, VectorStore
from automem.stores.open_vectors import QdrantServer, open_server
from automem.stores.payload import PointMark
from automem.stores.vector_values import check_dimension

_log = logging.getLogger(__name__)


class LazyServerVectors:
    """A ``VectorStore``: until the server answers, every method raises ``VectorsUnavailable``.

    One caller at a time tries to open it; the others are told at once that it is away.
    """

    def __init__(self, server: QdrantServer, dimension: int) -> None:
        self._server = server
        self._dimension = dimension
        self._opened: VectorStore | None = None
        self._opening = Lock()
        self._closed = False

    @property
    def dimension(self) -> int:
        return self._dimension

    def ping(self) -> None:
        self._store().ping()

    def close(self) -> None:
        self._closed = True
        if self._opened is not None:
            self._opened.close()

    def upsert(self, points: Sequence[VectorPoint]) -> None:
        self._store().upsert(points)

    def update_payload(self, memory: Memory) -> None:
        self._store().update_payload(memory)

    def delete(self, memory_ids: Sequence[str]) -> None:
        self._store().delete(memory_ids)

    def search(self, vector: Sequence[float], scope: Scope, limit: int) -> list[Hit]:
        return self._store().search(vector, scope, limit)

    def scroll(self, scope: Scope, limit: int) -> list[Memory]:
        return self._store().scroll(scope, limit)

    def similarities(self, vector: Sequence[float], memory_ids: Sequence[str]) -> dict[str, float]:
        return self._store().similarities(vector, memory_ids)

    def vectors(self, memory_ids: Sequence[str]) -> dict[str, Sequence[float]]:
        return self._store().vectors(memory_ids)

    def marks(self, memory_ids: Sequence[str]) -> dict[str, PointMark]:
        return self._store().marks(memory_ids)

    def count(self, excluded_types: Sequence[str]) -> int:
        return self._store().count(excluded_types)

    def ids(self, after: str, limit: int) -> Iterable[str]:
        return self._store().ids(after, limit)

    def open(self) -> None:
        """Open it now. Raises ``VectorsUnavailable`` when the server is away, else ``StartupError``."""
        with self._opening:
            if self._opened is None:
                store = open_server(self._server, self._dimension)
                check_dimension(store.dimension, self._dimension)
                self._opened = store

    def _store(self) -> VectorStore:
        if self._opened is not None:
            return self._opened
        if self._closed or self._opening.locked():
            raise VectorsUnavailable("Qdrant is not available")
        try:
            self.open()
        except StartupError as error:
            # Past the start there is nobody to refuse it to: the arm stays away, and the log says why.
            _log.error("the vector store cannot be used", extra={"reason": error.message})
            raise VectorsUnavailable(error.message) from error
        return self._store()
