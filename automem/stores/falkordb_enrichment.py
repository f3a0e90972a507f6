"""Pending enrichment in the graph; mixed into the store.

Internal properties: ``_enrichment`` (``waiting``, ``ready``, ``partial``, ``failed`` or ``done``),
``_enrich_at`` (epoch seconds: due then, or claimed until then), ``_enrich_by`` (who claimed it),
``_enrich_attempts``, ``_enrich_error``, ``_forced``, ``_text_changed`` (since it was enriched),
``_added_tags`` and ``_added_keys`` (what is enrichment's), ``_provisional`` (nobody chose the type),
``_chat`` (``due``) with ``_chat_at``, ``_chat_by`` and ``_chat_attempts``, ``_summary_by``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from automem.models import Memory
from automem.stores.enrichment import (
    ChatClaim,
    Claim,
    Enriched,
    EnrichmentCounts,
    EnrichmentFailure,
    Lease,
    Similar,
)
from automem.stores.falkordb_connection import Rows
from automem.stores.falkordb_queries import NEVER, OWING, PUBLIC, error_text
from automem.stores.node import READY, WAITING, enriched_node, improved_node, read_memory
from automem.utils.time import to_epoch

# Looked for first, so that an idle worker writes nothing.
DUE = "MATCH (m:Memory) WHERE m._enrichment IN $states AND coalesce(m._enrich_at, 0.0) <= $now"
ANY_DUE = f"{DUE} RETURN 1 LIMIT 1"
CLAIM = f"""
{DUE} WITH m LIMIT $limit SET m._enrich_at = $until, m._enrich_by = $owner
RETURN {PUBLIC}, coalesce(m._enrich_attempts, 0), coalesce(m._forced, false),
    coalesce(m._text_changed, false), coalesce(m._summary_by = 'chat', false),
    coalesce(m._provisional, false), coalesce(m._retry_at, 0.0) >= $never"""
FINISH = """
UNWIND $rows AS row MATCH (m:Memory {id: row.id})
WHERE coalesce(m._rev, 0) = row.revision AND m._enrich_by = $owner
SET m += row.changes
SET m._enrichment = CASE WHEN row.complete THEN 'done' WHEN m._pending = 'vector' THEN 'partial'
        ELSE 'ready' END,
    m._text_changed = NOT row.complete AND coalesce(m._text_changed, false)
SET m._pending = coalesce(m._pending, 'payload'), m._enrich_by = '', m._enrich_at = 0.0,
    m._enrich_attempts = 0, m._forced = false,
    m._enrich_error = CASE WHEN coalesce(m._retry_at, 0.0) >= $never THEN m._enrich_error ELSE '' END
