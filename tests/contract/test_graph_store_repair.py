"""What repairs ask of the graph."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from automem.models import MemoryDraft
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection

MakeDraft = Callable[..., MemoryDraft]


def test_a_debt_is_due_now_and_survives_a_settling_on_its_way(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a"), make_draft("b")], pending=True)
    graph.vector_failed(["b"], datetime.max.replace(tzinfo=now.tzinfo))
    graph.vector_done({"a": 0})
    assert graph.owe(["a", "b", "unknown"], "vector") == 2
    graph.vector_done({"a": 0, "b": 0})
    owed = graph.pending_vectors(10, now)
    assert [(debt.memory.id, debt.memory.vector_pending, debt.attempts) for debt in owed] == [
        ("a", True, 0),
        ("b", True, 0),
    ]


def test_a_payload_that_is_owed_does_not_replace_a_vector_that_is(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a"), make_draft("b")], pending=True)
    graph.vector_done({"a": 0})
    assert graph.owe(["a", "b"], "payload") == 2
    owed = {debt.memory.id: debt.memory.vector_pending for debt in graph.pending_vectors(10, now)}
    assert owed == {"a": False, "b": True}
    assert graph.owe([], "payload") == 0


def test_which_ids_exist(graph: FalkorDBGraph, make_draft: MakeDraft, connection: Connection) -> None:
    graph.create([make_draft("a"), make_draft("b", type="MetaPattern")], pending=False)
    connection.write("CREATE (:Entity {id: 'e'})", {})
    assert graph.existing(["a", "b", "c", "e"]) == {"a", "b"}
    assert graph.existing([]) == set()


def test_the_newest_come_first(graph: FalkorDBGraph, make_draft: MakeDraft, connection: Connection) -> None:
    days = {"a": "2025-01-02", "b": "2025-01-03", "c": "2025-01-03", "d": "2024-12-31"}
    graph.create(
        [make_draft(name, timestamp=f"{day}T00:00:00+00:00") for name, day in days.items()], pending=False
    )
    connection.write("CREATE (:Memory {id: 'e', content: ''}), (:Memory {id: 'f', content: 'x'})", {})
    assert graph.newest_ids(None) == ["b", "c", "a", "d", "f"]
    assert graph.newest_ids(2) == ["b", "c"]
    assert graph.newest_ids(0) == []
    assert graph.newest_ids(10**30) == ["b", "c", "a", "d", "f"]
