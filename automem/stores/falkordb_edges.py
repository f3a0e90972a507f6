"""Edges between memories as they are shown (recall.md 9.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from automem.models import Memory, Relation, as_number
from automem.relations import DISCOVERED, LEGACY_KINDS
from automem.stores.node import plain, read_memory
from automem.utils.time import epoch_of

_STRENGTHS = ("strength", "score", "confidence", "similarity", "count")


def read_edge(source_id: str, row: list[Any]) -> tuple[Relation, Memory]:
    """Read the row (type, edge properties, target properties, whether that is replaced)."""
    label, properties, target, replaced = row
    memory = read_memory(target, bool(replaced))
    return read_relation(source_id, memory.id, label, properties), memory


def read_relation(source_id: str, target_id: str, label: str, stored: Mapping[str, Any]) -> Relation:
    """Read an edge; odd properties are passed on as they are, odd strengths count as absent."""
    properties = {name: plain(value) for name, value in stored.items()}
    updated = properties.get("updated_at")
    return Relation(
        source_id=source_id,
        target_id=target_id,
        type=DISCOVERED if label in LEGACY_KINDS else label,
        strength=_strength(properties),
        kind=_kind(label, properties),
        updated_at=updated if isinstance(updated, str) else None,
        properties=properties,
    )


def newness(edge: tuple[Relation, Memory]) -> tuple[bool, float, str]:
    """Give the key by which the newest edge is first: its own time, else its target's; unknown last."""
    relation, memory = edge
    known = epoch_of(relation.properties.get("updated_at"))
    when = epoch_of(memory.properties.get("timestamp")) if known is None else known
    return when is None, -(when or 0.0), memory.id


def _strength(properties: Mapping[str, Any]) -> float:
    numbers = (as_number(properties.get(name)) for name in _STRENGTHS)
    return next((number for number in numbers if number is not None), 0.0)


def _kind(label: str, properties: Mapping[str, Any]) -> str | None:
    if label in LEGACY_KINDS:
        return LEGACY_KINDS[label]
    kind = properties.get("kind")
    return kind.lower() if label == DISCOVERED and isinstance(kind, str) else None
