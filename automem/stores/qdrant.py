"""Vectors on a Qdrant server, or in the local mode of its client. Opened by ``open_vectors.open_server``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Self

from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

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

UPSERT_BATCH = 256
"""Points of one request: with 3072 values each well below the server's limit of 32 MB."""


class QdrantServerVectors:
    """A ``VectorStore`` on one collection of a server. Safe for threads."""

    def __init__(self, client: QdrantClient, collection: str, dimension: int) -> None:
        self._client = client
        self._collection = collection
        self._dimension = dimension

    @classmethod
    def open(cls, client: QdrantClient, collection: str, dimension: int, ensure_indexes: bool = True) -> Self:
        """Use a collection; where there is none, make it with this dimension.

        An existing one keeps its own ``dimension``: compare with ``check_dimension``.

        :raises StartupError: when the key is refused or the collection is of another make.
        :raises VectorsUnavailable: when the server does not answer.
        """
        with _server(), _access():
            if not client.collection_exists(collection):
                _create(client, collection, dimension)
            found = client.get_collection(collection)
            if ensure_indexes:
                _ensure_indexes(client, collection, found)
        return cls(client, collection, _dimension(found, collection))

    @property
    def dimension(self) -> int:
        return self._dimension

    def ping(self) -> None:
        with _server():
            self._client.get_collection(self._collection)

    def close(self) -> None:
        self._client.close()

    def upsert(self, points: Sequence[VectorPoint]) -> None:
        written = [
            models.PointStruct(
                id=new_point_id(point.id),
                vector=unit_vector(point.vector, self._dimension),
                payload=stored_payload(point.memory),
            )
            for point in points
        ]
        for start in range(0, len(written), UPSERT_BATCH):
            with _server():
                self._client.upsert(self._collection, written[start : start + UPSERT_BATCH], wait=True)

    def update_payload(self, memory: Memory) -> None:
        known = by_point_id([memory.id])
        if known:
            # By filter, since the server answers 404 when a missing point is named.
            with _server():
                self._client.overwrite_payload(
                    self._collection, stored_payload(memory), points=_having(known), wait=True
                )

    def delete(self, memory_ids: Sequence[str]) -> None:
        known: list[models.ExtendedPointId] = [*by_point_id(memory_ids)]
        if known:
            with _server():
                self._client.delete(self._collection, models.PointIdsList(points=known), wait=True)

    def search(self, vector: Sequence[float], scope: Scope, limit: int) -> list[Hit]:
        query = unit_vector(vector, self._dimension)
        if limit <= 0:
            return []
        with _server():
            found = self._client.query_points(
                self._collection,
                query,
                query_filter=_filter(scope_filter(scope)),
                limit=limit,
                with_payload=True,
            )
        return [Hit(from_payload(str(point.id), point.payload), point.score) for point in found.points]

    def scroll(self, scope: Scope, limit: int) -> list[Memory]:
        if limit <= 0:
            return []
        with _server():
            found, _ = self._client.scroll(
                self._collection, _filter(scope_filter(scope)), limit=limit, with_payload=True
            )
        return [from_payload(str(point.id), point.payload) for point in found]

    def similarities(self, vector: Sequence[float], memory_ids: Sequence[str]) -> dict[str, float]:
        query, asked = unit_vector(vector, self._dimension), by_point_id(memory_ids)
        if not asked:
            return {}
        with _server():
            found = self._client.query_points(
                self._collection,
                query,
                query_filter=_having(asked),
                search_params=models.SearchParams(exact=True),
                limit=len(asked),
                with_payload=False,
            )
        return {asked[str(point.id)]: point.score for point in found.points}

    def vectors(self, memory_ids: Sequence[str]) -> dict[str, Sequence[float]]:
        asked = by_point_id(memory_ids)
        if not asked:
            return {}
        with _server():
            found = self._client.retrieve(self._collection, [*asked], with_payload=False, with_vectors=True)
        return {asked[str(point.id)]: plain_vector(point.vector) for point in found if point.vector}

    def marks(self, memory_ids: Sequence[str]) -> dict[str, PointMark]:
        asked = by_point_id(memory_ids)
        found = self._payloads([*asked], MARKS)
        # Points of others have no marks: only of those the text is read.
        found |= self._payloads([point for point, payload in found.items() if not payload], ("content",))
        return {asked[point]: read_mark(payload) for point, payload in found.items()}

    def _payloads(self, point_ids: Sequence[str], fields: Sequence[str]) -> dict[str, models.Payload | None]:
        if not point_ids:
            return {}
        with _server():
            found = self._client.retrieve(self._collection, [*point_ids], with_payload=[*fields])
        return {str(point.id): point.payload for point in found}

    def count(self, excluded_types: Sequence[str]) -> int:
        with _server():
            return self._client.count(
                self._collection, _filter(type_filter(excluded_types)), exact=True
            ).count

    def ids(self, after: str, limit: int) -> Iterable[str]:
        start = first_after(after)
        if start is None or limit <= 0:
            return []
        with _server():
            found, _ = self._client.scroll(self._collection, limit=limit, offset=start, with_payload=False)
        return [str(point.id) for point in found]


