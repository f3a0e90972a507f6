"""Entity nodes: made by mentions, kept in step with texts, merged ones stand for others (storage.md 2)."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event, Thread
from typing import Any

from automem.stores.entities import EntityName, Mentions
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection
from tests.contract.conftest import MakeDraft

AT, LATER = "2026-04-01T00:00:00+00:00", "2026-04-02T00:00:00+00:00"
ANN = EntityName("people", "ann-lee", "Ann Lee")
REDIS = EntityName("tools", "redis", "Redis")


def edges(connection: Connection) -> list[tuple[str, str]]:
    rows = connection.read("MATCH (e:Entity)-[:REFERENCED_IN]->(m) RETURN e.id, m.id ORDER BY e.id, m.id", {})
    return [(entity, memory) for entity, memory in rows]


def nodes(connection: Connection) -> dict[str, dict[str, Any]]:
    rows = connection.read("MATCH (e:Entity) RETURN properties(e)", {})
    return {
        row[0]["id"]: {name: value for name, value in row[0].items() if not name.startswith("_")}
        for row in rows
    }


def mention(graph: FalkorDBGraph, memory_id: str, *entities: EntityName, at: str = AT) -> None:
    graph.mention([Mentions(memory_id, entities)], at)


def make(connection: Connection, **properties: Any) -> None:
    connection.write("CREATE (e:Entity) SET e = $properties", {"properties": properties})


def store(graph: FalkorDBGraph, make_draft: MakeDraft, ids: Sequence[str] = "ab") -> None:
    graph.create([make_draft(memory_id) for memory_id in ids], pending=False)


def test_a_mention_makes_the_node_and_the_edge_once(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    store(graph, make_draft)
    graph.mention([Mentions("a", (ANN, REDIS)), Mentions("b", (ANN,)), Mentions("gone", (ANN,))], AT)
    mention(graph, "a", ANN, REDIS, at=LATER)
    assert edges(connection) == [
        ("entity:people:ann-lee", "a"),
        ("entity:people:ann-lee", "b"),
        ("entity:tools:redis", "a"),
    ]
    assert nodes(connection)["entity:people:ann-lee"] == {
        "id": "entity:people:ann-lee",
        "slug": "ann-lee",
        "category": "people",
        "name": "Ann Lee",
        "aliases": [],
        "created_at": AT,
        "last_referenced_at": LATER,
    }


def test_another_text_names_others(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    store(graph, make_draft)
    graph.mention([Mentions("a", (ANN, REDIS)), Mentions("b", (ANN,))], AT)
    mention(graph, "a")
    assert edges(connection) == [("entity:people:ann-lee", "b")]
    assert set(nodes(connection)) == {"entity:people:ann-lee"}, "nobody names the other any more"


def test_what_is_known_of_an_entity_outlives_its_mentions(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    store(graph, make_draft)
    make(connection, id=ANN.id, slug=ANN.slug, category="people", name="Ann", identity="A gardener.")
    mention(graph, "a", ANN, EntityName("people", "alex-beck", "Alex Beck", ("alex-beck-s",)))
    mention(graph, "a")
    assert set(nodes(connection)) == {ANN.id, "entity:people:alex-beck"}
    assert nodes(connection)[ANN.id]["name"] == "Ann", "a name is not replaced"


def test_aliases_are_gathered(graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft) -> None:
    store(graph, make_draft)
    make(connection, id=ANN.id, slug=ANN.slug, category="people", name="Ann", aliases='["annie"]')
    for aliases in (("ann-lee-s",), ("ann-lee-s", "lee"), ("annie",)):
        mention(graph, "a", EntityName("people", "ann-lee", "Ann Lee", aliases))
    assert sorted(nodes(connection)[ANN.id]["aliases"]) == ["ann-lee-s", "annie", "lee"]


def test_odd_aliases_of_others_are_no_fault(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    store(graph, make_draft)
    make(connection, id=ANN.id, slug=ANN.slug, category="people", name="Ann", aliases="{broken")
    make(connection, id=REDIS.id, slug="redis", category="tools", name="Redis", aliases=7)
    mention(graph, "a", ANN, REDIS)
    assert edges(connection) == [(ANN.id, "a"), (REDIS.id, "a")]
    connection.write("MATCH (e:Entity {id: $id}) SET e.aliases = 7", {"id": REDIS.id})
    assert graph.delete(["a"]) == ["a"]


def test_a_merged_entity_stands_for_another(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    store(graph, make_draft)
    make(connection, id=ANN.id, slug=ANN.slug, category="people", name="Ann Lee")
    make(connection, id="entity:people:ann", slug="ann", category="people", merged_into="lee")
    make(connection, id="entity:people:lee", slug="lee", category="people", merged_into=ANN.id)
    mention(graph, "a", EntityName("people", "ann", "Ann"))
    assert edges(connection) == [(ANN.id, "a")]
    assert nodes(connection)[ANN.id]["aliases"] == ["ann"]
    assert nodes(connection)[ANN.id]["name"] == "Ann Lee"


def test_entities_merged_in_a_circle_do_no_harm(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    store(graph, make_draft)
    make(connection, id=ANN.id, slug=ANN.slug, category="people", merged_into="x")
    make(connection, id="entity:people:x", slug="x", category="people", merged_into=ANN.id)
    mention(graph, "a", ANN)
    assert len(edges(connection)) == 1


def test_a_slug_that_is_too_long_is_left_out(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    store(graph, make_draft)
    mention(graph, "a", ANN, EntityName("people", "x" * 1000, "X"))
    assert edges(connection) == [(ANN.id, "a")]


def test_a_deleted_memory_refers_to_nothing(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    store(graph, make_draft)
    rob = EntityName("people", "robert", "Robert", ("rob",))
    graph.mention([Mentions("a", (ANN, REDIS, rob)), Mentions("b", (REDIS,))], AT)
    assert graph.delete(["a", "unknown"]) == ["a"]
    assert edges(connection) == [(REDIS.id, "b")]
    assert set(nodes(connection)) == {REDIS.id, rob.id}, "aliases are kept, what nothing names is gone"
    assert graph.delete(["b"]) == ["b"]
    assert set(nodes(connection)) == {rob.id}


def test_a_new_reference_survives_the_end_of_the_last_one(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    store(graph, make_draft)
    done = Event()

    def come_and_go() -> None:
        while not done.is_set():
            mention(graph, "a", ANN)
            mention(graph, "a")

    other = Thread(target=come_and_go)
    other.start()
    lost = 0
    for _ in range(60):
        mention(graph, "b", ANN)
        lost += (ANN.id, "b") not in edges(connection)
        mention(graph, "b")
    done.set()
    other.join()
    assert lost == 0


def test_pages_by_id_show_all_once_while_counts_change(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    store(graph, make_draft)
    names = [EntityName("tools", f"tool-{number}", f"Tool {number}") for number in range(5)]
    graph.mention([Mentions("a", tuple(names)), Mentions("b", tuple(names[:2]))], AT)
    seen: list[str] = []
    after: tuple[int, str] | None = None
    while page := graph.entity_page("tools", "id", after, 2):
        seen += [row.id for row in page]
        after = (page[-1].references, page[-1].id)
        mention(graph, "b", names[4])
    assert seen == [name.id for name in names]
    found = graph.entity_page("tools", "references", None, 2)
    assert [(row.id, row.references) for row in found] == [(names[4].id, 2), (names[0].id, 1)]


def test_mentions_at_the_same_time_make_one_node(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    ids = [f"m{number}" for number in range(40)]
    store(graph, make_draft, ids)
    aliases = [EntityName("people", "ann-lee", "Ann Lee", (f"alias-{number}",)) for number in range(40)]
    threads = [
        Thread(target=mention, args=(graph, memory_id, entity))
        for memory_id, entity in zip(ids, aliases, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(nodes(connection)) == 1 and len(edges(connection)) == 40
    assert len(nodes(connection)[ANN.id]["aliases"]) == 40, "no alias is lost"