RETURN m.id"""
FAILED = """
MATCH (m:Memory {id: $id}) WHERE m._enrich_by = $owner
SET m._enrich_attempts = coalesce(m._enrich_attempts, 0) + 1, m._enrich_error = $error,
    m._enrich_by = '', m._enrich_at = $retry_at,
    m._enrichment = CASE WHEN $given_up THEN 'failed' ELSE m._enrichment END"""
RELEASE = """
MATCH (m:Memory) WHERE m.id IN $ids AND m._enrich_by = $owner SET m._enrich_by = '', m._enrich_at = $at"""
FREE = """
MATCH (m:Memory) WHERE m._enrichment IN ['waiting', 'ready', 'partial'] AND m._enrich_by <> ''
SET m._enrich_by = '', m._enrich_at = 0.0"""
FREE_CHAT = """
MATCH (m:Memory) WHERE m._chat = 'due' AND m._chat_by <> '' SET m._chat_by = '', m._chat_at = 0.0"""

_QUEUE = """
SET m._enrichment = CASE WHEN m._pending = 'vector' THEN 'waiting' ELSE 'ready' END, m._forced = true,
    m._enrich_by = '', m._enrich_at = 0.0, m._enrich_attempts = 0, m._enrich_error = '',
    m._attempts = 0, m._retry_at = 0.0"""
REQUEST = f"MATCH (m:Memory) WHERE m.id IN $ids {_QUEUE} RETURN m.id"
RETRY = f"MATCH (m:Memory) WHERE m._enrichment = 'failed' WITH m {_QUEUE} RETURN count(m)"
RETRY_REFUSED = f"""
MATCH (m:Memory) WHERE m._pending = 'vector' AND m._retry_at >= $never WITH m {_QUEUE} RETURN count(m)"""

COUNTS = """
MATCH (m:Memory) WHERE m._enrichment IN ['waiting', 'ready', 'partial', 'failed']
RETURN m._enrichment = 'failed', coalesce(m._enrich_by <> '' AND m._enrich_at > $now, false),
    count(m)"""
REFUSED = "MATCH (m:Memory) WHERE m._pending = 'vector' AND m._retry_at >= $never RETURN count(m)"
_PAGE = "AND m.id > $after WITH m ORDER BY m.id LIMIT $limit RETURN m.id, coalesce"
FAILURES = f"""
MATCH (m:Memory) WHERE m._enrichment = 'failed'
{_PAGE}(m._enrich_attempts, 0), coalesce(m._enrich_error, '')"""
REFUSALS = f"""
MATCH (m:Memory) WHERE m._pending = 'vector' AND m._retry_at >= $never
{_PAGE}(m._attempts, 0), coalesce(m._enrich_error, '')"""
UNSETTLED = f"""
{OWING} WITH count(m) AS owing
OPTIONAL MATCH (m:Memory) WHERE m._enrichment IN ['waiting', 'ready', 'partial']
AND (m._pending IS NULL OR m._retry_at >= $never)
WITH owing, count(m) AS waiting RETURN owing + waiting"""

OUTDATED = """
MATCH (m:Memory) WHERE m.id IN $ids WITH m MATCH (m)-[r:SIMILAR_TO]-(:Memory) DELETE r"""
SIMILAR = """
UNWIND $rows AS row MATCH (m:Memory {id: row.id}) MATCH (o:Memory {id: row.other})
MERGE (m)-[r:SIMILAR_TO]->(o) SET r.score = row.score, r.updated_at = row.at
MERGE (o)-[b:SIMILAR_TO]->(m) SET b.score = row.score, b.updated_at = row.at"""

_CHAT_DUE = "MATCH (m:Memory) WHERE m._chat = 'due' AND coalesce(m._chat_at, 0.0) <= $now"
ANY_CHAT = f"{_CHAT_DUE} RETURN 1 LIMIT 1"
CLAIM_CHAT = f"""
{_CHAT_DUE} WITH m LIMIT $limit SET m._chat_at = $until, m._chat_by = $owner
RETURN {PUBLIC}, coalesce(m._chat_attempts, 0), coalesce(m._provisional, false)"""
FINISH_CHAT = """
MATCH (m:Memory {id: $id}) WHERE coalesce(m._rev, 0) = $revision AND m._chat_by = $owner
SET m += $changes
SET m._pending = coalesce(m._pending, 'payload'), m._chat = '', m._chat_by = '', m._chat_at = 0.0,
    m._chat_attempts = 0, m._provisional = false
