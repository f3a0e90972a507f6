"""Keyword search and trending inside a scope (recall.md 4, 8 and 10, D5, D7, D17, D20)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest

from automem.models import MemoryDraft, Scope, Sort
from automem.stores.base import GraphStore
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection
from automem.utils.time import TimeWindow

MakeDraft = Callable[..., MemoryDraft]

NOW = datetime(2026, 4, 1, tzinfo=UTC)
SORTS: tuple[Sort, ...] = get_args(Sort)


def day(month: int, number: int) -> datetime:
    return datetime(2026, month, number, tzinfo=UTC)


def at(month: int, number: int) -> str:
    return day(month, number).isoformat()


@pytest.fixture
def nine(graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft) -> FalkorDBGraph:
    """Nine reports: tags, times, a system type (d), archived (e), expired (f), future (g), replaced (h)."""

    def report(
        memory_id: str, tags: tuple[str, ...], when: str, importance: float, **more: Any
    ) -> MemoryDraft:
        fields = {"content": f"report {memory_id}", "tags": tags, "timestamp": when, "importance": importance}
        return make_draft(memory_id, **fields, **more)

    drafts = [
        report("a", ("Slack/Eng",), at(1, 10), 0.95),
        report("b", ("slack",), at(1, 20), 0.8),
        report("c", ("Slackware", "eng"), at(2, 1), 0.6),
        report("d", ("ENG", "slack:ops"), at(2, 10), 0.2, type="MetaPattern"),
        report("e", ("slack",), at(2, 20), 0.9),
        report("f", ("slack",), at(3, 1), 0.5, t_invalid=at(3, 15)),
        report("g", ("slack", "eng"), at(3, 10), 0.7, t_valid=at(5, 1)),
        report("h", ("Slack:Eng",), at(3, 20), 0.3),
        report("i", (), at(3, 31), 0.4),
    ]
    graph.create(drafts, pending=False)
    assert graph.update("e", {"archived": True}, 0)
    connection.write("MATCH (h {id: 'h'}), (b {id: 'b'}) CREATE (h)-[:INVALIDATED_BY]->(b)", {})
    return graph


SCOPES: list[tuple[dict[str, Any], str]] = [
    ({}, "abcdfghi"),
    ({"archived": True}, "abcdefghi"),
    ({"excluded_types": ("MetaPattern", "Other")}, "abcfghi"),
    # tags
    ({"tags": ("slack",)}, "abdfgh"),
    ({"tags": ("SLACK/",)}, "abdfgh"),
    ({"tags": ("slack/eng",)}, "ah"),
    ({"tags": ("sla",)}, ""),
    ({"tags": ("slack",), "tag_match": "exact"}, "bfg"),
    ({"tags": ("Slack:ENG",), "tag_match": "exact"}, "ah"),
    ({"tags": ("slack:ops", "slackware")}, "cd"),
    ({"tags": ("slack", "eng"), "tag_mode": "all"}, "dg"),
    ({"tags": ("slack", "eng"), "tag_mode": "all", "tag_match": "exact"}, "g"),
    ({"tags": ("unknown",)}, ""),
    ({"tags": ("::",)}, ""),
    ({"tags": ("::", "eng")}, "cdg"),
    ({"tags": ("::", "eng"), "tag_mode": "all"}, ""),
    ({"tags": ('eng" | -x {',)}, ""),
    # tags not wanted follow tag_match
    ({"exclude_tags": ("slack",)}, "ci"),
    ({"exclude_tags": ("slack",), "tag_match": "exact"}, "acdhi"),
    ({"exclude_tags": ("slack:eng", "slackware")}, "bdfgi"),
    ({"exclude_tags": ("::", "none")}, "abcdfghi"),
    ({"tags": ("slack",), "exclude_tags": ("eng",)}, "abfh"),
    ({"tags": ("slack",), "exclude_tags": ("slack:eng", "eng")}, "bf"),
    # time
    ({"window": TimeWindow(day(2, 1), day(3, 10))}, "cdf"),
    ({"window": TimeWindow(day(2, 1), day(3, 10), end_inclusive=True)}, "cdfg"),
    ({"window": TimeWindow(day(3, 10), None)}, "ghi"),
    ({"window": TimeWindow(None, day(1, 20))}, "a"),
    ({"window": TimeWindow(day(3, 1), day(1, 1))}, ""),
    ({"window": TimeWindow(None, None)}, "abcdfghi"),
    ({"window": TimeWindow(day(2, 1), None), "exclude_tags": ("eng",)}, "fhi"),
    # state at NOW
    ({"state": "current"}, "abcdi"),
    ({"state": "suppressed"}, "fgh"),
    ({"state": "current", "at": datetime(2026, 3, 14, tzinfo=UTC)}, "abcdf"),
    ({"state": "current", "at": datetime(2026, 3, 15, tzinfo=UTC)}, "abcd"),
    ({"state": "suppressed", "at": datetime(2026, 5, 1, tzinfo=UTC)}, "fh"),
    # together
    (
        {
            "tags": ("slack", "eng"),
            "exclude_tags": ("slackware",),
            "window": TimeWindow(day(1, 15), day(3, 31)),
            "excluded_types": ("MetaPattern",),
            "state": "current",
        },
        "b",
    ),
    ({"tags": ("slack",), "state": "suppressed", "window": TimeWindow(day(3, 5), None)}, "gh"),
    ({"tags": ("slack",), "archived": True, "state": "current"}, "abde"),
]


@pytest.mark.parametrize(("fields", "expected"), SCOPES)
def test_every_search_sees_the_scope_alone(nine: GraphStore, fields: dict[str, Any], expected: str) -> None:
    scope = Scope(**{"at": NOW, **fields})
    found = {sort: {hit.memory.id for hit in nine.trending(scope, sort, 50)} for sort in SORTS}
    found |= {"keyword": {hit.memory.id for hit in nine.keyword_search("wreport", scope, 50)}}
    assert found == dict.fromkeys(found, set(expected))


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("score", "abgcfihd"),
        ("time_desc", "ihgfdcba"),
        ("time_asc", "abcdfghi"),
        ("updated_desc", "aihgfdcb"),
        ("updated_asc", "bcdfghia"),
    ],
)
def test_trending_orders_and_cuts(nine: GraphStore, sort: Sort, expected: str) -> None:
    assert nine.update("a", {"updated_at": at(4, 5)}, 0)
    scopes = [
        Scope(at=NOW),
        Scope(at=NOW, window=TimeWindow(day(1, 1), day(12, 1))),
        Scope(at=datetime(2036, 1, 1, tzinfo=UTC)),
    ]
    for scope in scopes:
        for limit in (0, 1, 3, 8, 100):
            found = "".join(hit.memory.id for hit in nine.trending(scope, sort, limit))
            assert found == expected[:limit]


def test_trending_scores_by_importance_and_breaks_ties_by_time(nine: GraphStore) -> None:
    assert nine.update("b", {"importance": 0.4}, 0)
    hits = nine.trending(Scope(at=NOW, exclude_tags=("eng",)), "score", 10)
    assert [(hit.memory.id, hit.score) for hit in hits] == [
        ("a", 0.95),
        ("f", 0.5),
        ("i", 0.4),
        ("b", 0.4),
        ("h", 0.3),
    ]


def test_old_and_future_memories_are_in_the_walk_through_time(
    graph: FalkorDBGraph, make_draft: MakeDraft
) -> None:
    days = [0.5, 3, 20, 60, 200, 1000, 4000, -30, 20_000]
    drafts = [
        make_draft(f"{index}", timestamp=(NOW - timedelta(days=age)).isoformat())
        for index, age in enumerate(days)
    ]
    graph.create(drafts, pending=False)
    scope = Scope(at=NOW)
    newest_first = "701234568"
    assert "".join(hit.memory.id for hit in graph.trending(scope, "time_desc", 20)) == newest_first
    assert "".join(hit.memory.id for hit in graph.trending(scope, "time_asc", 20)) == newest_first[::-1]
    assert "".join(hit.memory.id for hit in graph.trending(scope, "updated_asc", 4)) == "8654"


def test_missing_values_come_last(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    graph.create([make_draft("low", importance=0.01), make_draft("high", importance=0.99)], pending=False)
    connection.write(
        "CREATE (:Memory {id: 'bare', content: 'x'}), (:Memory {id: 'text', importance: 'high'})", {}
    )
    for sort in SORTS:
        found = [hit.memory.id for hit in graph.trending(Scope(at=NOW), sort, 10)]
        assert found == ["high", "low", "bare", "text"]
    assert [hit.score for hit in graph.trending(Scope(at=NOW), "score", 10)] == [0.99, 0.01, 0.0, 0.0]


def test_an_empty_store_answers_with_nothing(graph: FalkorDBGraph) -> None:
    for sort in SORTS:
        assert graph.trending(Scope(at=NOW), sort, 5) == []
    assert graph.keyword_search("wx", Scope(at=NOW), 5) == []
    assert graph.frequencies(["wx"]) == [0]
    assert graph.relations(["x"], 5) == {} == graph.replacements(["x"], 5)


# the full-text index


@pytest.fixture
def words(graph: FalkorDBGraph, make_draft: MakeDraft) -> FalkorDBGraph:
    contents = {
        "1": "the deployment failed",
        "2": "Deploy to Zürich 東京都 with kx-ams-07b",
        "3": "a terror of errors",
        "4": "failed failed failed",
    }
    drafts = [make_draft(memory_id, content=content) for memory_id, content in contents.items()]
    graph.create(
        [*drafts, make_draft("5", content="", tags=("failed",), metadata={"k": "Acme"})], pending=False
    )
    return graph


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"wdeployment"', "1"),
        ('"wdeployment"|wterror', "13"),
        ("wdeploy*", "12"),
        ("wthe", "1"),
        ("werror", ""),
        ("wfailed|wterror", "134"),
        ("(wfailed|wterror) wthe", "1"),
        ("wfailed -wthe", "4"),
        ('"sa sterror"', "3"),
        ("wzurich", "2"),
        ("macm", "5"),
        ("wunknown", ""),
        ("", ""),
        ("  ", ""),
    ],
)
def test_the_index_matches_tokens_as_they_are(words: GraphStore, query: str, expected: str) -> None:
    found = sorted(hit.memory.id for hit in words.keyword_search(query, Scope(at=NOW), 10))
    assert "".join(found) == expected
    assert words.frequencies([query]) == [len(expected)]


def test_frequencies_keep_the_order_asked(words: GraphStore) -> None:
    asked = ["wfailed", "wunknown", "wthe", "wfailed", "", "wdeploy*"]
    assert words.frequencies(asked) == [2, 0, 1, 2, 0, 2]
    assert words.frequencies([]) == []


def test_keyword_hits_are_ordered_before_the_cut(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    drafts = [
        make_draft(f"{index:02}", content="same words", importance=round(0.3 + index * 0.01, 2), tags=("t",))
        for index in range(40)
    ]
    graph.create(drafts, pending=False)
    for scope in (Scope(at=NOW), Scope(at=NOW, tags=("t",), state="current")):
        hits = graph.keyword_search("wsame", scope, 3)
        assert [hit.memory.id for hit in hits] == ["39", "38", "37"]
        assert all(hit.score > 0 for hit in hits)


def test_a_memory_found_carries_what_scoring_needs(nine: GraphStore) -> None:
    (hit,) = nine.keyword_search("wreport", Scope(at=NOW, tags=("slack:eng",), state="suppressed"), 5)
    assert hit.memory.id == "h"
    assert hit.memory.replaced
    assert hit.memory.lexemes.startswith(" wreport wh ")
    assert not any(name.startswith("_") for name in hit.memory.properties)
