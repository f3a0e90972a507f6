"""GET /recall: parse the question, call the pipeline, write the answer (recall.md 1 and 2)."""

from __future__ import annotations

import math
import time
from datetime import datetime
from typing import get_args
from uuid import UUID

from flask import Blueprint, Response

from automem.api.context import services
from automem.api.errors import ErrorAnswer
from automem.api.openapi import describe
from automem.api.recall_answer import recall_object
from automem.api.recall_schema import RecallQuery, RecallResponse
from automem.api.requests import Query, answer, query_string
from automem.api.trim import checked_fields, with_fields, within_budget
from automem.config import Settings
from automem.errors import InvalidInput
from automem.events.memories import tell_recalled
from automem.models import Sort, StateMode, TagMatch, TagMode
from automem.search.pipeline import recall
from automem.search.types import ContextHints, Expansion, RecallRequest, RecencyBias
from automem.services import Services
from automem.utils.time import (
    TimeParseError,
    TimeWindow,
    combine_window,
    parse_time_expression,
    parse_timestamp,
)

bp = Blueprint("recall", __name__)

MAX_QUERY_LENGTH = 32_768
"""Characters of a query text; longer is a 400."""
MAX_TOKEN_BUDGET = 1_000_000
MAX_QUERIES = 20
"""Questions of one request; more is a 400."""
MAX_LIST_LENGTH = 200
"""Values of a list parameter; more is a 400."""


@bp.get("/recall")
@describe("Recall", answers={200: RecallResponse, 400: ErrorAnswer, 503: ErrorAnswer}, query=RecallQuery)
def recall_route() -> Response:
    """Find memories by meaning, words, tags and time, best first."""
    started = time.perf_counter()
    query = query_string(RecallQuery)
    fields, budget = checked_fields(_names(query, "fields")), _token_budget(query)
    with services().maintenance.gate.use():
        request = parse_request(query, services())
        found = recall(request, services())
    elapsed_ms = (time.perf_counter() - started) * 1_000
    body = recall_object(found, elapsed_ms)
    asked, ids = request.query or ", ".join(request.queries), [result["id"] for result in body["results"]]
    tell_recalled(services().events, asked, ids, body["query_time_ms"])
    body["results"] = [with_fields(result, fields) for result in body["results"]]
    return answer(within_budget(body, budget), (*query.warnings, *found.warnings))


def parse_request(query: Query, service: Services) -> RecallRequest:
    """Read all parameters; raises ``InvalidInput`` naming the one that is wrong (D1)."""
    settings = service.settings
    now, most = service.clock.now(), settings.recall_max_limit
    window = _window(query, now)
    text = _query_text(query)
    embedding = _embedding(query.text("embedding"), service)
    limit = query.count("limit", default=min(5, most), low=1, high=most)
    queries = _queries(query)
    sort: Sort = query.choice("sort", "order_by", options=get_args(Sort), default="score")
    if sort == "score" and not (text or queries or embedding) and window is not None:
        sort = "time_desc"
    return RecallRequest(
        now=now,
        query=text,
        queries=queries,
        auto_decompose=query.flag("auto_decompose", default=False),
        embedding=embedding,
        limit=query.count(
            "limit", default=min(5, settings.recall_max_limit), low=1, high=settings.recall_max_limit
        ),
        per_query_limit=query.count("per_query_limit", default=limit, low=1, high=most),
        sort=sort,
        tags=_names(query, "tags"),
        tag_mode=query.choice("tag_mode", options=get_args(TagMode), default="any"),
        tag_match=query.choice("tag_match", options=get_args(TagMatch), default="prefix"),
        exclude_tags=_names(query, "exclude_tags"),
        window=window,
        state_mode=_state_mode(query),
        state_debug=query.flag("state_debug", default=False),
        min_score=_min_score(query, settings.recall_min_score),
        adaptive_floor=query.flag("adaptive_floor", default=settings.recall_adaptive_floor),
        recency_bias=query.choice(
            "recency_bias", options=get_args(RecencyBias), default=settings.recall_recency_bias
        ),
        context=_hints(query),
        expansion=_expansion(query, settings),
        scope_fallback=query.flag("scope_fallback", default=False),
        explain=query.flag("explain", default=False),
        explain_id=_explain_id(query),
    )


def _token_budget(query: Query) -> int | None:
    if not query.text("token_budget"):
        return None
    return query.count("token_budget", default=0, low=1, high=MAX_TOKEN_BUDGET)


