"""Relations and replacements between memories (recall.md 9.1 and 10), and data written by others."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from automem.models import MemoryDraft, Scope
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection

MakeDraft = Callable[..., MemoryDraft]

NOW = datetime(2026, 4, 1, tzinfo=UTC)


def link(connection: Connection, source: str, label: str, target: str, **properties: Any) -> None:
    query = f"MATCH (a:Memory {{id: $a}}), (b:Memory {{id: $b}}) CREATE (a)-[r:{label}]->(b) SET r = $p"
    connection.write(query, {"a": source, "b": target, "p": properties})


@pytest.fixture
def six(graph: FalkorDBGraph, make_draft: MakeDraft) -> FalkorDBGraph:
    drafts = [
        make_draft(memory_id, timestamp=f"2026-01-0{number}T00:00:00+00:00")
        for number, memory_id in enumerate("abcdef", start=1)
    ]
    graph.create(drafts, pending=False)
    return graph


def test_relations_are_outgoing_newest_first_and_cut(six: FalkorDBGraph, connection: Connection) -> None:
    link(connection, "a", "RELATES_TO", "b", strength=0.7, updated_at="2026-02-01T00:00:00+00:00")
    link(connection, "a", "REINFORCES", "c", score=0.6, updated_at="2026-02-03T00:00:00+00:00")
    link(connection, "a", "LEADS_TO", "d", strength=0.2)
    link(connection, "d", "LEADS_TO", "a", strength=0.9)
    link(connection, "e", "PART_OF", "a", strength=0.4, role="chapter")
    connection.write("MATCH (a {id: 'a'}) CREATE (a)-[:EXEMPLIFIES]->(:Pattern {id: 'p'})", {})

    found = six.relations(["a", "e", "f", "unknown"], 5)
    assert [(r.type, r.target_id, r.strength, m.content) for r, m in found["a"]] == [
        ("REINFORCES", "c", 0.6, "Content of c"),
        ("RELATES_TO", "b", 0.7, "Content of b"),
        ("LEADS_TO", "d", 0.2, "Content of d"),
    ]
    ((part, _),) = found["e"]
    assert (part.source_id, part.properties["role"], part.updated_at, part.kind) == (
        "e",
        "chapter",
        None,
        None,
    )
    assert set(found) == {"a", "e"}
    assert [r.target_id for r, _ in six.relations(["a"], 2)["a"]] == ["c", "b"]
    assert six.relations(["a"], 0) == {} == six.relations([], 5)


def test_what_clients_linked_is_not_crowded_out(six: FalkorDBGraph, connection: Connection) -> None:
    link(connection, "a", "RELATES_TO", "b", strength=0.7, updated_at="2026-02-01T00:00:00+00:00")
    for label, target in (("SIMILAR_TO", "c"), ("PRECEDED_BY", "d"), ("EXPLAINS", "e")):
        link(connection, "a", label, target, score=0.9, updated_at="2026-02-03T00:00:00+00:00")
    assert [r.target_id for r, _ in six.relations(["a"], 5)["a"]] == ["b", "c", "d", "e"]
    assert [r.target_id for r, _ in six.relations(["a"], 1)["a"]] == ["b"]


@pytest.mark.parametrize(
    ("label", "properties", "expected"),
    [
        ("EXPLAINS", {"confidence": 0.4}, ("DISCOVERED", "explains", 0.4)),
        ("SHARES_THEME", {"similarity": 0.3}, ("DISCOVERED", "shares_theme", 0.3)),
        ("PARALLEL_CONTEXT", {}, ("DISCOVERED", "parallel_context", 0.0)),
        (
            "DISCOVERED",
            {"kind": "Explains", "confidence": 0.8, "similarity": 0.1},
            ("DISCOVERED", "explains", 0.8),
        ),
        ("PRECEDED_BY", {"count": 3}, ("PRECEDED_BY", None, 3.0)),
        ("RELATES_TO", {"strength": 0.0, "score": 0.9}, ("RELATES_TO", None, 0.0)),
        (
            "RELATES_TO",
            {"strength": "strong", "score": 0.9, "kind": 5, "updated_at": 7},
            ("RELATES_TO", None, 0.9),
        ),
    ],
)
def test_kind_and_strength_of_an_edge(
    six: FalkorDBGraph,
    connection: Connection,
    label: str,
    properties: dict[str, Any],
    expected: tuple[str, str | None, float],
) -> None:
    link(connection, "a", label, "b", **properties)
    ((relation, _),) = six.relations(["a"], 5)["a"]
    assert (relation.type, relation.kind, relation.strength) == expected


def test_replacements_are_followed_hop_by_hop(six: FalkorDBGraph, connection: Connection) -> None:
    link(connection, "a", "INVALIDATED_BY", "b", updated_at="2026-03-01T00:00:00+00:00", strength=1.0)
    link(connection, "a", "EVOLVED_INTO", "c", updated_at="2026-03-02T00:00:00+00:00")
    link(connection, "b", "EVOLVED_INTO", "d")
    link(connection, "d", "EVOLVED_INTO", "e")
    link(connection, "e", "EVOLVED_INTO", "f")
    link(connection, "c", "CONTRADICTS", "f")

    one = six.replacements(["a", "f"], 1)
    assert {old: [hop.new.id for hop in hops] for old, hops in one.items()} == {"a": ["c", "b"]}
    newest = one["a"][0]
    assert (newest.old_id, newest.relation.type, newest.relation.source_id) == ("a", "EVOLVED_INTO", "a")
    assert one["a"][1].relation.strength == 1.0
    assert [hop.new.replaced for hop in one["a"]] == [False, True]

    three = six.replacements(["a"], 3)
    assert {old: [hop.new.id for hop in hops] for old, hops in three.items()} == {
        "a": ["c", "b"],
        "b": ["d"],
        "d": ["e"],
    }
    assert set(six.replacements(["a"], 5)) == {"a", "b", "d", "e"}
    assert six.replacements(["f"], 5) == {} == six.replacements([], 5) == six.replacements(["a"], 0)


def test_replacements_end_in_a_cycle(six: FalkorDBGraph, connection: Connection) -> None:
    for source, target in ("ab", "bc", "ca"):
        link(connection, source, "INVALIDATED_BY", target)
    found = six.replacements(["a"], 5)
    assert {old: [hop.new.id for hop in hops] for old, hops in found.items()} == {
        "a": ["b"],
        "b": ["c"],
        "c": ["a"],
    }


def test_dense_replacements_are_not_walked_path_by_path(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    names = [f"m{index:02}" for index in range(40)]
    graph.create([make_draft(name) for name in names], pending=False)
    connection.write("MATCH (a:Memory), (b:Memory) WHERE a.id <> b.id CREATE (a)-[:EVOLVED_INTO]->(b)", {})
    found = graph.replacements(["m00"], 5)
    assert sorted(found) == names
    assert {len(hops) for hops in found.values()} == {39}


# data of others

ODD = """
CREATE (:Memory {id: 'odd', content: 'left by others', importance: 'high', confidence: true, tags: 'a,b',
    tag_prefixes: 'a', metadata: 'no JSON', timestamp: 'some day', updated_at: 17, t_valid: [1],
    t_invalid: 'x', archived: 'yes', type: ['t'], relevance_score: 'x', vec: vecf32([1.5, 2.0]),
    at: localdatetime('2020-01-01'), place: point({latitude: 1.0, longitude: 2.0}), _pending: true}),
    (:Memory {content: 'no id'}), (:Memory {id: 5, content: 'a number'}), (:Memory {id: 'bare'})"""


def test_odd_data_is_read_and_never_an_error(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    graph.create([make_draft("fine", tags=("a",))], pending=False)
    connection.write(ODD, {})
    link(connection, "odd", "EVOLVED_INTO", "bare", updated_at=5)

    odd = graph.get_many(["odd"])["odd"]
    assert odd.properties["metadata"] == "no JSON"
    assert odd.properties["vec"] == [1.5, 2.0]
    assert str(odd.properties["at"]).startswith("2020-01-01")
    assert (odd.importance, odd.tags, odd.timestamp, odd.archived, odd.revision) == (None, (), None, False, 0)
    scopes = [
        Scope(at=NOW, state="current", exclude_tags=("b",)),
        Scope(at=NOW, state="suppressed", tags=("a",)),
    ]
    for scope in scopes:
        for sort in ("score", "time_asc", "time_desc", "updated_asc", "updated_desc"):
            graph.trending(scope, sort, 10)
        graph.keyword_search("wfine", scope, 10)
    assert set(graph.ids("", 10, ["x"])) == {"bare", "fine", "odd"}
    assert graph.count(["x"]) == 5
    assert [hop.new.id for hop in graph.replacements(["odd"], 3)["odd"]] == ["bare"]
    assert len(graph.relations(["odd"], 3)["odd"]) == 1
    graph.pending_vectors(10, NOW)


def test_memories_of_others_are_adopted(graph: FalkorDBGraph, connection: Connection) -> None:
    rows = [
        {
            "id": f"{index:02}",
            "content": f"legacy number{index}",
            "tags": ["Old/Tag"],
            "metadata": '{"k": "Acme"}',
        }
        for index in range(25)
    ]
    connection.write("UNWIND $rows AS row CREATE (m:Memory) SET m = row", {"rows": rows})
    connection.write(ODD, {})
    scope = Scope(at=NOW, tags=("old:tag",))
    assert graph.trending(scope, "score", 100) == []
    done = [graph.adopt(20), graph.adopt(20), graph.adopt(20)]
    assert done == [20, 7, 0]
    assert len(graph.trending(scope, "score", 100)) == 25
    assert graph.frequencies(["wlegacy", "macm", "wleft"]) == [25, 25, 1]
    assert graph.update("odd", {"importance": 0.5}, 0)
    assert graph.get_many(["00"])["00"].properties["tag_prefixes"] == ["old", "old:tag"]
