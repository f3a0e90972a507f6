"""The one writer of the vector store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from automem.models import MemoryDraft
from automem.workers.vectors import Embedded, VectorWriter

Draft = Callable[..., MemoryDraft]

VECTOR = [1.0] + [0.0] * 7


@pytest.fixture
def writer(graph: Any, vectors: Any) -> VectorWriter:
    return VectorWriter(graph, vectors)


def test_a_vector_is_stored_and_its_debt_paid(
    writer: VectorWriter, graph: Any, vectors: Any, draft: Draft
) -> None:
    made = draft("hello")
    graph.create([made], pending=True)
    assert writer.put({made.id: Embedded("hello", VECTOR)}) == {made.id}
    assert vectors.vectors([made.id])[made.id] == pytest.approx(VECTOR)
    assert graph.pending_vector_count() == 0


def test_a_vector_of_an_older_text_is_dropped(
    writer: VectorWriter, graph: Any, vectors: Any, draft: Draft
) -> None:
    made = draft("hello")
    graph.create([made], pending=True)
    assert graph.update(made.id, {"content": "good bye"}, 0)
    assert writer.put({made.id: Embedded("hello", VECTOR)}) == frozenset()
    assert vectors.count([]) == 0
    assert graph.pending_vector_count() == 1


def test_a_deleted_memory_gets_no_vector(
    writer: VectorWriter, graph: Any, vectors: Any, draft: Draft
) -> None:
    made = draft("hello")
    graph.create([made], pending=True)
    graph.delete([made.id])
    assert writer.put({made.id: Embedded("hello", VECTOR)}) == {made.id}
    assert vectors.count([]) == 0


def test_a_payload_is_refreshed_only_where_a_vector_is_trusted(
    writer: VectorWriter, graph: Any, vectors: Any, draft: Draft
) -> None:
    without, with_vector = draft("a"), draft("b")
    graph.create([without, with_vector], pending=True)
    writer.put({with_vector.id: Embedded("b", VECTOR)})
    assert graph.update(with_vector.id, {"tags": ["new"]}, 0)
    assert writer.refresh([without.id, with_vector.id, "unknown"]) == {with_vector.id, "unknown"}
    assert graph.pending_vector_count() == 1


def test_removing_clears_the_tombstone(writer: VectorWriter, graph: Any, vectors: Any, draft: Draft) -> None:
    made = draft("hello")
    graph.create([made], pending=True)
    writer.put({made.id: Embedded("hello", VECTOR)})
    graph.delete([made.id])
    writer.remove([made.id])
    assert vectors.count([]) == 0
    assert graph.tombstones(10) == []
