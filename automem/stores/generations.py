"""Vector stores of one service side by side: the one that serves, and its successor while it is filled.

A change of the model fills a new generation, then names it in the graph (``StoreIdentity``): that is the
switch. The first generation has the name ''; the others are named after their model.
"""

from __future__ import annotations

import logging
import shutil
from dataclasses import replace
from hashlib import blake2b
from typing import Protocol

from automem.errors import VectorsUnavailable
from automem.stores.base import VectorStore
from automem.stores.data_directory import DataDirectory
from automem.stores.lazy import LazyServerVectors
from automem.stores.open_vectors import QdrantServer, open_embedded, replace_collection

_log = logging.getLogger(__name__)

_DIRECTORY = "qdrant"


class VectorGenerations(Protocol):
    """Opens and removes generations."""

    def open(self, name: str | None, dimension: int) -> VectorStore:
        """Open a generation, made when missing; None stands for the one that there is.

        :raises StartupError: when it cannot be used.
        """
        ...

    def retire(self, name: str, successor: str) -> None:
        """Remove a generation that serves no more. Others who read by the collection's name find the
        successor under it.

        :raises VectorsUnavailable: when the server is away; to be tried again.
        """
        ...


def generation_name(model: str, dimension: int) -> str:
    """Name the generation of a model; an interrupted change finds what it has made again by it."""
    return blake2b(f"{model}\n{dimension}".encode(), digest_size=5).hexdigest()


class EmbeddedGenerations:
    """Generations as directories of the data directory: ``qdrant``, ``qdrant-<name>``."""

    def __init__(self, data: DataDirectory) -> None:
        self._data = data

    def open(self, name: str | None, dimension: int) -> VectorStore:
        found = self._only() if name is None else name
        return open_embedded(self._data.subdirectory(_directory(found)), dimension)

    def retire(self, name: str, successor: str) -> None:
        kept = _directory(successor)
        for path in self._data.path.glob(f"{_DIRECTORY}*"):
            if path.name != kept and (path.name == _DIRECTORY or path.name.startswith(f"{_DIRECTORY}-")):
                shutil.rmtree(path, ignore_errors=True)

    def _only(self) -> str:
        """Give the generation that there is, where the graph cannot tell; in doubt the first."""
        if (self._data.path / _DIRECTORY).exists():
            return ""
        others = [path.name for path in self._data.path.glob(f"{_DIRECTORY}-*") if path.is_dir()]
        return others[0].removeprefix(f"{_DIRECTORY}-") if len(others) == 1 else ""


class ServerGenerations:
    """Generations as collections of a server: ``<collection>``, ``<collection>-<name>``.

    Once the first is gone its name is an alias of the one that serves, for others who read it.
    """

    def __init__(self, server: QdrantServer) -> None:
        self._server = server

    def open(self, name: str | None, dimension: int) -> VectorStore:
        lazy = LazyServerVectors(replace(self._server, collection=self._collection(name or "")), dimension)
        try:
            lazy.open()
        except VectorsUnavailable as error:
            _log.warning("Qdrant does not answer yet; memories wait for it", extra={"reason": error.message})
        return lazy

    def retire(self, name: str, successor: str) -> None:
        replace_collection(self._server, self._collection(name), self._collection(successor))

    def _collection(self, name: str) -> str:
        return f"{self._server.collection}-{name}" if name else self._server.collection


def _directory(name: str) -> str:
    return f"{_DIRECTORY}-{name}" if name else _DIRECTORY
