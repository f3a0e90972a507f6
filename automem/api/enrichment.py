"""Enrichment: how far it is, what was given up, and doing it again (service.md 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from flask import Blueprint, Response
from pydantic import BaseModel, Field

from automem.api.context import services
from automem.api.cursors import read_cursor, write_cursor
from automem.api.errors import ErrorAnswer
from automem.api.openapi import describe
from automem.api.requests import (
    Query,
    Warn,
    answer,
    compact,
    flag_of,
    known_names,
    optional_json_body,
    query_string,
    unknown_fields,
)
from automem.api.schemas_memory import NoParameters, Warning
from automem.errors import InvalidInput
from automem.memory.fields import canonical_id
from automem.security.guards import require_admin
from automem.utils.tags import split_list

DEFAULT_LIMIT, MAX_LIMIT = 20, 200
MAX_IDS = 1_000
NO_IDS = "No memory ids provided for reprocessing"
_KIND = "enrichment-failed"

bp = Blueprint("enrichment", __name__)


class EnrichmentCounters(BaseModel):
    """Counters of this process since its start."""

    processed_total: int
    successes: int
    failures: int
    last_success_id: str | None = None
    last_success_at: str | None = None
    last_error: str | None = None
    last_error_at: str | None = None


class ClassificationCounters(BaseModel):
    """How types were chosen for memories that came without one."""

    llm_attempts: int
    llm_successes: int
    fallbacks: int
    pattern_classifications: int
    last_error: str | None = None
    last_error_at: str | None = None


class EnrichmentStatus(BaseModel):
    """How far the background work is. Numbers of memories are those of the whole graph."""

    status: str = Field(description="`running` or `stopped`.")
    queue_size: int = Field(description="The same as `pending`.")
    pending: int = Field(description="Memories that wait for enrichment.")
    inflight: int = Field(description="Those of them that a process works on.")
    given_up: int = Field(description="Memories that failed too often: see `/enrichment/failed`.")
    max_attempts: int
    stats: EnrichmentCounters
    classification: ClassificationCounters
    warnings: list[Warning] | None = None


class FailedQuery(BaseModel):
    """Which part of the list."""

    limit: int = Field(default=DEFAULT_LIMIT, description=f"1 to {MAX_LIMIT}.")
    cursor: str | None = Field(default=None, description="The `next` of the page before.")


class FailedMemory(BaseModel):
    """A memory that was given up."""

    id: str
    attempts: int
    error: str


class FailedAnswer(BaseModel):
    """A page, by id."""

    status: str = Field(description="Always `success`.")
    count: int
    memories: list[FailedMemory]
    next: str | None = Field(default=None, description="The `cursor` of the next page; absent on the last.")
    warnings: list[Warning] | None = None


class ReprocessQuery(BaseModel):
    """Which memories, where there is no body."""

    ids: list[str] | None = Field(default=None, description="Repeated or comma-separated.")


class ReprocessBody(BaseModel):
    """Which memories to enrich again."""

    ids: list[str] | str | None = Field(default=None, description=f"At most {MAX_IDS} ids.")
    failed: bool | None = Field(default=None, description="All that were given up, instead of `ids`.")


class ReprocessAnswer(BaseModel):
    """What was queued."""

    status: str = Field(description="Always `queued`.")
    count: int
    ids: list[str] | None = Field(default=None, description="Sorted; absent with `failed`.")
    warnings: list[Warning] | None = None


@bp.get("/enrichment/status")
@describe("Enrichment", answers={200: EnrichmentStatus, 503: ErrorAnswer}, query=NoParameters)
def status() -> Response:
    """Tell how far enrichment is."""
    warnings = query_string(NoParameters).warnings
    own = services()
    counts = own.graph.enrichment_counts(own.clock.now())
    body = {
        "status": "running" if own.enrichment.running else "stopped",
        "queue_size": counts.pending,
        "pending": counts.pending,
        "inflight": counts.inflight,
        "given_up": counts.failed,
        "max_attempts": own.enrichment.attempts,
        "stats": _stats(),
        "classification": _plain(asdict(own.classifier.stats())),
    }
    return answer(body, warnings)


@bp.get("/enrichment/failed")
@describe("Enrichment", answers={200: FailedAnswer, 400: ErrorAnswer, 503: ErrorAnswer}, query=FailedQuery)
def failed() -> Response:
    """List the memories whose enrichment was given up."""
    query = query_string(FailedQuery)
    limit = query.count("limit", default=DEFAULT_LIMIT, low=1, high=MAX_LIMIT)
    place = read_cursor(_KIND, query.text("cursor"), (str,)) or ("",)
    rows = services().graph.enrichment_failures(str(place[0]), limit + 1)
    shown = rows[:limit]
    body = {
        "status": "success",
        "count": len(shown),
        "memories": [{"id": row.memory_id, "attempts": row.attempts, "error": row.error} for row in shown],
        "next": write_cursor(_KIND, [shown[-1].memory_id]) if len(rows) > limit else None,
    }
    return answer(body, query.warnings)


@bp.post("/enrichment/reprocess")
@describe(
    "Enrichment",
    answers={202: ReprocessAnswer, 400: ErrorAnswer, 401: ErrorAnswer, 403: ErrorAnswer, 503: ErrorAnswer},
    body=ReprocessBody,
    query=ReprocessQuery,
)
def reprocess() -> Response:
    """Queue memories for enrichment again, whatever was done or given up. Needs the admin token."""
    require_admin()
    query = query_string(ReprocessQuery)
    body = optional_json_body("The JSON body is optional")
    warnings = [*query.warnings, *unknown_fields(body, known_names(ReprocessBody))]
    own = services()
    if flag_of(body, "failed"):
        count = own.graph.retry_enrichment()
        own.enrichment.notify()
        return answer({"status": "queued", "count": count}, warnings, status=202)
    ids = _ids(body, query)
    queued = sorted(own.graph.request_enrichment(ids))
    own.enrichment.notify()
    warnings += _unknown(ids, queued)
    return answer({"status": "queued", "count": len(queued), "ids": queued}, warnings, status=202)


def _ids(body: dict[str, Any], query: Query) -> list[str]:
    given = body.get("ids")
    if given is None:
        given = list(query.names("ids"))
    elif isinstance(given, str):
        given = split_list([given])
    elif not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise InvalidInput("'ids' must be a list of texts or one text with commas", field="ids")
    named = [each.strip() for each in given if each.strip()]
    ids = list(dict.fromkeys(canonical_id(each) or each for each in named))
    if not ids:
        raise InvalidInput(NO_IDS, field="ids")
    if len(ids) > MAX_IDS:
        raise InvalidInput(f"'ids' may name at most {MAX_IDS} memories", field="ids")
    return ids


def _unknown(ids: Sequence[str], queued: Sequence[str]) -> list[Warn]:
    missing = [each for each in ids if each not in set(queued)]
    if not missing:
        return []
    shown = ", ".join(missing[:10])
    return [Warn("unknown_ids", f"{len(missing)} ids name no memory and were not queued: {shown}", "ids")]


def _stats() -> dict[str, Any]:
    stats = services().enrichment.stats
    return {"processed_total": stats.processed, **_plain(asdict(stats))}


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is not set (D38); times as text."""
    texts = {name: each.isoformat() if hasattr(each, "isoformat") else each for name, each in values.items()}
    return compact(texts)
