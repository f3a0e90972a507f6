"""A chat model improves what rules made, and can neither delay nor fail anything (issue 4.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.support.openai_server import AiServer, CutOff, Fault, Late, Status
from tests.support.recalls import store
from tests.support.service import RunningService, wait_until

Make = Callable[..., RunningService]
LONG = "The harbour ledger lists all ships. " * 20


@pytest.fixture
def model() -> Iterator[AiServer]:
    with AiServer() as running:
        running.chat_reply = '{"type": "Insight", "confidence": 0.85}'
        running.text_reply = "A list of ships."
        yield running


@pytest.fixture
def client(make_service: Make, model: AiServer) -> httpx.Client:
    service = make_service(EMBEDDING_PROVIDER="local", OPENAI_API_KEY="key", OPENAI_BASE_URL=model.openai_url)
    service.start()
    return service.client


def memory(client: httpx.Client, memory_id: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/memory/{memory_id}").json()["memory"]
    return found


def pending(client: httpx.Client) -> int:
    return int(client.get("/health").json()["enrichment"]["pending"])


def test_a_quick_model_answers_with_the_write_and_summarises_afterwards(
    client: httpx.Client, model: AiServer
) -> None:
    answer = client.post("/memory", json={"content": LONG}).json()
    assert (answer["type"], answer["confidence"]) == ("Insight", 0.85)
    wait_until(lambda: memory(client, answer["memory_id"]).get("summary") == "A list of ships.")
    assert memory(client, answer["memory_id"])["content"] == LONG.strip()
    short = store(client, "A short note. And more.", type="Context")
    wait_until(lambda: pending(client) == 0)
    assert memory(client, short)["summary"] == "A short note."


@pytest.mark.parametrize("faults", [[Late(20.0)], [Status(429)] * 2, [CutOff()] * 2])
def test_trouble_is_mended_in_the_background(
    client: httpx.Client, model: AiServer, faults: list[Fault]
) -> None:
    """The write's own question fails, the repetition of it too."""
    model.next(*faults)
    answer = client.post("/memory", json={"content": "The tide was high."}).json()
    assert (answer["type"], answer["confidence"]) == ("Memory", 0.3)
    wait_until(lambda: memory(client, answer["memory_id"])["type"] == "Insight", seconds=60)
    assert memory(client, answer["memory_id"])["confidence"] == 0.85


def test_a_model_that_is_down_fails_nothing(client: httpx.Client, model: AiServer) -> None:
    model.always(Status(503))
    stored = [store(client, f"The tide was high, day {number}.") for number in range(10)]
    batch = client.post("/memory/batch", json={"memories": [{"content": LONG}, {"content": "Low tide."}]})
    assert batch.status_code == 201
    wait_until(lambda: pending(client) == 0)
    for memory_id in stored:
        found = memory(client, memory_id)
        assert (found["type"], found["processed"]) == ("Memory", True)
    told = client.get("/enrichment/status").json()
    assert told["classification"]["fallbacks"] >= 10 and told["given_up"] == 0
    assert model.count() < 30, "it is not asked for every memory again and again"


def test_a_stop_does_not_wait_for_the_model(make_service: Make, model: AiServer) -> None:
    service = make_service(EMBEDDING_PROVIDER="local", OPENAI_API_KEY="key", OPENAI_BASE_URL=model.openai_url)
    service.start()
    model.always(Late(60.0))
    stored = store(service.client, LONG, type="Context")
    wait_until(lambda: model.count() > 0)
    assert service.stop() == 0
    model.always(None)
    service.start()
    wait_until(lambda: memory(service.client, stored)["summary"] == "A list of ships.")


def test_a_type_of_the_client_stands(client: httpx.Client, model: AiServer) -> None:
    stored = store(client, "The tide was high.", type="Decision")
    wait_until(lambda: pending(client) == 0)
    assert memory(client, stored)["type"] == "Decision" and model.count() == 0
