"""Patterns of a type: one node, counted once per memory, read as /analyze reads them (background.md 2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from automem.enrichment.patterns import Classified, PatternFound, detect
from automem.models import MemoryDraft
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection
from automem.utils.clock import RandomIds

MakeDraft = Callable[..., MemoryDraft]
StoreAll = Callable[..., list[Classified]]

AT = "2026-04-01T00:00:00+00:00"
LATER = "2026-05-01T00:00:00+00:00"


@pytest.fixture
def store_all(graph: FalkorDBGraph, make_draft: MakeDraft) -> StoreAll:
    """Store texts as memories of one type, the first the oldest; give them as classified."""

    def store(
        name: str, texts: Sequence[str], kind: str = "Decision", confidence: float = 0.75
    ) -> list[Classified]:
        drafts = [
            make_draft(
                f"{name}{number}",
                content=text,
                type=kind,
                confidence=confidence,
                timestamp=f"2026-03-01T12:00:{number:02}+00:00",
            )
            for number, text in enumerate(texts)
        ]
        graph.create(drafts, pending=False)
        return [Classified(draft.id, draft.content, kind, confidence) for draft in drafts]

    return store


def find(graph: FalkorDBGraph, memories: Sequence[Classified], at: str = AT) -> dict[str, PatternFound]:
    return detect(graph, memories, RandomIds(), at)


def nodes(connection: Connection) -> list[dict[str, Any]]:
    return [row[0] for row in connection.read("MATCH (p:Pattern) RETURN properties(p) ORDER BY p.type", {})]


def edges(connection: Connection) -> list[list[Any]]:
    found = "MATCH (m:Memory)-[e:EXEMPLIFIES]->(p:Pattern) RETURN m.id, p.type, properties(e)"
    return connection.read(f"{found} ORDER BY m.id, p.type", {})


def test_a_pattern_takes_three_others(
    graph: FalkorDBGraph, connection: Connection, store_all: StoreAll
) -> None:
    three = store_all("a", ["Chose Postgres for storage", "Chose Redis", "Chose Qdrant"])
    assert find(graph, three) == {}
    assert nodes(connection) == [] == edges(connection)
    [fourth] = store_all("b", ["Postgres storage chose itself: storage"])
    assert find(graph, [fourth]) == {
        "b0": PatternFound("Decision", 3, ("chose", "storage", "postgres", "itself", "qdrant"))
    }
    [node] = nodes(connection)
    assert node.pop("id").startswith("pattern-Decision-")
    assert node == {
        "type": "Decision",
        "content": "Pattern across 4 Decision memories highlighting chose, storage, postgres, itself, qdrant",
        "confidence": 0.35,
        "observations": 1,
        "key_terms": ["chose", "storage", "postgres", "itself", "qdrant"],
        "created_at": AT,
        "updated_at": AT,
    }
    assert edges(connection) == [["b0", "Decision", {"confidence": 0.75, "updated_at": AT}]]


def test_each_memory_counts_once(graph: FalkorDBGraph, connection: Connection, store_all: StoreAll) -> None:
    memories = store_all("a", ["Chose tea"] * 6)
    find(graph, memories[:4])
    assert [(node["observations"], node["confidence"]) for node in nodes(connection)] == [(4, 0.5)]
    find(graph, memories[:4], LATER)
    assert [(node["observations"], node["confidence"]) for node in nodes(connection)] == [(4, 0.5)]
    find(graph, memories[3:], LATER)
    assert [(node["observations"], node["confidence"]) for node in nodes(connection)] == [(6, 0.6)]
    assert [node["created_at"] for node in nodes(connection)] == [AT]
    assert len(edges(connection)) == 6
    assert all(set(row[2]) == {"confidence", "updated_at"} for row in edges(connection))


def test_confidence_has_a_ceiling(graph: FalkorDBGraph, connection: Connection, store_all: StoreAll) -> None:
    memories = store_all("a", ["Chose tea"] * 16)
    find(graph, memories[:12])
    assert nodes(connection)[0]["confidence"] == 0.9
    find(graph, memories[12:13])
    assert nodes(connection)[0]["confidence"] == 0.95
    find(graph, memories[13:])
    assert (nodes(connection)[0]["confidence"], nodes(connection)[0]["observations"]) == (0.95, 16)


def test_ten_others_at_most_and_only_sure_ones(graph: FalkorDBGraph, store_all: StoreAll) -> None:
    memories = store_all("a", ["Chose tea"] * 12)
    unsure = store_all("b", ["Rain again"] * 5, kind="Context", confidence=0.5)
    found = find(graph, [memories[0], memories[11], unsure[0]])
    assert {memory_id: pattern.similar_memories for memory_id, pattern in found.items()} == {
        "a0": 10,
        "a11": 10,
    }


def test_types_have_patterns_of_their_own(
    graph: FalkorDBGraph, connection: Connection, store_all: StoreAll
) -> None:
    both = store_all("a", ["Chose tea"] * 4) + store_all("b", ["Often late"] * 5, kind="Pattern")
    find(graph, both)
    assert [(node["type"], node["observations"]) for node in nodes(connection)] == [
        ("Decision", 4),
        ("Pattern", 5),
    ]
    assert len({node["id"] for node in nodes(connection)}) == 2


def test_a_memory_of_another_type_leaves_its_old_pattern(
    graph: FalkorDBGraph, connection: Connection, store_all: StoreAll, make_draft: MakeDraft
) -> None:
    memories = store_all("a", ["Chose tea"] * 5)
    find(graph, memories)
    graph.create([make_draft("other")], pending=False)
    connection.write(
        "MATCH (m:Memory {id: 'a0'}) MATCH (o:Memory {id: 'other'}) CREATE (m)-[:EXEMPLIFIES]->(o)",
        {},
    )
    changed = Classified("a0", "I realized that tea is fine", "Insight", 0.6)
    assert find(graph, [changed, memories[1]]).keys() == {"a1"}
    assert [row[0] for row in edges(connection)] == ["a1", "a2", "a3", "a4"]
    assert [node["observations"] for node in nodes(connection)] == [5]
    assert connection.read("MATCH ()-[e:EXEMPLIFIES]->(:Memory) RETURN count(e)", {}) == [[1]]


def test_many_at_the_same_time_make_one_node(
    graph: FalkorDBGraph, connection: Connection, store_all: StoreAll
) -> None:
    memories = store_all("a", ["Chose tea"] * 12)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda memory: find(graph, [memory]), memories + memories))
    assert [(node["observations"], node["confidence"]) for node in nodes(connection)] == [(12, 0.9)]


def test_patterns_are_read_as_they_were_written(graph: FalkorDBGraph, store_all: StoreAll) -> None:
    find(graph, store_all("a", ["Chose Oolong"] * 8))
    find(graph, store_all("b", ["Often late"] * 4, kind="Pattern"))
    [pattern] = graph.patterns(0.6, 10)
    assert (pattern["type"], pattern["observations"], pattern["confidence"]) == ("Decision", 8, 0.7)
    assert pattern["content"] == "Pattern across 8 Decision memories highlighting chose, oolong"


def test_data_of_others_does_no_harm(
    graph: FalkorDBGraph, connection: Connection, store_all: StoreAll
) -> None:
    connection.write(
        "CREATE (:Pattern {type: 'Decision', confidence: 'high', observations: 'many', id: 'p'})", {}
    )
    connection.write("CREATE (:Memory {id: 'odd', type: 'Decision', confidence: 0.9, content: 7})", {})
    connection.write(
        "CREATE (:Memory {id: 'odd2', type: ['Decision'], confidence: 'x', content: 'text'})", {}
    )
    memories = store_all("a", ["Chose tea"] * 4)
    assert (
        find(graph, [*memories, Classified("unknown", "Chose tea", "Decision", 0.6)])["a0"].similar_memories
        == 3
    )
    [node] = nodes(connection)
    assert (node["id"], node["observations"], node["confidence"]) == ("p", 4, 0.5)
    assert find(graph, []) == {}
