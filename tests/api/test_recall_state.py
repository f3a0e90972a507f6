"""GET /recall: what is hidden for not being current, and what stands in its place (recall.md 10, D17)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.support.recalls import Body, RawGraph, ids, recall, row_of, store

Settled = Callable[[], None]
Link = Callable[..., None]
QUESTION = "what is the lighthouse lamp lit with"


def days_ago(days: int) -> str:
    """Times weeks apart keep memories from being neighbours of one conversation."""
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()


def state_of(body: Body) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in body["state_filter"]["suppressed"]}


@pytest.fixture
def chain(api: httpx.Client, settled: Settled, tag: str, link: Link) -> Callable[[int], list[str]]:
    """Make memories of which each but the last is replaced by the next; only the first is worded like
    the question."""

    def make(length: int) -> list[str]:
        texts = [
            "The lighthouse lamp is lit with whale oil",
            *(f"Changed again, {n}" for n in range(1, length)),
        ]
        stored = [
            store(api, text, tag, timestamp=days_ago(1_000 - 20 * n), importance=0.5)
            for n, text in enumerate(texts)
        ]
        for old, new in zip(stored, stored[1:], strict=False):
            link(old, "INVALIDATED_BY", new, strength=0.8)
        settled()
        return stored

    return make


@pytest.fixture
def distractor(api: httpx.Client, tag: str) -> str:
    """A current memory that matches the question less than the replaced one, but more than its heads."""
    return store(api, "The keeper painted the lighthouse", tag, timestamp=days_ago(2_000), importance=0.0)


def test_the_head_of_a_chain_takes_the_place_and_the_scores(
    api: httpx.Client, tag: str, distractor: str, chain: Callable[[int], list[str]]
) -> None:
    old, middle, head = chain(3)
    before = recall(api, query=QUESTION, tags=tag, state_mode="history", limit=1)
    body = recall(api, query=QUESTION, tags=tag, limit=1, state_debug="true")
    assert (ids(before), ids(body)) == ([old], [head])
    shown, was = body["results"][0], before["results"][0]
    assert (shown["match_type"], shown["source"]) == ("state_replacement", "graph")
    assert shown["state_replaces"] == old
    assert shown["relations"] == [{"type": "INVALIDATED_BY", "strength": 0.8, "from": old}]
    for name in ("score", "final_score", "match_score", "original_score"):
        assert shown[name] == pytest.approx(was[name], abs=1e-4)
    for name, value in was["score_components"].items():
        assert shown["score_components"][name] == pytest.approx(value, abs=1e-4)
    assert shown["memory"]["content"] == "Changed again, 2"
    assert "_query" not in shown
    filtered = body["state_filter"]
    assert (filtered["suppressed_count"], filtered["replacement_count"]) == (1, 1)
    assert filtered["suppressed"] == [
        {"id": old, "reason": "superseded", "replacement_id": head, "relation_type": "INVALIDATED_BY"}
    ]
    assert filtered["replacements"] == [{"id": head, "replaces_id": old, "relation_type": "INVALIDATED_BY"}]
    assert "suppressed" not in recall(api, query=QUESTION, tags=tag, limit=1)["state_filter"]
    assert middle not in ids(recall(api, query=QUESTION, tags=tag, limit=50))


def test_a_head_that_is_found_itself_is_shown_once(
    api: httpx.Client, tag: str, distractor: str, chain: Callable[[int], list[str]]
) -> None:
    old, head = chain(2)
    body = recall(api, query=QUESTION, tags=tag, limit=50)
    assert sorted(ids(body)) == sorted([head, distractor])
    assert row_of(body, head)["match_type"] != "state_replacement"
    assert body["state_filter"] == {"current_only": True, "suppressed_count": 1, "replacement_count": 0}


def test_a_chain_is_followed_for_five_hops(
    api: httpx.Client, tag: str, distractor: str, chain: Callable[[int], list[str]]
) -> None:
    stored = chain(6)
    assert ids(recall(api, query=QUESTION, tags=tag, limit=1)) == [stored[5]]


def test_a_longer_chain_shows_nothing_that_it_hides(
    api: httpx.Client, tag: str, distractor: str, chain: Callable[[int], list[str]]
) -> None:
    stored = chain(9)
    whole = recall(api, query=QUESTION, tags=tag, limit=50, state_debug="true")
    assert not set(ids(whole)) & set(state_of(whole))
    assert set(ids(whole)) == {distractor, stored[8]}


def test_a_cycle_ends(
    api: httpx.Client, tag: str, distractor: str, chain: Callable[[int], list[str]], link: Link
) -> None:
    first, second, third = chain(3)
    link(third, "EVOLVED_INTO", first)
    for limit in (1, 50):
        body = recall(api, query=QUESTION, tags=tag, limit=limit)
        assert body["results"]
        assert len(set(ids(body))) == len(ids(body))
        assert ids(body)[0] in {second, third}


def test_the_newest_active_replacement_counts(
    api: httpx.Client, settled: Settled, tag: str, link: Link, raw_graph: RawGraph
) -> None:
    old, first, second = (
        store(api, text, tag, timestamp=days_ago(900 - 20 * n))
        for n, text in enumerate(["The gate code is 1", "The gate code is 2", "The gate code is 3"])
    )
    link(old, "INVALIDATED_BY", first)
    link(old, "EVOLVED_INTO", second)
    settled()
    asked = {"query": "gate code", "tags": tag, "state_debug": "true", "limit": 50}
    told = state_of(recall(api, **asked))
    assert told == {
        old: {"id": old, "reason": "superseded", "replacement_id": second, "relation_type": "EVOLVED_INTO"}
    }
    raw_graph.change(second, archived=True)
    assert state_of(recall(api, **asked))[old]["replacement_id"] == first
    raw_graph.change(first, archived=True)
    body = recall(api, **asked)
    assert ids(body) == [old]
    assert old not in state_of(body)


def test_contradicts_and_the_like_hide_nothing(
    api: httpx.Client, settled: Settled, tag: str, link: Link
) -> None:
    one = store(api, "Tea is better in the morning", tag, timestamp=days_ago(100))
    others = []
    for number, kind in enumerate(("CONTRADICTS", "DERIVED_FROM", "PREFERS_OVER", "LEADS_TO")):
        others.append(
            store(api, f"Coffee is better in the morning {number}", tag, timestamp=days_ago(number))
        )
        link(one, kind, others[-1])
        link(others[-1], kind, one)
    settled()
    body = recall(api, query="better in the morning", tags=tag, limit=10, state_debug="true")
    assert set(ids(body)) == {one, *others}
    assert body["state_filter"]["suppressed_count"] == 0


@pytest.mark.parametrize(
    ("fields", "params"),
    [
        ({"tags": "elsewhere"}, {}),
        ({"tags": "here barred"}, {"exclude_tags": "barred"}),
        ({"tags": "here", "timestamp": "2020-05-05T00:00:00Z"}, {"start": "2022-01-01T00:00:00Z"}),
        ({"tags": "here", "type": "MetaPattern"}, {}),
    ],
)
def test_a_replacement_outside_the_scope_stays_out(
    api: httpx.Client, settled: Settled, tag: str, link: Link, fields: dict[str, str], params: dict[str, str]
) -> None:
    old = store(api, "The spare wheel is in the shed", tag, timestamp="2023-01-01T00:00:00Z")
    given = {"timestamp": days_ago(3), **fields}
    tags = [tag if name == "here" else name for name in given.pop("tags").split()]
    new = store(api, "It was moved", *tags, **given)
    link(old, "INVALIDATED_BY", new)
    settled()
    body = recall(api, query="spare wheel", tags=tag, state_debug="true", **params)
    assert ids(body) == []
    assert state_of(body)[old]["reason"] == "superseded"
    assert body["state_filter"]["replacement_count"] == 0


PATHS: dict[str, dict[str, Any]] = {
    "words": {"query": "gull census on the mole"},
    "meaning": {"embedding": ",".join(["1"] * 384)},
    "tags alone": {},
    "newest first": {"sort": "time_desc"},
    "in words, by time": {"query": "gull census on the mole", "sort": "time_desc"},
    "relations": {"query": "seed of the search", "expand_relations": "true", "limit": 1},
    "entities": {"query": "seed of the search", "expand_entities": "true", "limit": 1},
    "asked for by id": {"query": "seed of the search", "limit": 1},
}
REASONS = ("archived", "not_yet_valid", "expired", "superseded")


@pytest.fixture
def hidden(
    api: httpx.Client, settled: Settled, tag: str, link: Link, raw_graph: RawGraph
) -> Callable[[str], str]:
    """Make a memory that is hidden for a reason, linked to a seed; the vector store has not heard of
    the reason, as after a write that it missed."""

    def make(reason: str) -> str:
        entity = f"entity:tools:{tag}"
        seed = store(api, "This is the seed of the search", tag, entity, timestamp=days_ago(400))
        memory_id = store(
            api, "Gull census on the mole", tag, entity, timestamp=days_ago(300), embedding=[1.0] * 384
        )
        link(seed, "LEADS_TO", memory_id)
        settled()
        hour = timedelta(hours=1)
        earlier, later = datetime.now(UTC) - hour, datetime.now(UTC) + hour
        if reason == "archived":
            raw_graph.change(memory_id, archived=True)
        elif reason == "not_yet_valid":
            raw_graph.change(memory_id, t_valid=later.isoformat(), _from=later.timestamp())
        elif reason == "expired":
            raw_graph.change(memory_id, t_invalid=earlier.isoformat(), _until=earlier.timestamp())
        elif reason == "superseded":
            newer = store(api, "Elsewhere", f"{tag}x", timestamp=days_ago(200))
            link(memory_id, "EVOLVED_INTO", newer)
        return memory_id

    return make


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("reason", [*REASONS, "none"])
def test_the_same_truth_on_every_path(
    api: httpx.Client, tag: str, hidden: Callable[[str], str], path: str, reason: str
) -> None:
    memory_id = hidden(reason)
    asked = {"tags": tag, "limit": 10, "state_debug": "true", **PATHS[path]}
    if path == "asked for by id":
        asked["priority_ids"] = memory_id
    body = recall(api, **asked)
    if reason == "none":
        assert memory_id in ids(body)
        return
    assert memory_id not in ids(body)
    assert state_of(body).get(memory_id, {"reason": reason})["reason"] == reason
    for history in ({"state_mode": "history"}, {"current_only": "false"}):
        past = recall(api, **asked, **history)
        assert memory_id in ids(past)
        assert past["state_mode"] == "history"
        assert "state_filter" not in past


def test_hidden_expansions_give_way_to_their_heads(
    api: httpx.Client, settled: Settled, tag: str, link: Link
) -> None:
    seed = store(api, "The choir rehearses on Tuesdays", tag, timestamp=days_ago(500))
    old = store(api, "The hall has ninety seats", f"{tag}x", timestamp=days_ago(400))
    head = store(api, "It has two hundred now", f"{tag}x", timestamp=days_ago(300))
    link(seed, "RELATES_TO", old)
    link(old, "EVOLVED_INTO", head, strength=0.9)
    settled()
    asked = {"query": "when does the choir rehearse", "tags": tag, "expand_relations": "true"}
    body = recall(api, **asked, state_debug="true")
    assert ids(body) == [seed, head]
    assert body["results"][1]["state_replaces"] == old
    assert body["state_filter"]["replacements"] == [
        {"id": head, "replaces_id": old, "relation_type": "EVOLVED_INTO"}
    ]
    kept_inside = recall(api, **asked, expand_respect_tags="true")
    assert ids(kept_inside) == [seed]


def test_state_mode_is_checked(api: httpx.Client) -> None:
    reply = api.get("/recall", params={"query": "x", "state_mode": "past", "current_only": "true"})
    assert reply.status_code == 400
    assert reply.json()["field"] == "state_mode"
    assert recall(api, query="x", state_mode="history", current_only="")["state_mode"] == "current"
