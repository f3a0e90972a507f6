"""GET and DELETE /memory/by-tag (memory-api.md 6, D5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from flask import Blueprint, Response
from pydantic import BaseModel, Field

from automem.api.context import services
from automem.api.cursors import read_cursor, write_cursor
from automem.api.errors import ErrorAnswer
from automem.api.openapi import describe
from automem.api.requests import Query, Warn, answer, query_string
from automem.api.schemas_memory import MemoryRecord, Warning
from automem.errors import InvalidInput
from automem.memory.answers import public_properties
from automem.memory.by_tag import delete_by_tag, list_by_tag
from automem.stores.edges import TagKey, TagPage

DEFAULT_LIMIT = 20
MAX_LIMIT = 200
_MANY = 10**9
_KIND = "by-tag"

bp = Blueprint("by_tag", __name__)


class TagsQuery(BaseModel):
    """Which memories are meant."""

    tags: list[str] = Field(
        description="Any of these whole tags, in any case; repeated or comma-separated; `/` is `:`."
    )


class ByTagQuery(TagsQuery):
    """Which memories to list, and which part of the list."""

    limit: int = Field(default=DEFAULT_LIMIT, description=f"1 to {MAX_LIMIT}.")
    offset: int = Field(default=0, description="How many to leave out; not with `cursor`.")
    cursor: str | None = Field(default=None, description="The `next` of the page before.")


class ByTagAnswer(BaseModel):
    """A page: most important first, then newest, then by id."""

    status: str = Field(description="Always `success`.")
    tags: list[str]
    count: int
    limit: int
    offset: int
    has_more: bool
    memories: list[MemoryRecord]
    next: str | None = Field(default=None, description="The `cursor` of the next page; absent on the last.")
    warnings: list[Warning] | None = None


class ByTagDeleted(BaseModel):
    """All memories with the tags are deleted."""

    status: str = Field(description="Always `success`.")
    tags: list[str]
    deleted_count: int
    warnings: list[Warning] | None = None


@bp.get("/memory/by-tag")
@describe("Memory", answers={200: ByTagAnswer, 400: ErrorAnswer, 503: ErrorAnswer}, query=ByTagQuery)
def list_route() -> Response:
    """List all memories that bear one of the tags, archived and expired ones too."""
    query = query_string(ByTagQuery)
    tags, page = _tags(query), _page(query)
    rows, more = list_by_tag(services(), tags, page)
    body = {
        "status": "success",
        "tags": list(tags),
        "count": len(rows),
        "limit": page.limit,
        "offset": page.offset,
        "has_more": more,
        "memories": [public_properties(row.memory) for row in rows],
        "next": write_cursor(_KIND, rows[-1].key) if more else None,
    }
    return answer(body, query.warnings)


@bp.delete("/memory/by-tag")
@describe("Memory", answers={200: ByTagDeleted, 400: ErrorAnswer, 503: ErrorAnswer}, query=TagsQuery)
def delete_route() -> Response:
    """Delete all memories that bear one of the tags, with their relations and vectors."""
    query = query_string(ByTagQuery)
    tags = _tags(query)
    deleted = delete_by_tag(services(), tags)
    return answer({"status": "success", "tags": list(tags), "deleted_count": deleted}, query.warnings)


def _tags(query: Query) -> Sequence[str]:
    tags = query.names("tags")
    if not tags:
        raise InvalidInput("'tags' query parameter is required", field="tags")
    return tags


def _page(query: Query) -> TagPage:
    limit = query.count("limit", default=DEFAULT_LIMIT, low=1, high=MAX_LIMIT)
    offset = query.count("offset", default=0, low=0, high=_MANY)
    place = read_cursor(_KIND, query.text("cursor"), (int, int, str))
    if place is None:
        return TagPage(limit, offset)
    if offset:
        query.warnings.append(Warn("ignored", "'offset' was ignored, since 'cursor' was sent", "offset"))
    return TagPage(limit, 0, cast(TagKey, place))
