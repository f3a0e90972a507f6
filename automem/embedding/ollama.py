"""Ollama over HTTP (background.md 6.2): its batch endpoint, or the old one where that is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from automem.embedding.base import Vectors
from automem.embedding.http import HttpConfig, JsonApi, NoSuchEndpoint
from automem.embedding.remote import Patience, RemoteConfig, RemoteProvider, read_rows
from automem.errors import EmbeddingUnavailable

KNOWN_DIMENSIONS = {
    "nomic-embed-text": 768,
    "mxbai-embed-large": 1024,
    "all-minilm": 384,
    "bge-m3": 1024,
    "bge-large": 1024,
    "snowflake-arctic-embed2": 1024,
    "embeddinggemma": 768,
}


@dataclass(frozen=True)
class OllamaConfig:
    """Where Ollama is and which model it runs."""

    base_url: str = "http://localhost:11434"
    model: str = "nomic-embed-text"


def known_dimension(model: str) -> int | None:
    """Give the length of a model's vectors, whatever its version tag; None for an unknown model."""
    return KNOWN_DIMENSIONS.get(model.partition(":")[0])


def ollama_limits(dimension: int | None, batch: Patience, query_seconds: float) -> RemoteConfig:
    """Give the limits: Ollama cuts off silently what a model cannot read, so pieces fit in 512 tokens."""
    return RemoteConfig(
        dimension=dimension,
        piece_bytes=1_500,
        request_items=32,
        request_bytes=48_000,
        query=Patience(min(query_seconds, batch.timeout_seconds), retries=0),
        batch=batch,
    )


class OllamaEmbeddings:
    """``/api/embed``; after a 404 for good ``/api/embeddings``, one text a request."""

    def __init__(self, config: OllamaConfig) -> None:
        self._config = config
        self.name = f"ollama:{config.model}"
        self._http = JsonApi(HttpConfig(self.name, config.base_url))
        self._old_server = False

    def fetch(self, texts: Sequence[str], patience: Patience) -> Vectors:
        try:
            if not self._old_server:
                return self._fetch_batch(texts, patience)
        except NoSuchEndpoint as error:
            if "model" in error.detail:
                raise self._no_model() from error
            self._old_server = True
        return np.concatenate([self._fetch_one(text, patience) for text in texts])

    def close(self) -> None:
        self._http.close()

    def _fetch_batch(self, texts: Sequence[str], patience: Patience) -> Vectors:
        body = {"model": self._config.model, "input": list(texts)}
        answer = self._http.post("/api/embed", body, patience)
        rows = answer.get("embeddings") if isinstance(answer, dict) else None
        return read_rows(rows, len(texts), self.name)

    def _fetch_one(self, text: str, patience: Patience) -> Vectors:
        body = {"model": self._config.model, "prompt": text}
        try:
            answer = self._http.post("/api/embeddings", body, patience)
        except NoSuchEndpoint as error:
            raise self._no_model() from error
        return read_rows([_single(answer)], 1, self.name)

    def _no_model(self) -> EmbeddingUnavailable:
        return EmbeddingUnavailable(f"Ollama has no such model; run `ollama pull {self._config.model}`")


def _single(answer: object) -> object:
    if not isinstance(answer, dict):
        return None
    data = answer.get("data")
    if "embedding" not in answer and isinstance(data, list) and data and isinstance(data[0], dict):
        return data[0].get("embedding")
    return answer.get("embedding")


def ollama_provider(config: OllamaConfig, limits: RemoteConfig) -> RemoteProvider:
    """Make the provider; nothing is sent before the first text."""
    return RemoteProvider(OllamaEmbeddings(config), limits)
