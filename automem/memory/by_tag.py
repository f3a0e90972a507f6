"""Listing and deleting memories by tag (memory-api.md 6, D5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from automem.embedding.breaker import MonotonicStopwatch
from automem.events.memories import tell_deleted
from automem.memory import vector_part
from automem.memory.answers import Timer
from automem.stores.edges import Tagged, TagPage

if TYPE_CHECKING:
    from automem.services import Services

PAGE = 200


def list_by_tag(services: Services, tags: Sequence[str], page: TagPage) -> tuple[Sequence[Tagged], bool]:
    """Give memories that bear one of the tags, and whether there are more behind them.

    The access is noted in the background (D18).
    """
    rows = services.graph.tagged(tags, replace(page, limit=page.limit + 1))
    shown = rows[: page.limit]
    services.access.record(row.memory.id for row in shown)
    return shown, len(rows) > page.limit


def delete_by_tag(services: Services, tags: Sequence[str]) -> int:
    """Delete all memories that bear one of the tags; give their number.

    Page by page: the graph with tombstones first, then the vectors. What a crash in between leaves
    is finished by the worker.
    """
    asked: set[str] = set()
    deleted = 0
    while page := [row.memory.id for row in services.graph.tagged(tags, TagPage(PAGE))]:
        if asked.issuperset(page):
            # What was deleted is still listed: going on would never end.
            break
        asked.update(page)
        deleted += _delete(services, page)
    return deleted


def _delete(services: Services, memory_ids: Sequence[str]) -> int:
    timer = Timer(MonotonicStopwatch())
    gone = services.graph.delete(memory_ids)
    if gone:
        vector_part.remove(services, gone)
        tell_deleted(services.events, gone, timer.milliseconds())
    return len(gone)