RETURN m.id"""
CHAT_FAILED = """
MATCH (m:Memory {id: $id}) WHERE m._chat_by = $owner
SET m._chat_attempts = coalesce(m._chat_attempts, 0) + 1, m._chat_by = '', m._chat_at = $retry_at,
    m._chat = CASE WHEN $given_up THEN '' ELSE 'due' END"""


class PendingEnrichment:
    """The part of the graph store that keeps what enrichment has to do and what it writes."""

    _read: Callable[..., Rows]
    _write: Callable[..., Rows]

    def claim_enrichment(self, lease: Lease, limit: int, ahead: bool) -> list[Claim]:
        states = [READY, WAITING] if ahead else [READY]
        if not self._read(ANY_DUE, states=states, now=to_epoch(lease.now)):
            return []
        rows = self._write(CLAIM, states=states, limit=limit, never=NEVER, **_lease(lease))
        return [
            Claim(read_memory(node, replaced), attempts + 1, *flags)
            for node, replaced, attempts, *flags in rows
        ]

    def finish_enrichment(self, owner: str, results: Sequence[Enriched]) -> set[str]:
        rows = [
            {
                "id": result.memory.id,
                "revision": result.memory.revision,
                "changes": enriched_node(result),
                "complete": result.complete,
            }
            for result in results
        ]
        return {row[0] for row in self._write(FINISH, rows=rows, owner=owner, never=NEVER)} if rows else set()

    def enrichment_failed(self, owner: str, memory_id: str, error: str, retry_at: datetime | None) -> None:
        self._write(FAILED, id=memory_id, owner=owner, error=error_text(error), **_retry(retry_at))

    def release_enrichment(self, owner: str, memory_ids: Sequence[str], at: datetime) -> None:
        self._write(RELEASE, ids=list(memory_ids), owner=owner, at=to_epoch(at))

    def free_enrichment(self) -> None:
        self._write(FREE)
        self._write(FREE_CHAT)

    def request_enrichment(self, memory_ids: Sequence[str]) -> list[str]:
        return [row[0] for row in self._write(REQUEST, ids=list(memory_ids))] if memory_ids else []

    def retry_enrichment(self) -> int:
        return int(self._write(RETRY)[0][0]) + int(self._write(RETRY_REFUSED, never=NEVER)[0][0])

    def enrichment_counts(self, now: datetime) -> EnrichmentCounts:
        rows = self._read(COUNTS, now=to_epoch(now))
        refused = int(self._read(REFUSED, never=NEVER)[0][0])
        return EnrichmentCounts(
            pending=sum(count for failed, _, count in rows if not failed),
            inflight=sum(count for failed, claimed, count in rows if claimed and not failed),
            failed=sum(count for failed, _, count in rows if failed) + refused,
        )

    def enrichment_failures(self, after: str, limit: int) -> list[EnrichmentFailure]:
        part = {"after": after, "limit": max(0, limit)}
        rows = [*self._read(FAILURES, **part), *self._read(REFUSALS, **part, never=NEVER)]
        found = {row[0]: EnrichmentFailure(*row) for row in rows}
        return [found[memory_id] for memory_id in sorted(found)][: max(0, limit)]

    def unsettled_count(self) -> int:
        return int(self._read(UNSETTLED, never=NEVER)[0][0])

    def link_similar(self, similar: Sequence[Similar], at: str) -> None:
        fresh = [each.memory_id for each in similar if each.fresh]
        if fresh:
            self._write(OUTDATED, ids=fresh)
        rows = [
            {"id": each.memory_id, "other": other, "score": score, "at": at}
            for each in similar
            for other, score in each.near
        ]
        if rows:
            self._write(SIMILAR, rows=rows)

    # what the chat model may improve
    def claim_chat(self, lease: Lease, limit: int) -> list[ChatClaim]:
        if not self._read(ANY_CHAT, now=to_epoch(lease.now)):
            return []
        rows = self._write(CLAIM_CHAT, limit=limit, **_lease(lease))
        return [
            ChatClaim(read_memory(node, replaced), attempts + 1, provisional)
            for node, replaced, attempts, provisional in rows
        ]

    def finish_chat(self, owner: str, memory: Memory, properties: Mapping[str, Any]) -> bool:
        changes = improved_node(memory, properties)
        rows = self._write(FINISH_CHAT, id=memory.id, revision=memory.revision, owner=owner, changes=changes)
        return bool(rows)

    def chat_failed(self, owner: str, memory_id: str, retry_at: datetime | None) -> None:
        self._write(CHAT_FAILED, id=memory_id, owner=owner, **_retry(retry_at))


def _lease(lease: Lease) -> dict[str, Any]:
    return {"owner": lease.owner, "now": to_epoch(lease.now), "until": to_epoch(lease.until)}


def _retry(at: datetime | None) -> dict[str, Any]:
    return {"retry_at": 0.0 if at is None else to_epoch(at), "given_up": at is None}
