"""Making, listing and removing associations between memories (memory-api.md 7, recall.md 12.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from automem.errors import GraphUnavailable, InvalidInput, NotFound
from automem.memory import vector_part
from automem.memory.answers import Answer
from automem.memory.association_fields import Ends, NewAssociation, read_row
from automem.memory.fields import canonical_id
from automem.memory.service import find
from automem.models import Memory, Relation
from automem.relations import RelationType
from automem.search.types import Warn
from automem.stores.edges import Association, EdgePage, NewEdge

if TYPE_CHECKING:
    from automem.services import Services

MISSING_END = "One or both memories do not exist"
NO_SUCH_EDGE = "No such association"

Failures = dict[int, Answer]
"""The rows of a bulk request that were not written, by index."""


def associate(services: Services, wanted: NewAssociation) -> Answer:
    """Make an edge, or change the one there is; at most one per ordered pair and type.

    :raises NotFound: when a memory is missing.
    """
    edge = wanted.edge
    if not _write(services, wanted.kind, [edge], services.clock.now().isoformat()):
        raise NotFound(MISSING_END)
    return {
        "status": "success",
        "message": f"Association created between {edge.source_id} and {edge.target_id}",
        "relation_type": wanted.kind.name,
        "strength": edge.strength,
        **edge.properties,
    }


def associate_many(services: Services, rows: Sequence[Any]) -> tuple[Answer, list[Warn]]:
    """Make the edges of all good rows, in one query per type; each other row has its reason (D28).

    :raises GraphUnavailable: when there was something to write and nothing could be written.
    """
    valid, failed = _read(rows)
    groups, at = _by_kind(valid), services.clock.now().isoformat()
    faults: list[GraphUnavailable] = []
    for kind, edges in groups.items():
        try:
            made = _write(services, kind, merged(list(edges.values())), at)
        except GraphUnavailable as error:
            faults.append(error)
            reason = f"Failed to create association batch for relation type {kind.name}"
            failed |= {index: _failure(index, reason) for index in edges}
        else:
            missing = [index for index, edge in edges.items() if (edge.source_id, edge.target_id) not in made]
            failed |= {index: _failure(index, MISSING_END) for index in missing}
    if faults and len(faults) == len(groups):
        raise faults[-1]
    warnings = dict.fromkeys(warning for wanted in valid.values() for warning in wanted.warnings)
    return _bulk_answer(valid, failed), list(warnings)


def _read(rows: Sequence[Any]) -> tuple[dict[int, NewAssociation], Failures]:
    valid: dict[int, NewAssociation] = {}
    failed: Failures = {}
    for index, row in enumerate(rows):
        try:
            valid[index] = read_row(row)
        except InvalidInput as error:
            failed[index] = _failure(index, error.message, error.field)
    return valid, failed


def _failure(index: int, reason: str, field: str | None = None) -> Answer:
    return {"index": index, "reason": reason} | ({"field": field} if field else {})


def _by_kind(valid: Mapping[int, NewAssociation]) -> dict[RelationType, dict[int, NewEdge]]:
    groups: dict[RelationType, dict[int, NewEdge]] = {}
    for index, wanted in valid.items():
        groups.setdefault(wanted.kind, {})[index] = wanted.edge
    return groups


def merged(edges: Sequence[NewEdge]) -> list[NewEdge]:
    """Give each pair once, as if its rows had been written one after the other."""
    pairs: dict[tuple[str, str], NewEdge] = {}
    for edge in edges:
        pair = (edge.source_id, edge.target_id)
        earlier = pairs[pair].properties if pair in pairs else {}
        pairs[pair] = NewEdge(*pair, edge.strength, {**earlier, **edge.properties})
    return list(pairs.values())


def _write(
    services: Services, kind: RelationType, edges: Sequence[NewEdge], at: str
) -> frozenset[tuple[str, str]]:
    made = services.graph.associate(kind, edges, at)
    if kind.replaces and made:
        vector_part.refresh(services, sorted({source for source, _ in made}))
    return made


def _bulk_answer(valid: Mapping[int, NewAssociation], failed: Failures) -> Answer:
    made = [_made(index, wanted.kind, wanted.edge) for index, wanted in valid.items() if index not in failed]
    return {
        "status": "partial_success" if failed else "success",
        "created_count": len(made),
        "failed_count": len(failed),
        "succeeded": made,
        "failed": [row for _, row in sorted(failed.items())],
        "summary": f"{len(made)}/{len(made) + len(failed)} associations created successfully",
    }


def _made(index: int, kind: RelationType, edge: NewEdge) -> Answer:
    return {
        "index": index,
        "memory1_id": edge.source_id,
        "memory2_id": edge.target_id,
        "relation_type": kind.name,
        "strength": edge.strength,
    }


def dissociate(services: Services, ends: Ends, kind: RelationType) -> Sequence[Relation]:
    """Remove the edge of this type from the one to the other; give what was removed.

    :raises NotFound: when there is none.
    """
    removed = services.graph.dissociate(kind, ends.source_id, ends.target_id)
    if not removed:
        raise NotFound(NO_SUCH_EDGE)
    if kind.replaces:
        vector_part.refresh(services, [ends.source_id])
    return removed


def associations_of(services: Services, memory_id: str, page: EdgePage) -> tuple[str, Sequence[Association]]:
    """Give the memory's id, and its edges in either direction: by type, direction and other id.

    :raises InvalidInput: for an id that is no UUID.
    :raises NotFound: when there is no such memory.
    """
    memory = find(services, memory_id)
    return memory.id, services.graph.associations(memory.id, page)


def related_memories(
    services: Services, memory_id: str, kinds: Sequence[RelationType], depth: int, limit: int
) -> Sequence[Memory]:
    """Give the memories that edges of these types lead to; none for an unknown id (recall.md 12.3)."""
    return services.graph.related(canonical_id(memory_id) or memory_id, kinds, depth, limit)
