"""GET /startup-recall and GET /analyze (recall.md 12.1, 12.2)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response
from pydantic import BaseModel, Field

from automem.api.context import services
from automem.api.errors import ErrorAnswer
from automem.api.openapi import describe
from automem.api.requests import answer, compact, query_string
from automem.api.schemas_memory import NoParameters
from automem.models import Memory, as_number
from automem.search.insights import (
    MISSING_IMPORTANCE,
    MISSING_TYPE,
    Analytics,
    Briefing,
    analyze,
    startup_briefing,
)
from automem.stores.base import Preference

CRITICAL = 0.9
"""A lesson of this importance or more is critical."""

bp = Blueprint("insights", __name__)


class Lesson(BaseModel):
    """A memory tagged `critical`, `lesson` or `ai-assistant`."""

    id: str
    content: str
    tags: list[str]
    importance: float
    type: str
    metadata: dict[str, Any]


class Rule(BaseModel):
    """A memory tagged `system` or `memory-recall`."""

    id: str
    content: str
    tags: list[str]


class BriefingAnswer(BaseModel):
    """What an agent should know at its start: current memories only, most important first."""

    status: str
    critical_lessons: list[Lesson] = Field(description="At most 10.")
    system_rules: list[Rule] = Field(description="At most 5.")
    lesson_count: int
    has_critical: bool = Field(description="Some lesson has an importance of 0.9 or more.")
    summary: str


class AnalyticsTables(BaseModel):
    """Counts over all memories, and over samples of the newest."""

    memory_types: dict[str, dict[str, float]]
    patterns: list[dict[str, Any]]
    preferences: list[dict[str, Any]]
    temporal_insights: dict[str, dict[str, float]] = Field(description="By hour (UTC), of the newest 100.")
    entity_frequency: dict[str, int] = Field(description="The 50 most frequent, of the newest 200.")
    confidence_distribution: dict[str, int] = Field(description="Of the newest 500.")


class AnalyticsAnswer(BaseModel):
    """What the store tells of itself."""

    status: str
    analytics: AnalyticsTables
    elapsed_ms: float


@bp.get("/startup-recall")
@describe("Recall", answers={200: BriefingAnswer, 503: ErrorAnswer}, query=NoParameters)
def startup_recall() -> Response:
    """Give the lessons and rules that an agent should know at its start."""
    own, warnings = services(), query_string(NoParameters).warnings
    return answer(briefing_object(startup_briefing(own.graph, own.clock.now())), warnings)


@bp.get("/analyze")
@describe("Recall", answers={200: AnalyticsAnswer, 503: ErrorAnswer}, query=NoParameters)
def analyze_route() -> Response:
    """Count what the store holds: types, patterns, preferences, hours, entities."""
    started = time.perf_counter()
    own, warnings = services(), query_string(NoParameters).warnings
    analytics = analytics_object(analyze(own.graph, own.clock.now()))
    elapsed_ms = round((time.perf_counter() - started) * 1_000, 2)
    return answer({"status": "success", "analytics": analytics, "elapsed_ms": elapsed_ms}, warnings)


def briefing_object(briefing: Briefing) -> dict[str, Any]:
    """Give the answer of recall.md 12.1."""
    lessons = [_lesson(memory) for memory in briefing.lessons]
    rules = [_rule(memory) for memory in briefing.rules]
    return {
        "status": "success",
        "critical_lessons": lessons,
        "system_rules": rules,
        "lesson_count": len(lessons),
        "has_critical": any(lesson["importance"] >= CRITICAL for lesson in lessons),
        "summary": f"Recalled {len(lessons)} lesson(s) and {len(rules)} system rule(s)",
    }


def _rule(memory: Memory) -> dict[str, Any]:
    return {"id": memory.id, "content": memory.content, "tags": list(memory.tags)}


def _lesson(memory: Memory) -> dict[str, Any]:
    return {
        **_rule(memory),
        "importance": memory.importance or MISSING_IMPORTANCE,
        "type": memory.type or MISSING_TYPE,
        "metadata": memory.metadata,
    }


def analytics_object(found: Analytics) -> dict[str, Any]:
    """Give the tables of recall.md 12.2."""
    return {
        "memory_types": found.types,
        "patterns": [_pattern(node) for node in found.patterns],
        "preferences": [_preference(edge) for edge in found.preferences],
        "temporal_insights": found.hours,
        "entity_frequency": found.entities,
        "confidence_distribution": found.confidence,
    }


def _pattern(node: Mapping[str, Any]) -> dict[str, Any]:
    return compact(
        {
            "type": _text(node.get("type")),
            "description": _text(node.get("content")),
            "confidence": _number(node.get("confidence")),
            "observations": _number(node.get("observations")),
        }
    )


def _preference(edge: Preference) -> dict[str, Any]:
    return compact(
        {
            "prefers": edge.prefers.content,
            "over": edge.over.content,
            "context": _text(edge.relation.properties.get("context")),
            "strength": edge.relation.strength,
        }
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> int | float | None:
    return None if as_number(value) is None else value
