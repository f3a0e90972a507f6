"""What the graph tells of itself as a whole: counts, the newest memories, preferences (recall.md 12.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from automem.models import Memory
from automem.stores import cypher
from automem.stores.base import Preference, TypeCount
from automem.stores.falkordb_connection import Rows
from automem.stores.falkordb_edges import read_relation
from automem.stores.node import plain, read_memory
from automem.utils.time import to_epoch

# Comparisons between types are null in Cypher, so that odd values are left out and not an error.
_CONFIDENCE = "CASE WHEN m.confidence > -1e300 THEN m.confidence END"
TYPE_COUNTS = f"""
MATCH (m:Memory) WITH m.type AS type, {_CONFIDENCE} AS confidence
RETURN type, count(1), count(confidence), sum(confidence)"""

PATTERNS = """
MATCH (p:Pattern) WHERE p.confidence > $above
WITH p ORDER BY p.confidence DESC, p.type, p.id LIMIT $limit RETURN properties(p)"""

# Without labels this walks the edges of the type alone; with them, all memories.
PREFERENCES = """
MATCH ()-[r:PREFERS_OVER]->()
WITH r, CASE WHEN r.strength > -1e300 THEN r.strength ELSE -1e300 END AS strength
ORDER BY strength DESC, id(r) LIMIT $limit
WITH r, startNode(r) AS one, endNode(r) AS other
RETURN properties(r), one{.id, .content}, other{.id, .content}"""

_SAMPLED = "m{.id, .timestamp, .importance, .confidence, .metadata}"


class Insights:
    """The part of the graph store that looks at the whole; mixed into it."""

    _read: Callable[..., Rows]

    def type_counts(self) -> list[TypeCount]:
        return [
            TypeCount(plain(label), int(count), int(rated), float(total or 0.0))
            for label, count, rated, total in self._read(TYPE_COUNTS)
        ]

    def patterns(self, above: float, limit: int) -> list[Mapping[str, Any]]:
        rows = self._read(PATTERNS, above=above, limit=max(0, limit))
        return [{name: plain(value) for name, value in row[0].items()} for row in rows]

    def preferences(self, limit: int) -> list[Preference]:
        return [_preference(row) for row in self._read(PREFERENCES, limit=max(0, limit))]

    def newest(self, at: datetime, limit: int) -> list[Memory]:
        found: dict[str, Memory] = {}
        for band in cypher.time_bands("_ts", to_epoch(at), descending=True):
            if len(found) >= limit:
                break
            text = (
                f"MATCH (m:Memory) {band.where} WITH m ORDER BY {cypher.ORDERS['time_desc']} LIMIT $limit "
                f"RETURN {_SAMPLED}"
            )
            for row in self._read(text, **band.params, limit=limit - len(found)):
                memory = read_memory(_present(row[0]), replaced=False)
                found.setdefault(memory.id, memory)
        return list(found.values())


def _preference(row: Sequence[Any]) -> Preference:
    edge, one, other = row
    prefers, over = (read_memory(_present(node), replaced=False) for node in (one, other))
    relation = read_relation(prefers.id, over.id, "PREFERS_OVER", edge)
    return Preference(prefers, over, relation)


def _present(node: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in node.items() if value is not None}
