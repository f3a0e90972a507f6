"""Voyage AI over HTTP (background.md 6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from automem.embedding.base import Vectors
from automem.embedding.http import HttpConfig, JsonApi
from automem.embedding.remote import Patience, RemoteConfig, RemoteProvider, read_data

OFFICIAL_URL = "https://api.voyageai.com/v1"
DIMENSIONS = (256, 512, 1024, 2048)
DEFAULT_DIMENSION = 1024


@dataclass(frozen=True)
class VoyageConfig:
    """:param waits: seconds before the second and the third try after a 429 or 5xx."""

    api_key: str = field(repr=False)
    model: str = "voyage-4"
    dimension: int = DEFAULT_DIMENSION
    base_url: str = OFFICIAL_URL
    waits: tuple[float, ...] = (1.0, 2.0)


def voyage_limits(dimension: int, query_seconds: float) -> RemoteConfig:
    """Give Voyage's limits: 128 texts and 120,000 tokens a request."""
    return RemoteConfig(
        dimension=dimension,
        piece_bytes=8_000,
        request_items=128,
        request_bytes=120_000,
        query=Patience(query_seconds, retries=0),
        batch=Patience(timeout_seconds=30.0, retries=2),
    )


class VoyageEmbeddings:
    """``/embeddings`` of Voyage, with ``output_dimension`` and no input type."""

    def __init__(self, config: VoyageConfig) -> None:
        self._config = config
        self.name = f"voyage:{config.model}"
        headers = {"Authorization": f"Bearer {config.api_key}"}
        self._http = JsonApi(HttpConfig(self.name, config.base_url, headers, config.waits))

    def fetch(self, texts: Sequence[str], patience: Patience) -> Vectors:
        body = {
            "input": list(texts),
            "model": self._config.model,
            "output_dimension": self._config.dimension,
        }
        return read_data(self._http.post("embeddings", body, patience), len(texts), self.name)

    def close(self) -> None:
        self._http.close()


def voyage_provider(config: VoyageConfig, limits: RemoteConfig) -> RemoteProvider:
    """Make the provider; nothing is sent before the first text."""
    return RemoteProvider(VoyageEmbeddings(config), limits)
