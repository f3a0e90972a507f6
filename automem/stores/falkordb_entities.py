"""Entity nodes: made, linked to the memories that name them, and read; mixed into the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from automem.stores.entities import EntityName, Mentions
from automem.stores.falkordb_connection import Rows
from automem.stores.node import UNIQUE_LIMIT

_HOPS = 5
"""So often a merged entity may have been merged into another."""

KNOWN = "MATCH (e:Entity) WHERE e.id IN $ids RETURN e.id, e.merged_into, e.aliases"
READABLE = "UNWIND $rows AS row MATCH (e:Entity {id: row.id}) SET e.aliases = row.aliases"
UPSERT = """
UNWIND $rows AS row MERGE (e:Entity {id: row.id})
ON CREATE SET e.slug = row.slug, e.category = row.category, e.name = row.name, e.aliases = [],
    e.created_at = $at
SET e.last_referenced_at = $at,
    e.aliases = coalesce(e.aliases, []) + [alias IN row.aliases WHERE NOT alias IN coalesce(e.aliases, [])]"""
UNREFER = """
UNWIND $rows AS row MATCH (m:Memory {id: row.memory}) WITH m, row
MATCH (e:Entity)-[r:REFERENCED_IN]->(m) WHERE NOT e.id IN row.entities
WITH r, e.id AS id DELETE r RETURN collect(DISTINCT id)"""
REFER = """
UNWIND $rows AS row MATCH (m:Memory {id: row.memory})
UNWIND row.entities AS id MATCH (e:Entity {id: id}) MERGE (e)-[:REFERENCED_IN]->(m)"""
TIDY = """
MATCH (e:Entity) WHERE e.id IN $ids AND outDegree(e, 'REFERENCED_IN') = 0 AND e.identity IS NULL
AND e.merged_into IS NULL AND size(coalesce(e.aliases, [])) = 0 DELETE e"""


class Entities:
    """The part of the graph store that keeps entities."""

    _read: Callable[..., Rows]
    _write: Callable[..., Rows]

    def mention(self, mentions: Sequence[Mentions], at: str) -> None:
        names = {entity.id: entity for each in mentions for entity in each.entities if _is_storable(entity)}
        canonical = self._canonical(list(names))
        rows = [_upsert(name, canonical.get(name.id)) for name in names.values()]
        if rows:
            self._write(UPSERT, rows=_merged(rows), at=at)
        refer = [
            {
                "memory": each.memory_id,
                "entities": sorted({canonical.get(e.id, e.id) for e in each.entities if e.id in names}),
            }
            for each in mentions
        ]
        gone = self._write(UNREFER, rows=refer) if refer else []
        if any(row["entities"] for row in refer):
            self._write(REFER, rows=refer)
        if gone and gone[0][0]:
            self._write(TIDY, ids=gone[0][0])

    def _canonical(self, ids: Sequence[str]) -> dict[str, str]:
        """Give the entity that each merged one stands for; aliases that are text become lists on the way."""
        found: dict[str, str] = {}
        asked = {memory_id: memory_id for memory_id in ids}
        for _ in range(_HOPS):
            rows = self._read(KNOWN, ids=list(asked.values())) if asked else []
            self._make_readable(rows)
            merged = {row[0]: _target(row[0], row[1]) for row in rows if isinstance(row[1], str) and row[1]}
            asked = {first: merged[last] for first, last in asked.items() if last in merged}
            found |= asked
        return found

    def _make_readable(self, rows: Rows) -> None:
        """Others may have written aliases as JSON text."""
        texts = [{"id": row[0], "aliases": read_aliases(row[2])} for row in rows if isinstance(row[2], str)]
        if texts:
            self._write(READABLE, rows=texts)


def read_aliases(value: Any) -> list[str]:
    """Read a list of texts, or one written as JSON text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return []
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _is_storable(entity: EntityName) -> bool:
    return len(entity.id.encode()) <= UNIQUE_LIMIT


def _target(entity_id: str, merged_into: str) -> str:
    """Read ``merged_into``, an id, or a slug of the same category."""
    if merged_into.startswith("entity:"):
        return merged_into
    return f"{entity_id.rpartition(':')[0]}:{merged_into}"


def _upsert(name: EntityName, canonical: str | None) -> dict[str, Any]:
    own = canonical or name.id
    category, _, slug = own.removeprefix("entity:").partition(":")
    aliases = [*name.aliases, name.slug]
    return {
        "id": own,
        "slug": slug,
        "category": category,
        "name": name.name if canonical is None else slug,
        "aliases": sorted({alias for alias in aliases if alias != slug}),
    }


def _merged(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Put the rows of one entity together."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        known = found.setdefault(row["id"], dict(row))
        known["aliases"] = sorted({*known["aliases"], *row["aliases"]})
    return list(found.values())
