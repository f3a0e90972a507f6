"""The values between the stages of a recall: request, arms, candidates, scored results, answer.

A request is run as one or more *runs* (one query text each). Each run asks three *arms* side by
side, merges their hits into *candidates* with *evidence*, and scores them. Nothing is mutated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from automem.models import Memory, Relation, Scope, Sort, StateMode, TagMatch, TagMode
from automem.utils.scoring import Score, Weights
from automem.utils.time import TimeWindow

ArmName = Literal["vector", "keyword", "metadata", "trending", "tag"]
MatchType = Literal[
    "vector",
    "keyword",
    "metadata",
    "trending",
    "tag",
    "priority_id",
    "relation",
    "entity_expansion",
    "state_replacement",
]
RecencyBias = Literal["auto", "on", "off"]
StateReason = Literal["archived", "not_yet_valid", "expired", "superseded"]


@dataclass(frozen=True, slots=True)
class ContextHints:
    """What the caller says of its situation (recall.md 6.3); boosts, never excludes."""

    label: str = ""
    language: str = ""
    active_path: str = ""
    tags: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    priority_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Expansion:
    """How the results are followed further (recall.md 9)."""

    relations: bool = False
    entities: bool = False
    respect_tags: bool = False
    min_strength: float = 0.0
    min_importance: float = 0.0
    relation_limit: int = 5
    limit: int = 25


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A parsed and validated recall (recall.md 1.2). Texts are trimmed; defaults are filled in."""

    now: datetime
    query: str = ""
    queries: tuple[str, ...] = ()
    auto_decompose: bool = False
    embedding: tuple[float, ...] | None = None
    limit: int = 5
    per_query_limit: int = 5
    sort: Sort = "score"
    tags: tuple[str, ...] = ()
    tag_mode: TagMode = "any"
    tag_match: TagMatch = "prefix"
    exclude_tags: tuple[str, ...] = ()
    window: TimeWindow | None = None
    state_mode: StateMode = "current"
    state_debug: bool = False
    min_score: float | None = None
    adaptive_floor: bool = False
    recency_bias: RecencyBias = "off"
    context: ContextHints = ContextHints()
    expansion: Expansion = Expansion()
    scope_fallback: bool = False
    explain: bool = False
    explain_id: str | None = None

    @property
    def text(self) -> str:
        """The query as the searches see it: ``*`` means no text."""
        return "" if self.query == "*" else self.query

    @property
    def semantic(self) -> bool:
        """Whether there is anything to search by meaning."""
        return bool(self.text or self.queries) or self.embedding is not None

    def scope(self, excluded_types: tuple[str, ...], state: Literal["current", "any"] = "any") -> Scope:
        """Give what every arm may return (D7)."""
        return Scope(
            at=self.now,
            tags=self.tags,
            tag_mode=self.tag_mode,
            tag_match=self.tag_match,
            exclude_tags=self.exclude_tags,
            window=self.window,
            excluded_types=excluded_types,
            state=state,
            archived=self.state_mode == "history",
        )


@dataclass(frozen=True, slots=True)
class Warn:
    """Something the caller should know of an answer that is not an error (D2, D4)."""

    code: str
    message: str
    parameter: str | None = None


