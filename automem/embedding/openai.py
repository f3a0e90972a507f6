"""OpenAI and servers that speak its interface, through the package ``openai`` (background.md 6.2)."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import openai
from openai import OpenAI

from automem.embedding.base import Vectors
from automem.embedding.http import refusal
from automem.embedding.remote import Patience, RemoteConfig, RemoteProvider, read_data
from automem.errors import EmbeddingUnavailable

OFFICIAL_URL = "https://api.openai.com/v1"
KNOWN_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OpenAIConfig:
    """:param base_url: None is OpenAI itself. :param dimensions: asked of the model; None: its own."""

    api_key: str = field(repr=False)
    model: str
    base_url: str | None = None
    dimensions: int | None = None


def is_official(base_url: str | None) -> bool:
    """Say whether this is OpenAI's own endpoint, the only one that is sent ``dimensions``."""
    return base_url is None or urlsplit(base_url).hostname == "api.openai.com"


def openai_limits(base_url: str | None, dimension: int | None, query_seconds: float) -> RemoteConfig:
    """Give the limits of an endpoint.

    OpenAI reads 8,191 tokens a text and 300,000 a request; other servers' models often only 512.
    """
    official = is_official(base_url)
    return RemoteConfig(
        dimension=dimension,
        piece_bytes=8_000 if official else 1_500,
        request_items=256 if official else 64,
        request_bytes=300_000,
        query=Patience(query_seconds, retries=0),
        batch=Patience(timeout_seconds=30.0, retries=2),
    )


class OpenAIEmbeddings:
    """``/embeddings`` of OpenAI or a compatible server."""

    def __init__(self, config: OpenAIConfig) -> None:
        self._config = config
        self._client = OpenAI(api_key=config.api_key, base_url=config.base_url or OFFICIAL_URL)
        kind = "openai" if is_official(config.base_url) else "openai-compatible"
        self.name = f"{kind}:{config.model}"

    def fetch(self, texts: Sequence[str], patience: Patience) -> Vectors:
        try:
            answer = self._post(texts, patience)
        except openai.APIStatusError as error:
            _log.warning("%s answered %d: %.300s", self.name, error.status_code, error.response.text)
            raise refusal(
                error.status_code, f"{self.name} answered with status {error.status_code}"
            ) from error
        except openai.APITimeoutError as error:
            raise EmbeddingUnavailable(f"{self.name} did not answer in time") from error
        except openai.OpenAIError as error:
            raise EmbeddingUnavailable(f"{self.name} cannot be reached") from error
        return read_data(self._decode(answer), len(texts), self.name)

    def close(self) -> None:
        self._client.close()

    def _post(self, texts: Sequence[str], patience: Patience) -> str:
        try:
            return self._post_once(texts, patience)
        except openai.APIConnectionError as error:
            # The package's own retries repeat time-outs too: too long for a query, whose idle
            # connection may still have been closed by the server and deserves a second try.
            if patience.retries or isinstance(error, openai.APITimeoutError):
                raise
        return self._post_once(texts, patience)

    def _post_once(self, texts: Sequence[str], patience: Patience) -> str:
        client = self._client.with_options(timeout=patience.timeout_seconds, max_retries=patience.retries)
        dimensions = self._config.dimensions
        answer = client.embeddings.with_raw_response.create(
            input=list(texts),
            model=self._config.model,
            dimensions=openai.omit if dimensions is None else dimensions,
            encoding_format="float",
        )
        return answer.text

    def _decode(self, text: str) -> object:
        try:
            answer: object = json.loads(text)
        except ValueError as error:
            raise EmbeddingUnavailable(f"{self.name} gave an answer that is not JSON") from error
        return answer


def openai_provider(config: OpenAIConfig, limits: RemoteConfig) -> RemoteProvider:
    """Make the provider; nothing is sent before the first text."""
    return RemoteProvider(OpenAIEmbeddings(config), limits)
