"""GET /memories/{id}/related over HTTP (recall.md 12.3)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.support.recalls import RawGraph, associate, store, store_many

AUTHORABLE = [
    "CONTRADICTS",
    "DERIVED_FROM",
    "EVOLVED_INTO",
    "EXEMPLIFIES",
    "INVALIDATED_BY",
    "LEADS_TO",
    "OCCURRED_BEFORE",
    "PART_OF",
    "PREFERS_OVER",
    "REINFORCES",
    "RELATES_TO",
]


def related(api: httpx.Client, memory_id: str, **params: Any) -> dict[str, Any]:
    reply = api.get(f"/memories/{memory_id}/related", params=params)
    assert reply.status_code == 200, reply.text
    body: dict[str, Any] = reply.json()
    assert body["count"] == len(body["related_memories"])
    return body


def ids(body: dict[str, Any]) -> list[str]:
    return [memory["id"] for memory in body["related_memories"]]


@pytest.fixture
def chain(api: httpx.Client, tag: str) -> list[str]:
    """Five memories in a row, the later the more important."""
    made = [store(api, f"link {number}", tag, importance=number / 10) for number in range(5)]
    for one, other in zip(made, made[1:], strict=False):
        associate(api, one, "LEADS_TO", other)
    return made


def test_neighbours_in_any_direction_most_important_first(
    api: httpx.Client, settled: Callable[[], None], chain: list[str]
) -> None:
    settled()
    body = related(api, chain[2])
    assert ids(body) == [chain[3], chain[1]]
    assert {name: value for name, value in body.items() if name != "related_memories"} == {
        "status": "success",
        "memory_id": chain[2],
        "count": 2,
        "relationship_types": AUTHORABLE,
        "max_depth": 1,
        "limit": 5,
    }
    shown = body["related_memories"][0]
    assert shown.keys() == {"id", "type", "timestamp", "importance", "confidence", "summary", "tags"}
    assert shown["summary"] == "link 3"


def test_depth_and_limit_are_clamped(api: httpx.Client, chain: list[str]) -> None:
    assert ids(related(api, chain[0], max_depth=2)) == [chain[2], chain[1]]
    assert ids(related(api, chain[0], max_depth=3)) == [chain[3], chain[2], chain[1]]
    assert related(api, chain[0], max_depth=9)["max_depth"] == 3
    assert related(api, chain[0], max_depth=-1)["max_depth"] == 1
    cut = related(api, chain[0], max_depth=3, limit=0)
    assert (ids(cut), cut["limit"]) == ([chain[3]], 1)
    assert related(api, chain[0], limit=1000)["limit"] == 200


def test_each_memory_once_and_never_the_first(api: httpx.Client, chain: list[str]) -> None:
    associate(api, chain[2], "PART_OF", chain[0])
    associate(api, chain[0], "PART_OF", chain[1])
    associate(api, chain[1], "LEADS_TO", chain[0])
    assert ids(related(api, chain[0], max_depth=3)) == [chain[4], chain[3], chain[2], chain[1]]


def test_equally_important_memories_are_newest_first(api: httpx.Client, tag: str) -> None:
    centre = store(api, "centre", tag)
    made = {
        name: store(api, name, tag, timestamp=f"2024-01-0{day}", importance=0.5)
        for name, day in [("old", 1), ("new", 3), ("middle", 2)]
    }
    for other in made.values():
        associate(api, other, "REINFORCES", centre)
    assert ids(related(api, centre)) == [made["new"], made["middle"], made["old"]]


def test_types_are_chosen_in_any_spelling(api: httpx.Client, tag: str, raw_graph: RawGraph) -> None:
    centre, led, part, similar, found, old = store_many(api, "abcdef", tag)
    associate(api, centre, "LEADS_TO", led)
    associate(api, part, "PART_OF", centre)
    raw_graph.link(centre, "SIMILAR_TO", similar, score=0.9)
    raw_graph.link(found, "DISCOVERED", centre, confidence=0.5)
    raw_graph.link(centre, "PARALLEL_CONTEXT", old)
    assert set(ids(related(api, centre))) == {led, part}
    one = related(api, centre, relationship_types=" part_of , LEADS_TO,Part_Of")
    assert (set(ids(one)), one["relationship_types"]) == ({led, part}, ["PART_OF", "LEADS_TO"])
    assert similar in ids(related(api, centre, relationship_types="similar_to"))
    for names in ("DISCOVERED", "explains", ["shares_theme", "parallel_context"]):
        legacy = related(api, centre, relationship_types=names)
        assert (set(ids(legacy)), legacy["relationship_types"]) == ({found, old}, ["DISCOVERED"])


def test_unknown_types_are_named_and_ignored(api: httpx.Client, chain: list[str]) -> None:
    some = related(api, chain[0], relationship_types="KNOWS,PART_OF")
    assert (ids(some), some["relationship_types"]) == ([], ["PART_OF"])
    [warning] = some["warnings"]
    assert warning["code"] == "unknown_relation_type" and "'KNOWS'" in warning["message"]
    none = related(api, chain[0], relationship_types="KNOWS,MARRIED")
    assert (ids(none), none["relationship_types"]) == ([chain[1]], AUTHORABLE)
    assert len(none["warnings"]) == 2


def test_archived_memories_are_left_out(api: httpx.Client, chain: list[str], raw_graph: RawGraph) -> None:
    raw_graph.change(chain[1], archived=True)
    assert ids(related(api, chain[0])) == []
    assert ids(related(api, chain[0], max_depth=2)) == [chain[2]]


def test_any_id_is_answered(api: httpx.Client, chain: list[str]) -> None:
    for nobody in (str(uuid.uuid4()), "abc", "it's", '"}) DETACH DELETE n'):
        body = related(api, nobody)
        assert (body["count"], body["memory_id"]) == (0, nobody)
    spelled = related(api, chain[0].upper().replace("-", ""))
    assert (ids(spelled), spelled["memory_id"]) == ([chain[1]], chain[0])


@pytest.mark.parametrize("params", [{"max_depth": "deep"}, {"limit": "1.5"}, {"limit": "NaN"}])
def test_what_is_no_number_is_named(api: httpx.Client, params: dict[str, str]) -> None:
    reply = api.get(f"/memories/{uuid.uuid4()}/related", params=params)
    assert (reply.status_code, reply.json()["field"]) == (400, next(iter(params)))


def test_a_hub_is_answered(api: httpx.Client, tag: str, raw_graph: RawGraph) -> None:
    hub, leaf = store_many(api, ["hub", "leaf"], tag)
    raw_graph.run(
        "MATCH (h:Memory {id: $hub}), (l:Memory {id: $leaf}) UNWIND range(1, 3000) AS number "
        "CREATE (m:Memory {id: $tag + toString(number), importance: 1.0}) "
        "CREATE (h)-[:LEADS_TO]->(m)-[:LEADS_TO]->(l)",
        hub=hub,
        leaf=leaf,
        tag=tag,
    )
    body = related(api, hub, max_depth=3, limit=200)
    assert body["count"] == 200
    assert related(api, leaf, max_depth=3, limit=1)["count"] == 1
    raw_graph.run("MATCH (m:Memory) WHERE m.id STARTS WITH $tag DETACH DELETE m", tag=tag)


def test_unknown_parameters_are_named(api: httpx.Client, chain: list[str]) -> None:
    body = related(api, chain[0], depth=2)
    assert [warning["parameter"] for warning in body["warnings"]] == ["depth"]
