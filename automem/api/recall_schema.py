"""The parameters and the answer of /recall, for ``/openapi.json`` (recall.md 1.2, 2)."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from automem.models import Sort, StateMode, TagMatch, TagMode
from automem.search.types import MatchType, RecencyBias


class RecallQuery(BaseModel):
    """Parameters of a recall. Lists may be repeated or comma-separated."""

    query: str = Field(default="", description="What to look for; empty or `*`: the most important memories.")
    queries: list[str] = Field(default=[], description="Several questions, answered together (at most 20).")
    auto_decompose: bool = Field(default=False, description="Also ask for the names and topics of `query`.")
    per_query_limit: int | None = Field(default=None, description="Results of each question; as `limit`.")
    embedding: str | None = Field(default=None, description="A vector of the question: numbers and commas.")
    limit: int = Field(default=5, description="How many results, 1 to RECALL_MAX_LIMIT.")
    sort: Sort = Field(default="score", description="Order of the results.")
    order_by: Sort | None = Field(default=None, description="The same as `sort`.")
    tags: list[str] = Field(default=[], description="Only memories with these tags.")
    tag_mode: TagMode = Field(default="any", description="`any` or `all` of the tags.")
    tag_match: TagMatch = Field(default="prefix", description="Whole tags, or their first segments.")
    exclude_tags: list[str] = Field(default=[], description="No memories with these tags.")
    time_query: str | None = Field(default=None, description="A time: `last week`, `before 2025-02-01`.")
    time: str | None = Field(default=None, description="The same as `time_query`.")
    start: str | None = Field(default=None, description="Not before this ISO time.")
    end: str | None = Field(default=None, description="Not after this ISO time.")
    state_mode: StateMode = Field(default="current", description="`history` shows hidden memories too.")
    current_only: bool | None = Field(default=None, description="Decides over `state_mode` when sent.")
    state_debug: bool = Field(default=False, description="Say what was hidden and why.")
    min_score: float | None = Field(default=None, description="Leave out results below this score, 0..1.")
    adaptive_floor: bool = Field(default=False, description="Leave out results below the largest gap.")
    recency_bias: RecencyBias = Field(default="off", description="Prefer the newer of the results.")
    scope_fallback: bool = Field(default=False, description="Fill free places from outside the tags.")
    expand_relations: bool = Field(default=False, description="Follow the relations of the results.")
    expand_associations: bool = Field(default=False, description="The same as `expand_relations`.")
    expand: bool = Field(default=False, description="The same as `expand_relations`.")
    expand_entities: bool = Field(default=False, description="Follow the entities that results name.")
    entity_expansion: bool = Field(default=False, description="The same as `expand_entities`.")
    expand_respect_tags: bool = Field(default=False, description="Keep expansions inside the tags.")
    expand_min_strength: float | None = Field(default=None, description="Least strength of a relation.")
    expand_min_importance: float | None = Field(default=None, description="Least importance of its target.")
    relation_limit: int = Field(default=5, description="Relations followed from each result, 1 to 200.")
    expansion_limit: int = Field(default=25, description="Results added by expansion, 1 to 500.")
    relation_expansion_limit: int | None = Field(default=None, description="The same as `expansion_limit`.")
    context: str = Field(default="", description="A label of what is being done.")
    language: str = Field(default="", description="The programming language at hand.")
    lang: str = Field(default="", description="The same as `language`.")
    active_path: str = Field(default="", description="The file at hand; its suffix names a language.")
    file_path: str = Field(default="", description="The same as `active_path`.")
    focus_path: str = Field(default="", description="The same as `active_path`.")
    context_tags: list[str] = Field(default=[], description="Prefer memories with these tags.")
    context_types: list[str] = Field(default=[], description="Prefer memories of these types.")
    priority_ids: list[str] = Field(default=[], description="Memories that must be in the answer.")
    fields: list[str] = Field(default=[], description="Only these fields of each result.")
    token_budget: int | None = Field(default=None, description="About the most tokens of the answer.")
    explain: bool = Field(default=False, description="Say of each result how its score came about.")
    explain_id: str | None = Field(default=None, description="Say why this memory was or was not returned.")


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class RecalledMemory(_Open):
    """All properties of a memory; more than these may be present."""

    id: str
    content: str
    tags: list[str] = []
    importance: float | None = None
    type: str | None = None
    timestamp: str | None = None
    metadata: dict[str, Any] | None = None


class RecallResult(_Open):
    """One result. ``score`` and ``final_score`` are equal."""

    id: str
    match_type: MatchType
    match_types: list[MatchType]
    source: str = Field(description="`qdrant` or `graph`.")
    match_score: float
    original_score: float
    score: float
    final_score: float
    score_components: dict[str, float | bool]
    memory: RecalledMemory
    relations: list[dict[str, Any]]


class RecallResponse(_Open):
    """The ranked answer; blocks that do not apply are left out."""

    status: str
    query: str
    results: list[RecallResult]
    count: int
    dedup_removed: int
    sort: Sort
    state_mode: StateMode
    vector_search: dict[str, bool]
    tag_mode: TagMode
    tag_match: TagMatch
    query_time_ms: float
