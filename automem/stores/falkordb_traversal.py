"""Following edges between memories: expansion and spreading evidence (D11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from automem.models import Scope
from automem.stores import cypher
from automem.stores.base import EdgeFilter, Link, Neighbour
from automem.stores.cypher import REPLACED, Conditions
from automem.stores.falkordb_connection import Rows
from automem.stores.falkordb_edges import read_relation
from automem.stores.node import read_memory
from automem.utils.tags import canonical_tag

_EVIDENCE_TYPES = (
    "RELATES_TO|LEADS_TO|OCCURRED_BEFORE|PREFERS_OVER|EXEMPLIFIES|CONTRADICTS|REINFORCES|DERIVED_FROM"
    "|PART_OF|SIMILAR_TO|PRECEDED_BY|DISCOVERED"
)
_STRENGTH = "coalesce(r.strength, r.score, r.confidence, r.similarity, r.count, 0.0)"
_OTHER = f"properties(m), {REPLACED}"

LINKS = f"""
MATCH (s:Memory) WHERE s.id IN $ids WITH s
MATCH (s)-[r:{_EVIDENCE_TYPES}]-(m:Memory) WHERE NOT coalesce(m.archived = true, false)
AND (type(r) <> 'PRECEDED_BY' OR coalesce(r.distance, 1) = 1)
WITH s, r, m, CASE WHEN type(r) = 'PRECEDED_BY' THEN 1.0 ELSE {_STRENGTH} END AS weight
ORDER BY coalesce(weight > 0, false) DESC, weight DESC, m.id
WITH s.id AS seed, collect([type(r), weight, m])[0..$limit] AS edges
UNWIND edges AS edge WITH seed, edge[0] AS label, edge[1] AS weight, edge[2] AS m
RETURN seed, m.id, label, weight, CASE WHEN m.id IN $known THEN null ELSE properties(m) END, {REPLACED}"""


class Traversal:
    """The part of the graph store that follows edges; mixed into it."""

    _read: Callable[..., Rows]
    _write: Callable[..., Rows]

    def links(self, memory_ids: Sequence[str], known: Sequence[str], limit: int) -> list[Link]:
        if not memory_ids or limit < 1:
            return []
        rows = self._read(LINKS, ids=list(memory_ids), known=list(known), limit=limit)
        return [_link(row) for row in rows]

    def neighbours(self, memory_ids: Sequence[str], edges: EdgeFilter) -> list[Neighbour]:
        if not memory_ids or edges.per_memory < 1 or cypher.is_unmatchable(edges.scope):
            return []
        inside = edge_conditions(edges)
        rows = self._read(
            _neighbours(edges, inside), **inside.params, ids=list(memory_ids), limit=edges.per_memory
        )
        return [_neighbour(row) for row in rows]


def edge_conditions(edges: EdgeFilter) -> Conditions:
    """Give what must hold for the edge ``r`` and the memory ``m`` at its other end. Pure."""
    wanted = cypher.conditions(edges.scope) & cypher.exclusion(edges.scope) & _tag_conditions(edges.scope)
    if edges.min_strength > 0:
        wanted &= Conditions(
            (f"coalesce({_STRENGTH} >= $min_strength, false)",), {"min_strength": edges.min_strength}
        )
    if edges.min_importance > 0:
        wanted &= Conditions(
            ("coalesce(m.importance >= $min_importance, false)",), {"min_importance": edges.min_importance}
        )
    return wanted


def _tag_conditions(scope: Scope) -> Conditions:
    tags = [tag for tag in map(canonical_tag, scope.tags) if tag]
    if not tags:
        return Conditions()
    stored = "_prefixes" if scope.tag_match == "prefix" else "_tags"
    # One test per tag: any(tag IN $tags WHERE tag IN m.…) is always false behind an edge in FalkorDB 4.
    params = {f"wanted_tag_{index}": tag for index, tag in enumerate(tags)}
    tests = [f"${name} IN coalesce(m.{stored}, [])" for name in params]
    joined = (" AND " if scope.tag_mode == "all" else " OR ").join(tests)
    return Conditions((f"({joined})",), params)


def _neighbours(edges: EdgeFilter, inside: Conditions) -> str:
    types = "|".join(name for name in edges.types if name.isidentifier())
    clauses = " AND ".join(("NOT m.id IN $ids", *inside.clauses))
    # The seeds in a step of their own: else the planner may begin at the other end, at all memories.
    return (
        "MATCH (s:Memory) WHERE s.id IN $ids WITH s "
        f"MATCH (s)-[r:{types}]-(m:Memory) WHERE {clauses} "
        "WITH s, r, m ORDER BY coalesce(r.updated_at, m.timestamp, '') DESC, m.id "
        "WITH s.id AS seed, collect([r, m])[0..$limit] AS edges "
        "UNWIND edges AS edge WITH seed, edge[0] AS r, edge[1] AS m "
        f"RETURN seed, startNode(r).id, endNode(r).id, type(r), properties(r), {_OTHER}"
    )


def _neighbour(row: list[Any]) -> Neighbour:
    seed, start, end, label, properties, node, replaced = row
    return Neighbour(seed, read_relation(start, end, label, properties), read_memory(node, bool(replaced)))


def _link(row: list[Any]) -> Link:
    seed, other_id, label, weight, node, replaced = row
    number = float(weight) if isinstance(weight, int | float) and not isinstance(weight, bool) else 0.0
    return Link(seed, other_id, label, number, read_memory(node, bool(replaced)) if node else None)
