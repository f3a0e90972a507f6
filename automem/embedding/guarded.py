"""A provider behind a circuit breaker, so that a dead one does not cost each recall its time limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from automem.embedding.base import ClosingProvider, EmbeddingRefused, Vectors
from automem.embedding.breaker import CircuitBreaker
from automem.errors import EmbeddingUnavailable


class GuardedProvider:
    """Raises ``EmbeddingUnavailable`` at once while the breaker is open."""

    def __init__(self, inner: ClosingProvider, breaker: CircuitBreaker) -> None:
        self._inner = inner
        self._breaker = breaker
        self._dimension: int | None = None

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dimension(self) -> int:
        if self._dimension is None:
            with self._attempt():
                self._dimension = self._inner.dimension
        return self._dimension

    def embed_query(self, text: str) -> Vectors:
        with self._attempt():
            return self._inner.embed_query(text)

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        with self._attempt():
            return self._inner.embed_batch(texts)

    def close(self) -> None:
        self._inner.close()

    @contextmanager
    def _attempt(self) -> Iterator[None]:
        if not self._breaker.admits():
            raise EmbeddingUnavailable(f"{self.name} failed several times in a row and is tried again later")
        try:
            yield
        except EmbeddingRefused:
            self._breaker.succeeded()
            raise
        except BaseException:  # whatever it was: the trial has to end
            self._breaker.failed()
            raise
        self._breaker.succeeded()
