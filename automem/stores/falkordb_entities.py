"""Entity nodes: made, linked to the memories that name them, and read; mixed into the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from automem.models import Memory
from automem.stores.cypher import ORDERS, not_archived, not_valid
from automem.stores.entities import EntityName, EntityRecord, EntitySort, Identity, Mentions
from automem.stores.falkordb_connection import Rows
from automem.stores.falkordb_queries import NAMELESS, PUBLIC
from automem.stores.node import INTERNAL, UNIQUE_LIMIT, plain, read_memory, storable, stored_order
from automem.utils.time import to_epoch

_HOPS = 5
"""So often a merged entity may have been merged into another."""

KNOWN = "MATCH (e:Entity) WHERE e.id IN $ids RETURN e.id, e.merged_into, e.aliases"
READABLE = "UNWIND $rows AS row MATCH (e:Entity {id: row.id}) SET e.aliases = row.aliases"
UNREFER = """
UNWIND $rows AS row MATCH (m:Memory {id: row.memory}) WITH m, row
MATCH (e:Entity)-[r:REFERENCED_IN]->(m) WHERE NOT e.id IN row.entities
SET e._identity = 'due', e._identity_at = 0.0, e._changed = $now
WITH r, e.id AS id DELETE r RETURN collect(DISTINCT id)"""
# Nodes and edges in one query, so that no TIDY of another process comes in between.
REFER = """
UNWIND $rows AS row MATCH (m:Memory) WHERE m.id IN row.memories WITH row, collect(m) AS found
MERGE (e:Entity {id: row.id})
ON CREATE SET e.slug = row.slug, e.category = row.category, e.name = row.name, e.aliases = [],
    e.created_at = $at
SET e.last_referenced_at = $at,
    e.aliases = coalesce(e.aliases, []) + [alias IN row.aliases WHERE NOT alias IN coalesce(e.aliases, [])]
