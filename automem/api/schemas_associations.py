"""Models of the association routes for ``/openapi.json``; they document and refuse nothing themselves."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from automem.api.schemas_memory import Warning
from automem.memory.association_fields import DEFAULT_STRENGTH, MAX_BULK
from automem.relations import AUTHORABLE, DEFAULT_TYPE, REGISTRY

DEFAULT_LIMIT = 20
MAX_LIMIT = 200
MAX_DEPTH = 3

Property = str | float | int | bool | list[Any] | None
_FOR = "A text, a number, a boolean or a list of these; for "


class AssociationRow(BaseModel):
    """An edge from the first memory to the second. Null counts as absent."""

    memory1_id: str
    memory2_id: str
    type: str | None = Field(default=None, description=f"{', '.join(AUTHORABLE)}; default {DEFAULT_TYPE}.")
    strength: float | None = Field(default=None, description=f"0 to 1; default {DEFAULT_STRENGTH}.")
    confidence: Property = Field(default=None, description=f"{_FOR}EXEMPLIFIES, EVOLVED_INTO, DERIVED_FROM.")
    context: Property = Field(default=None, description=f"{_FOR}PREFERS_OVER, PART_OF.")
    observations: Property = Field(default=None, description=f"{_FOR}REINFORCES.")
    pattern_type: Property = Field(default=None, description=f"{_FOR}EXEMPLIFIES.")
    reason: Property = Field(
        default=None, description=f"{_FOR}PREFERS_OVER, CONTRADICTS, INVALIDATED_BY, EVOLVED_INTO."
    )
    resolution: Property = Field(default=None, description=f"{_FOR}CONTRADICTS.")
    role: Property = Field(default=None, description=f"{_FOR}PART_OF.")
    timestamp: Property = Field(default=None, description=f"{_FOR}INVALIDATED_BY.")
    transformation: Property = Field(default=None, description=f"{_FOR}DERIVED_FROM.")


class AssociateBody(AssociationRow):
    """One edge, or with ``associations`` many."""

    associations: list[AssociationRow] | None = Field(
        default=None, description=f"1 to {MAX_BULK} edges; the other fields are then not used."
    )


class BulkBody(BaseModel):
    """Many edges."""

    associations: list[AssociationRow]


class MadeRow(BaseModel):
    """A row that was written."""

    index: int
    memory1_id: str
    memory2_id: str
    relation_type: str
    strength: float


class FailedRow(BaseModel):
    """A row that was not written."""

    index: int
    reason: str
    field: str | None = Field(default=None, description="The field at fault, if one is.")


class AssociateAnswer(BaseModel):
    """The edge is there, with the properties of its type that were sent; or all edges of a bulk are."""

    status: str = Field(description="Always `success`.")
    message: str | None = None
    relation_type: str | None = None
    strength: float | None = None
    created_count: int | None = Field(default=None, description="This and the following: of a bulk.")
    failed_count: int | None = None
    succeeded: list[MadeRow] | None = None
    failed: list[FailedRow] | None = None
    summary: str | None = None
    warnings: list[Warning] | None = None


class BulkAnswer(BaseModel):
    """Some rows of a bulk could not be written."""

    status: str = Field(description="Always `partial_success`.")
    created_count: int
    failed_count: int
    succeeded: list[MadeRow]
    failed: list[FailedRow]
    summary: str
    warnings: list[Warning] | None = None


class AssociationKey(BaseModel):
    """Which edge is meant: from the first memory to the second."""

    memory1_id: str
    memory2_id: str
    type: str | None = Field(default=None, description=f"{', '.join(REGISTRY)}; default {DEFAULT_TYPE}.")


class RemovedAnswer(BaseModel):
    """The edge is removed; this is what it was."""

    status: str = Field(description="Always `success`.")
    message: str
    memory1_id: str
    memory2_id: str
    relation_type: str
    strength: float
    properties: dict[str, Any]
    removed_count: int = Field(description="1, or more where an older service had made several.")
    warnings: list[Warning] | None = None


class Summary(BaseModel):
    """A memory in short: ``content`` only where there is no ``summary``, and at most 160 characters."""

    id: str
    type: str | None = None
    timestamp: str | None = None
    summary: str | None = None
    content: str | None = None
    importance: float | None = None
    confidence: float | None = None
    tags: list[str] | None = Field(default=None, description="At most 5.")


class AssociationsQuery(BaseModel):
    """Which edges of the memory to list."""

    type: list[str] = Field(default=[], description="Only these types; repeated or comma-separated.")
    direction: Literal["any", "outgoing", "incoming"] = "any"
    limit: int = Field(default=DEFAULT_LIMIT, description=f"1 to {MAX_LIMIT}.")
    cursor: str | None = Field(default=None, description="The `next` of the page before.")


class AssociationShown(BaseModel):
    """An edge and the memory at its other end."""

    direction: Literal["outgoing", "incoming"]
    type: str
    strength: float
    kind: str | None = Field(default=None, description="Of DISCOVERED.")
    updated_at: str | None = None
    properties: dict[str, Any]
    memory: Summary


class AssociationsAnswer(BaseModel):
    """A page of edges: by type, direction and the other memory's id."""

    status: str = Field(description="Always `success`.")
    memory_id: str
    count: int
    associations: list[AssociationShown]
    next: str | None = Field(default=None, description="The `cursor` of the next page; absent on the last.")
    warnings: list[Warning] | None = None


class RelatedQuery(BaseModel):
    """How far to go, and over which edges."""

    relationship_types: list[str] = Field(
        default=[], description="Only these types; default all that clients may make."
    )
    max_depth: int = Field(default=1, description=f"1 to {MAX_DEPTH} edges.")
    limit: int | None = Field(default=None, description=f"1 to {MAX_LIMIT}; default `RECALL_RELATION_LIMIT`.")


class RelatedAnswer(BaseModel):
    """The memories reached, most important first, then newest."""

    status: str = Field(description="Always `success`.")
    memory_id: str
    count: int
    related_memories: list[Summary]
    relationship_types: list[str]
    max_depth: int
    limit: int
    warnings: list[Warning] | None = None
