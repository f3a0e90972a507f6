"""``supersedes`` on POST /memory: a new memory in the place of an old one, in one write."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from automem.app import create_app
from automem.errors import GraphUnavailable
from automem.models import Scope
from automem.services import Services
from tests.support.breakable import Breakable
from tests.support.recalls import ids, recall, store
from tests.support.service import wait_until


def get(api: httpx.Client, memory_id: str) -> dict[str, Any]:
    memory: dict[str, Any] = api.get(f"/memory/{memory_id}").json()["memory"]
    return memory


def supersede(api: httpx.Client, old: str, **fields: Any) -> dict[str, Any]:
    reply = api.post("/memory", json={"content": "the new text", "supersedes": old, **fields})
    assert reply.status_code == 201, reply.text
    body: dict[str, Any] = reply.json()
    return body


def test_the_old_memory_ends_where_the_new_one_begins(
    api: httpx.Client, settled: Callable[[], None], tag: str
) -> None:
    old = store(api, "the old text", tag, metadata={"k": 1}, timestamp="2024-01-01")
    settled()
    before = get(api, old)
    answer = supersede(api, old.upper(), tags=[tag], timestamp="2024-06-01T12:00:00+02:00")
    new = answer["memory_id"]
    assert answer["superseded"] == old
    assert get(api, new)["t_valid"] == "2024-06-01T10:00:00+00:00"

    after = get(api, old)
    assert after["superseded_by"] == new
    assert after["t_invalid"] == "2024-06-01T10:00:00+00:00"
    assert after["updated_at"] > before["updated_at"]
    changed = {"t_invalid", "superseded_by", "updated_at", "last_accessed"}
    assert {k: v for k, v in after.items() if k not in changed} == {
        k: v for k, v in before.items() if k not in changed
    }
    [edge] = api.get(f"/memory/{old}/associations?type=INVALIDATED_BY").json()["associations"]
    assert (edge["direction"], edge["memory"]["id"]) == ("outgoing", new)
    assert edge["properties"] == {"timestamp": "2024-06-01T10:00:00+00:00"}


def test_without_a_timestamp_the_old_memory_ends_now(api: httpx.Client, tag: str) -> None:
    old = store(api, "the old text", tag)
    begun = datetime.now(UTC).isoformat()
    answer = supersede(api, old)
    assert begun <= answer["timestamp"] == get(api, old)["t_invalid"]


def test_recall_shows_the_new_one_and_keeps_the_history(api: httpx.Client, tag: str, settled: Any) -> None:
    old = store(api, "The office is in Bern", tag)
    new = supersede(api, old, content="The office is in Basel", tags=[tag])["memory_id"]
    settled()
    assert ids(recall(api, query="Where is the office", tags=tag)) == [new]
    assert set(ids(recall(api, query="Where is the office", tags=tag, state_mode="history"))) == {old, new}


def test_the_vector_store_follows(app_client: Any, services: Services, tag: str) -> None:
    def store_here(**fields: Any) -> str:
        reply = app_client.post("/memory", json={"content": "x", "tags": [tag], **fields})
        return str(reply.get_json()["memory_id"])

    def current() -> set[str]:
        scope = Scope(at=datetime.now(UTC), tags=(tag,), state="current")
        return {memory.id for memory in services.vectors.scroll(scope, 10)}

    old = store_here()
    wait_until(lambda: current() == {old})
    new = store_here(supersedes=old)
    wait_until(lambda: current() == {new})
    assert services.graph.pending_vector_count() == 0


def test_a_chain_names_the_next_one(api: httpx.Client, tag: str) -> None:
    first = store(api, "one", tag)
    second = supersede(api, first, tags=[tag])["memory_id"]
    third = supersede(api, second, tags=[tag])["memory_id"]
    assert get(api, first)["superseded_by"] == second
    assert get(api, second)["superseded_by"] == third
    assert "superseded_by" not in get(api, third)
    listed = api.get("/memory/by-tag", params={"tags": tag}).json()["memories"]
    assert not any("superseded_by" in memory for memory in listed)


def test_the_newest_successor_is_named(api: httpx.Client, tag: str) -> None:
    old = store(api, "one", tag)
    supersede(api, old)
    later = supersede(api, old)["memory_id"]
    assert get(api, old)["superseded_by"] == later
    api.delete(f"/memory/{later}")
    assert get(api, old)["superseded_by"] != later


def test_an_unknown_memory_is_a_404_and_nothing_is_stored(api: httpx.Client, tag: str) -> None:
    body = {"content": "never", "tags": [tag], "supersedes": str(uuid.uuid4()), "id": str(uuid.uuid4())}
    key = {"Idempotency-Key": tag}
    reply = api.post("/memory", json=body, headers=key)
    assert reply.status_code == 404
    assert "supersedes" in reply.json()["message"]
    assert api.get(f"/memory/{body['id']}").status_code == 404
    assert api.get("/memory/by-tag", params={"tags": tag}).json()["count"] == 0
    # Neither the key nor the id is used up.
    body["supersedes"] = store(api, "old", tag)
    assert api.post("/memory", json=body, headers=key).status_code == 201


@pytest.mark.parametrize("value", ["abc", 5, ["x"], {}, True, str(uuid.UUID(int=7))])
def test_what_is_no_other_memory_is_a_400(api: httpx.Client, tag: str, value: Any) -> None:
    body = {"content": "never", "tags": [tag], "supersedes": value, "id": str(uuid.UUID(int=7))}
    reply = api.post("/memory", json=body)
    assert (reply.status_code, reply.json()["field"]) == (400, "supersedes")
    assert api.get("/memory/by-tag", params={"tags": tag}).json()["count"] == 0


@pytest.mark.parametrize("value", [None, ""])
def test_nothing_is_nothing(api: httpx.Client, value: Any) -> None:
    reply = api.post("/memory", json={"content": "x", "supersedes": value})
    assert reply.status_code == 201
    assert "superseded" not in reply.json()


def test_the_same_request_again_gives_the_same_answer(api: httpx.Client, tag: str) -> None:
    old = store(api, "old", tag)
    body = {"content": "new", "tags": [tag], "supersedes": old}
    for headers, extra in [({"Idempotency-Key": tag}, {}), ({}, {"id": str(uuid.uuid4())})]:
        first = api.post("/memory", json=body | extra, headers=headers)
        again = api.post("/memory", json=body | extra, headers=headers)
        assert (first.status_code, again.status_code) == (201, 201)
        assert first.json() == again.json()
        assert again.json()["superseded"] == old
    edges = api.get(f"/memory/{old}/associations?type=INVALIDATED_BY").json()
    assert edges["count"] == 2


def test_the_same_id_cannot_supersede_something_else_later(api: httpx.Client, tag: str) -> None:
    old = store(api, "old", tag)
    body = {"content": "new", "tags": [tag], "id": str(uuid.uuid4())}
    assert api.post("/memory", json=body).status_code == 201
    assert api.post("/memory", json={**body, "supersedes": old}).status_code == 409
    assert "t_invalid" not in get(api, old)


def test_a_batch_row_cannot_supersede(api: httpx.Client, tag: str) -> None:
    old = store(api, "old", tag)
    reply = api.post("/memory/batch", json={"memories": [{"content": "new", "supersedes": old}]})
    assert reply.status_code == 201
    assert [warning["parameter"] for warning in reply.json()["warnings"]] == ["supersedes"]
    assert "superseded_by" not in get(api, old)


# stores that fail


@dataclass
class Stage:
    """An application whose graph can be broken, and two memories of it."""

    client: Any
    graph: Any
    first: str
    second: str


@pytest.fixture
def stage(services: Services) -> Iterator[Stage]:
    graph: Any = Breakable(services.graph, GraphUnavailable)
    client = create_app(services.settings, dataclasses.replace(services, graph=graph)).test_client()
    first, second = (
        client.post("/memory", json={"content": text, "type": "T"}).get_json()["memory_id"] for text in "ab"
    )
    yield Stage(client, graph, first, second)
    graph.down = False


def test_a_lost_answer_is_found_again(stage: Stage) -> None:
    stage.graph.lost.add("supersede")
    body = {"content": "new", "supersedes": stage.first, "type": "T"}
    reply = stage.client.post("/memory", json=body)
    assert (reply.status_code, reply.get_json()["superseded"]) == (201, stage.first)
    new = reply.get_json()["memory_id"]
    assert stage.client.get(f"/memory/{stage.first}").get_json()["memory"]["superseded_by"] == new


def test_without_the_graph_nothing_is_superseded_or_linked(stage: Stage) -> None:
    ends = {"memory1_id": stage.first, "memory2_id": stage.second}
    stage.graph.down = True
    for method, path, body in [
        ("POST", "/memory", {"content": "new", "supersedes": stage.first}),
        ("POST", "/associate", ends),
        ("POST", "/associate", {"associations": [ends, {}]}),
        ("DELETE", "/associate", ends),
        ("GET", f"/memory/{stage.first}/associations", None),
        ("GET", f"/memories/{stage.first}/related", None),
        ("GET", "/memory/by-tag?tags=a", None),
        ("DELETE", "/memory/by-tag?tags=a", None),
    ]:
        reply = stage.client.open(path, method=method, json=body)
        assert reply.status_code == 503, (method, path)
        assert reply.headers["Retry-After"]
    bad_only = stage.client.post("/associate", json={"associations": [{}, 5]})
    assert (bad_only.status_code, bad_only.get_json()["failed_count"]) == (207, 2)
    stage.graph.down = False
    assert "superseded_by" not in stage.client.get(f"/memory/{stage.first}").get_json()["memory"]
