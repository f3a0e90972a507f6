"""Following edges between memories: expansion, spreading evidence, and conversations (D11, D42)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from automem.models import Scope
from automem.stores import cypher
from automem.stores.base import EdgeFilter, Link, Neighbour
from automem.stores.cypher import REPLACED, Conditions
from automem.stores.falkordb_connection import Rows
from automem.stores.falkordb_edges import read_relation
from automem.stores.node import plain, read_memory
from automem.utils.tags import canonical_tag

PREDECESSORS = 5
"""A memory is linked to the one before it in its conversation, and to up to four more (D42)."""
CONVERSATION_SECONDS = 7 * 86_400.0
_CONVERSATION_FETCH = 2_000

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

# Aliases written by others may be JSON text; either type would be an error where the other is expected.
ENTITIES = """
MATCH (e:Entity) WHERE e.merged_into IS NULL AND e.identity IS NOT NULL
WITH e, CASE WHEN typeOf(e.aliases) = 'List' THEN e.aliases ELSE [] END AS names,
CASE WHEN typeOf(e.aliases) = 'String' THEN e.aliases ELSE '' END AS text
WHERE e.slug IN $slugs OR any(name IN names WHERE name IN $slugs)
OR any(slug IN $slugs WHERE text CONTAINS ('"' + slug + '"'))
RETURN properties(e) ORDER BY e.slug, e.id"""
_ENTITY_FIELDS = (
    "id",
    "slug",
    "category",
    "name",
    "aliases",
    "identity",
    "identity_source_count",
    "identity_updated_at",
)

_PLACES = "m.id, m._scope, m._ts, coalesce(m._seq, 0)"
PLACES = f"MATCH (m:Memory) WHERE m.id IN $ids AND m._ts > -1e300 RETURN {_PLACES}"
LINK = """
UNWIND $rows AS row MATCH (m:Memory {id: row.id}) MATCH (p:Memory {id: row.before})
MERGE (m)-[r:PRECEDED_BY]->(p)
ON CREATE SET r.count = 1, r.distance = row.distance, r.updated_at = row.at
RETURN count(r)"""


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

    def entities(self, slugs: Sequence[str]) -> list[Mapping[str, Any]]:
        rows = self._read(ENTITIES, slugs=list(slugs)) if slugs else []
        return [_entity(row[0]) for row in rows]

    def link_conversation(self, memory_ids: Sequence[str], at: str) -> int:
        """Link memories to those before them in their conversation; gives the number of edges."""
        placed = [tuple(row) for row in self._read(PLACES, ids=list(memory_ids))] if memory_ids else []
        pairs: list[dict[str, Any]] = []
        for scope in dict.fromkeys(place[1] for place in placed):
            own = [place for place in placed if place[1] == scope]
            pairs += predecessors(own, [tuple(row) for row in self._conversation(scope, own)])
        rows = [{**pair, "at": at} for pair in pairs]
        return int(self._write(LINK, rows=rows)[0][0]) if rows else 0

    def _conversation(self, scope: str | None, own: Sequence[Sequence[Any]]) -> Rows:
        """Read who stood around these memories: of the same scope, or of all without one (D42)."""
        times = [place[2] for place in own]
        same = "m._scope = $scope AND " if scope else ""
        text = (
            f"MATCH (m:Memory) WHERE {same}m._ts >= $first AND m._ts <= $last "
            f"WITH m ORDER BY m._ts DESC, coalesce(m._seq, 0) DESC LIMIT $limit RETURN {_PLACES}"
        )
        first, last = min(times) - CONVERSATION_SECONDS, max(times)
        return self._read(
            text, scope=scope or "", first=first, last=last, limit=len(own) + _CONVERSATION_FETCH
        )


def predecessors(own: Sequence[tuple[Any, ...]], around: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Pair each memory with up to five before it within seven days of its own time, nearest first.

    Rows are (id, scope, time, order of storing); equal times are ordered by storing (D42). Pure.
    """
    line = sorted({row[0]: row for row in (*around, *own)}.values(), key=lambda row: (row[2], row[3], row[0]))
    at = {row[0]: index for index, row in enumerate(line)}
    pairs = []
    for row in own:
        before = line[max(0, at[row[0]] - PREDECESSORS) : at[row[0]]][::-1]
        near = [other for other in before if other[2] >= row[2] - CONVERSATION_SECONDS]
        pairs += [
            {"id": row[0], "before": other[0], "distance": distance}
            for distance, other in enumerate(near, start=1)
        ]
    return pairs


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


def _entity(node: Mapping[str, Any]) -> dict[str, Any]:
    known = {**node, "aliases": _aliases(node.get("aliases"))}
    return {name: plain(known[name]) for name in _ENTITY_FIELDS if name in known}


def _aliases(value: Any) -> list[str]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return []
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _neighbour(row: list[Any]) -> Neighbour:
    seed, start, end, label, properties, node, replaced = row
    return Neighbour(seed, read_relation(start, end, label, properties), read_memory(node, bool(replaced)))


def _link(row: list[Any]) -> Link:
    seed, other_id, label, weight, node, replaced = row
    number = float(weight) if isinstance(weight, int | float) and not isinstance(weight, bool) else 0.0
    return Link(seed, other_id, label, number, read_memory(node, bool(replaced)) if node else None)
