"""Vector stores side by side: directories of the data directory, collections of a server."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from automem.models import Memory
from automem.stores.base import VectorPoint, VectorStore
from automem.stores.data_directory import DataDirectory
from automem.stores.generations import EmbeddedGenerations, generation_name
from automem.stores.qdrant import QdrantServerVectors, retire_collection

A = str(uuid.UUID(int=1))


def put(store: VectorStore, *vector: float) -> None:
    store.upsert([VectorPoint(A, vector, Memory({"id": A, "content": "text"}))])


@pytest.fixture
def generations(tmp_path: Path) -> Iterator[EmbeddedGenerations]:
    with DataDirectory.open(tmp_path) as data:
        yield EmbeddedGenerations(data)


def test_names_tell_models_and_lengths_apart() -> None:
    names = {generation_name(*model) for model in (("a", 1), ("a", 2), ("b", 1), ("a\n1", 1))}
    assert len(names) == 4
    assert all(name.isalnum() for name in names)
    assert generation_name("a", 1) in names, "an interrupted change finds it again"


def test_generations_stand_side_by_side_until_one_retires(
    generations: EmbeddedGenerations, tmp_path: Path
) -> None:
    first, second = generations.open("", 2), generations.open("b", 3)
    put(first, 1, 0)
    put(second, 0, 1, 0)
    assert list(first.vectors([A])[A]) == [1, 0]
    assert list(second.vectors([A])[A]) == [0, 1, 0]
    first.close()
    generations.retire("", "b")
    second.close()
    (tmp_path / "qdrantine").mkdir()
    again = generations.open("b", 3)
    assert list(again.vectors([A])[A]) == [0, 1, 0]
    again.close()
    assert sorted(path.name for path in tmp_path.glob("qdrant*")) == ["qdrant-b", "qdrantine"]


def test_without_the_graph_the_one_that_there_is_opens(generations: EmbeddedGenerations) -> None:
    new = generations.open(None, 2)
    put(new, 1, 0)
    new.close()
    successor = generations.open("b", 2)
    put(successor, 0, 1)
    successor.close()
    serving = generations.open(None, 2)
    assert list(serving.vectors([A])[A]) == [1, 0], "a successor that is filled serves nobody"
    serving.close()
    generations.retire("", "b")
    only = generations.open(None, 2)
    assert list(only.vectors([A])[A]) == [0, 1]
    only.close()


@pytest.fixture
def client() -> Iterator[QdrantClient]:
    made = QdrantClient(":memory:")
    yield made
    made.close()


def test_the_name_of_the_collection_leads_others_to_the_successor(client: QdrantClient) -> None:
    """``:memory:`` is the client's own engine."""
    for name, vector in (("memories", (1.0, 0.0)), ("memories-b", (0.0, 1.0)), ("memories-c", (1.0, 1.0))):
        put(QdrantServerVectors.open(client, name, 2, ensure_indexes=False), *vector)
    retire_collection(client, "memories", "memories", "memories-b")
    retire_collection(client, "memories", "memories", "memories-b")
    assert client.retrieve("memories", [A], with_vectors=True)[0].vector == [0.0, 1.0]
    retire_collection(client, "memories", "memories-b", "memories-c")
    assert not client.collection_exists("memories-b")
    found = QdrantServerVectors.open(client, "memories", 2, ensure_indexes=False)
    assert list(found.vectors([A])[A]) == pytest.approx([0.70711, 0.70711], abs=1e-4)


def test_going_back_to_the_first_name(client: QdrantClient) -> None:
    put(QdrantServerVectors.open(client, "memories", 2, ensure_indexes=False), 1, 0)
    put(QdrantServerVectors.open(client, "memories-b", 2, ensure_indexes=False), 0, 1)
    retire_collection(client, "memories", "memories-b", "memories")
    assert {found.name for found in client.get_collections().collections} == {"memories"}
    assert client.get_aliases().aliases == []
