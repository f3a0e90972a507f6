"""Values that travel between the parts of the service. Pure data: no I/O, no Flask, no driver."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from automem.utils.time import TimeWindow, lenient_timestamp

TagMode = Literal["any", "all"]
TagMatch = Literal["prefix", "exact"]
Sort = Literal["score", "time_asc", "time_desc", "updated_asc", "updated_desc"]
StateMode = Literal["current", "history"]

JSON = Any
"""A decoded JSON value."""


def as_number(value: object) -> float | None:
    """Give a finite number as float, anything else (booleans too) as None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Memory:
    """One stored memory, tolerant of odd data written by others.

    ``properties`` are the public node properties (``metadata`` decoded, nulls absent, no names that
    begin with ``_``). ``lexemes`` is the analysed text of ``utils/text.py``; empty when the memory
    was read from the vector store. ``vector_pending`` says that a vector in the vector store, if
    any, belongs to an older text and must not be trusted. ``replaced`` says that an outgoing
    replacement edge exists (INVALIDATED_BY, EVOLVED_INTO). ``revision`` counts writes. ``added_tags``
    and ``added_keys`` name what of its tags and metadata is not the client's but enrichment's.
    """

    properties: Mapping[str, JSON]
    lexemes: str = ""
    vector_pending: bool = False
    replaced: bool = False
    revision: int = 0
    added_tags: tuple[str, ...] = ()
    added_keys: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return _text(self.properties.get("id"))

    @property
    def content(self) -> str:
        return _text(self.properties.get("content"))

    @property
    def type(self) -> str:
        return _text(self.properties.get("type"))

    @property
    def tags(self) -> tuple[str, ...]:
        tags = self.properties.get("tags")
        return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list | tuple) else ()

    @property
    def own_tags(self) -> tuple[str, ...]:
        """The tags that say something new; those that enrichment took from the text repeat it."""
        return tuple(tag for tag in self.tags if tag not in self.added_tags)

    @property
    def importance(self) -> float | None:
        return as_number(self.properties.get("importance"))

    @property
    def confidence(self) -> float | None:
        return as_number(self.properties.get("confidence"))

    @property
    def relevance(self) -> float | None:
        return as_number(self.properties.get("relevance_score"))

    @property
    def timestamp(self) -> datetime | None:
        return lenient_timestamp(self.properties.get("timestamp"))

    @property
    def updated_at(self) -> datetime | None:
        return lenient_timestamp(self.properties.get("updated_at"))

    @property
    def valid_from(self) -> datetime | None:
        return lenient_timestamp(self.properties.get("t_valid"))

    @property
    def valid_until(self) -> datetime | None:
        return lenient_timestamp(self.properties.get("t_invalid"))

    @property
    def archived(self) -> bool:
        return self.properties.get("archived") is True

    @property
    def summary(self) -> str:
        return _text(self.properties.get("summary"))

    @property
    def metadata(self) -> Mapping[str, JSON]:
        metadata = self.properties.get("metadata")
        return metadata if isinstance(metadata, Mapping) else {}


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """A validated memory about to be written. Times are normalised ISO texts in UTC.

    ``provisional`` says that its type is a guess, which the chat model may better in the background.
    """

    id: str
    content: str
    tags: tuple[str, ...]
    importance: float
    metadata: Mapping[str, JSON]
    type: str
    confidence: float
    timestamp: str
    updated_at: str
    last_accessed: str
    t_valid: str
    t_invalid: str | None = None
    embedding: Sequence[float] | None = None
    provisional: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """What a search may return; applied inside the stores' queries, never after a cut (D7).

    ``state`` selects by validity at ``at``: ``current`` (valid then and not replaced), ``suppressed``
    (exactly the others: expired, not yet valid, or with an outgoing replacement edge) or ``any``.
    Archived memories are left out unless ``archived`` is true.
    """

    at: datetime
    tags: tuple[str, ...] = ()
    tag_mode: TagMode = "any"
    tag_match: TagMatch = "prefix"
    exclude_tags: tuple[str, ...] = ()
    window: TimeWindow | None = None
    excluded_types: tuple[str, ...] = ()
    state: Literal["current", "suppressed", "any"] = "any"
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge between two memories as the answer shows it (recall.md 9.1).

    ``strength`` is the first present of strength, score, confidence, similarity, count, else 0.0.
    """

    source_id: str
    target_id: str
    type: str
    strength: float
    kind: str | None = None
    updated_at: str | None = None
    properties: Mapping[str, JSON] = field(default_factory=dict)
