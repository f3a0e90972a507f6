"""What the graph keeps of the model and of a change of it."""

from __future__ import annotations

from dataclasses import replace

from automem.stores.base import StoreIdentity
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection

ONE = StoreIdentity("local:a", 8, 1)


def test_the_identity_names_the_vectors_that_serve_and_those_to_be_removed(graph: FalkorDBGraph) -> None:
    graph.record_identity(ONE)
    assert graph.identity() == ONE
    changed = StoreIdentity("local:b", 9, 1, generation="b", previous="")
    graph.record_identity(changed)
    assert graph.identity() == changed
    graph.record_identity(replace(changed, previous=None))
    assert graph.identity() == replace(changed, previous=None)


def test_an_identity_of_before_has_the_first_vectors(graph: FalkorDBGraph, connection: Connection) -> None:
    connection.write(
        "CREATE (:StoreIdentity {id: 'store', embedding_model: 'local:a', dimension: 8, analysis: 1})", {}
    )
    assert graph.identity() == ONE


def test_a_planned_change_is_kept_until_it_is_done(graph: FalkorDBGraph) -> None:
    assert graph.model_change() is None
    graph.plan_model_change('{"a": "\\"ü"}')
    graph.plan_model_change('{"b": 1}')
    assert graph.model_change() == '{"b": 1}'
    graph.plan_model_change(None)
    graph.plan_model_change(None)
    assert graph.model_change() is None
