"""GET /stream and /stream/status (service.md 7, D34)."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from automem.app import create_app
from automem.errors import GraphUnavailable
from automem.events.hub import StreamHub
from automem.services import Services
from automem.stores.falkordb_connection import ServerAddress
from automem.stores.falkordb_events import FalkorDBEvents
from tests.support.breakable import Breakable
from tests.support.events import listening
from tests.support.falkordb_server import free_port, tcp_server
from tests.support.service import RunningService, wait_until

Make = Callable[..., RunningService]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service whose streams no other test takes: four threads, so two streams."""
    running = RunningService(tmp_path_factory.mktemp("stream"), AUTOMEM_THREADS="4")
    running.start()
    yield running
    running.close()


def store(service: RunningService, content: str = "a note", **fields: object) -> str:
    reply = service.client.post("/memory", json={"content": content, "type": "Context", **fields})
    assert reply.status_code == 201
    return str(reply.json()["memory_id"])


def subscribers(service: RunningService) -> int:
    return int(service.client.get("/stream/status").json()["subscribers"])


def all_left(service: RunningService) -> None:
    wait_until(lambda: subscribers(service) == 0, seconds=10)


def test_the_headers(own: RunningService) -> None:
    with listening(own.url) as listener:
        headers = listener.response.headers
        assert headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert headers["Cache-Control"] == "no-cache"
        assert headers["X-Accel-Buffering"] == "no"
        assert headers["Connection"] == "keep-alive"
        assert "Content-Length" not in headers
        assert subscribers(own) == 1
    all_left(own)


def test_head_takes_no_place(own: RunningService) -> None:
    reply = own.client.head("/stream")
    assert (reply.status_code, reply.headers["Content-Type"]) == (200, "text/event-stream; charset=utf-8")
    assert own.client.get("/stream/status").json() == {"subscribers": 0}


def test_a_memory_from_its_storing_to_its_end(own: RunningService, tag: str) -> None:
    text = "ü" * 150
    with listening(own.url) as listener:
        tags = [f"{tag}-{n}" for n in range(7)]
        memory_id = store(own, text, tags=tags, importance=0.75)
        told = listener.next("memory.store", about=memory_id)
        assert datetime.fromisoformat(told.timestamp).utcoffset() is not None
        elapsed = told.data.pop("elapsed_ms")
        assert isinstance(elapsed, float) and elapsed > 0
        assert told.data == {
            "id": memory_id,
            "content_preview": "ü" * 100 + "...",
            "type": "Context",
            "importance": 0.75,
            "tags": tags[:5],
            "size_bytes": 300,
        }
        own.client.patch(f"/memory/{memory_id}", json={"content": "short", "importance": 0.5})
        changed = listener.next("memory.update", about=memory_id)
        assert changed.data["content_preview"] == "short"
        assert (changed.data["importance"], changed.data["size_bytes"]) == (0.5, 5)
        assert changed.data["changed"] == ["content", "importance"]
        own.client.delete(f"/memory/{memory_id}")
        assert set(listener.next("memory.delete", about=memory_id).data) == {"id", "elapsed_ms"}
    all_left(own)


def test_a_batch_and_a_recall(own: RunningService, tag: str) -> None:
    rows = [{"content": f"note {n} {tag}", "tags": [tag], "type": "Context"} for n in range(7)]
    with listening(own.url) as listener:
        stored = own.client.post("/memory/batch", json={"memories": rows}).json()["memory_ids"]
        assert [listener.next("memory.store").data["id"] for _ in rows] == stored
        found = own.client.get("/recall", params={"query": tag, "tags": tag, "limit": 10}).json()
        told = listener.next("memory.recall").data
        assert told["query"] == tag
        assert told["count"] == found["count"] == 7
        assert told["ids"] == [result["id"] for result in found["results"]][:5]
        assert told["elapsed_ms"] == found["query_time_ms"]
    all_left(own)


