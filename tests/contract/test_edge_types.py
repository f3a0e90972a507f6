"""The first edges of a graph are made once, however many processes begin at the same time."""

from __future__ import annotations

from threading import Barrier, Thread

from automem.relations import REGISTRY
from automem.stores.edges import NewEdge
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection
from automem.stores.falkordb_schema import EDGE_TYPES
from tests.contract.conftest import LIMITS, Address, MakeDraft


def test_the_types_are_known_without_any_edge(graph: FalkorDBGraph, connection: Connection) -> None:
    graph.ping()
    known = {row[0] for row in connection.read("CALL db.relationshipTypes()", {})}
    assert set(EDGE_TYPES) <= known
    assert connection.read("MATCH (n:EdgeTypes) RETURN count(n)", {}) == [[0]]


def test_the_first_edge_of_each_type_is_made_once(
    address: Address, connection: Connection, graph: FalkorDBGraph, make_draft: MakeDraft
) -> None:
    graph.create([make_draft("a"), make_draft("b")], pending=False)
    others = [FalkorDBGraph(Connection(address, connection.graph, LIMITS)) for _ in range(6)]
    for other in others:
        other.ping()
    for kind in REGISTRY.values():
        barrier = Barrier(len(others))

        def associate(store: FalkorDBGraph, kind: object = kind, barrier: Barrier = barrier) -> None:
            barrier.wait()
            store.associate(kind, [NewEdge("a", "b", 0.5, {})], "2026-01-01")  # type: ignore[arg-type]

        threads = [Thread(target=associate, args=(other,)) for other in others]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    counts = connection.read("MATCH (:Memory)-[r]->(:Memory) RETURN type(r), count(r) ORDER BY type(r)", {})
    assert counts == [[name, 1] for name in sorted(REGISTRY)]
    for other in others:
        other.close()
