"""Points that others wrote are read without an error, whatever their payload holds."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest
import qdrant_edge as edge
from qdrant_client import QdrantClient, models

from automem.models import Memory, Scope
from automem.stores.base import VectorStore
from automem.stores.payload import mark_of
from automem.stores.qdrant import QdrantServerVectors
from automem.stores.qdrant_edge import EdgeVectors
from automem.utils.time import TimeWindow

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)
NAMES = [str(uuid.UUID(int=number)) for number in range(1, 10)]
ODD: list[dict[str, Any]] = [
    {},
    {"content": None, "tags": None, "metadata": None, "type": None, "archived": None, "_replaced": None},
    {"tags": "a,b", "tag_prefixes": "a", "metadata": '{"a": 1}', "importance": "high", "timestamp": 5},
    {"tags": [1, None, "Mixed/Case"], "metadata": "not json", "id": "other", "archived": "yes"},
    {
        "content": 7,
        "type": ["x"],
        "metadata": [1],
        "_ts": "late",
        "_from": None,
        "_until": [],
        "_replaced": True,
    },
    {"tag_prefixes": [None, {}], "_tags": {"a": 1}, "timestamp": "never", "t_valid": "?", "confidence": True},
]


def _with_edge(directory: Path, payloads: Mapping[str, dict[str, Any]]) -> VectorStore:
    """Write the points with the engine itself; no index is there yet."""
    params = edge.EdgeVectorParams(size=2, distance=edge.Distance.Cosine)
    shard = edge.EdgeShard.create(str(directory / "shard"), edge.EdgeConfig(vectors=params))
    points = [edge.Point(name, [1.0, 1.0], payload) for name, payload in payloads.items()]
    shard.update(edge.UpdateOperation.upsert_points(points))
    shard.close()
    return EdgeVectors.open(directory / "shard", 2)


def _with_client(directory: Path, payloads: Mapping[str, dict[str, Any]]) -> VectorStore:
    client = QdrantClient(":memory:")
    params = models.VectorParams(size=2, distance=models.Distance.COSINE)
    client.create_collection("memories", vectors_config=params)
    points = [
        models.PointStruct(id=name, vector=[1.0, 1.0], payload=payload) for name, payload in payloads.items()
    ]
    client.upsert("memories", points)
    return QdrantServerVectors.open(client, "memories", 2, ensure_indexes=False)


@pytest.fixture(params=[_with_edge, _with_client])
def foreign(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., VectorStore]]:
    opened: list[VectorStore] = []

    def write(payloads: list[dict[str, Any]]) -> VectorStore:
        opened.append(request.param(tmp_path, dict(zip(NAMES, payloads, strict=False))))
        return opened[-1]

    yield write
    for store in opened:
        store.close()


def _every_field(memory: Memory) -> None:
    for name in ("id", "content", "type", "tags", "importance", "confidence", "relevance", "timestamp"):
        getattr(memory, name)
    for name in ("updated_at", "valid_from", "valid_until", "archived", "summary", "metadata"):
        getattr(memory, name)


def test_odd_payloads_are_read(foreign: Callable[..., VectorStore]) -> None:
    store = foreign(ODD)

    hits = store.search([1, 1], Scope(at=NOW, state="any"), 10)

    memories = {hit.memory.id: hit.memory for hit in hits}
    assert sorted(memories) == NAMES[: len(ODD)]
    for memory in memories.values():
        _every_field(memory)
        assert None not in memory.properties.values()
        assert not any(name.startswith("_") for name in memory.properties)
    assert memories[NAMES[2]].metadata == {"a": 1}
    assert memories[NAMES[3]].tags == ("Mixed/Case",)
    assert [memories[name].metadata for name in NAMES[3:5]] == [{}, {}]
    assert memories[NAMES[4]].replaced


def test_odd_payloads_pass_through_every_filter(foreign: Callable[..., VectorStore]) -> None:
    store = foreign(ODD)
    states: list[Literal["any", "current", "suppressed"]] = ["any", "current", "suppressed"]
    many = Scope(
        at=NOW, tags=("a",), exclude_tags=("b",), excluded_types=("x",), window=TimeWindow(NOW, None)
    )
    exact = Scope(at=NOW, tags=("a", "b"), tag_mode="all", tag_match="exact", archived=True)
    excluded = Scope(at=NOW, exclude_tags=("a",), tag_match="exact")

    for scope in (replace(one, state=state) for one in (many, exact, excluded) for state in states):
        hits = store.search([1, 1], scope, 10)
        assert {memory.id for memory in store.scroll(scope, 10)} == {hit.memory.id for hit in hits}


def test_points_without_a_time_fail_an_active_window(foreign: Callable[..., VectorStore]) -> None:
    store = foreign([{"timestamp": "2025-06-01T12:00:00Z"}, {}])

    assert store.search([1, 1], Scope(at=NOW, window=TimeWindow(NOW, None)), 10) == []
    assert len(store.search([1, 1], Scope(at=NOW, window=TimeWindow(None, None)), 10)) == 2


def test_a_new_write_makes_a_foreign_payload_complete(foreign: Callable[..., VectorStore]) -> None:
    store = foreign([{"tags": ["Old"], "left": "over"}])
    stamped = {"id": NAMES[0], "tags": ["Old"], "timestamp": "2025-06-01T12:00:00Z"}

    store.update_payload(Memory(properties=stamped))

    [hit] = store.search([1, 1], Scope(at=NOW, tags=("old",), window=TimeWindow(NOW, None)), 10)
    assert "left" not in hit.memory.properties


def test_points_with_numbers_for_ids_are_not_memories(tmp_path: Path) -> None:
    params = edge.EdgeVectorParams(size=2, distance=edge.Distance.Cosine)
    shard = edge.EdgeShard.create(str(tmp_path / "shard"), edge.EdgeConfig(vectors=params))
    points = [edge.Point(7, [1.0, 1.0], {}), edge.Point(NAMES[0], [1.0, 1.0], {})]
    shard.update(edge.UpdateOperation.upsert_points(points))
    shard.close()
    store = EdgeVectors.open(tmp_path / "shard", 2)

    assert list(store.ids("", 1)) == [NAMES[0]]
    store.close()


def test_the_mark_of_a_foreign_point_is_that_of_its_text(foreign: Callable[..., VectorStore]) -> None:
    store = foreign([{"content": "text", "tags": ["a"]}, {}, {"content": 7}])
    found = store.marks(NAMES[:3])
    assert found[NAMES[0]].text == mark_of(Memory({"content": "text"})).text
    assert found[NAMES[1]].text == found[NAMES[2]].text == mark_of(Memory({})).text
    assert {mark.payload for mark in found.values()} == {""}
