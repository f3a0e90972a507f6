"""What an embedding provider is (D30). Implementations: local, openai, voyage, ollama, placeholder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from automem.errors import EmbeddingUnavailable

Vectors = NDArray[np.float32]


class Provider(Protocol):
    """Turns texts into unit vectors.

    Both methods raise ``EmbeddingUnavailable`` when no true vector can be made; they never return a
    made-up one (D23). Long texts are embedded in pieces and pooled, so their end counts too (D40).
    """

    @property
    def name(self) -> str:
        """Provider and model, for example ``local:all-MiniLM-L6-v2``. Recorded with the data."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector. May ask the provider once; raises ``EmbeddingUnavailable``."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Embed a question: shape ``(dimension,)``, unit length."""
        ...

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        """Embed documents: shape ``(len(texts), dimension)``, unit length, in the order given."""
        ...


class ClosingProvider(Provider, Protocol):
    """A provider that holds connections or a model; what ``make_provider`` gives."""

    def close(self) -> None:
        """Release them. Calling it twice does no harm."""
        ...


class EmbeddingRefused(EmbeddingUnavailable):
    """The provider works but refuses this input; the same text would be refused again."""