def _query_text(query: Query) -> str:
    text = query.text("query")
    _check_length(text, "query")
    return text


def _check_length(text: str, name: str) -> None:
    if len(text) > MAX_QUERY_LENGTH:
        message = f"'{name}' must have at most {MAX_QUERY_LENGTH} characters ({len(text)} provided)"
        raise InvalidInput(message, field=name)


def _queries(query: Query) -> tuple[str, ...]:
    """Read several questions: a comma inside one is kept when the parameter is repeated."""
    given = query.values("queries")
    texts = given if len(given) > 1 else [piece for value in given for piece in value.split(",")]
    found = tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))
    if len(found) > MAX_QUERIES:
        message = f"'queries' must have at most {MAX_QUERIES} questions ({len(found)} provided)"
        raise InvalidInput(message, field="queries")
    for text in found:
        _check_length(text, "queries")
    return found


def _explain_id(query: Query) -> str | None:
    text = query.text("explain_id")
    try:
        return str(UUID(text)) if text else None
    except ValueError as error:
        raise InvalidInput("'explain_id' must be a valid UUID", field="explain_id") from error


def _expansion(query: Query, settings: Settings) -> Expansion:
    relation_limit, most = settings.recall_relation_limit, settings.recall_expansion_limit
    return Expansion(
        relations=query.flag("expand_relations", "expand_associations", "expand", default=False),
        entities=query.flag("expand_entities", "entity_expansion", default=False),
        respect_tags=query.flag("expand_respect_tags", default=False),
        min_strength=query.share("expand_min_strength") or 0.0,
        min_importance=query.share("expand_min_importance") or 0.0,
        relation_limit=query.count("relation_limit", default=relation_limit, low=1, high=200),
        limit=query.count("expansion_limit", "relation_expansion_limit", default=most, low=1, high=500),
    )


def _names(query: Query, name: str) -> tuple[str, ...]:
    names = query.names(name)
    if len(names) > MAX_LIST_LENGTH:
        message = f"'{name}' must have at most {MAX_LIST_LENGTH} values ({len(names)} provided)"
        raise InvalidInput(message, field=name)
    return names


def _hints(query: Query) -> ContextHints:
    return ContextHints(
        label=query.text("context").lower(),
        language=query.text("language", "lang"),
        active_path=query.text("active_path", "file_path", "focus_path"),
        tags=_names(query, "context_tags"),
        types=_names(query, "context_types"),
        priority_ids=tuple(name.lower() for name in _names(query, "priority_ids")),
    )


def _state_mode(query: Query) -> StateMode:
    mode: StateMode = query.choice("state_mode", options=get_args(StateMode), default="current")
    if query.has("current_only"):
        return "current" if query.flag("current_only", default=True) else "history"
    return mode


def _min_score(query: Query, default: float) -> float | None:
    given = query.share("min_score")
    return (default if given is None else given) or None


def _window(query: Query, now: datetime) -> TimeWindow | None:
    expression = query.text("time_query", "time")
    try:
        spoken = parse_time_expression(expression, now) if expression else None
    except TimeParseError as error:
        raise InvalidInput(f"Invalid time_query: {error}", field="time_query") from error
    return combine_window(spoken, _bound(query, "start"), _bound(query, "end"))


def _bound(query: Query, name: str) -> datetime | None:
    if not query.has(name) or query.raw(name) == "":
        return None
    try:
        return parse_timestamp(query.raw(name))
    except TimeParseError as error:
        raise InvalidInput(f"Invalid {name} time: {error}", field=name) from error


def _embedding(text: str, service: Services) -> tuple[float, ...] | None:
    """Read the caller's vector; its length must be the store's (recall.md 3.3)."""
    pieces = [piece for piece in (piece.strip() for piece in text.split(",")) if piece]
    if not text:
        return None
    try:
        vector = tuple(float(piece) for piece in pieces)
    except ValueError as error:
        raise InvalidInput("Embedding must contain numeric values", field="embedding") from error
    dimension = service.vectors.dimension
    if len(vector) != dimension:
        raise InvalidInput(f"Embedding must contain exactly {dimension} values", field="embedding")
    if not all(math.isfinite(value) for value in vector) or not any(vector):
        raise InvalidInput("Embedding must contain finite values, not all zero", field="embedding")
    return vector
