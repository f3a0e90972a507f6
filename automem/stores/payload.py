"""The payload of a vector point: a copy of the memory's fields, complete from every writer (D26).

Beside the public fields of storage.md 3 it holds what filters compare: ``_tags`` (canonical tags),
``_ts``, ``_updated``, ``_from``, ``_until`` (Unix seconds), and ``_replaced`` and ``_archived``, which
are 1 or absent: the embedded engine's Python binding reads booleans in filters as numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from automem.models import JSON, Memory
from automem.utils.tags import canonical_tag, tag_prefixes
from automem.utils.time import epoch_of

COPIED = (
    "content",
    "importance",
    "timestamp",
    "type",
    "confidence",
    "t_valid",
    "t_invalid",
    "updated_at",
    "last_accessed",
    "relevance_score",
    "archived",
)
EPOCHS = (
    ("_ts", "timestamp"),
    ("_updated", "updated_at"),
    ("_from", "t_valid"),
    ("_until", "t_invalid"),
)

# The engines accept a deeper payload, but then fail on every answer that contains it (limit 128).
MAX_DEPTH = 100
_TOO_DEEP = "…"
_INT64 = 1 << 63


def to_payload(memory: Memory) -> dict[str, JSON]:
    """Give the complete payload of a memory; absent and null values are left out."""
    tags = list(memory.tags)
    derived = {
        "tags": tags,
        "tag_prefixes": tag_prefixes(tags),
        "metadata": memory.metadata if "metadata" in memory.properties else None,
        "_tags": list(dict.fromkeys(filter(None, map(canonical_tag, tags)))),
        "_replaced": 1 if memory.replaced else None,
        "_archived": 1 if memory.archived else None,
    }
    copied = {name: memory.properties.get(name) for name in COPIED}
    epochs = {name: epoch_of(memory.properties.get(source)) for name, source in EPOCHS}
    payload = {name: _plain(value) for name, value in (copied | derived | epochs).items()}
    return {name: value for name, value in payload.items() if value is not None}


def from_payload(memory_id: str, payload: Mapping[str, Any] | None) -> Memory:
    """Read a point, whoever wrote it; never raises. The public fields become the properties."""
    found = payload or {}
    public = {name: value for name, value in found.items() if value is not None and not name.startswith("_")}
    if "metadata" in public:
        public["metadata"] = _metadata(public["metadata"])
    return Memory(properties=public | {"id": memory_id}, replaced=found.get("_replaced") in (1, True))


def _metadata(value: JSON) -> dict[str, JSON]:
    """Read metadata as an object or as the JSON text that some writers store; else {}."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return dict(value) if isinstance(value, Mapping) else {}


def _plain(value: object, depth: int = 0) -> JSON:
    """Give a value as JSON that every engine stores and gives back."""
    match value:
        case None | bool():
            return value
        case str():
            return value.encode("utf-8", "replace").decode("utf-8")
        case int():
            # Exact as text, where the engines would round.
            return value if -_INT64 <= value < _INT64 else str(value)
        case float():
            return value if math.isfinite(value) else None
        case Mapping() | list() | tuple() if depth > MAX_DEPTH:
            return _TOO_DEEP
        case Mapping():
            return {_plain(str(name)): _plain(item, depth + 1) for name, item in value.items()}
        case list() | tuple():
            return [_plain(item, depth + 1) for item in value]
        case _:
            return _plain(str(value))
