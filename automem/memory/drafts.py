"""From request bodies to validated memories (memory-api.md 1 and 2, D1, D25, D28).

Optional fields that are null count as absent. Fields are checked in the contract's order and the
first fault is raised; a batch gathers the first fault of every row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from automem.errors import InvalidInput
from automem.memory import fields
from automem.memory.classification import Classification
from automem.models import JSON, MemoryDraft
from automem.search.types import Warn

DEFAULT_IMPORTANCE = 0.5
EXPLICIT_CONFIDENCE = 0.9
"""Of a type that the client names without a confidence."""
MAX_BATCH = 500

BATCH_REQUIRED = "JSON body with 'memories' array required"

_BATCH_EMPTY = "'memories' must be a non-empty array"
_BATCH_TOO_LONG = f"Batch size limit is {MAX_BATCH} memories per request"


@dataclass(frozen=True, slots=True)
class Limits:
    """What validation depends on: the longest content in characters, the length of a vector."""

    content: int
    dimension: int


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A validated request to store one memory.

    ``type`` and ``confidence`` are None where the classifier decides; ``id`` is None where the
    service makes one. The times are complete. ``supersedes`` is the memory whose place it takes.
    """

    content: str
    tags: tuple[str, ...]
    importance: float
    metadata: Mapping[str, JSON]
    timestamp: str
    updated_at: str
    last_accessed: str
    t_valid: str
    t_invalid: str | None = None
    type: str | None = None
    confidence: float | None = None
    embedding: tuple[float, ...] | None = None
    id: str | None = None
    supersedes: str | None = None
    warnings: tuple[Warn, ...] = ()

    def draft(self, memory_id: str, chosen: Classification) -> MemoryDraft:
        """Complete it to what the graph stores."""
        return MemoryDraft(
            id=memory_id,
            content=self.content,
            tags=self.tags,
            importance=self.importance,
            metadata=self.metadata,
            type=chosen.type,
            confidence=chosen.confidence,
            provisional=chosen.provisional,
            timestamp=self.timestamp,
            updated_at=self.updated_at,
            last_accessed=self.last_accessed,
            t_valid=self.t_valid,
            t_invalid=self.t_invalid,
            embedding=self.embedding,
        )


def read_new_memory(body: Mapping[str, Any], limits: Limits, now: str) -> NewMemory:
    """Validate one body; ``now`` is the ISO time that a missing timestamp takes."""
    content = fields.read_content(body.get("content"), limits.content)
    tags = fields.read_tags(body.get("tags"))
    importance = _share(body, "importance")
    metadata = fields.read_metadata(body.get("metadata"))
    kind, confidence = _type_and_confidence(body)
    t_valid, t_invalid = _time(body, "t_valid"), _time(body, "t_invalid")
    embedding = fields.read_embedding(body.get("embedding"), limits.dimension)
    timestamp = _time(body, "timestamp") or now
    updated_at = _time(body, "updated_at") or timestamp
    memory_id, warnings = _client_id(body)
    return NewMemory(
        content=content,
        tags=tags,
        importance=DEFAULT_IMPORTANCE if importance is None else importance,
        metadata=metadata,
        timestamp=timestamp,
        updated_at=updated_at,
        last_accessed=_time(body, "last_accessed") or updated_at,
        t_valid=t_valid or timestamp,
        t_invalid=t_invalid,
        type=kind,
        confidence=confidence,
        embedding=embedding,
        id=memory_id,
        warnings=warnings,
    )


def read_successor(body: Mapping[str, Any], limits: Limits, now: str) -> NewMemory:
    """Validate one body that may take the place of another memory (``supersedes``)."""
    memory = read_new_memory(body, limits, now)
    given = body.get("supersedes")
    if given is None or given == "":
        return memory
    old_id = fields.canonical_id(given)
    if old_id is None:
        raise InvalidInput("'supersedes' must be the UUID of a memory", field="supersedes")
    if old_id == memory.id:
        raise InvalidInput("A memory cannot supersede itself", field="supersedes")
    return replace(memory, supersedes=old_id)


