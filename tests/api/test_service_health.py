"""Health (service.md 6, D32, D41)."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import httpx
import pytest

from automem.api.health import sync_status
from tests.support.service import RunningService, wait_until

FIELDS = {
    "status",
    "falkordb",
    "qdrant",
    "memory_count",
    "vector_count",
    "sync_status",
    "vector_dimensions",
    "enrichment",
    "timestamp",
    "graph",
}


def test_the_fields(api: httpx.Client, settled: Callable[[], None]) -> None:
    settled()
    body = api.get("/health").json()
    assert set(body) == FIELDS
    assert (body["status"], body["falkordb"], body["qdrant"]) == ("healthy", "connected", "connected")
    assert body["sync_status"] == "synced" and body["memory_count"] == body["vector_count"]
    assert body["vector_dimensions"] == {
        "configured": 384,
        "effective": 384,
        "collection": 384,
        "mismatch": False,
    }
    assert body["graph"] == "memories"
    assert body["timestamp"].endswith("+00:00")
    numbers = {"queue_depth", "pending", "inflight", "processed", "failed"}
    assert set(body["enrichment"]) == {"status", *numbers}
    assert body["enrichment"]["status"] == "running"
    assert all(isinstance(body["enrichment"][name], int) for name in numbers)


def test_counts_follow_the_data(make_service: Callable[..., RunningService]) -> None:
    service = make_service(RECALL_EXCLUDED_TYPES="Secretive")
    service.start()
    assert service.client.get("/health").json()["memory_count"] == 0
    for kind in ("Context", "Secretive", "Context"):
        stored = service.client.post("/memory", json={"content": f"{uuid.uuid4()} is here", "type": kind})
        assert stored.status_code == 201
    service.wait_settled()
    body = service.client.get("/health").json()
    assert (body["memory_count"], body["vector_count"]) == (2, 2)
    assert body["enrichment"]["processed"] == 3


@pytest.mark.parametrize(
    ("memories", "vectors", "word"),
    [
        (3, 3, "synced"),
        (3, 2, "drift_detected"),
        (3, 4, "orphaned_vectors"),
        (None, 3, "unknown"),
        (3, None, "unknown"),
    ],
)
def test_sync_status(memories: int | None, vectors: int | None, word: str) -> None:
    assert sync_status(memories, vectors) == word


def test_servers_that_are_away(make_service: Callable[..., RunningService]) -> None:
    """Nobody listens on these ports: the service starts all the same, and says so (service.md 5)."""
    service = make_service(
        FALKORDB_HOST="127.0.0.1",
        FALKORDB_PORT="1",
        QDRANT_URL="http://127.0.0.1:1",
        QDRANT_TIMEOUT_SECONDS="1",
    )
    service.launch()
    wait_until(lambda: _alive(service))
    body = service.client.get("/health").json()
    assert (body["status"], body["falkordb"], body["qdrant"]) == ("degraded", "disconnected", "disconnected")
    assert body["sync_status"] == "unknown"
    assert "memory_count" not in body and "vector_count" not in body
    ready = service.client.get("/health/ready")
    assert ready.status_code == 503 and ready.headers["Retry-After"]
    assert service.client.get("/health/live").status_code == 200
    stored = service.client.post("/memory", json={"content": "Nobody can keep this"})
    assert stored.status_code == 503 and stored.json()["status"] == "error"
    assert service.stop() == 0


def _alive(service: RunningService) -> bool:
    try:
        return service.client.get("/health/live").status_code == 200
    except httpx.TransportError:
        return False


def test_the_vector_server_alone_is_away(make_service: Callable[..., RunningService]) -> None:
    service = make_service(QDRANT_URL="http://127.0.0.1:1", QDRANT_TIMEOUT_SECONDS="1")
    service.start()
    stored = service.client.post("/memory", json={"content": "The lighthouse keeper counts gulls"})
    assert stored.status_code == 201
    body = service.client.get("/health").json()
    assert (body["status"], body["falkordb"], body["qdrant"]) == ("degraded", "connected", "disconnected")
    assert body["memory_count"] == 1 and body["enrichment"]["pending"] == 1
    found = service.client.get("/recall", params={"query": "lighthouse gulls"}).json()
    assert [row["id"] for row in found["results"]] == [stored.json()["memory_id"]]
    assert found["degraded"] is True and found["warnings"]
