"""Models of the memory routes for ``/openapi.json``; they document and refuse nothing themselves."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from automem.memory import drafts, fields

_TIME = "ISO 8601; without an offset UTC. Answered in UTC."


class NoParameters(BaseModel):
    """The query string of routes that take none."""


class Warning(BaseModel):
    """Something that was ignored, or could not be done as asked."""

    code: str
    message: str
    parameter: str | None = None


class BatchRow(BaseModel):
    """A memory of a batch. Optional fields may be null, which counts as absent."""

    content: str = Field(description="The text; trimmed at both ends, stored whole.")
    tags: list[str] | str | None = Field(
        default=None,
        description="A list, or text with commas. "
        f"At most {fields.MAX_TAGS} tags of {fields.MAX_TAG_LENGTH} characters.",
    )
    importance: float | None = Field(default=None, description="0 to 1; default 0.5.")
    metadata: dict[str, Any] | None = Field(
        default=None,
        description=f"Any JSON object of at most {fields.MAX_METADATA_BYTES} bytes "
        f"and {fields.MAX_METADATA_DEPTH} levels.",
    )
    type: str | None = Field(
        default=None,
        description=f"Any text of at most {fields.MAX_TYPE_LENGTH} characters; without it the text decides. "
        "Usual: Decision, Pattern, Preference, Style, Habit, Insight, Context.",
    )
    confidence: float | None = Field(default=None, description="Of `type`, 0 to 1; default 0.9.")
    timestamp: str | None = Field(default=None, description=f"When it happened; default now. {_TIME}")
    updated_at: str | None = Field(default=None, description="Default: `timestamp`.")
    last_accessed: str | None = Field(default=None, description="Default: `updated_at`.")
    t_valid: str | None = Field(default=None, description="True from then on; default `timestamp`.")
    t_invalid: str | None = Field(default=None, description="No longer true from then on.")
    embedding: list[float] | str | None = Field(
        default=None, description="A vector of the store's length, or its numbers joined by commas."
    )
    id: str | None = Field(
        default=None,
        description="A UUID of your own: sent again with the same content it gives the first answer again. "
        "What is no UUID is ignored with a warning.",
    )


class MemoryBody(BatchRow):
    """A memory to store. Optional fields may be null, which counts as absent."""

    supersedes: str | None = Field(
        default=None,
        description="The id of a memory whose place this one takes: in the same write that one ends at this "
        "one's `timestamp` and is linked to it by INVALIDATED_BY.",
    )


class BatchBody(BaseModel):
    """Memories to store, all or none."""

    memories: list[BatchRow] = Field(description=f"1 to {drafts.MAX_BATCH} memories.")


class MemoryChanges(BaseModel):
    """The fields to replace; others stay. ``metadata`` and ``tags`` are replaced as a whole."""

    content: str | None = Field(default=None, description="Not null. The memory is embedded anew.")
    tags: list[str] | str | None = Field(default=None, description="Null: none.")
    importance: float | None = None
    metadata: dict[str, Any] | None = Field(default=None, description="Null: empty.")
    type: str | None = None
    confidence: float | None = None
    timestamp: str | None = Field(default=None, description="Null removes it.")
    t_valid: str | None = Field(default=None, description="Null removes it.")
    t_invalid: str | None = Field(default=None, description="Null removes it.")
    updated_at: str | None = Field(default=None, description="Default: now.")
    last_accessed: str | None = Field(default=None, description="Null removes it.")


class StoreAnswer(BaseModel):
    """The memory is stored."""

    status: str = Field(description="Always `success`.")
    memory_id: str
    stored_at: str = Field(description="Equal to `timestamp`.")
    type: str
    confidence: float
    qdrant: str = Field(description="`stored`, `queued`, or `failed` (a given vector; tried again later).")
    embedding_status: str = Field(
        description="`provided`, `queued`, or `pending` while the embedding provider fails."
    )
    enrichment: str
    metadata: dict[str, Any]
    timestamp: str
    updated_at: str
    last_accessed: str
    superseded: str | None = Field(default=None, description="The memory whose place this one took.")
    query_time_ms: float
    warnings: list[Warning] | None = None


class BatchAnswer(BaseModel):
    """All memories are stored."""

    status: str = Field(description="Always `success`.")
    stored: int
    memory_ids: list[str] = Field(description="In the order of the request.")
    qdrant: str = Field(description="`stored (n)`, `stored (n), queued (m)` or `queued`.")
    enrichment: str
    query_time_ms: float
    warnings: list[Warning] | None = None


class MemoryRecord(BaseModel):
    """A stored memory with all its properties; those that are not set are absent."""

    model_config = ConfigDict(extra="allow")

    id: str
    content: str
    metadata: dict[str, Any] = Field(default_factory=dict)
    tags: list[str] = Field(default_factory=list)
    tag_prefixes: list[str] = Field(default_factory=list)
    type: str | None = None
    importance: float | None = None
    confidence: float | None = None
    timestamp: str | None = None
    updated_at: str | None = None
    last_accessed: str | None = None
    t_valid: str | None = None
    t_invalid: str | None = None
    superseded_by: str | None = Field(
        default=None, description="The newest memory that took its place; in GET by id only."
    )


class MemoryAnswer(BaseModel):
    """One memory."""

    status: str = Field(description="Always `success`.")
    memory: MemoryRecord
    warnings: list[Warning] | None = None


class ChangedAnswer(BaseModel):
    """It is done."""

    status: str = Field(description="Always `success`.")
    memory_id: str
    warnings: list[Warning] | None = None