def read_batch(body: Mapping[str, Any], limits: Limits, now: str) -> list[NewMemory]:
    """Validate all rows; raises one ``InvalidInput`` that lists the fault of every bad one (D28)."""
    rows = body.get("memories")
    if not isinstance(rows, list) or not rows:
        raise InvalidInput(_BATCH_EMPTY, field="memories")
    if len(rows) > MAX_BATCH:
        raise InvalidInput(_BATCH_TOO_LONG, field="memories")
    memories, faults = _read_rows(rows, limits, now)
    faults = sorted([*faults, *_repeated_ids(memories)], key=lambda fault: fault["index"])
    if faults:
        raise InvalidInput(_summary(faults[0]), field=faults[0].get("field"), rows=tuple(faults))
    return list(memories.values())


def _read_rows(
    rows: Sequence[Any], limits: Limits, now: str
) -> tuple[dict[int, NewMemory], list[dict[str, Any]]]:
    memories: dict[int, NewMemory] = {}
    faults: list[dict[str, Any]] = []
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            faults.append({"index": index, "message": f"Memory at index {index} must be an object"})
            continue
        try:
            memories[index] = read_new_memory(row, limits, now)
        except InvalidInput as error:
            message = _row_message(index, row, error, limits)
            faults.append({"index": index, "field": error.field, "message": message})
    return memories, faults


def _row_message(index: int, row: Mapping[str, Any], error: InvalidInput, limits: Limits) -> str:
    """Word a row's fault as memory-api.md 2 does for content; the others are those of one memory."""
    if error.message == fields.CONTENT_REQUIRED:
        return f"Memory at index {index} missing 'content'"
    if error.field == "content" and isinstance(row.get("content"), str):
        length = len(row["content"].strip())
        return f"Memory at index {index} exceeds content limit ({length}/{limits.content})"
    return error.message


def _summary(fault: Mapping[str, Any]) -> str:
    """Word the first fault for the answer as a whole, where its row must be named."""
    place, message = f"Memory at index {fault['index']}", str(fault["message"])
    return message if message.startswith(place) else f"{place}: {message}"


def _repeated_ids(memories: Mapping[int, NewMemory]) -> list[dict[str, Any]]:
    first: dict[str, int] = {}
    faults: list[dict[str, Any]] = []
    for index, memory in memories.items():
        if memory.id is not None and first.setdefault(memory.id, index) != index:
            message = f"'id' repeats that of index {first[memory.id]}"
            faults.append({"index": index, "field": "id", "message": message})
    return faults


def _share(body: Mapping[str, Any], field: str) -> float | None:
    value = body.get(field)
    return None if value is None else fields.read_share(value, field)


def _type_and_confidence(body: Mapping[str, Any]) -> tuple[str | None, float | None]:
    """Give the client's type with its confidence; without a type the classifier decides on both."""
    given = body.get("type")
    kind = None if given is None or given == "" else fields.read_type(given)
    confidence = _share(body, "confidence")
    if kind is None:
        return None, None
    return kind, EXPLICIT_CONFIDENCE if confidence is None else confidence


def _time(body: Mapping[str, Any], field: str) -> str | None:
    value = body.get(field)
    return None if value is None or value == "" else fields.read_timestamp(value, field)


def _client_id(body: Mapping[str, Any]) -> tuple[str | None, tuple[Warn, ...]]:
    """Take a UUID; clients send other ids too, which are ignored with a warning (D25)."""
    given = body.get("id")
    if given is None:
        return None, ()
    memory_id = fields.canonical_id(given)
    if memory_id is not None:
        return memory_id, ()
    message = "'id' is no UUID and was ignored; the service made one"
    return None, (Warn("id_ignored", message, "id"),)