@dataclass(frozen=True, slots=True)
class Find:
    """One memory as one arm found it: rank from 1, the arm's own score."""

    memory: Memory
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class ArmResult:
    """What one arm gave. ``warning`` says that it could not look; then ``finds`` is empty (D4)."""

    arm: ArmName
    finds: tuple[Find, ...] = ()
    saturated: bool = False
    warning: Warn | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory found by any arm, with what each arm said of it."""

    memory: Memory
    arms: Mapping[ArmName, Find] = field(default_factory=dict)
    priority: bool = False


@dataclass(frozen=True, slots=True)
class Bonus:
    """Something added after the weighted sum."""

    value: float
    weight: float = 1.0

    @property
    def product(self) -> float:
        return self.value * self.weight


@dataclass(frozen=True, slots=True)
class Via:
    """An edge by which a result came in: from a seed of the answer, or from what it replaces."""

    relation: Relation
    from_id: str
    seed_rank: int | None = None
    seed_score: float | None = None


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its components. ``bonus`` holds what later steps add to the weighted sum
    (``temporal``, ``entity_expansion``). ``via`` are the edges by which a relation expansion or a
    replacement came; ``replaces`` names the suppressed memory whose place this one took."""

    candidate: Candidate
    match_type: MatchType
    match_types: tuple[MatchType, ...]
    match_score: float
    score: Score
    bonus: Mapping[str, Bonus] = field(default_factory=dict)
    query: str = ""
    deduped_from: tuple[str, ...] = ()
    via: tuple[Via, ...] = ()
    replaces: str | None = None
    relation_score: float | None = None
    entity: str | None = None
    outside_scope: bool = False

    @property
    def memory(self) -> Memory:
        return self.candidate.memory

    @property
    def id(self) -> str:
        return self.candidate.memory.id

    @property
    def final(self) -> float:
        """The total: weighted components, context, and what was added after scoring."""
        return self.score.final + sum(bonus.product for bonus in self.bonus.values())

    @property
    def original(self) -> float:
        """The score of the arm before scoring; 0 for one that was only asked for by id."""
        return 0.0 if self.match_type == "priority_id" else self.match_score


@dataclass(frozen=True, slots=True)
class Result:
    """One row of the answer with its outgoing edges; a row with ``via`` shows those instead."""

    scored: Scored
    relations: tuple[tuple[Relation, Memory], ...] = ()


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A memory that is not current, why, and what stands in its place, if anything."""

    id: str
    reason: StateReason
    replacement_id: str | None = None
    relation_type: str | None = None


@dataclass(frozen=True, slots=True)
class Substitute:
    """A memory that took the place of a suppressed one."""

    id: str
    replaces_id: str
    relation_type: str


@dataclass(frozen=True, slots=True)
class StateReport:
    """What current-state filtering removed and put in (recall.md 10)."""

    suppressed: tuple[Suppressed, ...] = ()
    replacements: tuple[Substitute, ...] = ()


@dataclass(frozen=True, slots=True)
class FloorReport:
    """How many results the floors cut, and the floors (``score_filter``, recall.md 2.1)."""

    filtered_count: int
    min_score: float | None = None
    adaptive_floor: float | None = None


@dataclass(frozen=True, slots=True)
class ExpansionReport:
    """How many results an expansion added, before state filtering and floors."""

    seed_count: int = 0
    expanded_count: int = 0
    entities_found: tuple[str, ...] = ()


ExplainCode = Literal[
    "returned",
    "not_found",
    "tag_filter",
    "excluded_tag",
    "time_window",
    "excluded_type",
    "archived",
    "not_yet_valid",
    "expired",
    "superseded",
    "below_min_score",
    "adaptive_floor",
    "beyond_limit",
    "not_a_candidate",
]


@dataclass(frozen=True, slots=True)
class Explained:
    """Why one memory was or was not returned (``explain_id``, D19). ``rank`` counts from 1."""

    id: str
    code: ExplainCode
    reason: str
    row: Scored | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """Everything that ``api/recall.py`` needs to write the response of recall.md 2."""

    request: RecallRequest
    results: Sequence[Result]
    weights: Weights
    texts: Sequence[str] = ()
    keywords: Sequence[str] = ()
    dedup_removed: int = 0
    vector_matched: bool = False
    pool_size: int | None = None
    state: StateReport | None = None
    score_filter: FloorReport | None = None
    recency_bias: bool = False
    context_priority: Mapping[str, Any] | None = None
    relation_expansion: ExpansionReport | None = None
    entity_expansion: ExpansionReport | None = None
    entities: Sequence[Mapping[str, Any]] = ()
    fell_back: bool = False
    explained: Explained | None = None
    warnings: tuple[Warn, ...] = ()

    @property
    def degraded(self) -> bool:
        """Whether an arm or a store did not take part (D4)."""
        return bool(self.warnings)
