"""Node serialisation and relation summaries, as every route shows them (seed, recall.md 9.1). Pure."""

from __future__ import annotations

from typing import Any

from automem.models import Memory, Relation

_SUMMARY_LENGTH = 160
_SUMMARY_TAGS = 5
_SUMMARY_FIELDS = ("id", "type", "timestamp", "summary", "importance", "confidence")


def memory_object(memory: Memory) -> dict[str, Any]:
    """Give all public properties of a memory, nulls left out (D38)."""
    return {name: value for name, value in memory.properties.items() if value is not None}


def memory_summary(memory: Memory) -> dict[str, Any]:
    """Give the short form of a related memory; content only where there is no summary."""
    known = memory_object(memory)
    summary = {name: known[name] for name in _SUMMARY_FIELDS if name in known}
    if not memory.summary:
        summary["content"] = shortened(memory.content)
    if memory.tags:
        summary["tags"] = list(memory.tags[:_SUMMARY_TAGS])
    return summary


def shortened(text: str) -> str:
    """Cut a text to 160 characters, at a blank, marked by an ellipsis."""
    text = text.strip()
    if len(text) <= _SUMMARY_LENGTH:
        return text
    cut = text[: _SUMMARY_LENGTH - 3]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + "…"


def relation_object(relation: Relation, memory: Memory) -> dict[str, Any]:
    """Give an edge as a result lists it, with the summary of the memory at its other end."""
    row: dict[str, Any] = {
        "type": relation.type,
        "strength": relation.strength,
        "memory": memory_summary(memory),
    }
    return row | ({"kind": relation.kind} if relation.kind else {})
