"""A vector store and a provider that can be exchanged while they are used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from automem.embedding.base import ClosingProvider, Vectors
from automem.models import Memory, Scope
from automem.stores.base import Hit, VectorPoint, VectorStore
from automem.stores.payload import PointMark


class SwitchableVectors:
    """``VectorStore``: every call goes to the store that serves now."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store

    def switch(self, successor: VectorStore) -> VectorStore:
        """Let another one serve; gives the former, still open."""
        former, self._store = self._store, successor
        return former

    @property
    def dimension(self) -> int:
        return self._store.dimension

    def ping(self) -> None:
        self._store.ping()

    def close(self) -> None:
        self._store.close()

    def upsert(self, points: Sequence[VectorPoint]) -> None:
        self._store.upsert(points)

    def update_payload(self, memory: Memory) -> None:
        self._store.update_payload(memory)

    def delete(self, memory_ids: Sequence[str]) -> None:
        self._store.delete(memory_ids)

    def search(self, vector: Sequence[float], scope: Scope, limit: int) -> list[Hit]:
        return self._store.search(vector, scope, limit)

    def scroll(self, scope: Scope, limit: int) -> list[Memory]:
        return self._store.scroll(scope, limit)

    def similarities(self, vector: Sequence[float], memory_ids: Sequence[str]) -> dict[str, float]:
        return self._store.similarities(vector, memory_ids)

    def vectors(self, memory_ids: Sequence[str]) -> dict[str, Sequence[float]]:
        return self._store.vectors(memory_ids)

    def marks(self, memory_ids: Sequence[str]) -> dict[str, PointMark]:
        return self._store.marks(memory_ids)

    def count(self, excluded_types: Sequence[str]) -> int:
        return self._store.count(excluded_types)

    def ids(self, after: str, limit: int) -> Iterable[str]:
        return self._store.ids(after, limit)


class SwitchableProvider:
    """``ClosingProvider``: every call goes to the one in use now."""

    def __init__(self, provider: ClosingProvider) -> None:
        self._provider = provider

    def switch(self, successor: ClosingProvider) -> ClosingProvider:
        """Use another one; gives the former, still open."""
        former, self._provider = self._provider, successor
        return former

    @property
    def name(self) -> str:
        return self._provider.name

    @property
    def dimension(self) -> int:
        return self._provider.dimension

    def embed_query(self, text: str) -> Vectors:
        return self._provider.embed_query(text)

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        return self._provider.embed_batch(texts)

    def close(self) -> None:
        self._provider.close()
