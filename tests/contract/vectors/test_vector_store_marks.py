"""The marks by which a drift check sees what a point was made of."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from automem.models import Memory
from automem.stores.base import VectorPoint, VectorStore
from automem.stores.payload import mark_of

A, B, MISSING = (str(uuid.UUID(int=number)) for number in (1, 2, 3))
VECTOR = (1.0, 0.0, 0.0, 0.0)


def memory(memory_id: str = A, **fields: Any) -> Memory:
    base = {"id": memory_id, "content": "text", "tags": ["a"], "metadata": {"b": [1, 2.5]}, "importance": 0.5}
    return Memory({**base, **fields})


def put(store: VectorStore, *memories: Memory) -> None:
    store.upsert([VectorPoint(made.id, VECTOR, made) for made in memories])


def test_a_point_bears_the_mark_of_its_memory(store: VectorStore) -> None:
    one, other = memory(), memory(B, content="other", metadata={"ü": None})
    put(store, one, other)
    found = store.marks([A, MISSING, "no uuid", B])
    assert found == {A: mark_of(one), B: mark_of(other)}
    assert found[A].text != found[B].text
    assert store.marks([]) == {}
    assert store.marks([B.upper()]) == {B.upper(): mark_of(other)}


@pytest.mark.parametrize(
    ("fields", "text", "payload"),
    [
        ({}, True, True),
        ({"last_accessed": "2025-01-01"}, True, True),
        ({"processed": True, "summary": "not in the vector store"}, True, True),
        ({"content": "Text"}, False, False),
        ({"tags": ["b"]}, True, False),
        ({"metadata": {"b": [1, 2]}}, True, False),
        ({"importance": 0.25}, True, False),
        ({"archived": True}, True, False),
        ({"t_invalid": "2025-01-01T00:00:00Z"}, True, False),
        ({"relevance_score": 0.5}, True, False),
    ],
)
def test_what_changes_a_mark(store: VectorStore, fields: dict[str, Any], text: bool, payload: bool) -> None:
    put(store, memory())
    found, wanted = store.marks([A])[A], mark_of(memory(**fields))
    assert (found.text == wanted.text, found.payload == wanted.payload) == (text, payload)
    store.update_payload(memory(**fields))
    assert store.marks([A])[A].payload == wanted.payload


def test_a_replaced_memory_has_another_mark(store: VectorStore) -> None:
    put(store, memory())
    assert store.marks([A])[A] != mark_of(Memory(memory().properties, replaced=True))
