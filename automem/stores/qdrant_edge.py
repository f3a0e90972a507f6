"""Vectors in this process, on Qdrant Edge (D29). Opened by ``open_vectors.open_embedded``.

What the engine does, found by trying version 0.9:

- Every call holds the interpreter lock for its whole run, so calls never overlap and none may be long.
  ``optimize()`` is never called here: at 20,000 points everything would stand still for seconds. Exact
  search serves the embedded size.
- Acknowledged changes are in the write-ahead log and survive ``kill -9``. A flush keeps the log to be
  replayed at the next start short; with a thousand changed points it takes about 30 ms.
- All failures are bare ``Exception``.

A shard with an HNSW index, built on a copy by another process, can be switched in later: reads take
``_shard`` once a call, writes hold ``_writing``; under that lock a successor only has to be caught up
and assigned.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Self

import qdrant_edge as edge

from automem.errors import StartupError, VectorsUnavailable
from automem.models import Memory, Scope
from automem.stores.base import Hit, VectorPoint
from automem.stores.payload import MARKS, PointMark, from_payload, read_mark, stored_payload
from automem.stores.qdrant_filter import (
    PAYLOAD_INDEXES,
    AnyOf,
    Condition,
    FilterSpec,
    Within,
    scope_filter,
    type_filter,
)
from automem.stores.vector_values import by_point_id, first_after, new_point_id, plain_vector, unit_vector

FLUSH_EVERY = 1000
"""Changed points after which the shard is flushed."""

_KINDS = {
    "keyword": edge.PayloadSchemaType.Keyword,
    "float": edge.PayloadSchemaType.Float,
    "integer": edge.PayloadSchemaType.Integer,
}


class EdgeVectors:
    """A ``VectorStore`` on one embedded shard. Safe for threads."""

    def __init__(self, shard: edge.EdgeShard, dimension: int) -> None:
        self._shard: edge.EdgeShard | None = shard
        self._dimension = dimension
        self._writing = Lock()
        self._unflushed = 0

    @classmethod
    def open(cls, path: Path, dimension: int) -> Self:
        """Open the shard in a directory; where there is none, make it with this dimension.

        An existing shard keeps its own ``dimension``: compare with ``check_dimension``.

        :raises StartupError: when the directory is in use, damaged or not writable.
        """
        with _startup(path):
            if not _holds_shard(path):
                _create(path, dimension)
            shard = edge.EdgeShard.load(str(path))
            _ensure_indexes(shard)
            return cls(shard, _dimension(path))

    @property
    def dimension(self) -> int:
        return self._dimension

    def ping(self) -> None:
        with self._reading() as shard:
            shard.info()

    def close(self) -> None:
        """Flush and release the directory. Closing twice does no harm."""
        with self._writing:
            shard, self._shard = self._shard, None
            if shard is not None:
                with _engine():
                    shard.flush()
                    shard.close()

    def upsert(self, points: Sequence[VectorPoint]) -> None:
        if not points:
            return
        written = [
            edge.Point(
                id=new_point_id(point.id),
                vector=unit_vector(point.vector, self._dimension),
                payload=stored_payload(point.memory),
            )
            for point in points
        ]
        self._write(edge.UpdateOperation.upsert_points(written), len(written))

    def update_payload(self, memory: Memory) -> None:
        known = by_point_id([memory.id])
        if known:
            # By filter, since naming a missing point is an error of the engine.
            this = edge.Filter(must=[edge.HasIdCondition({*known})])
            self._write(edge.UpdateOperation.overwrite_payload_by_filter(this, stored_payload(memory)), 1)

    def delete(self, memory_ids: Sequence[str]) -> None:
        known = list(by_point_id(memory_ids))
        if known:
            self._write(edge.UpdateOperation.delete_points([*known]), len(known))

    def search(self, vector: Sequence[float], scope: Scope, limit: int) -> list[Hit]:
        query = edge.Query.Nearest(unit_vector(vector, self._dimension))
        if limit <= 0:
            return []
        request = edge.SearchRequest(
            query, limit, filter=_filter(scope_filter(scope)), with_payload=True, with_vector=False
        )
        with self._reading() as shard:
            found = shard.search(request)
        return [Hit(from_payload(str(point.id), point.payload), point.score) for point in found]

    def scroll(self, scope: Scope, limit: int) -> list[Memory]:
        if limit <= 0:
            return []
        request = edge.ScrollRequest(
            limit=limit, filter=_filter(scope_filter(scope)), with_payload=True, with_vector=False
        )
        return [from_payload(str(point.id), point.payload) for point in self._page(request)]

    def similarities(self, vector: Sequence[float], memory_ids: Sequence[str]) -> dict[str, float]:
        query, asked = edge.Query.Nearest(unit_vector(vector, self._dimension)), by_point_id(memory_ids)
        if not asked:
            return {}
        request = edge.SearchRequest(
            query,
            len(asked),
            filter=edge.Filter(must=[edge.HasIdCondition({*asked})]),
            params=edge.SearchParams(exact=True),
        )
        with self._reading() as shard:
            found = shard.search(request)
        return {asked[str(point.id)]: point.score for point in found}

    def vectors(self, memory_ids: Sequence[str]) -> dict[str, Sequence[float]]:
        asked = by_point_id(memory_ids)
        with self._reading() as shard:
            found = shard.retrieve([*asked], with_payload=False, with_vector=True)
        return {asked[str(point.id)]: plain_vector(point.vector) for point in found if point.vector}

    def marks(self, memory_ids: Sequence[str]) -> dict[str, PointMark]:
        asked = by_point_id(memory_ids)
        found = self._payloads([*asked], MARKS)
        # Points of others have no marks: only of those the text is read.
        found |= self._payloads([point for point, payload in found.items() if not payload], ("content",))
        return {asked[point]: read_mark(payload) for point, payload in found.items()}

    def _payloads(self, point_ids: Sequence[str], fields: Sequence[str]) -> dict[str, Any]:
        with self._reading() as shard:
            found = shard.retrieve([*point_ids], with_payload=[*fields], with_vector=False)
        return {str(point.id): point.payload for point in found}

    def count(self, excluded_types: Sequence[str]) -> int:
        request = edge.CountRequest(exact=True, filter=_filter(type_filter(excluded_types)))
        with self._reading() as shard:
            return shard.count(request)

    def ids(self, after: str, limit: int) -> Iterable[str]:
        start = first_after(after)
        if start is None or limit <= 0:
            return []
        request = edge.ScrollRequest(offset=start, limit=limit, with_payload=False, with_vector=False)
        return [str(point.id) for point in self._page(request)]

    def _page(self, request: edge.ScrollRequest) -> list[edge.Record]:
        with self._reading() as shard:
            return shard.scroll(request)[0]

    def _write(self, operation: edge.UpdateOperation, points: int) -> None:
        with self._writing, self._reading() as shard:
            shard.update(operation)
            self._unflushed += points
            if self._unflushed >= FLUSH_EVERY:
                shard.flush()
                self._unflushed = 0

    @contextmanager
    def _reading(self) -> Iterator[edge.EdgeShard]:
        shard = self._shard
        if shard is None:
            raise VectorsUnavailable("The vector store is closed")
        with _engine():
            yield shard


@contextmanager
def _engine() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # The binding raises nothing narrower; only calls of it run in here.
        raise VectorsUnavailable("The embedded vector store failed") from error


@contextmanager
def _startup(path: Path) -> Iterator[None]:
    try:
        yield
    except StartupError:
        raise
    except OSError as error:
        raise StartupError(f"Cannot use the vector directory {path}: {error.strerror}") from error
    except Exception as error:  # As in _engine.
        if "WouldBlock" in str(error):
            raise StartupError(f"The vector directory {path} is in use by another process") from error
        raise StartupError(
            f"Cannot open the vector directory {path}: {error}. Move it away and start again: the graph "
            "has all memories, their vectors can be made anew."
        ) from error


def _holds_shard(path: Path) -> bool:
    return any((path / name).exists() for name in ("edge_config.json", "segments"))


def _create(path: Path, dimension: int) -> None:
    """Make an empty shard whole: beside its place first, so that a crash leaves no half of one there."""
    unfinished = path.with_name(f"{path.name}.new")
    if unfinished.exists():
        shutil.rmtree(unfinished)
    unfinished.mkdir(parents=True)
    params = edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine)
    shard = edge.EdgeShard.create(str(unfinished), edge.EdgeConfig(vectors=params, wal_enabled=True))
    _ensure_indexes(shard)
    shard.flush()
    shard.close()
    os.replace(unfinished, path)


def _dimension(path: Path) -> int:
    """Read what the engine recorded when the shard was made; the shard object does not tell."""
    recorded = json.loads((path / "edge_config.json").read_text(encoding="utf-8"))
    return int(recorded["vectors"][""]["size"])


def _ensure_indexes(shard: edge.EdgeShard) -> None:
    present = shard.info().payload_schema
    for field, kind in PAYLOAD_INDEXES:
        if field not in present:
            shard.update(edge.UpdateOperation.create_field_index(field, _KINDS[kind]))


def _filter(spec: FilterSpec) -> edge.Filter | None:
    if not spec:
        return None
    return edge.Filter(
        must=[_condition(condition) for condition in spec.must],
        must_not=[_condition(condition) for condition in spec.must_not],
        should=[_condition(condition) for condition in spec.should] or None,
    )


def _condition(condition: Condition) -> edge.FieldCondition:
    match condition:
        case AnyOf(key, values):
            return edge.FieldCondition(key, match=edge.MatchAny([*values]))
        case Within(key, gte, gt, lte, lt):
            return edge.FieldCondition(key, range=edge.RangeFloat(gte=gte, gt=gt, lte=lte, lt=lt))
