"""Entity nodes: made, linked to the memories that name them, and read; mixed into the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from automem.models import Memory
from automem.stores.cypher import ORDERS, REPLACED
from automem.stores.entities import EntityName, EntityRecord, Identity, Mentions
from automem.stores.falkordb_connection import Rows
from automem.stores.falkordb_queries import PUBLIC
from automem.stores.node import INTERNAL, UNIQUE_LIMIT, plain, read_memory, storable
from automem.utils.time import to_epoch

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
SET e._identity = 'due', e._identity_at = 0.0
WITH r, e.id AS id DELETE r RETURN collect(DISTINCT id)"""
REFER = """
UNWIND $rows AS row MATCH (m:Memory {id: row.memory})
UNWIND row.entities AS id MATCH (e:Entity {id: id}) MERGE (e)-[:REFERENCED_IN]->(m)
ON CREATE SET e._identity = 'due', e._identity_at = 0.0"""
TIDY = """
MATCH (e:Entity) WHERE e.id IN $ids AND outDegree(e, 'REFERENCED_IN') = 0 AND e.identity IS NULL
AND e.merged_into IS NULL AND size(coalesce(e.aliases, [])) = 0 DELETE e"""

_COUNTED = "properties(e), outDegree(e, 'REFERENCED_IN')"
_OWN = "MATCH (e:Entity) WHERE e.merged_into IS NULL"
BY_SLUG = f"""
{_OWN} AND e.slug = $slug WITH e ORDER BY outDegree(e, 'REFERENCED_IN') DESC, e.id LIMIT 1
RETURN {_COUNTED}"""
BY_ALIAS = f"""
{_OWN} WITH e, CASE WHEN typeOf(e.aliases) = 'List' THEN e.aliases ELSE [] END AS names,
CASE WHEN typeOf(e.aliases) = 'String' THEN e.aliases ELSE '' END AS text
WHERE any(name IN names WHERE name = $slug) OR text CONTAINS ('"' + $slug + '"')
WITH e ORDER BY e.id LIMIT 1 RETURN {_COUNTED}"""

DUE = f"""
MATCH (e:Entity) WHERE e._identity = 'due' AND coalesce(e._identity_at, 0.0) <= $now
AND e.merged_into IS NULL WITH e LIMIT $limit RETURN {_COUNTED}"""
_CURRENT = f"""
MATCH (e:Entity {{id: $id}}) WITH e MATCH (e)-[:REFERENCED_IN]->(m:Memory)
WHERE NOT coalesce(m.archived = true, false) AND NOT coalesce(m._from > $now, false)
AND NOT coalesce(m._until <= $now, false) AND NOT {REPLACED}"""
CURRENT_COUNT = f"{_CURRENT} RETURN count(m)"
CURRENT = f"{_CURRENT} WITH m ORDER BY {ORDERS['score']} LIMIT $limit RETURN {PUBLIC}"
WRITE_IDENTITY = """
MATCH (e:Entity {id: $id}) SET e.identity = $text, e.identity_version = $version, e.identity_updated_at = $at,
    e.identity_source_count = $sources, e._identity = ''"""
POSTPONE = "MATCH (e:Entity {id: $id}) SET e._identity = $state, e._identity_at = $until"


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

    def entity_page(
        self, category: str | None, after: tuple[int, str] | None, limit: int
    ) -> list[EntityRecord]:
        wanted = " AND e.category = $category" if category is not None else ""
        behind = "WHERE count < $count OR (count = $count AND e.id > $id)" if after is not None else ""
        count, last = after or (0, "")
        text = (
            f"{_OWN}{wanted} WITH e, outDegree(e, 'REFERENCED_IN') AS count {behind} "
            "WITH e, count ORDER BY count DESC, e.id LIMIT $limit RETURN properties(e), count"
        )
        rows = self._read(text, category=category, count=count, id=last, limit=max(0, limit))
        return [_record(row) for row in rows]

    def entity_named(self, slug: str) -> EntityRecord | None:
        rows = self._read(BY_SLUG, slug=slug) or self._read(BY_ALIAS, slug=slug)
        return _record(rows[0]) if rows else None

    def identities_due(self, now: datetime, limit: int) -> list[EntityRecord]:
        return [_record(row) for row in self._read(DUE, now=to_epoch(now), limit=limit)]

    def entity_memories(self, entity_id: str, now: datetime, limit: int) -> tuple[int, list[Memory]]:
        about = {"id": entity_id, "now": to_epoch(now)}
        count = int(self._read(CURRENT_COUNT, **about)[0][0])
        rows = self._read(CURRENT, **about, limit=limit)
        return count, [read_memory(node, bool(replaced)) for node, replaced in rows]

    def write_identity(self, entity_id: str, identity: Identity) -> None:
        self._write(
            WRITE_IDENTITY,
            id=entity_id,
            text=storable(identity.text, "identity"),
            version=identity.version,
            sources=identity.sources,
            at=identity.at,
        )

    def postpone_identity(self, entity_id: str, until: datetime | None) -> None:
        state, at = ("", 0.0) if until is None else ("due", to_epoch(until))
        self._write(POSTPONE, id=entity_id, state=state, until=at)

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


def _record(row: Sequence[Any]) -> EntityRecord:
    node, references = row
    public = {name: plain(value) for name, value in node.items() if not name.startswith(INTERNAL)}
    public["aliases"] = read_aliases(node.get("aliases"))
    return EntityRecord(str(public.get("id")), public, int(references))


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
