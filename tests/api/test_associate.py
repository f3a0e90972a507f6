"""POST and DELETE /associate over HTTP (memory-api.md 7; D1, D28)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.support.recalls import RawGraph, associate, recall, store_many
from tests.support.recalls import ids as result_ids

TYPES = [
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
MUST_BE_A_TYPE = "Relation type must be one of [" + ", ".join(f"'{name}'" for name in TYPES) + "]"


@pytest.fixture
def pair(api: httpx.Client, tag: str) -> tuple[str, str]:
    first, second = store_many(api, ["a first thought", "a second thought"], tag)
    return first, second


def edges(api: httpx.Client, memory_id: str, **params: Any) -> list[dict[str, Any]]:
    """Give the edges of a memory but those that the service makes by itself."""
    types = {"type": ",".join(TYPES)} | params
    reply = api.get(f"/memory/{memory_id}/associations", params=types)
    assert reply.status_code == 200, reply.text
    assert reply.json()["memory_id"] == memory_id
    assert reply.json()["count"] == len(reply.json()["associations"])
    return list(reply.json()["associations"])


def others(rows: list[dict[str, Any]]) -> list[str]:
    return [row["memory"]["id"] for row in rows]


def body_of(pair: tuple[str, str], **fields: Any) -> dict[str, Any]:
    return {"memory1_id": pair[0], "memory2_id": pair[1], **fields}


# one


def test_an_edge_is_made_with_the_properties_of_its_type(api: httpx.Client, pair: tuple[str, str]) -> None:
    sent = body_of(pair, type="CONTRADICTS", strength=0.25, resolution="later", reason=["a", 1, True, 0.5])
    reply = api.post("/associate", json=sent)
    assert reply.status_code == 201
    assert reply.json() == {
        "status": "success",
        "message": f"Association created between {pair[0]} and {pair[1]}",
        "relation_type": "CONTRADICTS",
        "strength": 0.25,
        "resolution": "later",
        "reason": ["a", 1, True, 0.5],
    }
    [edge] = edges(api, pair[0])
    assert edge["properties"] == {"resolution": "later", "reason": ["a", 1, True, 0.5]}
    assert (edge["direction"], edge["type"], edge["strength"]) == ("outgoing", "CONTRADICTS", 0.25)
    assert "a second thought" in (edge["memory"].get("content"), edge["memory"].get("summary"))


def test_the_edge_there_is_changes_and_keeps_what_is_not_sent(
    api: httpx.Client, pair: tuple[str, str]
) -> None:
    associate(api, pair[0], "PART_OF", pair[1], role="chapter", context="book", strength=0.9)
    before = edges(api, pair[0])[0]["updated_at"]
    associate(api, pair[0], "PART_OF", pair[1], role="page", context=None)
    [edge] = edges(api, pair[0])
    assert (edge["strength"], edge["properties"]) == (0.5, {"role": "page", "context": "book"})
    assert edge["updated_at"] > before
    associate(api, pair[1], "PART_OF", pair[0])
    associate(api, pair[0], "LEADS_TO", pair[1])
    assert [(row["direction"], row["type"]) for row in edges(api, pair[0])] == [
        ("outgoing", "LEADS_TO"),
        ("incoming", "PART_OF"),
        ("outgoing", "PART_OF"),
    ]


@pytest.mark.parametrize(
    ("fields", "kind", "strength"),
    [
        ({}, "RELATES_TO", 0.5),
        ({"type": None, "strength": None, "associations": None}, "RELATES_TO", 0.5),
        ({"type": " leads_to ", "strength": "0.75"}, "LEADS_TO", 0.75),
        ({"type": "Part_Of", "strength": True, "associations": {}}, "PART_OF", 1.0),
        ({"strength": 0, "associations": "all"}, "RELATES_TO", 0.0),
    ],
)
def test_defaults_and_spellings(
    api: httpx.Client, pair: tuple[str, str], fields: dict[str, Any], kind: str, strength: float
) -> None:
    spelled = (f" {pair[0].upper()} ", "{" + pair[1].replace("-", "") + "}")
    reply = api.post("/associate", json=body_of(spelled, **fields))
    assert reply.status_code == 201, reply.text
    assert (reply.json()["relation_type"], reply.json()["strength"]) == (kind, strength)
    assert [(row["type"], row["strength"]) for row in edges(api, pair[0])] == [(kind, strength)]
    assert others(edges(api, pair[0])) == [pair[1]]


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_takes_its_own_properties_only(
    api: httpx.Client, pair: tuple[str, str], kind: str
) -> None:
    names = [
        "confidence",
        "context",
        "observations",
        "pattern_type",
        "reason",
        "resolution",
        "role",
        "timestamp",
        "transformation",
    ]
    reply = api.post("/associate", json=body_of(pair, type=kind, **dict.fromkeys(names, "x")))
    assert reply.status_code == 201, reply.text
    taken = {name for name in names if name in reply.json()}
    own = {
        "PREFERS_OVER": {"context", "reason"},
        "EXEMPLIFIES": {"pattern_type", "confidence"},
        "CONTRADICTS": {"resolution", "reason"},
        "REINFORCES": {"observations"},
        "INVALIDATED_BY": {"reason", "timestamp"},
        "EVOLVED_INTO": {"confidence", "reason"},
        "DERIVED_FROM": {"transformation", "confidence"},
        "PART_OF": {"role", "context"},
    }
    assert taken == own.get(kind, set())
    assert {warning["parameter"] for warning in reply.json()["warnings"]} == set(names) - taken
    assert edges(api, pair[0])[0]["properties"].keys() == taken


def test_unknown_fields_and_parameters_are_named(api: httpx.Client, pair: tuple[str, str]) -> None:
    reply = api.post("/associate?depth=1", json=body_of(pair, note="x"))
    assert [warning["parameter"] for warning in reply.json()["warnings"]] == ["depth", "note"]


ONE = str(uuid.UUID(int=1))
TWO = str(uuid.UUID(int=2))


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"strength": "x", "memory1_id": None}, "strength", "'strength' must be a number"),
        ({"strength": "nan"}, "strength", "'strength' must be a number"),
        ({"strength": [1]}, "strength", "'strength' must be a number"),
        ({"strength": 1.01}, "strength", "'strength' must be between 0 and 1"),
        ({"strength": "inf"}, "strength", "'strength' must be between 0 and 1"),
        ({"memory1_id": None}, "memory1_id", "'memory1_id' and 'memory2_id' are required"),
        ({"memory2_id": "  "}, "memory2_id", "'memory1_id' and 'memory2_id' are required"),
        ({"memory1_id": "abc"}, "memory1_id", "'memory1_id' must be a valid UUID"),
        ({"memory2_id": 7}, "memory2_id", "'memory2_id' must be a valid UUID"),
        ({"memory2_id": ONE.upper()}, "memory2_id", "Cannot associate a memory with itself"),
        ({"type": "KNOWS"}, "type", MUST_BE_A_TYPE),
        ({"type": "SIMILAR_TO"}, "type", MUST_BE_A_TYPE),
        ({"type": ["LEADS_TO"]}, "type", MUST_BE_A_TYPE),
        ({"type": "PART_OF", "role": {"a": 1}}, "role", "'role' must be a text, a number"),
        ({"type": "PART_OF", "role": ["a", ["b"]]}, "role", "'role' must be a text, a number"),
        ({"type": "PART_OF", "role": ["a", None]}, "role", "'role' must be a text, a number"),
        ({"type": "PART_OF", "role": "a\0b"}, "role", "'role' must not contain NUL"),
    ],
)
def test_what_is_wrong_is_named(api: httpx.Client, changes: dict[str, Any], field: str, message: str) -> None:
    reply = api.post("/associate", json={"memory1_id": ONE, "memory2_id": TWO, **changes})
    assert reply.status_code == 400
    assert reply.json()["field"] == field
    assert reply.json()["message"].startswith(message)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", str(2**63)])
def test_numbers_that_json_or_the_graph_cannot_hold_are_refused(api: httpx.Client, number: str) -> None:
    content = f'{{"memory1_id": "{ONE}", "memory2_id": "{TWO}", "type": "PART_OF", "role": {number}}}'
    reply = api.post("/associate", content=content, headers={"Content-Type": "application/json"})
    assert reply.status_code == 400, reply.text
    assert api.post("/associate").json()["message"] == "JSON body is required"


def test_a_missing_memory_is_a_404(api: httpx.Client, pair: tuple[str, str]) -> None:
    for ends in [(pair[0], ONE), (ONE, pair[0]), (ONE, TWO)]:
        reply = api.post("/associate", json=body_of(ends))
        assert (reply.status_code, reply.json()["message"]) == (404, "One or both memories do not exist")


# many


def test_a_bulk_answers_row_by_row(api: httpx.Client, pair: tuple[str, str]) -> None:
    rows = [
        body_of(pair, type=" leads_to ", strength=0.25),
        body_of(pair, strength="much"),
        "no object",
        body_of((ONE, pair[0])),
        body_of((pair[1], pair[0]), type="PART_OF", role="x", note="y"),
        body_of(pair, type="KNOWS"),
        body_of(("abc", pair[0])),
        body_of((pair[0], pair[0])),
        {"memory1_id": pair[0]},
        body_of(pair, type="PART_OF", role={"a": 1}),
        body_of(pair, type="LEADS_TO"),
    ]
    reply = api.post("/associate", json={"associations": rows, "kind": 1})
    assert reply.status_code == 207
    body = reply.json()
    assert body["status"] == "partial_success"
    assert (body["created_count"], body["failed_count"]) == (3, 8)
    assert body["summary"] == "3/11 associations created successfully"
    assert body["succeeded"][0] == {
        "index": 0,
        "memory1_id": pair[0],
        "memory2_id": pair[1],
        "relation_type": "LEADS_TO",
        "strength": 0.25,
    }
    assert [row["index"] for row in body["succeeded"]] == [0, 4, 10]
    reasons = {row["index"]: (row["reason"].split(",")[0], row.get("field")) for row in body["failed"]}
    assert list(reasons.items()) == [
        (1, ("'strength' must be a number", "strength")),
        (2, ("Association item must be an object", None)),
        (3, ("One or both memories do not exist", None)),
        (5, ("Relation type must be one of ['CONTRADICTS'", "type")),
        (6, ("'memory1_id' must be a valid UUID", "memory1_id")),
        (7, ("Cannot associate a memory with itself", "memory2_id")),
        (8, ("'memory1_id' and 'memory2_id' are required", "memory2_id")),
        (9, ("'role' must be a text", "role")),
    ]
    assert [warning["parameter"] for warning in body["warnings"]] == ["kind", "note"]
    assert [(row["type"], row["direction"], row["strength"]) for row in edges(api, pair[0])] == [
        ("LEADS_TO", "outgoing", 0.5),
        ("PART_OF", "incoming", 0.5),
    ]


def test_a_bulk_of_five_hundred(api: httpx.Client, tag: str) -> None:
    memories = store_many(api, (f"number {number}" for number in range(101)), tag)
    hub, rest = memories[0], memories[1:]
    rows = [body_of((hub, other), type=kind) for kind in TYPES[:5] for other in rest]
    reply = api.post("/associate", json={"associations": rows})
    assert reply.status_code == 201, reply.text
    body = reply.json()
    assert (body["status"], body["created_count"], body["failed_count"]) == ("success", 500, 0)
    assert [row["index"] for row in body["succeeded"]] == list(range(500))
    assert "warnings" not in body
    assert sorted(others(edges(api, hub, type="LEADS_TO", limit=200))) == []
    assert sorted(others(edges(api, hub, type="CONTRADICTS", limit=200))) == sorted(rest)

    too_many = api.post("/associate", json={"associations": [*rows, rows[0]]})
    assert too_many.status_code == 400
    assert too_many.json()["message"] == "Batch size limit is 500 associations per request"


def test_rows_of_the_same_edge_are_written_one_after_the_other(
    api: httpx.Client, pair: tuple[str, str]
) -> None:
    rows = [
        body_of(pair, type="PART_OF", role="a", strength=0.25),
        body_of(pair, type="PART_OF", context="b", strength=0.75),
    ]
    reply = api.post("/associate", json={"associations": rows})
    assert (reply.status_code, reply.json()["created_count"]) == (201, 2)
    [edge] = edges(api, pair[0])
    assert (edge["strength"], edge["properties"]) == (0.75, {"role": "a", "context": "b"})


@pytest.mark.parametrize("rows", [[None], [{}], [body_of((ONE, TWO))]])
def test_a_bulk_of_bad_rows_only_is_partial_success(api: httpx.Client, rows: list[Any]) -> None:
    reply = api.post("/associate", json={"associations": rows})
    assert (reply.status_code, reply.json()["status"]) == (207, "partial_success")
    assert (reply.json()["created_count"], reply.json()["succeeded"]) == (0, [])


def test_an_empty_bulk_is_refused(api: httpx.Client) -> None:
    reply = api.post("/associate", json={"associations": []})
    assert reply.status_code == 400
    assert reply.json()["message"] == "'associations' must be a non-empty array"
    assert reply.json()["field"] == "associations"


# current state


@pytest.mark.parametrize("kind", ["INVALIDATED_BY", "EVOLVED_INTO"])
def test_a_replaced_memory_is_hidden_until_the_edge_goes(
    api: httpx.Client, pair: tuple[str, str], tag: str, kind: str
) -> None:
    def shown() -> set[str]:
        return set(result_ids(recall(api, query="a first thought", tags=tag)))

    assert shown() == set(pair)
    associate(api, pair[0], kind, pair[1])
    assert shown() == {pair[1]}
    removed = api.delete("/associate", params=body_of(pair, type=kind))
    assert removed.status_code == 200
    assert shown() == set(pair)


# remove


def test_removing_tells_what_was_there(api: httpx.Client, pair: tuple[str, str]) -> None:
    associate(api, pair[0], "PART_OF", pair[1], role="chapter", strength=0.25)
    associate(api, pair[0], "LEADS_TO", pair[1])
    reply = api.delete("/associate", params=body_of(pair, type="part_of"))
    assert reply.status_code == 200
    body = reply.json()
    assert body.pop("updated_at") > "2020"
    assert body == {
        "status": "success",
        "message": f"Association removed between {pair[0]} and {pair[1]}",
        "memory1_id": pair[0],
        "memory2_id": pair[1],
        "relation_type": "PART_OF",
        "strength": 0.25,
        "properties": {"role": "chapter"},
        "removed_count": 1,
    }
    assert [row["type"] for row in edges(api, pair[0])] == ["LEADS_TO"]
    again = api.delete("/associate", params=body_of(pair, type="PART_OF"))
    assert (again.status_code, again.json()["message"]) == (404, "No such association")


def test_the_edge_to_remove_may_stand_in_the_body(api: httpx.Client, pair: tuple[str, str]) -> None:
    associate(api, pair[0], "RELATES_TO", pair[1])
    wrong_way = api.request("DELETE", "/associate", json=body_of((pair[1], pair[0])))
    assert wrong_way.status_code == 404
    spelled = body_of((pair[0].upper(), pair[1]), note="x")
    reply = api.request("DELETE", "/associate", json=spelled)
    assert (reply.status_code, reply.json()["relation_type"]) == (200, "RELATES_TO")
    assert [warning["parameter"] for warning in reply.json()["warnings"]] == ["note"]
    assert edges(api, pair[0]) == []


def test_edges_of_the_service_may_be_removed_too(
    api: httpx.Client, pair: tuple[str, str], raw_graph: RawGraph
) -> None:
    raw_graph.link(pair[0], "SHARES_THEME", pair[1], confidence=0.75)
    raw_graph.link(pair[0], "SIMILAR_TO", pair[1], score=0.875)
    legacy = api.delete("/associate", params=body_of(pair, type="discovered")).json()
    assert (legacy["relation_type"], legacy["kind"], legacy["strength"]) == (
        "DISCOVERED",
        "shares_theme",
        0.75,
    )
    similar = api.delete("/associate", params=body_of(pair, type="SIMILAR_TO")).json()
    assert (similar["strength"], similar["properties"]) == (0.875, {"score": 0.875})


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"memory1_id": ""}, "memory1_id"),
        ({"memory2_id": "abc"}, "memory2_id"),
        ({"memory2_id": ONE}, "memory2_id"),
        ({"type": "KNOWS"}, "type"),
    ],
)
def test_what_is_wrong_with_a_removal_is_named(
    api: httpx.Client, changes: dict[str, str], field: str
) -> None:
    values = {"memory1_id": ONE, "memory2_id": TWO, **changes}
    by_query = api.delete("/associate", params=values)
    by_body = api.request("DELETE", "/associate", json=values)
    for reply in (by_query, by_body):
        assert (reply.status_code, reply.json()["field"]) == (400, field)


def test_a_client_of_another_shape_gets_a_400(api: httpx.Client) -> None:
    shapes: list[Callable[[], httpx.Response]] = [
        lambda: api.post("/associate", json=[]),
        lambda: api.post("/associate", content="{", headers={"Content-Type": "application/json"}),
        lambda: api.request("DELETE", "/associate", json=[1]),
        lambda: api.delete("/associate"),
    ]
    assert [shape().status_code for shape in shapes] == [400] * 4
