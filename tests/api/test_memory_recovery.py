"""Nothing that was answered 201 is lost: kill -9, a provider that fails, restarts (D22, D23)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.support.openai_server import AiServer, Late, Status
from tests.support.service import RunningService, wait_until

MakeService = Callable[..., RunningService]


@pytest.fixture
def provider() -> Iterator[AiServer]:
    with AiServer(dimension=1536) as running:
        yield running


def on(provider: AiServer) -> dict[str, str]:
    return {
        "EMBEDDING_PROVIDER": "openai",
        "OPENAI_API_KEY": "key",
        "OPENAI_BASE_URL": provider.openai_url,
    }


def health(service: RunningService) -> dict[str, Any]:
    body: dict[str, Any] = service.client.get("/health").json()
    return body


def acknowledged(service: RunningService, worker: int, enough: Callable[[int], bool]) -> dict[str, str]:
    """Store singles and batches until the service is gone; give what was answered 201."""
    stored: dict[str, str] = {}
    with httpx.Client(base_url=service.url, timeout=30.0) as client:
        for number in range(100_000):
            texts = [f"worker {worker} note {number}.{row}" for row in range(20 if number % 2 else 1)]
            rows = [{"content": text, "type": "T"} for text in texts]
            try:
                if len(rows) == 1:
                    reply = client.post("/memory", json=rows[0])
                    memory_ids = [reply.json()["memory_id"]]
                else:
                    reply = client.post("/memory/batch", json={"memories": rows})
                    memory_ids = reply.json()["memory_ids"]
            except httpx.TransportError:
                break
            assert reply.status_code == 201
            stored |= zip(memory_ids, texts, strict=True)
            if enough(number):
                service.kill()
    return stored


def test_everything_acknowledged_survives_kill_9(make_service: MakeService) -> None:
    service = make_service()
    service.start()
    with ThreadPoolExecutor(3) as pool:
        # The first writer kills the service while the others are in the middle of their batches.
        futures = [
            pool.submit(acknowledged, service, worker, lambda n, w=worker: w == 0 and n == 12)  # type: ignore[misc]
            for worker in range(3)
        ]
        stored = {key: text for future in futures for key, text in future.result().items()}
    assert len(stored) > 100
    service.start()
    for memory_id, text in stored.items():
        reply = service.client.get(f"/memory/{memory_id}")
        assert (reply.status_code, reply.json()["memory"]["content"]) == (200, text)
    service.wait_settled()
    state = health(service)
    assert state["memory_count"] >= len(stored)
    assert (state["vector_count"], state["sync_status"]) == (state["memory_count"], "synced")


def test_owed_vectors_are_made_after_kill_9(make_service: MakeService, provider: AiServer) -> None:
    service = make_service(**on(provider))
    service.start()
    provider.always(Late(60.0))
    rows = [{"content": f"note {n}", "type": "T"} for n in range(3)]
    memory_ids = [service.client.post("/memory", json=row).json()["memory_id"] for row in rows]
    assert health(service)["enrichment"]["pending"] == 3
    assert health(service)["vector_count"] == 0
    service.kill()
    provider.always(None)
    service.start()
    service.wait_settled()
    assert health(service)["vector_count"] == 3
    for memory_id in memory_ids:
        assert service.client.get(f"/memory/{memory_id}").status_code == 200


def test_a_memory_is_pending_until_the_provider_works_again(
    make_service: MakeService, provider: AiServer
) -> None:
    service = make_service(**on(provider))
    service.start()
    provider.always(Status(500))
    first = service.client.post("/memory", json={"content": "first", "type": "T"})
    assert (first.status_code, first.json()["embedding_status"]) == (201, "queued")
    wait_until(lambda: health(service)["enrichment"]["failed"] > 0)
    assert (health(service)["vector_count"], health(service)["enrichment"]["pending"]) == (0, 1)
    provider.always(None)
    service.wait_settled()
    assert health(service)["vector_count"] == 1


def test_writes_go_on_while_the_provider_fails(make_service: MakeService, provider: AiServer) -> None:
    service = make_service(**on(provider))
    service.start()
    provider.always(Status(500))
    memory_id = service.client.post("/memory", json={"content": "first", "type": "T"}).json()["memory_id"]
    wait_until(lambda: health(service)["enrichment"]["failed"] > 0)
    second = service.client.post("/memory", json={"content": "second", "type": "T"})
    assert (second.status_code, second.json()["embedding_status"]) == (201, "pending")
    batch = service.client.post("/memory/batch", json={"memories": [{"content": "third", "type": "T"}]})
    assert (batch.status_code, batch.json()["qdrant"]) == (201, "queued")
    changed = service.client.patch(f"/memory/{memory_id}", json={"content": "changed while it fails"})
    assert changed.status_code == 200
    given = {"content": "given", "type": "T", "embedding": [1.0] * 1536}
    stored = service.client.post("/memory", json=given).json()
    assert (stored["qdrant"], stored["embedding_status"]) == ("stored", "provided")
    wait_until(lambda: health(service)["enrichment"]["pending"] == 3)
    assert health(service)["vector_count"] == 1
    # A start finds what is owed.
    assert service.stop() == 0
    provider.always(None)
    service.start()
    service.wait_settled()
    assert health(service)["vector_count"] == 4


def test_a_refused_text_does_not_keep_the_others(make_service: MakeService, provider: AiServer) -> None:
    service = make_service(**on(provider))
    service.start()
    # The batch, then its first text alone, are refused.
    provider.next(Status(400), Status(400))
    rows = [{"content": f"note {n}", "type": "T"} for n in range(5)]
    answer = service.client.post("/memory/batch", json={"memories": rows}).json()
    assert answer["qdrant"] == "stored (4), queued (1)"
    service.wait_settled()
    assert health(service)["vector_count"] == 5


def test_a_slow_chat_model_does_not_keep_a_write(make_service: MakeService, provider: AiServer) -> None:
    service = make_service(
        EMBEDDING_PROVIDER="local", OPENAI_API_KEY="key", OPENAI_BASE_URL=provider.openai_url
    )
    service.start()
    provider.chat_reply = '{"type": "observation", "confidence": 0.8}'
    good = service.client.post("/memory", json={"content": "The sky over Oslo is blue"}).json()
    assert (good["type"], good["confidence"]) == ("Insight", 0.8)
    for fault in (Status(500), Late(60.0)):
        provider.always(fault)
        reply = service.client.post("/memory", json={"content": "The sky over Oslo is grey"})
        assert reply.status_code == 201
        assert (reply.json()["type"], reply.json()["confidence"]) == ("Memory", 0.3)
