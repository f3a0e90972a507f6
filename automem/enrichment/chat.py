"""The chat model that classifies and summarises where a key is set; a null object where none is.

Trouble with the model is never an error here: the answer is None, and the reason is in ``stats``.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock
from typing import Any, Protocol

import openai
from openai import OpenAI

from automem.config import Settings, reveal
from automem.embedding.breaker import BreakerConfig, CircuitBreaker, MonotonicStopwatch, Stopwatch
from automem.utils.clock import Clock, SystemClock

OFFICIAL_URL = "https://api.openai.com/v1"
UNUSABLE = "no usable LLM result (missing client, empty response, or invalid JSON)"

_TEMPERATURE = 0.3
_NEW_FAMILIES = ("o1", "o3", "o4", "gpt-4o", "gpt-4.1", "gpt-5")
_REASONING_FAMILIES = ("o1", "o3", "o4", "gpt-5")
_REASONING_TOKENS = 2_000
"""Added to the limit of models that think first: their thoughts count, and 50 tokens would hold no answer."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ChatStats:
    """Counters for `/enrichment/status` (memory-api.md 0.6)."""

    llm_attempts: int = 0
    llm_successes: int = 0
    last_error: str | None = None
    last_error_at: datetime | None = None


class ChatModel(Protocol):
    """Answers one prompt. Never raises for trouble with the model."""

    @property
    def name(self) -> str | None:
        """The model's name; None where there is no model, and so no answer ever."""
        ...

    @property
    def stats(self) -> ChatStats:
        """A snapshot of the counters."""
        ...

    def complete_json(self, prompt_system: str, prompt_user: str, max_tokens: int) -> dict[str, Any] | None:
        """Give the JSON object that the model answers; None: no usable answer.

        ``prompt_system`` has to ask for JSON by that word: OpenAI refuses the request otherwise.
        """
        ...

    def complete_text(self, prompt_system: str, prompt_user: str, max_tokens: int) -> str | None:
        """Give the model's answer, trimmed and not empty; None: no usable answer."""
        ...

    def close(self) -> None:
        """Release the connections."""
        ...


class NoChat:
    """No key, no model: every answer is None."""

    name = None
    stats = ChatStats()

    def complete_json(self, prompt_system: str, prompt_user: str, max_tokens: int) -> dict[str, Any] | None:
        return None

    def complete_text(self, prompt_system: str, prompt_user: str, max_tokens: int) -> str | None:
        return None

    def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True)
class ChatConfig:
    """:param base_url: None is OpenAI itself. :param timeout_seconds: of one try; a write waits for it."""

    api_key: str = field(repr=False)
    model: str
    base_url: str | None = None
    timeout_seconds: float = 10.0
    retries: int = 1
    breaker: BreakerConfig = BreakerConfig()


class OpenAIChat:
    """A chat model of OpenAI or a compatible server, behind a circuit breaker. Safe for many threads."""

    def __init__(self, config: ChatConfig, clock: Clock, stopwatch: Stopwatch) -> None:
        self.name = config.model
        self._clock = clock
        self._client = OpenAI(
            api_key=config.api_key,
            base_url=config.base_url or OFFICIAL_URL,
            timeout=config.timeout_seconds,
            max_retries=config.retries,
        )
        self._breaker = CircuitBreaker(f"chat model {config.model}", config.breaker, stopwatch)
        self._lock = Lock()
        self._stats = ChatStats()

    @property
    def stats(self) -> ChatStats:
        with self._lock:
            return self._stats

    def complete_json(self, prompt_system: str, prompt_user: str, max_tokens: int) -> dict[str, Any] | None:
        body = self._body(prompt_system, prompt_user, max_tokens)
        text = self._ask({**body, "response_format": {"type": "json_object"}})
        answer = _json_object(text) if text else None
        self._note(answer is not None, text is not None)
        return answer

    def complete_text(self, prompt_system: str, prompt_user: str, max_tokens: int) -> str | None:
        text = self._ask(self._body(prompt_system, prompt_user, max_tokens))
        self._note(bool(text), text is not None)
        return text or None

    def close(self) -> None:
        self._client.close()

    def _body(self, prompt_system: str, prompt_user: str, max_tokens: int) -> dict[str, Any]:
        return {
            "model": self.name,
            "messages": [
                {"role": "system", "content": _clean(prompt_system)},
                {"role": "user", "content": _clean(prompt_user)},
            ],
            **limits_for(self.name, max_tokens),
        }

    def _ask(self, body: dict[str, Any]) -> str | None:
        """Give the answer's trimmed text, empty when it has none; None when the call failed."""
        if not self._breaker.admits():
            return None
        with self._lock:
            self._stats = replace(self._stats, llm_attempts=self._stats.llm_attempts + 1)
        try:
            text = self._client.chat.completions.with_raw_response.create(**body).text
        except openai.OpenAIError as error:
            self._failed(error)
            return None
        except BaseException:  # the breaker's trial has to end
            self._breaker.failed()
            raise
        self._breaker.succeeded()
        return _content(text)

    def _failed(self, error: openai.OpenAIError) -> None:
        refused = isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError)
        (self._breaker.succeeded if refused else self._breaker.failed)()
        status = f"status {error.status_code}" if isinstance(error, openai.APIStatusError) else str(error)
        _log.warning("chat model %s: %.300s", self.name, error)
        self._remember(f"{type(error).__name__}: {status}")

    def _note(self, usable: bool, answered: bool) -> None:
        if usable:
            with self._lock:
                self._stats = replace(self._stats, llm_successes=self._stats.llm_successes + 1)
        elif answered:
            self._remember(UNUSABLE)

    def _remember(self, error: str) -> None:
        with self._lock:
            self._stats = replace(self._stats, last_error=error, last_error_at=self._clock.now())


def limits_for(model: str, max_tokens: int) -> dict[str, Any]:
    """Give the request fields that limit the answer, by the model's family (memory-api.md 0.6)."""
    family = model.rpartition("/")[2].lower()
    if not family.startswith(_NEW_FAMILIES):
        return {"max_tokens": max_tokens, "temperature": _TEMPERATURE}
    thinking = _REASONING_TOKENS if family.startswith(_REASONING_FAMILIES) else 0
    return {"max_completion_tokens": max_tokens + thinking}


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _content(text: str) -> str:
    try:
        content = json.loads(text)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError):
        return ""
    return content.strip() if isinstance(content, str) else ""


def _json_object(text: str) -> dict[str, Any] | None:
    """Read the object between the first brace and the last: some models wrap it in a code fence."""
    try:
        answer = json.loads(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def make_chat(settings: Settings, clock: Clock | None = None, model: str | None = None) -> ChatModel:
    """Make the chat model of the settings: OPENAI_API_KEY set, or else the null object.

    :param model: another than CLASSIFICATION_MODEL.
    """
    key = reveal(settings.openai_api_key)
    if not key:
        return NoChat()
    config = ChatConfig(key, model or settings.classification_model, settings.openai_base_url)
    return OpenAIChat(config, clock or SystemClock(), MonotonicStopwatch())
