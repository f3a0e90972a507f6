"""What repairs of the vector store need of the graph; mixed into the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from automem.stores.falkordb_connection import Rows

OWE = """
MATCH (m:Memory) WHERE m.id IN $ids
SET m._pending = CASE WHEN m._pending = 'vector' THEN 'vector' ELSE $debt END,
    m._rev = coalesce(m._rev, 0) + 1, m._attempts = 0, m._retry_at = 0.0
RETURN count(m)"""

EXISTING = "MATCH (m:Memory) WHERE m.id IN $ids RETURN m.id"
NEWEST = """
MATCH (m:Memory) WHERE m.content <> '' AND m.id > ''
WITH m.id AS id, coalesce(m._ts, -1e300) AS at ORDER BY at DESC, id"""
MODEL_CHANGE = "MATCH (c:ModelChange {id: 'store'}) RETURN c.plan"
PLAN_MODEL_CHANGE = "MERGE (c:ModelChange {id: 'store'}) SET c.plan = $plan"
FORGET_MODEL_CHANGE = "MATCH (c:ModelChange {id: 'store'}) DELETE c"
_MOST = 2**31 - 1


class Repair:
    """The part of the graph store that tells and marks what the vector store lacks."""

    _read: Callable[..., Rows]
    _write: Callable[..., Rows]

    def owe(self, memory_ids: Sequence[str], debt: Literal["vector", "payload"]) -> int:
        if not memory_ids:
            return 0
        return int(self._write(OWE, ids=list(memory_ids), debt=debt)[0][0])

    def model_change(self) -> str | None:
        rows = self._read(MODEL_CHANGE)
        return rows[0][0] if rows else None

    def plan_model_change(self, plan: str | None) -> None:
        if plan is None:
            self._write(FORGET_MODEL_CHANGE)
        else:
            self._write(PLAN_MODEL_CHANGE, plan=plan)

    def existing(self, memory_ids: Sequence[str]) -> set[str]:
        rows = self._read(EXISTING, ids=list(memory_ids)) if memory_ids else []
        return {row[0] for row in rows}

    def newest_ids(self, limit: int | None) -> list[str]:
        # The engine takes a very large limit for none at all.
        most = "" if limit is None else f"LIMIT {max(0, min(limit, _MOST))}"
        return [row[0] for row in self._read(f"{NEWEST} {most} RETURN id")]
