"""The chat model against a real server: what is sent, what is read, and that trouble is only None."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from automem.config import Settings
from automem.embedding.breaker import BreakerConfig
from automem.enrichment.chat import UNUSABLE, ChatConfig, ChatStats, NoChat, OpenAIChat, make_chat
from tests.support.openai_server import AiServer, CutOff, Fault, HangUp, Late, Raw, Status

NOW = datetime(2025, 3, 1, 12, tzinfo=UTC)
PATH = "/v1/chat/completions"


class HandTime:
    """A clock that stands still and a stopwatch that the test moves."""

    def __init__(self) -> None:
        self.passed = 0.0

    def now(self) -> datetime:
        return NOW

    def seconds(self) -> float:
        return self.passed


@pytest.fixture
def time() -> HandTime:
    return HandTime()


@pytest.fixture
def server() -> Iterator[AiServer]:
    with AiServer() as running:
        yield running


def chat_on(server: AiServer, time: HandTime, model: str = "gpt-4o-mini") -> OpenAIChat:
    config = ChatConfig(
        "secret-key",
        model,
        server.openai_url,
        timeout_seconds=5,
        retries=0,
        breaker=BreakerConfig(failures=3, cooldown_seconds=30),
    )
    return OpenAIChat(config, time, time)


@pytest.fixture
def chat(server: AiServer, time: HandTime) -> Iterator[OpenAIChat]:
    made = chat_on(server, time)
    yield made
    made.close()


def test_a_json_answer_is_read_and_counted(chat: OpenAIChat, server: AiServer) -> None:
    server.chat_reply = ' {"type": "Decision", "confidence": 0.9} '
    assert chat.complete_json("Answer in JSON.", "We chose X", 50) == {"type": "Decision", "confidence": 0.9}
    assert chat.stats == ChatStats(llm_attempts=1, llm_successes=1)
    request = server.received[0]
    assert request.headers["authorization"] == "Bearer secret-key"
    assert request.body == {
        "model": "gpt-4o-mini",
        "messages": [
            {"role": "system", "content": "Answer in JSON."},
            {"role": "user", "content": "We chose X"},
        ],
        "response_format": {"type": "json_object"},
        "max_completion_tokens": 50,
    }


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4.1-mini", "openai/gpt-4o-mini"])
def test_newer_models_get_max_completion_tokens(server: AiServer, time: HandTime, model: str) -> None:
    chat = chat_on(server, time, model)
    chat.complete_text("s", "u", 50)
    chat.close()
    body = server.received[0].body
    assert body["max_completion_tokens"] == 50
    assert not {"temperature", "max_tokens", "response_format"} & set(body)


@pytest.mark.parametrize("model", ["o1", "o3-mini", "o4-mini", "gpt-5-nano"])
def test_models_that_think_get_room_for_it(server: AiServer, time: HandTime, model: str) -> None:
    chat = chat_on(server, time, model)
    chat.complete_json("s", "u", 50)
    chat.close()
    body = server.received[0].body
    assert body["max_completion_tokens"] > 1000
    assert not {"temperature", "max_tokens"} & set(body)


@pytest.mark.parametrize("model", ["gpt-3.5-turbo", "gpt-4-turbo", "llama3.1", "mistral/mistral-small"])
def test_other_models_get_max_tokens_and_a_temperature(server: AiServer, time: HandTime, model: str) -> None:
    chat = chat_on(server, time, model)
    chat.complete_json("s", "u", 50)
    chat.close()
    body = server.received[0].body
    assert (body["max_tokens"], body["temperature"]) == (50, 0.3)
    assert "max_completion_tokens" not in body


@pytest.mark.parametrize(
    "reply", ["", None, "no json", "[1]", '"text"', '{"type": ', "{" * 100_000, "} {", "null"]
)
def test_an_answer_that_is_no_object_is_none(chat: OpenAIChat, server: AiServer, reply: str | None) -> None:
    server.chat_reply = reply
    assert chat.complete_json("s", "u", 50) is None
    assert chat.stats == ChatStats(1, 0, UNUSABLE, NOW)


def test_a_fenced_object_is_read(chat: OpenAIChat, server: AiServer) -> None:
    server.chat_reply = '```json\n{"type": "Habit"}\n```'
    assert chat.complete_json("s", "u", 50) == {"type": "Habit"}


def test_text_is_trimmed_and_never_empty(chat: OpenAIChat, server: AiServer) -> None:
    server.chat_reply = "  A summary. \n"
    assert chat.complete_text("s", "u", 50) == "A summary."
    server.chat_reply = "  "
    assert chat.complete_text("s", "u", 50) is None
    assert chat.stats == ChatStats(2, 1, UNUSABLE, NOW)


@pytest.mark.parametrize("fault", [Status(500), Status(429), Status(401), Status(400), HangUp(), CutOff()])
def test_trouble_is_none_and_remembered(chat: OpenAIChat, server: AiServer, fault: Fault) -> None:
    server.always(fault)
    assert chat.complete_json("s", "u", 50) is None
    stats = chat.stats
    assert (stats.llm_attempts, stats.llm_successes, stats.last_error_at) == (1, 0, NOW)
    assert stats.last_error
    assert "secret-key" not in stats.last_error


@pytest.mark.parametrize("body", ['{"choices": [', "[]", '{"choices": null}', '{"choices": []}', "5"])
def test_an_answer_of_another_shape_is_none(chat: OpenAIChat, server: AiServer, body: str) -> None:
    server.always(Raw(body))
    assert chat.complete_json("s", "u", 50) is None
    assert chat.stats.last_error == UNUSABLE


def test_a_late_answer_is_none(server: AiServer, time: HandTime) -> None:
    server.always(Late(30))
    config = ChatConfig("k", "m", server.openai_url, timeout_seconds=0.1, retries=0)
    chat = OpenAIChat(config, time, time)
    assert chat.complete_text("s", "u", 50) is None
    assert "Timeout" in str(chat.stats.last_error)
    chat.close()


def test_a_dead_model_is_left_alone_and_found_again(
    chat: OpenAIChat, server: AiServer, time: HandTime
) -> None:
    server.always(Status(500))
    for _ in range(5):
        assert chat.complete_json("s", "u", 50) is None
    assert (server.count(PATH), chat.stats.llm_attempts) == (3, 3)
    server.always(None)
    assert chat.complete_json("s", "u", 50) is None
    time.passed += 31
    assert chat.complete_json("s", "u", 50) is not None


def test_odd_characters_can_be_sent(chat: OpenAIChat) -> None:
    assert chat.complete_json("s", "lone \ud800 surrogate", 50) is not None


def test_without_a_key_there_is_no_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    chat = make_chat(Settings(_env_file=None))  # type: ignore[call-arg]
    assert isinstance(chat, NoChat)
    assert (chat.name, chat.complete_json("s", "u", 5), chat.complete_text("s", "u", 5)) == (None, None, None)
    assert chat.stats == ChatStats()


def test_the_settings_choose_endpoint_and_model(server: AiServer) -> None:
    settings = Settings(
        _env_file=None,  # type: ignore[call-arg]
        openai_api_key="k",  # type: ignore[arg-type]
        openai_base_url=server.openai_url,
        classification_model="small-model",
    )
    chat = make_chat(settings)
    assert chat.complete_json("s", "u", 50) is not None
    assert server.received[0].body["model"] == "small-model"
    chat.close()
