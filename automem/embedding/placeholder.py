"""Vectors without meaning, for tests and trials; used only when named explicitly (D23)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import sha256

import numpy as np

from automem.embedding.base import Vectors
from automem.embedding.pieces import unit_rows

DEFAULT_DIMENSION = 1024


class PlaceholderProvider:
    """The same text gives the same vector, everywhere (background.md 6.2); scaled to unit length."""

    name = "placeholder"

    def __init__(self, dimension: int = DEFAULT_DIMENSION) -> None:
        self.dimension = dimension

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_batch([text])[0]
        return vector

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        rows = [self._numbers(text) for text in texts]
        return unit_rows(np.asarray(rows, dtype=np.float64).reshape(len(rows), self.dimension))

    def close(self) -> None:
        """Nothing is held."""

    def _numbers(self, text: str) -> list[float]:
        digest = sha256(text.encode("utf-8", "replace")).digest()
        numbers = random.Random(int.from_bytes(digest[:8], "little"))
        return [numbers.random() for _ in range(self.dimension)]
