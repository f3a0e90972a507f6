"""The payload of a vector point: a copy of the memory's fields, complete from every writer (D26).

Beside the public fields of storage.md 3 it holds what filters compare: ``_tags`` (canonical tags),
``_ts``, ``_updated``, ``_from``, ``_until`` (Unix seconds), and ``_replaced`` and ``_archived``, which
are 1 or absent: the embedded engine's Python binding reads booleans in filters as numbers. What is
stored also bears marks, ``_text`` and ``_all``, by which a drift check sees without reading it whether
the text of the vector and the payload are those of the graph.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
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


@dataclass(frozen=True, slots=True)
class PointMark:
    """What a point was made of: digests of the text of its vector, and of the rest of its payload.

    ``payload`` is '' for a point that others have written.
    """

    text: str
    payload: str


TEXT_MARK, PAYLOAD_MARK = MARKS = ("_text", "_all")


def stored_payload(memory: Memory) -> dict[str, JSON]:
    """Give the payload with the marks of it, as the stores keep it."""
    payload = to_payload(memory)
    return payload | {TEXT_MARK: _text_digest(memory.content), PAYLOAD_MARK: _payload_digest(payload)}


def mark_of(memory: Memory) -> PointMark:
    """Give the mark that the point of this memory ought to bear."""
    return PointMark(_text_digest(memory.content), _payload_digest(to_payload(memory)))


def read_mark(payload: Mapping[str, Any] | None) -> PointMark:
    """Read a point's mark; without one, its own ``content`` tells what its vector was made of."""
    found = payload or {}
    text = found.get(TEXT_MARK)
    if isinstance(text, str):
        return PointMark(text, str(found.get(PAYLOAD_MARK, "")))
    content = found.get("content")
    return PointMark(_text_digest(content if isinstance(content, str) else ""), "")


def _text_digest(content: str) -> str:
    return _digest(content.encode("utf-8", "replace"))


def _payload_digest(payload: Mapping[str, JSON]) -> str:
    """Digest all but the time of the last access, which is not kept in step (storage.md 5)."""
    kept = {name: value for name, value in payload.items() if name != "last_accessed"}
    return _digest(json.dumps(kept, sort_keys=True).encode())


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=12).hexdigest()


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