WITH e, found UNWIND found AS m
MERGE (e)-[:REFERENCED_IN]->(m)
ON CREATE SET e._identity = 'due', e._identity_at = 0.0, e._changed = $now"""
TIDY = f"MATCH (e:Entity) WHERE e.id IN $ids AND {NAMELESS} DELETE e"


def _live(name: str) -> str:
    """Give the conditions under which a memory is valid at ``$at``, replaced or not."""
    return f"{not_archived(name)} AND NOT ({not_valid(name)})"


_COUNTED = "properties(e), outDegree(e, 'REFERENCED_IN')"
_SORTS: Mapping[EntitySort, tuple[str, str]] = {
    "references": ("count DESC, e.id", "count < $count OR (count = $count AND e.id > $id)"),
    "id": ("e.id", "e.id > $id"),
}
_OWN = "MATCH (e:Entity) WHERE e.merged_into IS NULL"
BY_SLUG = f"""
{_OWN} AND e.slug = $slug WITH e ORDER BY outDegree(e, 'REFERENCED_IN') DESC, e.id LIMIT 1
RETURN {_COUNTED}"""
# Aliases written by others may be JSON text; either type would be an error where the other is expected.
_ALIASES = """
WITH e, CASE WHEN typeOf(e.aliases) = 'List' THEN e.aliases ELSE [] END AS names,
CASE WHEN typeOf(e.aliases) = 'String' THEN e.aliases ELSE '' END AS text
WHERE"""
BY_ALIAS = f"""
{_OWN} {_ALIASES} any(name IN names WHERE name = $slug) OR text CONTAINS ('"' + $slug + '"')
WITH e ORDER BY e.id LIMIT 1 RETURN {_COUNTED}"""

WITH_IDENTITY = f"""
{_OWN} AND e.identity IS NOT NULL {_ALIASES} e.slug IN $slugs OR any(name IN names WHERE name IN $slugs)
OR any(slug IN $slugs WHERE text CONTAINS ('"' + slug + '"'))
RETURN properties(e) ORDER BY e.slug, e.id"""
_IDENTITY_FIELDS = (
    "id",
    "slug",
    "category",
    "name",
    "aliases",
    "identity",
    "identity_source_count",
    "identity_updated_at",
)

UNSEEN = "MATCH (e:Entity) WHERE e._identity IS NULL SET e._identity = 'due', e._identity_at = 0.0"
DUE = f"""
MATCH (e:Entity) WHERE e._identity = 'due' AND coalesce(e._identity_at, 0.0) <= $now
AND e.merged_into IS NULL WITH e LIMIT $limit RETURN {_COUNTED}"""
_CURRENT = f"""
MATCH (e:Entity {{id: $id}}) WITH e MATCH (e)-[:REFERENCED_IN]->(m:Memory) WHERE {_live("m")} WITH m
OPTIONAL MATCH (m)-[:INVALIDATED_BY|EVOLVED_INTO]->(n:Memory) WHERE {_live("n")}
WITH m, count(n) AS newer WHERE newer = 0"""
CURRENT_COUNT = f"{_CURRENT} RETURN count(m)"
CURRENT = f"{_CURRENT} WITH m ORDER BY {ORDERS['score']} LIMIT $limit RETURN {PUBLIC}"
WRITE_IDENTITY = """
MATCH (e:Entity {id: $id}) SET e.identity = $text, e.identity_version = $version, e.identity_updated_at = $at,
    e.identity_source_count = $sources"""
# What has changed since it was looked at stays due at once.
POSTPONE = """
MATCH (e:Entity {id: $id}) WHERE coalesce(e._changed, 0) = $changed
SET e._identity = 'due', e._identity_at = $until"""


class Entities:
    """The part of the graph store that keeps entities."""

    _read: Callable[..., Rows]
    _write: Callable[..., Rows]

    def mention(self, mentions: Sequence[Mentions], at: str) -> None:
        if not mentions:
            return
        named = {each.memory_id: [e for e in each.entities if _is_storable(e)] for each in mentions}
        canonical = self._canonical(list({name.id for names in named.values() for name in names}))
        kept = [
            {"memory": memory_id, "entities": [canonical.get(name.id, name.id) for name in names]}
            for memory_id, names in named.items()
        ]
        now = stored_order()
        gone = self._write(UNREFER, rows=kept, now=now)
        if rows := _references(named, canonical):
            self._write(REFER, rows=rows, at=at, now=now)
        if gone and gone[0][0]:
            self._write(TIDY, ids=gone[0][0])

    def entity_page(
        self, category: str | None, sort: EntitySort, after: tuple[int, str] | None, limit: int
    ) -> list[EntityRecord]:
        wanted = " AND e.category = $category" if category is not None else ""
        order, place = _SORTS[sort]
        behind = f"WHERE {place}" if after is not None else ""
        count, last = after or (0, "")
        text = (
            f"{_OWN}{wanted} WITH e, outDegree(e, 'REFERENCED_IN') AS count {behind} "
            f"WITH e, count ORDER BY {order} LIMIT $limit RETURN properties(e), count"
        )
        rows = self._read(text, category=category, count=count, id=last, limit=max(0, limit))
        return [_record(row) for row in rows]

    def entity_named(self, slug: str) -> EntityRecord | None:
        rows = self._read(BY_SLUG, slug=slug) or self._read(BY_ALIAS, slug=slug)
        return _record(rows[0]) if rows else None

    def entities(self, slugs: Sequence[str]) -> list[Mapping[str, Any]]:
        rows = self._read(WITH_IDENTITY, slugs=list(slugs)) if slugs else []
        return [{name: own[name] for name in _IDENTITY_FIELDS if name in own} for own in map(_public, rows)]

    def adopt_identities(self) -> None:
        self._write(UNSEEN)

    def identities_due(self, now: datetime, limit: int) -> list[EntityRecord]:
        return [_record(row) for row in self._read(DUE, now=to_epoch(now), limit=limit)]

    def entity_memories(self, entity_id: str, now: datetime, limit: int) -> tuple[int, list[Memory]]:
        about = {"id": entity_id, "at": to_epoch(now)}
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

    def postpone_identity(self, entity: EntityRecord, until: datetime) -> None:
        self._write(POSTPONE, id=entity.id, changed=entity.changed, until=to_epoch(until))

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
    public = _public(row)
    return EntityRecord(str(public.get("id")), public, int(references), node.get("_changed") or 0)


def _public(row: Sequence[Any]) -> dict[str, Any]:
    """Read the public properties of the node that begins a row; aliases are a list always."""
    public = {name: plain(value) for name, value in row[0].items() if not name.startswith(INTERNAL)}
    return public | {"aliases": read_aliases(row[0].get("aliases"))}


def _is_storable(entity: EntityName) -> bool:
    return len(entity.id.encode()) <= UNIQUE_LIMIT


def _target(entity_id: str, merged_into: str) -> str:
    """Read ``merged_into``, an id, or a slug of the same category."""
    if merged_into.startswith("entity:"):
        return merged_into
    return f"{entity_id.rpartition(':')[0]}:{merged_into}"


def _references(
    named: Mapping[str, Sequence[EntityName]], canonical: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Give a row for each entity: what it is, and the memories that name it."""
    found: dict[str, dict[str, Any]] = {}
    for memory_id, names in named.items():
        for name in names:
            row = _properties(name, canonical.get(name.id))
            known = found.setdefault(row["id"], {**row, "memories": []})
            known["aliases"] = sorted({*known["aliases"], *row["aliases"]})
            known["memories"].append(memory_id)
    return list(found.values())


def _properties(name: EntityName, canonical: str | None) -> dict[str, Any]:
    own = canonical or name.id
    category, _, slug = own.removeprefix("entity:").partition(":")
    return {
        "id": own,
        "slug": slug,
        "category": category,
        "name": name.name if canonical is None else slug,
        "aliases": sorted({*name.aliases, name.slug} - {slug}),
    }
