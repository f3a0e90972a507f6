"""What an agent reads at its start, and what the store as a whole tells (recall.md 12.1, 12.2).

Both read bounded numbers of memories through indexes. Odd data of others is left out, never an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from automem.models import Memory, Scope
from automem.search.state import own_reason, replacement_chains, state_reason
from automem.stores.base import GraphStore, Preference, TypeCount

LESSON_TAGS = ("critical", "lesson", "ai-assistant")
RULE_TAGS = ("system", "memory-recall")
MAX_LESSONS = 10
MAX_RULES = 5
DOUBTFUL = 100
"""Memories with a replacement edge that are looked at again: they count while no replacement is active."""

MISSING_IMPORTANCE = 0.5
MISSING_TYPE = "Context"
PATTERN_CONFIDENCE = 0.6
TOP_ROWS = 10
TIME_SAMPLE, ENTITY_SAMPLE, CONFIDENCE_SAMPLE = 100, 200, 500
TOP_ENTITIES = 50
SHORTEST_ENTITY = 3
LOW, HIGH = 0.4, 0.7
_ENTITY_FIELDS = ("entities", "keywords", "topics")
_MAX_ITEMS = 1_000


@dataclass(frozen=True, slots=True)
class Briefing:
    """The lessons and rules for an agent that starts, most important first."""

    lessons: tuple[Memory, ...]
    rules: tuple[Memory, ...]


def startup_briefing(graph: GraphStore, now: datetime) -> Briefing:
    """Gather what is tagged as a lesson or rule and is current now (D17); whole tags, any case (D5).

    Raises ``GraphUnavailable``.
    """
    return Briefing(
        lessons=_current_with_tags(graph, LESSON_TAGS, now, MAX_LESSONS),
        rules=_current_with_tags(graph, RULE_TAGS, now, MAX_RULES),
    )


def _current_with_tags(
    graph: GraphStore, tags: tuple[str, ...], now: datetime, limit: int
) -> tuple[Memory, ...]:
    current = Scope(at=now, tags=tags, tag_match="exact", state="current")
    found = [hit.memory for hit in graph.trending(current, "score", limit)]
    doubtful = graph.trending(replace(current, state="suppressed"), "score", DOUBTFUL)
    found += _not_superseded([hit.memory for hit in doubtful], graph, now)
    return tuple(sorted(found, key=_by_importance)[:limit])


def _not_superseded(memories: Sequence[Memory], graph: GraphStore, now: datetime) -> list[Memory]:
    """Give those whose replacements are all gone themselves (recall.md 10)."""
    active = [memory for memory in memories if own_reason(memory, now) is None]
    chains = replacement_chains(active, graph)
    return [memory for memory in active if state_reason(memory, chains, now) is None]


def _by_importance(memory: Memory) -> tuple[float, float, str]:
    """Give the key of the order; missing values last (D20)."""
    importance, moment = memory.importance, memory.timestamp
    lowest = float("-inf")
    return (
        -(lowest if importance is None else importance),
        -(lowest if moment is None else moment.timestamp()),
        memory.id,
    )


@dataclass(frozen=True, slots=True)
class Analytics:
    """What the store tells of itself. Samples are the newest memories; hours are in UTC."""

    types: Mapping[str, Mapping[str, Any]]
    patterns: Sequence[Mapping[str, Any]]
    preferences: Sequence[Preference]
    hours: Mapping[str, Mapping[str, Any]]
    entities: Mapping[str, int]
    confidence: Mapping[str, int]


def analyze(graph: GraphStore, now: datetime) -> Analytics:
    """Look at the store as a whole (recall.md 12.2). Raises ``GraphUnavailable``."""
    sample = graph.newest(now, CONFIDENCE_SAMPLE)
    return Analytics(
        types=type_table(graph.type_counts()),
        patterns=graph.patterns(PATTERN_CONFIDENCE, TOP_ROWS),
        preferences=graph.preferences(TOP_ROWS),
        hours=hour_table(sample[:TIME_SAMPLE]),
        entities=entity_frequency(sample[:ENTITY_SAMPLE]),
        confidence=confidence_distribution(sample),
    )


def type_table(counts: Iterable[TypeCount]) -> dict[str, dict[str, Any]]:
    """Give count and mean confidence by type, the largest first; no or an odd type is ``Context``."""
    number: Counter[str] = Counter()
    rated: Counter[str] = Counter()
    total: dict[str, float] = {}
    for row in counts:
        name = row.type if isinstance(row.type, str) and row.type else MISSING_TYPE
        number[name] += row.count
        rated[name] += row.rated
        total[name] = total.get(name, 0.0) + row.confidence_sum
    return {
        name: {"count": count, "average_confidence": round(total[name] / max(1, rated[name]), 3)}
        for name, count in sorted(number.items(), key=lambda item: (-item[1], item[0]))
    }


def hour_table(memories: Iterable[Memory]) -> dict[str, dict[str, Any]]:
    """Give count and mean importance by hour of the day; a missing importance counts as 0.5."""
    groups: dict[str, list[float]] = {}
    for memory in memories:
        if memory.timestamp is not None:
            hour = f"hour_{memory.timestamp.astimezone(UTC):%H}"
            importance = MISSING_IMPORTANCE if memory.importance is None else memory.importance
            groups.setdefault(hour, []).append(importance)
    return {
        hour: {"count": len(values), "avg_importance": round(sum(values) / len(values), 3)}
        for hour, values in sorted(groups.items())
    }


def entity_frequency(memories: Iterable[Memory]) -> dict[str, int]:
    """Count what metadata names as entities, keywords and topics, lower-cased, most frequent first."""
    counts = Counter(name for memory in memories for name in _named(memory))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return dict(ordered[:TOP_ENTITIES])


def _named(memory: Memory) -> Iterator[str]:
    for field in _ENTITY_FIELDS:
        for text in _texts(memory.metadata.get(field)):
            name = text.strip().lower()
            if len(name) >= SHORTEST_ENTITY:
                yield name


def _texts(value: Any) -> Iterator[str]:
    """Walk lists and the values of objects, in order, at most ``_MAX_ITEMS`` of them."""
    stack, seen = [value], 0
    while stack and seen < _MAX_ITEMS:
        item, seen = stack.pop(), seen + 1
        if isinstance(item, Mapping):
            stack.extend(reversed(list(item.values())))
        elif isinstance(item, list):
            stack.extend(reversed(item))
        elif isinstance(item, str):
            yield item
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield str(item)


def confidence_distribution(memories: Iterable[Memory]) -> dict[str, int]:
    """Count low (below 0.4), medium (below 0.7) and high confidences."""
    table = {"low": 0, "medium": 0, "high": 0}
    for memory in memories:
        if memory.confidence is not None:
            low_or_medium = "low" if memory.confidence < LOW else "medium"
            table["high" if memory.confidence >= HIGH else low_or_medium] += 1
    return table
