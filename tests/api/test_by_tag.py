"""GET and DELETE /memory/by-tag over HTTP (memory-api.md 6, D5)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from automem.services import Services
from tests.support.recalls import RawGraph, associate, recall, store, store_many
from tests.support.recalls import ids as result_ids
from tests.support.service import RunningService, wait_until


def listed(api: httpx.Client, *tags: str, **params: Any) -> dict[str, Any]:
    reply = api.get("/memory/by-tag", params={"tags": list(tags), **params})
    assert reply.status_code == 200, reply.text
    body: dict[str, Any] = reply.json()
    assert body["count"] == len(body["memories"])
    return body


def ids(body: dict[str, Any]) -> list[str]:
    return [memory["id"] for memory in body["memories"]]


def walk(api: httpx.Client, tag: str, limit: int) -> list[str]:
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        body = listed(api, tag, limit=limit, cursor=cursor)
        found += ids(body)
        cursor = body.get("next")
    return found


def test_memories_are_given_whole_most_important_first(
    api: httpx.Client, settled: Callable[[], None], tag: str
) -> None:
    plain = store(api, "plain", tag, importance=0.5, timestamp="2024-01-02")
    old = store(api, "old", tag, importance=0.5, timestamp="2024-01-01", metadata={"k": [1]})
    high = store(api, "high", tag, "x", importance=0.9, timestamp="2020-01-01")
    store(api, "another", f"{tag}x")
    settled()
    body = listed(api, f" {tag} ")
    assert {name: value for name, value in body.items() if name != "memories"} == {
        "status": "success",
        "tags": [tag],
        "count": 3,
        "limit": 20,
        "offset": 0,
        "has_more": False,
    }
    assert ids(body) == [high, plain, old]
    by_id = api.get(f"/memory/{old}").json()["memory"]
    accessed = {"last_accessed"}
    assert {k: v for k, v in body["memories"][2].items() if k not in accessed} == {
        k: v for k, v in by_id.items() if k not in accessed
    }


def test_equal_memories_are_ordered_by_id(api: httpx.Client, tag: str) -> None:
    made = store_many(api, "abcdefgh", tag, timestamp="2024-01-01", importance=0.5)
    assert ids(listed(api, tag)) == sorted(made)


def test_whole_tags_match_in_any_spelling(api: httpx.Client, tag: str) -> None:
    nested = store(api, "nested", f"{tag}/Sub:One")
    comma = store(api, "comma", f"{tag}-b")
    assert ids(listed(api, f"{tag.upper()}:sub/ONE")) == [nested]
    assert ids(listed(api, tag)) == ids(listed(api, f"{tag}:sub")) == ids(listed(api, ": /")) == []
    for tags in ([f"{tag}:sub:one", f"{tag}-b"], [f"{tag}:sub:one,{tag}-b"], [f"{tag}-B,,{tag}/sub/one"]):
        assert set(ids(listed(api, *tags))) == {nested, comma}
    assert listed(api, "A, b", "A")["tags"] == ["A", "b"]


def test_archived_and_ended_memories_are_listed(api: httpx.Client, tag: str, raw_graph: RawGraph) -> None:
    archived, ended, replaced = store_many(api, ["archived", "ended", "replaced"], tag)
    raw_graph.change(archived, archived=True)
    api.patch(f"/memory/{ended}", json={"t_invalid": "2020-01-01"})
    associate(api, replaced, "INVALIDATED_BY", ended)
    assert set(ids(listed(api, tag))) == {archived, ended, replaced}


def test_pages_by_offset(api: httpx.Client, tag: str) -> None:
    made = sorted(store_many(api, "abcdefg", tag, timestamp="2024-01-01"))
    first = listed(api, tag, limit=3)
    assert (ids(first), first["has_more"], first["limit"]) == (made[:3], True, 3)
    last = listed(api, tag, limit=3, offset=6)
    assert (ids(last), last["has_more"], last["offset"]) == (made[6:], False, 6)
    assert "next" in first and "next" not in last
    assert ids(listed(api, tag, limit=7)) == made
    assert "next" not in listed(api, tag, limit=7)
    assert ids(listed(api, tag, offset=100)) == []
    assert listed(api, tag, limit=1000)["limit"] == 200
    assert listed(api, tag, limit=0, offset=-5)["limit"] == 1


def test_pages_by_cursor(api: httpx.Client, tag: str) -> None:
    for number in range(7):
        store(api, f"number {number}", tag, importance=number % 3 / 10, timestamp=f"2024-01-0{number + 1}")
    whole = ids(listed(api, tag))
    assert [walk(api, tag, limit) for limit in (1, 2, 3, 7, 200)] == [whole] * 5
    cursor = listed(api, tag, limit=2)["next"]
    both = listed(api, tag, limit=2, cursor=cursor, offset=3)
    assert ids(both) == whole[2:4]
    assert (both["offset"], [warning["parameter"] for warning in both["warnings"]]) == (0, ["offset"])


def test_a_walk_shows_every_older_memory_once(api: httpx.Client, tag: str) -> None:
    older = [
        store(api, f"number {number}", tag, importance=number % 4 / 10, timestamp=f"2024-01-{number + 1:02}")
        for number in range(24)
    ]
    seen: list[str] = []
    gone: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        body = listed(api, tag, limit=3, cursor=cursor)
        seen += ids(body)
        cursor = body.get("next")
        # In front of what was shown, in between, and behind it.
        for importance in (0.95, 0.15, 0.0) if len(seen) < 20 else ():
            store(api, "later", tag, importance=importance)
        for memory_id in [seen[-1], *[other for other in older if other not in seen][:1]]:
            if api.delete(f"/memory/{memory_id}").status_code == 200:
                gone.append(memory_id)
    assert len(seen) == len(set(seen))
    assert set(older) - set(gone) <= set(seen)


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "tags"),
        ({"tags": " , "}, "tags"),
        ({"tags": "a", "limit": "x"}, "limit"),
        ({"tags": "a", "offset": "1.5"}, "offset"),
        ({"tags": "a", "cursor": "next"}, "cursor"),
        ({"tags": "a\0b"}, "tags"),
    ],
)
def test_what_is_wrong_is_named(api: httpx.Client, params: dict[str, str], field: str) -> None:
    reply = api.get("/memory/by-tag", params=params)
    assert (reply.status_code, reply.json()["field"]) == (400, field)
    if field == "tags":
        assert api.delete("/memory/by-tag", params=params).status_code == 400


def test_words_of_the_route_are_ids_for_other_methods(api: httpx.Client) -> None:
    for method, path in [
        ("PATCH", "/memory/by-tag"),
        ("GET", "/memory/batch"),
        ("PATCH", "/memory/batch"),
        ("DELETE", "/memory/batch"),
    ]:
        reply = api.request(method, path, json={"content": "x"})
        assert (reply.status_code, reply.json()["message"]) == (400, "memory_id must be a valid UUID")
    assert api.post("/memory/by-tag", json={"content": "x"}).status_code == 405
    assert api.put("/memory/by-tag", json={}).status_code == 405
    assert api.get("/memory/by-tag/").status_code == 404


def test_access_is_recorded_in_the_background(api: httpx.Client, tag: str) -> None:
    shown, hidden = sorted(store_many(api, "ab", tag, timestamp="2024-01-01"))
    assert ids(listed(api, tag, limit=1)) == [shown]

    def accessed(memory_id: str) -> str:
        return {memory["id"]: memory["last_accessed"] for memory in listed(api, tag)["memories"]}[memory_id]

    wait_until(lambda: accessed(shown) > "2025")
    assert shown != hidden


# delete


def test_all_memories_with_a_tag_are_deleted(api: httpx.Client, tag: str, settled: Any) -> None:
    gone = [store(api, "one", f"{tag}/A"), store(api, "two", f"{tag}:a", "x"), store(api, "three", f"{tag}b")]
    kept = [store(api, "four", tag), store(api, "five", f"{tag}:a:c")]
    settled()
    reply = api.delete("/memory/by-tag", params={"tags": f"{tag}:A,{tag}B", "limit": 1, "offset": 1})
    assert reply.status_code == 200
    assert reply.json() == {"status": "success", "tags": [f"{tag}:A", f"{tag}B"], "deleted_count": 3}
    assert [api.get(f"/memory/{memory_id}").status_code for memory_id in [*gone, *kept]] == [404] * 3 + [
        200
    ] * 2
    assert set(result_ids(recall(api, tags=tag, limit=50))) == set(kept)
    again = api.delete("/memory/by-tag", params={"tags": f"{tag}:a"})
    assert (again.status_code, again.json()["deleted_count"]) == (200, 0)


def test_more_than_two_pages_are_deleted_with_their_vectors(
    app_client: Any, services: Services, tag: str
) -> None:
    rows = [{"content": f"number {number}", "tags": [tag]} for number in range(450)]
    made = app_client.post("/memory/batch", json={"memories": rows}).get_json()["memory_ids"]
    wait_until(lambda: services.graph.unsettled_count() == 0)
    assert len(services.vectors.vectors(made)) == 450
    assert app_client.delete(f"/memory/by-tag?tags={tag}").get_json()["deleted_count"] == 450
    assert services.vectors.vectors(made) == {}
    assert services.graph.tombstones(10) == []


def test_a_kill_in_the_middle_leaves_no_vector(make_service: Any, tag: str) -> None:
    service: RunningService = make_service()
    service.start()
    made = store_many(service.client, (f"number {number}" for number in range(300)), tag)
    service.wait_settled()
    graph = RawGraph(service.data_dir)
    service.kill()
    service.start()
    graph.close()
    # As a kill between the graph and the vectors of the first page would leave it.
    graph = RawGraph(service.data_dir)
    graph.run(
        "MATCH (m:Memory) WHERE m.id IN $ids WITH m, m.id AS id DETACH DELETE m "
        "MERGE (t:Tombstone {id: id}) SET t.at = 1",
        ids=made[:200],
    )
    graph.close()
    reply = service.client.delete("/memory/by-tag", params={"tags": tag})
    assert reply.json()["deleted_count"] == 100

    def health() -> dict[str, Any]:
        body: dict[str, Any] = service.client.get("/health").json()
        return body

    wait_until(lambda: health()["vector_count"] == 0)
    assert health()["memory_count"] == 0


def test_deleting_a_replacement_shows_what_it_had_replaced(
    app_client: Any, services: Services, tag: str
) -> None:
    old = app_client.post("/memory", json={"content": "the old", "tags": [tag]}).get_json()["memory_id"]
    new_tag = f"{tag}-new"
    new = app_client.post("/memory", json={"content": "the new", "tags": [new_tag]}).get_json()["memory_id"]
    body = {"memory1_id": old, "memory2_id": new, "type": "EVOLVED_INTO"}
    assert app_client.post("/associate", json=body).status_code == 201
    assert app_client.delete(f"/memory/by-tag?tags={new_tag}").get_json()["deleted_count"] == 1
    wait_until(lambda: services.graph.unsettled_count() == 0)
    found = app_client.get(f"/recall?tags={tag}").get_json()
    assert [row["id"] for row in found["results"]] == [old]


def test_a_tag_of_nobody(api: httpx.Client) -> None:
    nobody = f"t{uuid.uuid4().hex}"
    assert listed(api, nobody)["memories"] == []
    assert api.delete("/memory/by-tag", params={"tags": nobody}).json()["deleted_count"] == 0
