"""Making, listing and removing edges, superseding, and lists by tag, on both kinds of server."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from automem.errors import Conflict
from automem.models import MemoryDraft
from automem.relations import REGISTRY
from automem.stores.base import Receipt
from automem.stores.edges import EdgePage, NewEdge, Successor, TagPage
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection

MakeDraft = Callable[..., MemoryDraft]

AT = "2026-03-05T00:00:00+00:00"
LEADS_TO, INVALIDATED_BY, DISCOVERED = (
    REGISTRY[name] for name in ("LEADS_TO", "INVALIDATED_BY", "DISCOVERED")
)
EVERY_KIND = tuple(REGISTRY.values())


@pytest.fixture
def four(graph: FalkorDBGraph, make_draft: MakeDraft) -> FalkorDBGraph:
    graph.create([make_draft(memory_id) for memory_id in "abcd"], pending=False)
    return graph


def raw_link(connection: Connection, source: str, label: str, target: str, **properties: Any) -> None:
    query = f"MATCH (a:Memory {{id: $a}}), (b:Memory {{id: $b}}) CREATE (a)-[r:{label}]->(b) SET r = $p"
    connection.write(query, {"a": source, "b": target, "p": properties})


def edges_of(graph: FalkorDBGraph, memory_id: str, **wanted: Any) -> list[tuple[str, str, str]]:
    page = EdgePage(**{"kinds": EVERY_KIND, "limit": 100, **wanted})
    return [(row.direction, row.relation.type, row.other.id) for row in graph.associations(memory_id, page)]


def test_an_edge_is_made_once_and_then_changed(four: FalkorDBGraph) -> None:
    first = NewEdge("a", "b", 0.25, {"reason": "r", "confidence": [1, "two", True]})
    assert four.associate(LEADS_TO, [first], "2026-01-01T00:00:00+00:00") == {("a", "b")}
    assert four.associate(LEADS_TO, [NewEdge("a", "b", 0.75, {"reason": "s"})], AT) == {("a", "b")}
    [row] = four.associations("a", EdgePage(EVERY_KIND, 10))
    assert (row.relation.strength, row.relation.updated_at) == (0.75, AT)
    assert dict(row.relation.properties) == {
        "reason": "s",
        "confidence": [1, "two", True],
        "strength": 0.75,
        "updated_at": AT,
    }
    assert (row.relation.source_id, row.relation.target_id) == ("a", "b")


def test_only_pairs_whose_memories_exist_are_linked(four: FalkorDBGraph) -> None:
    asked = [("a", "b"), ("a", "nobody"), ("nobody", "a"), ("b", "a")]
    made = four.associate(LEADS_TO, [NewEdge(*pair, 0.5, {}) for pair in asked], AT)
    assert made == {("a", "b"), ("b", "a")}
    assert four.associate(LEADS_TO, [], AT) == frozenset()


def test_a_replacing_edge_owes_the_old_memory_s_payload(four: FalkorDBGraph, now: datetime) -> None:
    four.associate(LEADS_TO, [NewEdge("a", "b", 0.5, {})], AT)
    assert four.pending_vector_count() == 0

    revision = four.get_many(["a"])["a"].revision
    four.associate(INVALIDATED_BY, [NewEdge("a", "b", 0.5, {}), NewEdge("c", "b", 0.5, {})], AT)
    owed = four.pending_vectors(10, now)
    assert {debt.memory.id for debt in owed} == {"a", "c"}
    assert not any(debt.memory.vector_pending for debt in owed)
    assert all(debt.memory.replaced for debt in owed)

    four.vector_done({"a": revision})
    assert four.pending_vector_count() == 2, "a write on its way must not clear a newer debt"
    four.vector_done({debt.memory.id: debt.memory.revision for debt in owed})
    [removed] = four.dissociate(INVALIDATED_BY, "a", "b")
    assert removed.strength == 0.5
    assert [debt.memory.id for debt in four.pending_vectors(10, now)] == ["a"]
    assert not four.get_many(["a"])["a"].replaced


def test_a_vector_that_is_owed_stays_owed(graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime) -> None:
    graph.create([make_draft("a", embedding=(0.5, 0.5)), make_draft("b")], pending=True)
    graph.associate(INVALIDATED_BY, [NewEdge("a", "b", 0.5, {})], AT)
    debts = {debt.memory.id: debt for debt in graph.pending_vectors(10, now)}
    assert debts["a"].memory.vector_pending and debts["a"].vector == [0.5, 0.5]


def test_deleting_a_replacement_owes_the_payload_of_what_it_had_replaced(
    four: FalkorDBGraph, now: datetime
) -> None:
    four.associate(INVALIDATED_BY, [NewEdge("a", "c", 0.5, {}), NewEdge("b", "c", 0.5, {})], AT)
    four.associate(INVALIDATED_BY, [NewEdge("c", "d", 0.5, {})], AT)
    four.vector_done({m.id: m.revision for m in four.get_many(list("abc")).values()})
    assert sorted(four.delete(["b", "c"])) == ["b", "c"]
    assert [debt.memory.id for debt in four.pending_vectors(10, now)] == ["a"]
    assert sorted(four.tombstones(10)) == ["b", "c"]


def test_removing_gives_what_was_there(four: FalkorDBGraph, connection: Connection) -> None:
    raw_link(connection, "a", "DISCOVERED", "b", kind="Explains", confidence=0.5)
    raw_link(connection, "a", "SHARES_THEME", "b", similarity=0.75)
    raw_link(connection, "b", "DISCOVERED", "a", kind="x")
    removed = four.dissociate(DISCOVERED, "a", "b")
    assert sorted((r.type, r.kind, r.strength) for r in removed) == [
        ("DISCOVERED", "explains", 0.5),
        ("DISCOVERED", "shares_theme", 0.75),
    ]
    assert four.dissociate(DISCOVERED, "a", "b") == []
    assert edges_of(four, "a") == [("incoming", "DISCOVERED", "b")]


def test_edges_are_listed_from_both_ends(four: FalkorDBGraph, connection: Connection) -> None:
    four.associate(LEADS_TO, [NewEdge("a", "b", 0.5, {}), NewEdge("c", "a", 0.5, {})], AT)
    raw_link(connection, "a", "PARALLEL_CONTEXT", "d")
    raw_link(connection, "a", "SOMETHING_ELSE", "d")
    raw_link(connection, "a", "LEADS_TO", "a")
    connection.write("MATCH (a {id: 'a'}) CREATE (a)-[:EXEMPLIFIES]->(:Pattern {id: 'p'})", {})
    listed = [("incoming", "LEADS_TO", "c"), ("outgoing", "LEADS_TO", "b"), ("outgoing", "DISCOVERED", "d")]
    assert edges_of(four, "a") == listed
    assert edges_of(four, "a", direction="incoming") == listed[:1]
    assert edges_of(four, "a", direction="outgoing", kinds=(DISCOVERED,)) == listed[2:]
    assert edges_of(four, "a", limit=2) == listed[:2]
    assert edges_of(four, "nobody") == []


def test_a_walk_through_edges_misses_and_repeats_no_older_one(
    four: FalkorDBGraph, make_draft: MakeDraft
) -> None:
    others = [f"o{number:02}" for number in range(20)]
    four.create([make_draft(memory_id) for memory_id in [*others, "n1", "p1"]], pending=False)
    four.associate(LEADS_TO, [NewEdge("a", other, 0.5, {}) for other in others], AT)
    seen: list[str] = []
    after = None
    while rows := four.associations("a", EdgePage(EVERY_KIND, 3, after=after)):
        seen += [row.other.id for row in rows]
        after = rows[-1].key
        if len(seen) == 6:
            four.delete([seen[0], others[10]])
            four.associate(LEADS_TO, [NewEdge("a", "n1", 0.5, {}), NewEdge("a", "p1", 0.5, {})], AT)
            four.associate(LEADS_TO, [NewEdge("a", others[15], 0.9, {})], "2026-04-01T00:00:00+00:00")
    older = [memory_id for memory_id in seen if memory_id.startswith("o")]
    assert older == [memory_id for memory_id in others if memory_id != others[10]]


def test_related_memories_are_reached_over_several_edges(
    four: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    four.create(
        [make_draft("e", importance=0.9), make_draft("f", importance=0.1), make_draft("x")], pending=False
    )
    pairs = ["ab", "cb", "cd", "ed", "af", "ba"]
    four.associate(LEADS_TO, [NewEdge(pair[0], pair[1], 0.5, {}) for pair in pairs], AT)
    raw_link(connection, "x", "PARALLEL_CONTEXT", "a")

    def related(*kinds: Any, depth: int, limit: int = 10) -> list[str]:
        return [memory.id for memory in four.related("a", kinds, depth, limit)]

    assert related(LEADS_TO, depth=1) == ["b", "f"]
    assert related(LEADS_TO, depth=2) == ["b", "c", "f"]
    assert related(LEADS_TO, depth=3) == ["b", "c", "d", "f"]
    assert related(LEADS_TO, depth=3, limit=2) == ["b", "c"]
    assert related(DISCOVERED, depth=1) == ["x"]
    assert related(DISCOVERED, LEADS_TO, depth=1) == ["b", "x", "f"]
    connection.write("MATCH (m {id: 'c'}) SET m.archived = true", {})
    assert related(LEADS_TO, depth=3) == ["b", "d", "f"]
    assert four.related("nobody", [LEADS_TO], 3, 10) == []


def test_superseding_stores_closes_and_links_in_one_write(
    four: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    new = make_draft("n", timestamp="2026-03-04T00:00:00+00:00")
    receipt = Receipt("key:k", "f", "{}", 1.0)
    before = four.get_many(["a"])["a"]
    assert four.supersede(Successor(new, "a", AT), [receipt])
    after = four.get_many(["a", "n"])
    assert after["a"].replaced and after["a"].revision > before.revision
    changed = {"t_invalid": "2026-03-04T00:00:00+00:00", "updated_at": AT}
    assert dict(after["a"].properties) == {**before.properties, **changed}
    assert after["n"].content == "Content of n" and after["n"].vector_pending
    assert four.receipts(["key:k"]) == {"key:k": receipt}
    [edge] = four.associations("a", EdgePage(EVERY_KIND, 10))
    assert (edge.relation.type, edge.direction, edge.other.id) == ("INVALIDATED_BY", "outgoing", "n")
    assert edge.relation.properties["timestamp"] == "2026-03-04T00:00:00+00:00"
    debts = {debt.memory.id: debt.memory.vector_pending for debt in four.pending_vectors(10, now)}
    assert debts == {"a": False, "n": True}


def test_superseding_nobody_stores_nothing(four: FalkorDBGraph, make_draft: MakeDraft) -> None:
    receipt = Receipt("key:k", "f", "{}", 1.0)
    assert not four.supersede(Successor(make_draft("n"), "nobody", AT), [receipt])
    assert four.get_many(["n"]) == {} == four.receipts(["key:k"])


def test_a_conflict_leaves_the_old_memory_as_it_was(four: FalkorDBGraph, make_draft: MakeDraft) -> None:
    before = four.get_many(["a"])["a"]
    with pytest.raises(Conflict):
        four.supersede(Successor(make_draft("b"), "a", AT))
    four.supersede(Successor(make_draft("n"), "c", AT), [Receipt("key:k", "f", "{}", 1.0)])
    with pytest.raises(Conflict):
        four.supersede(Successor(make_draft("o"), "a", AT), [Receipt("key:k", "f", "{}", 1.0)])
    assert four.get_many(["a", "o"]) == {"a": before}
    assert edges_of(four, "a") == []


def test_lists_by_tag_match_whole_tags_in_any_spelling(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    graph.create(
        [
            make_draft("a", tags=("Project/Alpha", "x")),
            make_draft("b", tags=("project:alpha:child",)),
            make_draft("c", tags=("project",)),
            make_draft("d", tags=("ÉTÉ",)),
        ],
        pending=False,
    )

    def tagged(*tags: str) -> list[str]:
        return [row.memory.id for row in graph.tagged(tags, TagPage(10))]

    assert tagged("PROJECT:alpha") == ["a"]
    assert tagged("project") == ["c"]
    assert tagged("x", "été", "unknown") == ["a", "d"]
    assert tagged() == tagged(" : ") == tagged("alpha") == []


def test_lists_by_tag_are_ordered_and_parted(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    rows = {
        "b": (0.5, "2026-01-02T00:00:00.123457+00:00"),
        "a": (0.5, "2026-01-02T00:00:00.123457+00:00"),
        "c": (0.5, "2026-01-02T00:00:00.123456+00:00"),
        "d": (0.9, "2020-01-01T00:00:00+00:00"),
        "e": (0.1, "1960-01-01T00:00:00+00:00"),
        "f": (0.1, "1950-01-01T00:00:00+00:00"),
        "g": (0.3, "2026-01-01T00:00:00+00:00"),
        "h": (0.3, "2026-01-01T00:00:00+00:00"),
        "i": (0.3, "2026-01-01T00:00:00+00:00"),
    }
    drafts = [
        make_draft(memory_id, tags=("t",), importance=importance, timestamp=timestamp)
        for memory_id, (importance, timestamp) in rows.items()
    ]
    graph.create(drafts, pending=False)
    connection.write("MATCH (m {id: 'g'}) SET m.importance = 'high'", {})
    connection.write("MATCH (m {id: 'h'}) SET m.importance = null, m._ts = null", {})
    connection.write("MATCH (m {id: 'i'}) SET m.importance = 1e300, m.archived = true", {})
    ordered = ["i", "d", "a", "b", "c", "e", "f", "g", "h"]
    assert [row.memory.id for row in graph.tagged(["t"], TagPage(100))] == ordered
    for size in (1, 2, 4):
        walked: list[str] = []
        after = None
        while page := graph.tagged(["t"], TagPage(size, after=after)):
            walked += [row.memory.id for row in page]
            after = page[-1].key
        assert walked == ordered
    assert [row.memory.id for row in graph.tagged(["t"], TagPage(2, offset=3))] == ordered[3:5]
    assert graph.tagged(["t"], TagPage(2, offset=20)) == graph.tagged(["t"], TagPage(0)) == []
