"""JSON over HTTP with retries, for the providers that need no package of their own."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event

import httpx

from automem.embedding.base import EmbeddingRefused
from automem.embedding.remote import Patience
from automem.errors import EmbeddingUnavailable

_log = logging.getLogger(__name__)


class NoSuchEndpoint(EmbeddingRefused):
    """The server answered 404; ``detail`` is its JSON ``error`` text, or empty."""

    def __init__(self, message: str, detail: str) -> None:
        super().__init__(message)
        self.detail = detail


@dataclass(frozen=True)
class HttpConfig:
    """:param name: for messages. :param waits: seconds before each further try after a 429 or 5xx."""

    name: str
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    waits: tuple[float, ...] = ()


class JsonApi:
    """Posts JSON. Safe for many threads. Proxies of the environment count, as everywhere in httpx."""

    def __init__(self, config: HttpConfig) -> None:
        self._config = config
        self._client = httpx.Client(base_url=config.base_url, headers=dict(config.headers))
        self._closed = Event()

    def post(self, path: str, body: Mapping[str, object], patience: Patience) -> object:
        """Give the decoded answer.

        Tries again after a 429 or 5xx (after a wait), and after a failed connection (at once). A
        connection that breaks, as an idle one does, gets one more try even with ``retries`` 0; a
        time-out does not.
        """
        broken, refused = max(1, patience.retries), patience.retries
        while True:
            try:
                response = self._client.post(path, json=body, timeout=patience.timeout_seconds)
            except httpx.TransportError as error:
                timed_out = isinstance(error, httpx.TimeoutException)
                if broken == 0 or (timed_out and patience.retries == 0):
                    raise EmbeddingUnavailable(f"{self._config.name} {_trouble(error)}") from error
                broken -= 1
                continue
            if response.is_success or not _passing(response) or refused == 0:
                return self._read(response)
            self._wait(patience.retries - refused)
            refused -= 1

    def close(self) -> None:
        self._closed.set()
        self._client.close()

    def _wait(self, tries: int) -> None:
        waits = self._config.waits
        if waits and self._closed.wait(waits[min(tries, len(waits) - 1)]):
            raise EmbeddingUnavailable("the service is stopping")

    def _read(self, response: httpx.Response) -> object:
        if not response.is_success:
            raise self._fault(response)
        try:
            answer: object = response.json()
        except ValueError as error:
            raise EmbeddingUnavailable(f"{self._config.name} gave an answer that is not JSON") from error
        return answer

    def _fault(self, response: httpx.Response) -> EmbeddingUnavailable:
        _log.warning("%s answered %d: %.300s", self._config.name, response.status_code, response.text)
        message = f"{self._config.name} answered with status {response.status_code}"
        if response.status_code == 404:
            return NoSuchEndpoint(message, _detail(response))
        return refusal(response.status_code, message)


def refusal(status: int, message: str) -> EmbeddingUnavailable:
    """Choose the error for a status: ``EmbeddingRefused`` when the text is at fault, not the provider."""
    return EmbeddingRefused(message) if status in (400, 413, 422) else EmbeddingUnavailable(message)


def _passing(response: httpx.Response) -> bool:
    return response.status_code == 429 or response.status_code >= 500


def _trouble(error: httpx.TransportError) -> str:
    return "did not answer in time" if isinstance(error, httpx.TimeoutException) else "cannot be reached"


def _detail(response: httpx.Response) -> str:
    try:
        body = response.json()
    except ValueError:
        return ""
    return str(body.get("error", "")) if isinstance(body, dict) else ""
