"""Associations: making, listing and removing edges, and superseding a memory (memory-api.md 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from automem.errors import GraphUnavailable
from automem.models import Memory, Relation
from automem.relations import RelationType
from automem.stores import cypher
from automem.stores.base import Receipt
from automem.stores.cypher import REPLACED
from automem.stores.edges import Association, EdgePage, NewEdge, Successor
from automem.stores.falkordb_connection import Rows
from automem.stores.falkordb_edges import read_relation
from automem.stores.falkordb_queries import OWES_PAYLOAD
from automem.stores.node import draft_node, read_memory, receipt_node, storable, stored_order
from automem.utils.time import epoch_of

SUPERSEDED_STRENGTH = 0.9
"""Of the edge that ``supersedes`` makes; clients that make it themselves use the same."""

_SHORT = "m{.id, .type, .timestamp, .summary, .content, .importance, .confidence, .tags}"

# The receipts only where the memory was made: without the old one there is no row here.
SUPERSEDE = f"""
MATCH (old:Memory {{id: $old_id}})
CREATE (m:Memory) SET m = $node
CREATE (old)-[r:INVALIDATED_BY]->(m) SET r = $edge
SET old += $closed, {OWES_PAYLOAD}
WITH collect(m.id) AS ids
FOREACH (receipt IN CASE WHEN size(ids) > 0 THEN $receipts ELSE [] END |
CREATE (k:IdempotencyKey) SET k = receipt)
WITH ids OPTIONAL MATCH (t:Tombstone) WHERE t.id IN ids DELETE t
RETURN DISTINCT ids"""


class Associations:
    """The part of the graph store that deals with single edges; mixed into it."""

    _read: Callable[..., Rows]
    _write: Callable[..., Rows]

    def associate(self, kind: RelationType, edges: Sequence[NewEdge], at: str) -> frozenset[tuple[str, str]]:
        if not edges:
            return frozenset()
        rows = self._write(_associate(kind), rows=[_edge_row(edge) for edge in edges], at=at)
        return frozenset((source, target) for source, target in rows)

    def dissociate(self, kind: RelationType, source_id: str, target_id: str) -> list[Relation]:
        rows = self._write(_dissociate(kind), source=source_id, target=target_id)
        return [read_relation(source_id, target_id, label, properties) for label, properties in rows]

    def associations(self, memory_id: str, page: EdgePage) -> list[Association]:
        if not page.kinds or page.limit < 1:
            return []
        rows = self._read(
            _associations(page),
            id=memory_id,
            direction=page.direction,
            after=list(page.after or ()),
            limit=page.limit,
        )
        return [_association(memory_id, row) for row in rows]

    def related(self, memory_id: str, kinds: Sequence[RelationType], depth: int, limit: int) -> list[Memory]:
        if not kinds or depth < 1 or limit < 1:
            return []
        rows = self._read(_related(kinds, depth), id=memory_id, limit=limit)
        return [read_memory(node, bool(replaced)) for node, replaced in rows]

    def supersede(self, successor: Successor, receipts: Sequence[Receipt] = ()) -> bool:
        draft, at = successor.draft, successor.at
        rows = self._write(
            SUPERSEDE,
            old_id=successor.old_id,
            node=draft_node(draft, pending=True) | {"_seq": stored_order()},
            edge={"strength": SUPERSEDED_STRENGTH, "timestamp": draft.timestamp, "updated_at": at},
            closed={
                "t_invalid": draft.timestamp,
                "_until": epoch_of(draft.timestamp),
                "updated_at": at,
                "_updated": epoch_of(at),
            },
            receipts=[receipt_node(receipt) for receipt in receipts],
        )
        if not rows:
            raise GraphUnavailable("FalkorDB did not confirm the write")
        return list(rows[0][0]) == [draft.id]


def _labels(kinds: Sequence[RelationType]) -> str:
    return "|".join(dict.fromkeys(label for kind in kinds for label in kind.labels))


def _associate(kind: RelationType) -> str:
    return (
        "UNWIND $rows AS row MATCH (old:Memory {id: row.source}) MATCH (new:Memory {id: row.target}) "
        f"MERGE (old)-[r:{kind.name}]->(new) "
        "SET r += row.properties, r.strength = row.strength, r.updated_at = $at"
        f"{f', {OWES_PAYLOAD}' if kind.replaces else ''} RETURN old.id, new.id"
    )


def _dissociate(kind: RelationType) -> str:
    owed = f"SET {OWES_PAYLOAD} " if kind.replaces else ""
    return (
        f"MATCH (old:Memory {{id: $source}})-[r:{_labels([kind])}]->(new:Memory {{id: $target}}) "
        f"WITH old, r, type(r) AS label, properties(r) AS removed {owed}DELETE r RETURN label, removed"
    )


def _associations(page: EdgePage) -> str:
    """Order by what never changes, so that a walk shows every older edge once."""
    clauses = ["o.id <> $id"]
    if page.direction is not None:
        clauses.append("direction = $direction")
    if page.after is not None:
        clauses.append("[label, direction, o.id, key] > $after")
    return (
        f"MATCH (m:Memory {{id: $id}}) WITH m MATCH (m)-[r:{_labels(page.kinds)}]-(o:Memory) "
        "WITH r, o, type(r) AS label, id(r) AS key, "
        "CASE WHEN startNode(r).id = $id THEN 'outgoing' ELSE 'incoming' END AS direction "
        f"WHERE {' AND '.join(clauses)} "
        "WITH r, o AS m, label, direction, key ORDER BY label, direction, o.id, key LIMIT $limit "
        f"RETURN label, direction, key, properties(r), {_SHORT}, {REPLACED}"
    )


def _association(memory_id: str, row: list[Any]) -> Association:
    label, direction, key, properties, node, replaced = row
    other = read_memory(node, bool(replaced))
    ends = (memory_id, other.id) if direction == "outgoing" else (other.id, memory_id)
    return Association(
        relation=read_relation(*ends, label, properties),
        direction=direction,
        other=other,
        key=(label, direction, other.id, key),
    )


def _related(kinds: Sequence[RelationType], depth: int) -> str:
    """Walk layer by layer: a pattern of variable length would follow every path there is."""
    edge = f"-[:{_labels(kinds)}]-"
    layers = []
    for hops in range(1, depth + 1):
        steps = "".join(
            f"MATCH (n{hop}){edge}(n{hop + 1}:Memory) WITH DISTINCT n{hop + 1} " for hop in range(hops)
        )
        layers.append(f"MATCH (n0:Memory {{id: $id}}) WITH n0 {steps}RETURN n{hops} AS m")
    return (
        f"CALL {{ {' UNION '.join(layers)} }} "
        "WITH m WHERE m.id <> $id AND NOT coalesce(m.archived = true, false) "
        f"WITH m ORDER BY {cypher.ORDERS['score']} LIMIT $limit RETURN {_SHORT}, {REPLACED}"
    )


def _edge_row(edge: NewEdge) -> Mapping[str, Any]:
    return {
        "source": edge.source_id,
        "target": edge.target_id,
        "strength": storable(edge.strength, "strength"),
        "properties": {name: storable(value, name) for name, value in edge.properties.items()},
    }