def test_what_was_stored_before_is_told_once(own: RunningService) -> None:
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    body = {"content": "once", "type": "Context"}
    with listening(own.url) as listener:
        for _ in range(2):
            assert own.client.post("/memory", json=body, headers=headers).status_code == 201
        store(own, "the next one")
        told = [listener.next("memory.store").data["content_preview"] for _ in range(2)]
        assert told == ["once", "the next one"]
    all_left(own)


@pytest.mark.parametrize("as_query", [False, True])
def test_a_listener_resumes_where_it_left(own: RunningService, as_query: bool) -> None:
    with listening(own.url) as listener:
        first = store(own)
        left_at = listener.next("memory.store", about=first).id
    missed = [store(own) for _ in range(5)]
    place = {"query": f"?last_event_id={left_at}"} if as_query else {"after": left_at}
    with listening(own.url, **place) as listener:
        live = store(own)
        told = [listener.next("memory.store") for _ in range(6)]
        assert [event.data["id"] for event in told] == [*missed, live]
        ids = [tuple(int(part) for part in event.id.split("-")) for event in told]
        assert ids == sorted(set(ids))
    all_left(own)


@pytest.mark.parametrize("given", ["abc", "1-", "1-2-3", "-5", "１-1"])
def test_a_place_that_is_none_is_refused(own: RunningService, given: str) -> None:
    reply = own.client.get("/stream", params={"last_event_id": given})
    assert (reply.status_code, reply.json()["field"]) == (400, "last_event_id")


def test_a_place_of_other_data_begins_now(own: RunningService) -> None:
    with listening(own.url, after=f"{2**63}-0") as listener:
        memory_id = store(own)
        assert listener.next("memory.store").data["id"] == memory_id
    all_left(own)


def test_streams_leave_threads_for_requests(own: RunningService) -> None:
    with ExitStack() as stack:
        listeners = [stack.enter_context(listening(own.url)) for _ in range(2)]
        refused = own.client.get("/stream")
        assert refused.status_code == 503
        assert refused.json()["message"].startswith("All 2 event streams are taken")
        assert int(refused.headers["Retry-After"]) > 0
        memory_id = store(own)
        for listener in listeners:
            assert listener.next("memory.store", about=memory_id)
        assert subscribers(own) == 2
    all_left(own)
    with listening(own.url):
        assert subscribers(own) == 1
    all_left(own)


def test_a_stop_does_not_wait_for_streams(make_service: Make) -> None:
    service = make_service()
    service.start()
    with listening(service.url) as listener:
        assert service.stop() == 0
        # An answer that was cut off, after the time for requests in flight, would be an error here.
        assert list(listener.events()) == []


def test_a_token_is_needed(make_service: Make) -> None:
    service = make_service(AUTOMEM_API_TOKEN="secret")
    service.start()
    for path in ("/stream", "/stream/status"):
        assert service.client.get(path).status_code == 401
    assert service.client.get("/stream/status?api_key=secret").json() == {"subscribers": 0}


def test_events_cross_processes(make_service: Make, tmp_path: Path) -> None:
    address = ServerAddress("127.0.0.1", free_port(), "pw")
    named = {"FALKORDB_HOST": "127.0.0.1", "FALKORDB_PORT": str(address.port), "FALKORDB_PASSWORD": "pw"}
    with tcp_server(address, tmp_path):
        one, other = make_service(**named), make_service(**named)
        one.start()
        other.start()
        with listening(one.url) as listener:
            memory_id = store(other)
            assert listener.next("memory.store").data["id"] == memory_id
        one.close()
        other.close()


def test_without_the_graph_there_is_no_stream_and_no_place_is_lost(services: Services) -> None:
    graph: Any = services.graph
    log: Any = Breakable(FalkorDBEvents(graph.beside()), GraphUnavailable)
    log.down = True
    without = dataclasses.replace(services, streams=StreamHub(log, 1))
    client = create_app(services.settings, without).test_client()
    for _ in range(3):
        reply = client.get("/stream")
        assert (reply.status_code, reply.get_json()["message"]) == (503, "the store is down")
    assert client.get("/stream/status").get_json() == {"subscribers": 0}
