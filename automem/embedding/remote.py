"""What all remote providers share: cutting, packing into requests, checking, pooling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

import numpy as np

from automem.embedding.base import Vectors
from automem.embedding.pieces import clean, cut_text, pool_texts, unit_rows
from automem.errors import EmbeddingUnavailable

_BLANK = "."  # providers refuse a text of blanks only


@dataclass(frozen=True)
class Patience:
    """How long one request may take: ``timeout_seconds`` a try, ``retries`` further tries."""

    timeout_seconds: float = 30.0
    retries: int = 2


@dataclass(frozen=True)
class RemoteConfig:
    """Limits of a provider.

    :param dimension: length of its vectors; None: learnt from the first answer.
    :param piece_bytes: longer texts are embedded in pieces. No model makes more tokens than bytes.
    :param request_items: pieces in one request at most.
    :param request_bytes: bytes in one request at most, unless one piece alone is longer.
    :param query: patience while somebody waits for a recall.
    :param batch: patience of the background work.
    """

    dimension: int | None
    piece_bytes: int
    request_items: int
    request_bytes: int
    query: Patience
    batch: Patience


class EmbeddingApi(Protocol):
    """One provider's HTTP interface."""

    @property
    def name(self) -> str:
        """As ``Provider.name``."""
        ...

    def fetch(self, texts: Sequence[str], patience: Patience) -> Vectors:
        """Embed in one request; one row a text, in order, of any scale.

        Raises ``EmbeddingUnavailable``, or its ``EmbeddingRefused`` for what will never work.
        """
        ...

    def close(self) -> None:
        """Release the connections."""
        ...


class RemoteProvider:
    """A ``Provider`` on an ``EmbeddingApi``."""

    def __init__(self, api: EmbeddingApi, config: RemoteConfig) -> None:
        self._api = api
        self._config = config
        self._lock = Lock()
        self._dimension = config.dimension

    @property
    def name(self) -> str:
        return self._api.name

    @property
    def dimension(self) -> int:
        if self._dimension is None:
            return len(self._checked(self._api.fetch(["dimension"], self._config.query))[0])
        return self._dimension

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._embed([text], self._config.query)[0]
        return vector

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return self._embed(texts, self._config.batch)

    def close(self) -> None:
        self._api.close()

    def _embed(self, texts: Sequence[str], patience: Patience) -> Vectors:
        cut = [cut_text(clean(text) if text.strip() else _BLANK, self._config.piece_bytes) for text in texts]
        pieces = [piece for of_text in cut for piece in of_text]
        answers = [
            self._checked(self._api.fetch(request, patience)) for request in pack(pieces, self._config)
        ]
        owners = [owner for owner, of_text in enumerate(cut) for _ in of_text]
        return pool_texts(np.concatenate(answers), owners, [len(piece) for piece in pieces])

    def _checked(self, vectors: Vectors) -> Vectors:
        given = vectors.shape[1]
        with self._lock:
            if self._dimension is None and given:
                self._dimension = given
            wanted = self._dimension
        if given != wanted:
            raise EmbeddingUnavailable(
                f"{self.name} gave vectors of {given} numbers instead of {wanted}; "
                "VECTOR_SIZE has to be what it gives"
            )
        return unit_rows(vectors)


def pack(pieces: Sequence[str], config: RemoteConfig) -> Iterator[list[str]]:
    """Divide pieces among requests, in order, within the limits of ``config``."""
    request: list[str] = []
    size = 0
    for piece in pieces:
        length = len(piece.encode("utf-8"))
        if request and (len(request) == config.request_items or size + length > config.request_bytes):
            yield request
            request, size = [], 0
        request.append(piece)
        size += length
    if request:
        yield request


def read_rows(rows: object, count: int, name: str) -> Vectors:
    """Read ``count`` equally long vectors from a JSON value; raises ``EmbeddingUnavailable``."""
    try:
        vectors = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError):
        vectors = np.empty(0, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != count:
        raise EmbeddingUnavailable(f"{name} gave an answer that is not {count} equally long vectors")
    return vectors


def read_data(answer: object, count: int, name: str) -> Vectors:
    """Read ``{"data": [{"index", "embedding"}…]}`` (OpenAI, Voyage), put in the order of ``index``."""
    data = answer.get("data") if isinstance(answer, dict) else None
    rows = [row for row in data if isinstance(row, dict)] if isinstance(data, list) else []
    order = [row.get("index", position) for position, row in enumerate(rows)]
    if sorted(order, key=str) != sorted(range(count), key=str):
        raise EmbeddingUnavailable(f"{name} gave an answer that is not {count} vectors")
    by_index = dict(zip(order, rows, strict=True))
    return read_rows([by_index[index].get("embedding") for index in range(count)], count, name)
