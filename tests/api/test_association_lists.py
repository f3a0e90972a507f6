"""GET /memory/{id}/associations over HTTP."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from tests.support.recalls import RawGraph, associate, store, store_many

NOBODY = str(uuid.UUID(int=1))


@pytest.fixture
def pair(api: httpx.Client, tag: str) -> tuple[str, str]:
    first, second = store_many(api, ["a first thought", "a second thought"], tag)
    return first, second


def edges(api: httpx.Client, memory_id: str, **params: Any) -> list[dict[str, Any]]:
    reply = api.get(f"/memory/{memory_id}/associations", params=params)
    assert reply.status_code == 200, reply.text
    assert reply.json()["memory_id"] == memory_id
    assert reply.json()["count"] == len(reply.json()["associations"])
    return list(reply.json()["associations"])


def others(rows: list[dict[str, Any]]) -> list[str]:
    return [row["memory"]["id"] for row in rows]


def body_of(pair: tuple[str, str]) -> dict[str, Any]:
    return {"memory1_id": pair[0], "memory2_id": pair[1]}


def test_edges_are_listed_in_both_directions(
    api: httpx.Client, settled: Callable[[], None], tag: str, raw_graph: RawGraph
) -> None:
    centre, out, back, found = (store(api, f"memory {name}", tag, "b", "c") for name in "abcd")
    associate(api, centre, "LEADS_TO", out, strength=0.25)
    associate(api, back, "LEADS_TO", centre, strength=0.75)
    raw_graph.link(found, "EXPLAINS", centre, similarity=0.5, origin="consolidation")
    settled()
    everything = api.get(f"/memory/{centre.upper()}/associations", params={"limit": 200}).json()
    own = [row for row in everything["associations"] if row["type"] not in ("PRECEDED_BY", "SIMILAR_TO")]
    assert [(row["type"], row["direction"], row["strength"]) for row in own] == [
        ("DISCOVERED", "incoming", 0.5),
        ("LEADS_TO", "incoming", 0.75),
        ("LEADS_TO", "outgoing", 0.25),
    ]
    assert own[0]["kind"] == "explains"
    assert own[0]["properties"] == {"similarity": 0.5, "origin": "consolidation"}
    assert "updated_at" not in own[0] and "next" not in everything
    shown = own[1]["memory"]
    assert (shown["id"], shown["summary"], shown["tags"]) == (back, "memory c", [tag, "b", "c"])
    assert shown.keys() == {"id", "type", "timestamp", "importance", "confidence", "summary", "tags"}


def test_edges_are_chosen_by_type_and_direction(api: httpx.Client, tag: str, raw_graph: RawGraph) -> None:
    centre, one, two, three = store_many(api, "abcd", tag)
    associate(api, centre, "LEADS_TO", one)
    associate(api, two, "LEADS_TO", centre)
    associate(api, centre, "PART_OF", three)
    raw_graph.link(centre, "EXPLAINS", three)
    assert others(edges(api, centre, type="leads_to", direction="incoming")) == [two]
    assert others(edges(api, centre, type="LEADS_TO", direction="Outgoing")) == [one]
    assert set(others(edges(api, centre, type="part_of,leads_to"))) == {one, two, three}
    assert [row["kind"] for row in edges(api, centre, type="parallel_context")] == ["explains"]
    assert edges(api, three, type=["PART_OF", "SIMILAR_TO"])[0]["direction"] == "incoming"


def test_a_walk_shows_every_older_edge_once(api: httpx.Client, tag: str) -> None:
    memories = store_many(api, (f"number {number}" for number in range(40)), tag)
    hub, older, newer = memories[0], memories[1:30], memories[30:]
    rows = [body_of((hub, other)) for other in older]
    assert api.post("/associate", json={"associations": rows}).status_code == 201
    seen: list[str] = []
    gone: list[str] = []
    cursor = ""
    while cursor is not None:
        params = {"type": "RELATES_TO", "limit": 4, "cursor": cursor}
        page = api.get(f"/memory/{hub}/associations", params=params).json()
        seen += others(page["associations"])
        cursor = page.get("next")
        if newer:
            associate(api, hub, "RELATES_TO", newer.pop())
            unseen = sorted(set(older) - set(seen) - set(gone))
            if unseen:
                api.delete("/associate", params=body_of((hub, unseen[0])))
                gone.append(unseen[0])
                if len(unseen) > 1:
                    associate(api, hub, "RELATES_TO", unseen[-1], strength=0.9)
    assert len(seen) == len(set(seen))
    assert set(older) - set(gone) <= set(seen)
    assert not set(gone) & set(seen)


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"type": "KNOWS"}, "type"),
        ({"type": "LEADS_TO,nothing"}, "type"),
        ({"direction": "up"}, "direction"),
        ({"limit": "many"}, "limit"),
        ({"cursor": "abc"}, "cursor"),
        ({"cursor": "é"}, "cursor"),
        ({"cursor": "WyJieS10YWciLDEsMiwieCJd"}, "cursor"),
        ({"cursor": "bnVsbA"}, "cursor"),
    ],
)
def test_what_is_wrong_with_a_list_is_named(
    api: httpx.Client, pair: tuple[str, str], params: dict[str, str], field: str
) -> None:
    reply = api.get(f"/memory/{pair[0]}/associations", params=params)
    assert (reply.status_code, reply.json()["field"]) == (400, field)


def test_edges_of_nobody(api: httpx.Client) -> None:
    assert api.get(f"/memory/{NOBODY}/associations").status_code == 404
    assert api.get("/memory/abc/associations").json()["field"] == "memory_id"
    assert api.post(f"/memory/{NOBODY}/associations", json={}).status_code == 405


def test_limits_are_clamped_and_unknown_parameters_named(api: httpx.Client, pair: tuple[str, str]) -> None:
    associate(api, pair[0], "LEADS_TO", pair[1])
    associate(api, pair[1], "LEADS_TO", pair[0])
    assert len(edges(api, pair[0], limit=0)) == 1
    reply = api.get(f"/memory/{pair[0]}/associations", params={"limit": 10_000, "depth": 2}).json()
    assert [warning["parameter"] for warning in reply["warnings"]] == ["depth"]
    assert {row["type"] for row in reply["associations"]} >= {"LEADS_TO"}


def test_every_time_is_utc(api: httpx.Client, pair: tuple[str, str]) -> None:
    associate(api, pair[0], "LEADS_TO", pair[1])
    at = datetime.fromisoformat(edges(api, pair[0], type="LEADS_TO")[0]["updated_at"])
    assert at.tzinfo == UTC and at <= datetime.now(UTC)
