"""What every vector store does, whichever engine serves it (D29): the VectorStore protocol."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from automem.errors import InvalidInput, VectorsUnavailable
from automem.models import Memory, Scope
from automem.stores.base import VectorPoint, VectorStore

pytestmark = pytest.mark.filterwarnings("ignore:Local mode performs exact:UserWarning")

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)
EVERYTHING = Scope(at=NOW, archived=True)
A, B, C = (str(uuid.UUID(int=number << 96)) for number in (1, 2, 3))
MISSING = str(uuid.UUID(int=9 << 96))


def memory(memory_id: str, **properties: Any) -> Memory:
    replaced = properties.pop("replaced", False)
    base = {"id": memory_id, "content": f"about {memory_id}", "tags": [], "timestamp": "2025-05-01T00:00:00Z"}
    return Memory(properties=base | properties, replaced=replaced)


def point(memory_id: str, *vector: float, **properties: Any) -> VectorPoint:
    return VectorPoint(memory_id, vector, memory(memory_id, **properties))


def found(store: VectorStore, scope: Scope = EVERYTHING) -> set[str]:
    hits = {hit.memory.id for hit in store.search([1, 1, 1, 1], scope, 100)}
    assert {memory.id for memory in store.scroll(scope, 100)} == hits
    return hits


def test_nearest_first_with_the_cosine_as_score(store: VectorStore) -> None:
    store.upsert([point(A, 0, 1, 0, 0), point(B, 3, 0, 0, 0), point(C, -2, 0, 0, 0)])

    hits = store.search([1, 1, 0, 0], EVERYTHING, 10)
    near = store.search([5, 0, 0, 0], EVERYTHING, 1)

    assert [hit.score for hit in hits] == pytest.approx([0.70711, 0.70711, -0.70711], abs=1e-5)
    assert [hit.memory.id for hit in near] == [B]
    assert near[0].score == pytest.approx(1.0, abs=1e-5)


def test_a_hit_carries_the_whole_memory(store: VectorStore) -> None:
    properties = {
        "content": "Zürich — 東京 👍 \x00",
        "tags": ["Project/Foo", "x"],
        "importance": 0.25,
        "timestamp": "2025-05-01T10:00:00+00:00",
        "type": "Decision",
        "confidence": 0.75,
        "t_valid": "2025-05-01T10:00:00+00:00",
        "t_invalid": "2025-07-01T10:00:00+00:00",
        "updated_at": "2025-05-02T10:00:00+00:00",
        "last_accessed": "2025-05-03T10:00:00+00:00",
        "metadata": {"deep": {"list": [1, 2.5, None, True, "é"]}, "": "empty name", "a.b": 1, "a[]": []},
        "relevance_score": 0.5,
        "archived": False,
    }
    store.upsert([point(A, 1, 0, 0, 0, replaced=True, **properties)])

    [hit] = store.search([1, 0, 0, 0], EVERYTHING, 5)

    assert hit.memory.properties == properties | {"id": A, "tag_prefixes": ["project", "project:foo", "x"]}
    assert hit.memory.replaced


def test_upsert_replaces_vector_and_payload(store: VectorStore) -> None:
    store.upsert([point(A, 1, 0, 0, 0, importance=0.5, metadata={"old": 1})])
    store.upsert([point(A, 0, 1, 0, 0, content="new")])

    [hit] = store.search([0, 1, 0, 0], EVERYTHING, 5)

    assert hit.score == pytest.approx(1.0, abs=1e-5)
    assert hit.memory.content == "new"
    assert "importance" not in hit.memory.properties and "metadata" not in hit.memory.properties


def test_update_payload_replaces_it_and_keeps_the_vector(store: VectorStore) -> None:
    store.upsert(
        [point(A, 1, 0, 0, 0, tags=["old"], relevance_score=0.5), point(B, 0, 1, 0, 0, tags=["old"])]
    )

    store.update_payload(memory(A, tags=["new"], archived=True))

    [hit] = store.search([1, 0, 0, 0], Scope(at=NOW, tags=("new",), archived=True), 5)
    assert hit.memory.id == A
    assert hit.score == pytest.approx(1.0, abs=1e-5)
    assert hit.memory.relevance is None
    assert found(store, Scope(at=NOW)) == {B}
    assert found(store, Scope(at=NOW, tags=("old",), archived=True)) == {B}


def test_what_is_not_there_is_passed_over(store: VectorStore) -> None:
    store.upsert([point(A, 1, 0, 0, 0)])

    store.update_payload(memory(MISSING))
    store.update_payload(memory("no uuid"))
    store.delete([MISSING, "no uuid"])
    store.delete([])
    store.upsert([])

    assert found(store) == {A}
    assert store.vectors([MISSING, "no uuid"]) == {}
    assert store.vectors([]) == {}
    assert store.similarities([1, 0, 0, 0], ["no uuid", MISSING]) == {}
    assert store.similarities([1, 0, 0, 0], []) == {}


def test_deleted_points_are_gone(store: VectorStore) -> None:
    store.upsert([point(A, 1, 0, 0, 0), point(B, 0, 1, 0, 0), point(C, 0, 0, 1, 0)])

    store.delete([A, MISSING, C])

    assert found(store) == {B}
    assert store.count([]) == 1
    assert list(store.ids("", 10)) == [B]


def test_similarities_of_points_by_id(store: VectorStore) -> None:
    store.upsert([point(A, 1, 0, 0, 0), point(B, 1, 1, 0, 0, archived=True), point(C, 0, 1, 0, 0)])

    cosines = store.similarities([2, 0, 0, 0], [B, MISSING, A, A])

    assert cosines == {A: pytest.approx(1.0, abs=1e-5), B: pytest.approx(0.70711, abs=1e-5)}


def test_vectors_come_back_at_unit_length(store: VectorStore) -> None:
    store.upsert([point(A, 3, 4, 0, 0), point(B, 0, 0, 1, 0)])

    vectors = store.vectors([A, MISSING])

    assert {key: list(value) for key, value in vectors.items()} == {A: pytest.approx([0.6, 0.8, 0, 0])}


def test_the_length_of_a_vector_does_not_matter(store: VectorStore) -> None:
    for scale in (1e-300, 1e-20, 1e20, 1e300):
        store.upsert([point(A, scale, 0, 0, 0), point(B, scale, scale, 0, 0)])

        hits = store.search([scale, 0, 0, 0], EVERYTHING, 10)

        assert [(hit.memory.id, round(hit.score, 4)) for hit in hits] == [(A, 1.0), (B, 0.7071)], scale


WRONG_VECTORS = [
    ([1.0, 2.0], "Embedding must contain exactly 4 values"),
    ([], "Embedding must contain exactly 4 values"),
    ([1.0, 2.0, 3.0, math.nan], "finite"),
    ([1.0, 2.0, -math.inf, math.nan], "finite"),
    ([0.0, 0.0, 0.0, 0.0], "zeros"),
]


def _refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refusal:
        call()
    assert refusal.value.field == "embedding"


def test_a_wrong_vector_is_refused_before_anything_is_written(store: VectorStore) -> None:
    for vector, message in WRONG_VECTORS:
        _refused(partial(store.upsert, [point(A, 1, 0, 0, 0), point(B, *vector)]), message)
        _refused(partial(store.search, vector, EVERYTHING, 5), message)
        _refused(partial(store.similarities, vector, [A]), message)
    assert store.count([]) == 0


def test_an_id_that_is_no_uuid_is_refused(store: VectorStore) -> None:
    with pytest.raises(InvalidInput, match="UUID"):
        store.upsert([point("pattern-1", 1, 0, 0, 0)])


def test_an_id_in_capitals_is_the_same_point(store: VectorStore) -> None:
    name = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
    store.upsert([point(name, 1, 0, 0, 0)])

    assert list(store.similarities([1, 0, 0, 0], [name.upper()])) == [name.upper()]
    assert list(store.vectors([name.upper()])) == [name.upper()]
    store.delete([name.upper()])
    assert store.count([]) == 0


def test_no_results_are_asked_for(store: VectorStore) -> None:
    store.upsert([point(A, 1, 0, 0, 0)])

    assert store.search([1, 0, 0, 0], EVERYTHING, 0) == []
    assert store.scroll(EVERYTHING, 0) == []
    assert list(store.ids("", 0)) == []


def test_an_empty_store_answers(store: VectorStore) -> None:
    store.ping()

    assert store.dimension == 4
    assert store.search([1, 0, 0, 0], EVERYTHING, 5) == []
    assert store.scroll(EVERYTHING, 5) == []
    assert store.count(["MetaPattern"]) == 0
    assert list(store.ids("", 5)) == []


def test_count_leaves_types_out(store: VectorStore) -> None:
    store.upsert(
        [point(A, 1, 0, 0, 0, type="MetaPattern"), point(B, 1, 0, 0, 1, type="Memory"), point(C, 1, 1, 0, 0)]
    )

    assert (store.count([]), store.count(["MetaPattern"]), store.count(["MetaPattern", "Memory"])) == (
        3,
        2,
        1,
    )


def test_the_walk_over_ids_is_ascending_and_complete(store: VectorStore) -> None:
    names = sorted(str(uuid.uuid5(uuid.NAMESPACE_OID, str(number))) for number in range(53))
    names = [str(uuid.UUID(int=0)), *names, str(uuid.UUID(int=(1 << 128) - 1))]
    store.upsert([point(name, 1, 0, 0, 0) for name in reversed(names)])

    walked: list[str] = []
    while page := list(store.ids(walked[-1] if walked else "", 10)):
        walked += page

    assert walked == names
    assert list(store.ids(MISSING, 3)) == [name for name in names if name > MISSING][:3]


def test_ids_go_on_after_a_page_whose_last_point_was_deleted(store: VectorStore) -> None:
    store.upsert([point(A, 1, 0, 0, 0), point(B, 0, 1, 0, 0), point(C, 0, 0, 1, 0)])
    [*_, last] = store.ids("", 2)
    store.delete([last])

    assert list(store.ids(last, 2)) == [C]


def test_metadata_of_any_shape_is_stored(store: VectorStore) -> None:
    deep: Any = "bottom"
    for _ in range(400):
        deep = {"in": [deep]}
    odd = {"deep": deep, "half": "a\ud800b", "huge": 10**40, "nan": math.nan, "tuple": (1, 2)}
    store.upsert([point(A, 1, 0, 0, 0, metadata=odd), point(B, 1, 0, 0, 1)])

    hits = store.search([1, 0, 0, 0], EVERYTHING, 5)

    metadata = hits[0].memory.metadata
    assert [hit.memory.id for hit in hits] == [A, B]
    assert (metadata["half"], metadata["huge"]) == ("a?b", str(10**40))
    assert (metadata["nan"], metadata["tuple"]) == (None, [1, 2])
    assert "in" in metadata["deep"]["in"][0]


def test_a_closed_store_is_unavailable(store: VectorStore) -> None:
    store.close()
    store.close()

    for call in (
        store.ping,
        lambda: store.upsert([point(A, 1, 0, 0, 0)]),
        lambda: store.search([1, 0, 0, 0], EVERYTHING, 5),
        lambda: store.scroll(EVERYTHING, 5),
        lambda: store.count([]),
    ):
        with pytest.raises(VectorsUnavailable):
            call()
