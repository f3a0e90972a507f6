"""The events of memories (service.md 7, D34): what is told of a write or a recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from automem.events.base import EventSink
from automem.models import Memory, MemoryDraft

PREVIEW = 100
"""Characters of a text that are told."""
_FEW = 5


def tell_stored(events: EventSink, drafts: Sequence[MemoryDraft], elapsed_ms: float) -> None:
    """Tell ``memory.store`` of each new memory."""
    for draft in drafts:
        event = _about(draft.id, draft.content, draft.type, draft.importance, draft.tags)
        events.emit("memory.store", {**event, "elapsed_ms": elapsed_ms})


def tell_updated(events: EventSink, memory: Memory, changes: Mapping[str, Any], elapsed_ms: float) -> None:
    """Tell ``memory.update``: the memory as it is now, and the names of what was ``changed``.

    The time of the change itself is left out of these: it goes with every change.
    """
    now = Memory({**memory.properties, **changes})
    event = _about(now.id, now.content, now.type, now.importance, now.tags)
    changed = sorted(changes.keys() - {"updated_at"})
    events.emit("memory.update", {**event, "changed": changed, "elapsed_ms": elapsed_ms})


def tell_deleted(events: EventSink, memory_ids: Sequence[str], elapsed_ms: float) -> None:
    """Tell ``memory.delete`` of each; what is deleted is not repeated."""
    for memory_id in memory_ids:
        events.emit("memory.delete", {"id": memory_id, "elapsed_ms": elapsed_ms})


def tell_recalled(events: EventSink, query: str, memory_ids: Sequence[str], elapsed_ms: float) -> None:
    """Tell ``memory.recall``: the beginning of the question, how much was found, the first ids."""
    found = {"query": preview(query), "count": len(memory_ids), "ids": list(memory_ids[:_FEW])}
    events.emit("memory.recall", {**found, "elapsed_ms": elapsed_ms})


def preview(text: str) -> str:
    """Give the beginning of a text, with ``...`` where it goes on."""
    return text if len(text) <= PREVIEW else f"{text[:PREVIEW]}..."


def _about(
    memory_id: str, content: str, kind: str, importance: float | None, tags: Sequence[str]
) -> dict[str, Any]:
    event = {
        "id": memory_id,
        "content_preview": preview(content),
        "type": kind,
        "importance": importance,
        "tags": list(tags[:_FEW]),
        "size_bytes": len(content.encode("utf-8", "replace")),
    }
    return {name: value for name, value in event.items() if value is not None}
