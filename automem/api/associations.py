"""/associate, /memory/{id}/associations and /memories/{id}/related (memory-api.md 7, recall.md 12.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from flask import Blueprint, Response

from automem.api.context import services
from automem.api.cursors import read_cursor, write_cursor
from automem.api.errors import ErrorAnswer
from automem.api.openapi import describe
from automem.api.requests import (
    Query,
    Warn,
    answer,
    compact,
    json_body,
    known_names,
    optional_json_body,
    query_string,
    unknown_fields,
)
from automem.api.schemas_associations import (
    DEFAULT_LIMIT,
    MAX_DEPTH,
    MAX_LIMIT,
    AssociateAnswer,
    AssociateBody,
    AssociationKey,
    AssociationRow,
    AssociationsAnswer,
    AssociationsQuery,
    BulkAnswer,
    BulkBody,
    RelatedAnswer,
    RelatedQuery,
    RemovedAnswer,
)
from automem.api.schemas_memory import NoParameters
from automem.errors import InvalidInput
from automem.memory import associations
from automem.memory.association_fields import read_association, read_ends, read_rows
from automem.memory.fields import canonical_id
from automem.models import Relation
from automem.relations import AUTHORABLE, DEFAULT_TYPE, REGISTRY, RelationType, relation_named
from automem.stores.edges import Association, Direction, EdgeKey, EdgePage
from automem.utils.graph import memory_summary

BODY_REQUIRED = "JSON body is required"
_KIND = "associations"
_SHOWN_APART = ("strength", "updated_at", "kind")

bp = Blueprint("associations", __name__)


@bp.post("/associate")
@describe(
    "Associations",
    answers={
        201: AssociateAnswer,
        207: BulkAnswer,
        400: ErrorAnswer,
        404: ErrorAnswer,
        413: ErrorAnswer,
        503: ErrorAnswer,
    },
    body=AssociateBody,
)
def associate() -> Response:
    """Make an edge between two memories, or many; sent again it changes the one there is."""
    body = json_body(BODY_REQUIRED)
    warnings = query_string(NoParameters).warnings
    if isinstance(body.get("associations"), list):
        return _many(body, warnings)
    warnings += unknown_fields(body, known_names(AssociateBody))
    wanted = read_association(body)
    return answer(associations.associate(services(), wanted), [*warnings, *wanted.warnings], status=201)


def _many(body: dict[str, Any], warnings: Sequence[Warn]) -> Response:
    rows = read_rows(body)
    names = dict.fromkeys(name for row in rows if isinstance(row, dict) for name in row)
    made, ignored = associations.associate_many(services(), rows)
    found = [
        *warnings,
        *unknown_fields(body, known_names(BulkBody)),
        *unknown_fields(names, known_names(AssociationRow)),
        *ignored,
    ]
    return answer(made, found, status=207 if made["failed"] else 201)


@bp.delete("/associate")
@describe(
    "Associations",
    answers={200: RemovedAnswer, 400: ErrorAnswer, 404: ErrorAnswer, 503: ErrorAnswer},
    query=AssociationKey,
)
def dissociate() -> Response:
    """Remove the edge of a type from one memory to another, named in the query string or in a body."""
    query = query_string(AssociationKey)
    body = optional_json_body("The JSON body may name the association")
    sent = {name: query.text(name) for name in AssociationKey.model_fields if query.text(name)}
    values = {**sent, **body}
    ends, kind = read_ends(values), _kind(values.get("type"))
    removed = associations.dissociate(services(), ends, kind)
    warnings = [*query.warnings, *unknown_fields(body, known_names(AssociationKey))]
    return answer(_removed(removed), warnings)


def _removed(removed: Sequence[Relation]) -> dict[str, Any]:
    first = removed[0]
    return {
        "status": "success",
        "message": f"Association removed between {first.source_id} and {first.target_id}",
        "memory1_id": first.source_id,
        "memory2_id": first.target_id,
        "relation_type": first.type,
        **_edge(first),
        "removed_count": len(removed),
    }


@bp.get("/memory/<memory_id>/associations")
@describe(
    "Associations",
    answers={200: AssociationsAnswer, 400: ErrorAnswer, 404: ErrorAnswer, 503: ErrorAnswer},
    query=AssociationsQuery,
)
def list_route(memory_id: str) -> Response:
    """List the edges between a memory and others, in both directions."""
    query = query_string(AssociationsQuery)
    limit = query.count("limit", default=DEFAULT_LIMIT, low=1, high=MAX_LIMIT)
    found_id, rows = associations.associations_of(services(), memory_id, _page(query, limit + 1))
    shown = rows[:limit]
    body = {
        "status": "success",
        "memory_id": found_id,
        "count": len(shown),
        "associations": [_shown(row) for row in shown],
        "next": write_cursor(_KIND, shown[-1].key) if len(rows) > limit else None,
    }
    return answer(body, query.warnings)


def _page(query: Query, limit: int) -> EdgePage:
    kinds = dict.fromkeys(_kind(name) for name in query.names("type")) or REGISTRY.values()
    direction = query.choice("direction", options=("any", "outgoing", "incoming"), default="any")
    place = read_cursor(_KIND, query.text("cursor"), (str, str, str, int))
    return EdgePage(
        kinds=tuple(kinds),
        limit=limit,
        direction=None if direction == "any" else cast(Direction, direction),
        after=None if place is None else cast(EdgeKey, place),
    )


def _shown(row: Association) -> dict[str, Any]:
    edge = {"direction": row.direction, "type": row.relation.type, **_edge(row.relation)}
    return {**edge, "memory": memory_summary(row.other)}


def _edge(relation: Relation) -> dict[str, Any]:
    own = {name: value for name, value in relation.properties.items() if name not in _SHOWN_APART}
    return compact(
        {
            "strength": relation.strength,
            "kind": relation.kind,
            "updated_at": relation.updated_at,
            "properties": compact(own),
        }
    )


@bp.get("/memories/<memory_id>/related")
@describe(
    "Associations", answers={200: RelatedAnswer, 400: ErrorAnswer, 503: ErrorAnswer}, query=RelatedQuery
)
def related(memory_id: str) -> Response:
    """Give the memories that one to three edges lead to, in any direction."""
    query = query_string(RelatedQuery)
    default = services().settings.recall_relation_limit
    kinds = _known_kinds(query)
    depth = query.count("max_depth", default=1, low=1, high=MAX_DEPTH)
    limit = query.count("limit", default=default, low=1, high=MAX_LIMIT)
    memories = associations.related_memories(services(), memory_id, kinds, depth, limit)
    body = {
        "status": "success",
        "memory_id": canonical_id(memory_id) or memory_id,
        "count": len(memories),
        "related_memories": [memory_summary(memory) for memory in memories],
        "relationship_types": [kind.name for kind in kinds],
        "max_depth": depth,
        "limit": limit,
    }
    return answer(body, query.warnings)


def _known_kinds(query: Query) -> Sequence[RelationType]:
    """Give the types asked for in their order, else those of clients; unknown words are warned of."""
    asked = {name: relation_named(name) for name in query.names("relationship_types")}
    unknown = [name for name, kind in asked.items() if kind is None]
    query.warnings += [_unknown_kind(name) for name in unknown]
    known = dict.fromkeys(kind for kind in asked.values() if kind is not None)
    return tuple(known) or tuple(REGISTRY[name] for name in AUTHORABLE)


def _unknown_kind(name: str) -> Warn:
    message = f"'{name[:64]}' is no relation type and was ignored; known are {_listed(REGISTRY)}"
    return Warn("unknown_relation_type", message, "relationship_types")


def _kind(given: object) -> RelationType:
    """Read any type of the registry, or a legacy name of DISCOVERED; blank is the default."""
    if given is None or given == "":
        return REGISTRY[DEFAULT_TYPE]
    kind = relation_named(given) if isinstance(given, str) else None
    if kind is None:
        raise InvalidInput(f"'type' must be one of {_listed(REGISTRY)}", field="type")
    return kind


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
