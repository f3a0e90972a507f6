"""POST /memory, POST /memory/batch, GET, PATCH and DELETE /memory/{id} (memory-api.md 1 to 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Blueprint, Response, request

from automem.api.context import services
from automem.api.errors import ErrorAnswer
from automem.api.openapi import describe
from automem.api.requests import Warn, answer, json_body, known_names, query_string, unknown_fields
from automem.api.schemas_memory import (
    BatchAnswer,
    BatchBody,
    BatchRow,
    ChangedAnswer,
    MemoryAnswer,
    MemoryBody,
    MemoryChanges,
    NoParameters,
    StoreAnswer,
)
from automem.embedding.breaker import MonotonicStopwatch
from automem.memory import service
from automem.memory.answers import Timer
from automem.memory.batch import store_batch
from automem.memory.changes import read_changes
from automem.memory.drafts import BATCH_REQUIRED, Limits, read_batch, read_successor
from automem.memory.idempotency import read_request
from automem.memory.store import store

BODY_REQUIRED = "JSON body is required"

bp = Blueprint("memory", __name__)


@bp.post("/memory")
@describe(
    "Memory",
    answers={
        201: StoreAnswer,
        400: ErrorAnswer,
        404: ErrorAnswer,
        409: ErrorAnswer,
        413: ErrorAnswer,
        503: ErrorAnswer,
    },
    body=MemoryBody,
)
def store_one() -> Response:
    """Store a memory, also in the place of another (`supersedes`).

    With an `Idempotency-Key` or an `id` of your own it may be sent again.
    """
    timer = Timer(MonotonicStopwatch())
    body = json_body(BODY_REQUIRED)
    warnings = _unknown_parameters() + unknown_fields(body, known_names(MemoryBody))
    memory = read_successor(body, _limits(), _now())
    write = read_request(request.path, body, request.headers.get("Idempotency-Key"), timer)
    return answer(store(services(), memory, write), [*warnings, *memory.warnings], status=201)


@bp.post("/memory/batch")
@describe(
    "Memory",
    answers={201: BatchAnswer, 400: ErrorAnswer, 409: ErrorAnswer, 413: ErrorAnswer, 503: ErrorAnswer},
    body=BatchBody,
)
def store_many() -> Response:
    """Store up to 500 memories, all or none."""
    timer = Timer(MonotonicStopwatch())
    body = json_body(BATCH_REQUIRED)
    memories = read_batch(body, _limits(), _now())
    write = read_request(request.path, body, request.headers.get("Idempotency-Key"), timer)
    warnings = [
        *_unknown_parameters(),
        *unknown_fields(body, known_names(BatchBody)),
        *_unknown_in_rows(body["memories"]),
        *(warning for memory in memories for warning in memory.warnings),
    ]
    return answer(store_batch(services(), memories, write), list(dict.fromkeys(warnings)), status=201)


@bp.get("/memory/<memory_id>")
@describe("Memory", answers={200: MemoryAnswer, 400: ErrorAnswer, 404: ErrorAnswer, 503: ErrorAnswer})
def get_one(memory_id: str) -> Response:
    """Give a memory by its id."""
    warnings = _unknown_parameters()
    return answer({"status": "success", "memory": service.get_memory(services(), memory_id)}, warnings)


@bp.patch("/memory/<memory_id>")
@describe(
    "Memory",
    answers={200: ChangedAnswer, 400: ErrorAnswer, 404: ErrorAnswer, 413: ErrorAnswer, 503: ErrorAnswer},
    body=MemoryChanges,
)
def change_one(memory_id: str) -> Response:
    """Replace the fields that are sent, all or none."""
    service.check_id(memory_id)
    body = json_body(BODY_REQUIRED)
    warnings = _unknown_parameters() + unknown_fields(body, known_names(MemoryChanges))
    changes = read_changes(body, services().settings.memory_content_hard_limit, _now())
    return _done(service.update_memory(services(), memory_id, changes), warnings)


@bp.delete("/memory/<memory_id>")
@describe("Memory", answers={200: ChangedAnswer, 400: ErrorAnswer, 404: ErrorAnswer, 503: ErrorAnswer})
def delete_one(memory_id: str) -> Response:
    """Delete a memory with its relations and its vector."""
    warnings = _unknown_parameters()
    return _done(service.delete_memory(services(), memory_id), warnings)


def _done(memory_id: str, warnings: Sequence[Warn]) -> Response:
    return answer({"status": "success", "memory_id": memory_id}, warnings)


def _limits() -> Limits:
    own = services()
    return Limits(own.settings.memory_content_hard_limit, own.vectors.dimension)


def _now() -> str:
    return services().clock.now().isoformat()


def _unknown_parameters() -> list[Warn]:
    """Name query parameters: these routes know none (D2)."""
    return query_string(NoParameters).warnings


def _unknown_in_rows(rows: Sequence[dict[str, Any]]) -> list[Warn]:
    names = dict.fromkeys(name for row in rows for name in row)
    return unknown_fields(names, known_names(BatchRow))
