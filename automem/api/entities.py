"""GET /entities and /entity/{slug}: what memories are about (service.md 13)."""

from __future__ import annotations

import re
from typing import Any, cast

from flask import Blueprint, Response
from pydantic import BaseModel, Field

from automem.api.context import services
from automem.api.cursors import read_cursor, write_cursor
from automem.api.errors import ErrorAnswer
from automem.api.openapi import describe
from automem.api.requests import answer, compact, query_string
from automem.api.schemas_memory import NoParameters, Warning
from automem.entities.validator import category_named
from automem.errors import InvalidInput, NotFound
from automem.stores.entities import EntityRecord, EntitySort
from automem.utils.tags import slugify

DEFAULT_LIMIT, MAX_LIMIT = 100, 500
NOT_A_NUMBER = "Invalid limit parameter — must be an integer"
OUT_OF_RANGE = f"Invalid limit parameter — must be between 1 and {MAX_LIMIT}"
_KIND = "entities"
_SORTS: tuple[EntitySort, ...] = ("references", "id")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_Place = tuple[int, str] | None
_TEXTS = ("id", "slug", "category", "name", "identity", "identity_updated_at", "created_at")
_SHOWN = (*_TEXTS, "last_referenced_at")

bp = Blueprint("entities", __name__)


class EntityModel(BaseModel):
    """Somebody or something that memories name."""

    id: str
    slug: str
    category: str
    name: str | None = None
    aliases: list[str]
    identity: str | None = Field(default=None, description="Who or what it is, by the chat model.")
    identity_version: int
    identity_updated_at: str | None = None
    identity_source_count: int = Field(description="Of so many memories the identity was written.")
    reference_count: int = Field(description="So many memories name it.")
    created_at: str | None = None
    last_referenced_at: str | None = None


class EntitiesQuery(BaseModel):
    """Which entities."""

    category: str | None = Field(default=None, description="people, organizations, tools, projects, …")
    limit: int = Field(default=DEFAULT_LIMIT, description=f"1 to {MAX_LIMIT}.")
    sort: str | None = Field(
        default=None, description="`references` (the default), or `id`, in which no walk misses any."
    )
    cursor: str | None = Field(default=None, description="The `next` of the page before.")


class EntitiesAnswer(BaseModel):
    """A page, those of most memories first, then by id; or all by id."""

    status: str = Field(description="Always `success`.")
    entities: list[EntityModel]
    count: int
    next: str | None = Field(default=None, description="The `cursor` of the next page; absent on the last.")
    warnings: list[Warning] | None = None


class EntityAnswer(BaseModel):
    """One entity."""

    status: str = Field(description="Always `success`.")
    entity: EntityModel
    warnings: list[Warning] | None = None


@bp.get("/entities")
@describe("Entities", answers={200: EntitiesAnswer, 400: ErrorAnswer, 503: ErrorAnswer}, query=EntitiesQuery)
def list_route() -> Response:
    """List what memories are about. Merged entities are left out."""
    query = query_string(EntitiesQuery)
    limit = _limit(query.text("limit"))
    sort = query.choice("sort", options=_SORTS, default="references")
    place = read_cursor(f"{_KIND}-{sort}", query.text("cursor"), (int, str))
    given = query.text("category")
    category = category_named(given) or given or None
    rows = services().graph.entity_page(category, sort, cast(_Place, place), limit + 1)
    shown = rows[:limit]
    body = {
        "status": "success",
        "entities": [_shown(row) for row in shown],
        "count": len(shown),
        "next": _next(sort, shown[-1]) if len(rows) > limit else None,
    }
    return answer(body, query.warnings)


@bp.get("/entity/<slug>")
@describe("Entities", answers={200: EntityAnswer, 404: ErrorAnswer, 503: ErrorAnswer}, query=NoParameters)
def entity_route(slug: str) -> Response:
    """Give one by its slug or an alias."""
    warnings = query_string(NoParameters).warnings
    found = services().graph.entity_named(slugify(slug))
    if found is None:
        raise NotFound(f"Entity '{slug}' not found")
    return answer({"status": "success", "entity": _shown(found)}, warnings)


def _next(sort: EntitySort, last: EntityRecord) -> str:
    return write_cursor(f"{_KIND}-{sort}", [last.references, last.id])


def _limit(text: str) -> int:
    if not text:
        return DEFAULT_LIMIT
    if not _INTEGER.fullmatch(text):
        raise InvalidInput(NOT_A_NUMBER, field="limit")
    limit = int(text) if len(text) < 10 else 0
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(OUT_OF_RANGE, field="limit")
    return limit


def _shown(record: EntityRecord) -> dict[str, Any]:
    own = record.properties
    return {
        **compact({name: own.get(name) for name in _SHOWN}),
        "aliases": own["aliases"],
        "identity_version": _count(own.get("identity_version")),
        "identity_source_count": _count(own.get("identity_source_count")),
        "reference_count": record.references,
    }


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