def connect(url: str, api_key: str | None = None, timeout: float | None = None) -> QdrantClient:
    """Give a client of a server; nothing is sent yet. ``timeout`` is in seconds, None the client's own."""
    return QdrantClient(
        url=url,
        api_key=api_key,
        timeout=None if timeout is None else math.ceil(timeout),
        check_compatibility=False,
    )


def retire_collection(client: QdrantClient, public: str, old: str, new: str) -> None:
    """Remove the collection ``old``; the name ``public`` is an alias of ``new`` then, or its own.

    :raises VectorsUnavailable: when the server does not answer.
    """
    with _server():
        if old != new and old in {found.name for found in client.get_collections().collections}:
            client.delete_collection(old)
        if public == new:
            return
        known = {found.alias_name for found in client.get_aliases().aliases}
        changes: list[models.AliasOperations] = []
        if public in known:
            changes.append(models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=public)))
        made = models.CreateAlias(collection_name=new, alias_name=public)
        changes.append(models.CreateAliasOperation(create_alias=made))
        client.update_collection_aliases(changes)


@contextmanager
def _server() -> Iterator[None]:
    """Map whatever a call of the client raises when the server is gone, late, wrong or no Qdrant at all.

    ``ApiException`` covers the status codes, refused connections and timeouts. ``ValueError`` and
    ``AssertionError`` are how it meets a body that is no JSON or has no result, ``RuntimeError`` that it
    has been closed.
    """
    try:
        yield
    except (ApiException, QdrantException, ValueError, AssertionError, RuntimeError) as error:
        raise VectorsUnavailable("Qdrant does not answer as it should") from error


@contextmanager
def _access() -> Iterator[None]:
    try:
        yield
    except UnexpectedResponse as error:
        if error.status_code in (401, 403):
            raise StartupError("Qdrant refuses the key: check QDRANT_API_KEY") from error
        raise


def _create(client: QdrantClient, collection: str, dimension: int) -> None:
    params = models.VectorParams(size=dimension, distance=models.Distance.COSINE)
    try:
        client.create_collection(collection, vectors_config=params)
    except UnexpectedResponse as error:
        if error.status_code != 409:  # Another process was first.
            raise


def _ensure_indexes(client: QdrantClient, collection: str, found: models.CollectionInfo) -> None:
    """Ask for the indexes that are missing, without waiting until a large collection has them."""
    for field, kind in PAYLOAD_INDEXES:
        if field not in found.payload_schema:
            client.create_payload_index(collection, field, models.PayloadSchemaType(kind), wait=False)


def _dimension(found: models.CollectionInfo, collection: str) -> int:
    params = found.config.params.vectors
    if not isinstance(params, models.VectorParams) or params.distance != models.Distance.COSINE:
        raise StartupError(
            f"The Qdrant collection {collection!r} does not hold one unnamed vector compared by cosine: "
            "name another one in QDRANT_COLLECTION"
        )
    return params.size


def _having(point_ids: Iterable[str]) -> models.Filter:
    return models.Filter(must=[models.HasIdCondition(has_id=[*point_ids])])


def _filter(spec: FilterSpec) -> models.Filter | None:
    if not spec:
        return None
    return models.Filter(
        must=[_condition(condition) for condition in spec.must],
        must_not=[_condition(condition) for condition in spec.must_not],
        should=[_condition(condition) for condition in spec.should] or None,
    )


def _condition(condition: Condition) -> models.FieldCondition:
    match condition:
        case AnyOf(key, values):
            return models.FieldCondition(key=key, match=models.MatchAny(any=[*values]))
        case Within(key, gte, gt, lte, lt):
            return models.FieldCondition(key=key, range=models.Range(gte=gte, gt=gt, lte=lte, lt=lt))
