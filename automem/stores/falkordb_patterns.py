"""Pattern nodes in the graph; mixed into the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from automem.stores.falkordb_connection import Rows
from automem.stores.node import storable
from automem.stores.patterns import Sighting

TYPICAL = """
UNWIND $types AS type
CALL { WITH type MATCH (m:Memory) WHERE m.type = type AND m.confidence > 0.5
WITH m ORDER BY coalesce(m._ts, -1e300) DESC, m.id LIMIT $limit RETURN collect([m.id, m.content]) AS found }
RETURN type, found"""

# Which edges are new is noted on them until they are counted. One query, so that nobody else sees it.
EXEMPLIFY = """
UNWIND $rows AS row MERGE (p:Pattern {type: row.type})
ON CREATE SET p.id = row.id, p.created_at = $at
WITH p, row UNWIND row.members AS member MATCH (m:Memory {id: member.id})
MERGE (m)-[e:EXEMPLIFIES]->(p) ON CREATE SET e._new = 1
SET e.confidence = member.confidence, e.updated_at = $at
WITH p, row, collect(e) AS edges, sum(coalesce(e._new, 0)) AS fresh
FOREACH (e IN edges | SET e._new = null)
WITH p, row, fresh,
    CASE WHEN p.confidence > -1e300 THEN p.confidence ELSE 0.3 END + 0.05 * fresh AS confidence,
    CASE WHEN p.observations > -1e300 THEN p.observations ELSE 0 END + fresh AS observations
SET p.content = row.content, p.key_terms = row.key_terms, p.updated_at = $at, p.observations = observations,
    p.confidence = CASE WHEN confidence > 0.95 THEN 0.95 ELSE round(confidence * 100) / 100 END"""

OTHER_PATTERNS = """
MATCH (m:Memory) WHERE m.id IN $ids WITH m MATCH (m)-[:EXEMPLIFIES]->(p:Pattern) RETURN m.id, p.type"""
LEAVE = """
UNWIND $rows AS row MATCH (m:Memory {id: row.id}) MATCH (m)-[e:EXEMPLIFIES]->(p:Pattern)
WHERE p.type <> row.type DELETE e"""


class Patterns:
    """The part of the graph store that keeps what is common to the memories of a type."""

    _read: Callable[..., Rows]
    _write: Callable[..., Rows]

    def typical(self, types: Sequence[str], limit: int) -> dict[str, list[tuple[str, str]]]:
        rows = self._read(TYPICAL, types=list(types), limit=max(0, limit)) if types else []
        found = {
            name: [(memory_id, text) for memory_id, text in pairs if isinstance(text, str)]
            for name, pairs in rows
        }
        return {name: pairs for name, pairs in found.items() if pairs}

    def exemplify(self, sightings: Sequence[Sighting], at: str) -> None:
        rows = [
            {
                "type": sighting.type,
                "id": sighting.pattern_id,
                "content": sighting.content,
                "key_terms": list(sighting.key_terms),
                "members": [
                    {"id": memory_id, "confidence": storable(confidence, "confidence")}
                    for memory_id, confidence in sighting.members.items()
                ],
            }
            for sighting in sightings
            if sighting.members
        ]
        if rows:
            self._write(EXEMPLIFY, rows=rows, at=at)

    def leave_patterns(self, types: Mapping[str, str]) -> None:
        # Looked for first, so that nothing is written where nothing has changed.
        known = self._read(OTHER_PATTERNS, ids=list(types)) if types else []
        rows = [
            {"id": memory_id, "type": types[memory_id]}
            for memory_id, name in known
            if name != types[memory_id]
        ]
        if rows:
            self._write(LEAVE, rows=rows)
