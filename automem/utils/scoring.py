"""Score arithmetic: ten weighted components and a context bonus (seed, recall.md 6). Pure functions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from automem.models import JSON, Memory
from automem.utils.tags import canonical_tag
from automem.utils.text import fold

DAY_SECONDS = 86_400.0
ENTITY_EXPANSION_BONUS = 0.15

_TERM = re.compile(r"[\w-]+")
_TERM_LENGTH = 256
_MAX_TERMS = 2_000


@dataclass(frozen=True, slots=True)
class Weights:
    """The ten weights of the seed. Relative contributions; the sum is not normalised."""

    vector: float = 0.35
    keyword: float = 0.35
    metadata: float = 0.35
    relation: float = 0.25
    tag: float = 0.20
    importance: float = 0.10
    confidence: float = 0.05
    recency: float = 0.10
    exact: float = 0.20
    relevance: float = 0.0


COMPONENTS = (
    "vector",
    "keyword",
    "metadata",
    "relation",
    "tag",
    "importance",
    "confidence",
    "recency",
    "exact",
    "relevance",
)


@dataclass(frozen=True, slots=True)
class RecencyCurve:
    """How fast a memory fades: zero at ``window_days`` (linear) or halved by it (exp)."""

    window_days: float = 180.0
    shape: Literal["linear", "exp"] = "linear"


@dataclass(frozen=True, slots=True)
class ContextProfile:
    """What the caller's situation prefers, and what each kind of hit adds (recall.md 6.3, 6.4)."""

    tags: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    priority_ids: tuple[str, ...] = ()
    language: str | None = None
    label: str = ""
    tag_bonus: float = 0.0
    type_bonus: float = 0.0
    keyword_bonus: float = 0.0
    priority_bonus: float = 0.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a query finds in one memory, each part in 0..1 (D8)."""

    vector: float = 0.0
    keyword: float = 0.0
    metadata: float = 0.0
    relation: float = 0.0
    tag: float = 0.0
    exact: float = 0.0


@dataclass(frozen=True, slots=True)
class ScoreRules:
    """Everything that turns evidence into a number, fixed at start but for ``now``."""

    now: datetime
    weights: Weights = Weights()
    recency: RecencyCurve = RecencyCurve()
    gate: float = 0.0


@dataclass(frozen=True, slots=True)
class Score:
    """``components`` holds the ten values and ``context``; ``final`` their weighted sum."""

    components: Mapping[str, float]
    gated: bool
    final: float


def clip(value: float) -> float:
    """Bring a number into 0..1."""
    return min(1.0, max(0.0, value))


def recency_score(timestamp: datetime | None, now: datetime, curve: RecencyCurve) -> float:
    """Give 1 for now or the future, fading with age in days; 0 without a timestamp (recall.md 6.2)."""
    if timestamp is None:
        return 0.0
    window = curve.window_days if curve.window_days > 0 else 180.0
    age_days = max(0.0, (now - timestamp).total_seconds() / DAY_SECONDS)
    if curve.shape == "exp":
        return float(math.pow(0.5, age_days / window))
    return max(0.0, 1.0 - age_days / window)


def _compute_metadata_score(
    memory: Memory, evidence: Evidence, rules: ScoreRules, context: float = 0.0, has_tokens: bool = False
) -> Score:
    """Give the raw weighted sum of the ten components plus the context bonus (seed).

    With a relevance gate, weak evidence scales down what does not depend on the query
    (recall.md 6.1): importance, confidence, recency, tag and relevance. Context is never gated.
    """
    shown = max(evidence.vector, evidence.keyword, evidence.metadata, evidence.exact)
    gated = has_tokens and shown < rules.gate
    factor = shown / rules.gate if gated else 1.0
    components = {
        "vector": evidence.vector,
        "keyword": evidence.keyword,
        "metadata": evidence.metadata,
        "relation": evidence.relation,
        "tag": evidence.tag * factor,
        "importance": clip(memory.importance or 0.0) * factor,
        "confidence": clip(memory.confidence or 0.0) * factor,
        "recency": recency_score(memory.timestamp, rules.now, rules.recency) * factor,
        "exact": evidence.exact,
        "relevance": clip(memory.relevance or 0.0) * factor,
        "context": context,
    }
    final = context + sum(getattr(rules.weights, name) * components[name] for name in COMPONENTS)
    return Score(components, gated, final)


def _compute_context_bonus(memory: Memory, profile: ContextProfile | None) -> float:
    """Sum the fixed amounts for a tag, type, metadata-keyword and priority-id hit (recall.md 6.4)."""
    if profile is None:
        return 0.0
    bonus = profile.tag_bonus if tags_hit(memory.tags, profile.tags) else 0.0
    if memory.type.title() in profile.types:
        bonus += profile.type_bonus
    if profile.keywords and metadata_terms(memory.metadata) & set(profile.keywords):
        bonus += profile.keyword_bonus
    if memory.id in profile.priority_ids:
        bonus += profile.priority_bonus
    return bonus


def tags_hit(tags: Iterable[str], wanted: Iterable[str]) -> bool:
    """Say whether a run of whole segments of some tag equals some wanted tag (D15): ``go`` does not
    hit ``django``, ``coding-style`` hits ``team:coding-style``."""
    framed = [f":{canonical_tag(tag)}:" for tag in tags]
    return any(f":{want}:" in tag for want in map(canonical_tag, wanted) if want for tag in framed)


def metadata_terms(metadata: Mapping[str, JSON]) -> set[str]:
    """Give the folded whole values and words of metadata: of texts only, without what enrichment
    adds (``entities``, ``enrichment``)."""
    terms: set[str] = set()
    stack: list[JSON] = [value for key, value in metadata.items() if key not in ("entities", "enrichment")]
    while stack and len(terms) < _MAX_TERMS:
        value = stack.pop()
        if isinstance(value, Mapping):
            stack.extend(inner for key, inner in value.items() if key != "entities")
        elif isinstance(value, list | tuple):
            stack.extend(value)
        else:
            terms.update(_value_terms(value))
    return terms


def _value_terms(value: JSON) -> set[str]:
    if not isinstance(value, str):
        return set()
    text = fold(value).strip()
    return {text, *_TERM.findall(text)} if 0 < len(text) <= _TERM_LENGTH else set()


def tag_score(words: Iterable[str], memory: Memory, cap: int = 0) -> float:
    """Give the share of query words that are a tag, a segment of one, or a metadata term.

    A tag that enrichment took from the text is no evidence beside the text.
    ``cap`` > 0 bounds the number of words it is divided by (SEARCH_TAG_SCORE_TOKEN_CAP).
    """
    wanted = list(words)
    if not wanted:
        return 0.0
    terms = metadata_terms(memory.metadata)
    for tag in map(_tag_term, memory.own_tags):
        terms.update((tag, *tag.split(":")))
    hits = sum(bool({fold(word), _tag_term(word)} & terms) for word in wanted)
    divisor = min(len(wanted), cap) if cap > 0 else len(wanted)
    return min(1.0, hits / divisor)


def _tag_term(text: str) -> str:
    """Give the form in which a word meets a tag: canonical, and folded like every word."""
    return fold(canonical_tag(text))


def exact_score(query: str, memory: Memory) -> float:
    """Give 1 when the whole query is a metadata value or word of one, else 0."""
    whole = fold(query).strip()
    return 1.0 if whole and whole in metadata_terms(memory.metadata) else 0.0
