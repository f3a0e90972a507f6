"""POST /admin/sync and /admin/reembed (service.md 9). Both answer when the work is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import Any

from flask import Blueprint, Response
from pydantic import BaseModel, Field

from automem.api.context import services
from automem.api.errors import ErrorAnswer
from automem.api.openapi import describe
from automem.api.requests import (
    Warn,
    answer,
    compact,
    flag_of,
    known_names,
    optional_json_body,
    query_string,
    unknown_fields,
)
from automem.api.schemas_memory import NoParameters
from automem.embedding.plan import ModelPlan
from automem.errors import GraphUnavailable, InvalidInput, StartupError, VectorsUnavailable
from automem.security.guards import require_admin
from automem.services import Services
from automem.stores.base import StoreIdentity
from automem.utils.text import ANALYSIS_VERSION
from automem.workers.model_change import ChangeState
from automem.workers.rebuild import same_model
from automem.workers.sync import BUSY, RUN, SyncReport

bp = Blueprint("admin", __name__)

BATCH_SIZE, LARGEST_BATCH = 32, 100
_SAMPLE = 10
_MOST = 2**53
_FAULTS = {401: ErrorAnswer, 403: ErrorAnswer, 409: ErrorAnswer, 503: ErrorAnswer}


class SyncBody(BaseModel):
    """How to compare and repair."""

    batch_size: int | None = Field(default=None, description="Memories embedded in one call, 1 to 100 (32).")
    dry_run: bool | None = Field(default=None, description="Look only, write nothing.")
    force: bool | None = Field(
        default=None, description="Remove orphans even when there are suspiciously many."
    )


class SyncAnswer(BaseModel):
    """What was found and done. Samples are up to 10 ids."""

    status: str = Field(description="`dry_run`, `already_synced` or `complete`.")
    falkordb_count: int
    qdrant_count: int
    missing_count: int | None = None
    orphaned_count: int
    stale_count: int = Field(description="Points with the vector or the fields of another state.")
    missing_sample: list[str] | None = None
    orphaned_sample: list[str] | None = None
    stale_sample: list[str] | None = None
    synced: int | None = None
    refreshed: int | None = None
    failed: int | None = None
    failed_ids: list[str] | None = None
    failed_ids_truncated: bool | None = None
    orphaned_removed: int | None = None


class ModelChoice(BaseModel):
    """Another model: settings by their names. Keys and addresses are those of the service."""

    embedding_provider: str | None = None
    embedding_model: str | None = None
    voyage_model: str | None = None
    ollama_model: str | None = None
    automem_local_model: str | None = None
    vector_size: int | None = Field(default=None, description="Absent: the model decides.")


class ReembedBody(BaseModel):
    """What to embed anew, with the model in use."""

    batch_size: int | None = Field(default=None, description="Memories embedded in one call, 1 to 100 (32).")
    limit: int | None = Field(default=None, description="The newest so many; 0 or absent: all.")
    force: bool | None = Field(default=None, description="Accepted; changes nothing.")
    model: ModelChoice | None = Field(
        default=None, description="Change to this model in the background instead; answers 202 at once."
    )


class ReembedAnswer(BaseModel):
    """What was done."""

    status: str
    message: str | None = None
    processed: int
    failed: int | None = None
    total: int
    batch_size: int | None = None
    metadata_preserved: bool | None = None
    failed_ids: list[str] | None = None
    failed_ids_truncated: bool | None = None


class ChangeAnswer(BaseModel):
    """How far a change of the model is."""

    status: str = Field(description="`idle`, `running`, `waiting` (it is tried again) or `failed`.")
    model: str | None = None
    dimension: int | None = None
    processed: int
    total: int
    error: str | None = None


@bp.post("/admin/sync")
@describe("Admin", answers={200: SyncAnswer, 400: ErrorAnswer, **_FAULTS}, body=SyncBody)
def sync() -> Response:
    """Compare both stores and repair what is not in step."""
    require_admin()
    body, warnings = _body(SyncBody)
    batch_size = _batch_size(body)
    dry_run, force = flag_of(body, "dry_run"), flag_of(body, "force")
    own = services()
    _check_stores(own, "Qdrant is not available")
    if dry_run:
        return answer(_dry_run(own.maintenance.sync.examine()), warnings)
    report = own.maintenance.sync.repair(own.maintenance.reembedder, batch_size, force)
    return answer(_repaired(report), [*warnings, *_kept(report)])


@bp.post("/admin/reembed")
@describe(
    "Admin",
    answers={200: ReembedAnswer, 202: ChangeAnswer, 400: ErrorAnswer, **_FAULTS},
    body=ReembedBody,
)
def reembed() -> Response:
    """Make the vectors of all memories anew, or of the newest; or change the model in the background."""
    require_admin()
    body, warnings = _body(ReembedBody)
    batch_size, limit = _batch_size(body), _limit(body)
    flag_of(body, "force")
    own = services()
    _check_stores(own, "Qdrant is not available - cannot store embeddings")
    if body.get("model") is not None:
        return answer(asdict(_change_model(own, ModelPlan.of(body["model"]))), warnings, status=202)
    with own.maintenance.runs.run(RUN, BUSY) as lease:
        chosen = own.graph.newest_ids(limit or None)
        outcome = own.maintenance.reembedder.run(chosen, batch_size, lease)
    if not chosen:
        nothing = {"status": "complete", "message": "No memories found to reembed"}
        return answer({**nothing, "processed": 0, "total": 0}, warnings)
    counted = {"processed": len(outcome.done), "failed": len(outcome.failed), "total": len(chosen)}
    settled = {"batch_size": batch_size, "metadata_preserved": True}
    return answer({"status": "complete", **counted, **settled, **_failed_ids(outcome.failed)}, warnings)


@bp.get("/admin/reembed")
@describe("Admin", answers={200: ChangeAnswer, 403: ErrorAnswer}, query=NoParameters)
def reembed_progress() -> Response:
    """Tell how far a change of the model is."""
    require_admin()
    warnings = query_string(NoParameters).warnings
    return answer(asdict(services().maintenance.changer.state), warnings)


def _change_model(own: Services, plan: ModelPlan) -> ChangeState:
    """Try the model before anything is begun."""
    try:
        provider = plan.provider(own.settings)
    except StartupError as error:
        raise InvalidInput(f"'model' cannot be used: {error.message}", field="model") from error
    with closing(provider):
        wanted = StoreIdentity(provider.name, len(provider.embed_query("Does it answer?")), ANALYSIS_VERSION)
    if same_model(own.graph.identity(), wanted):
        message = f"The memories are embedded with {wanted.embedding_model} already; leave 'model' out"
        raise InvalidInput(message, field="model")
    return own.maintenance.changer.plan(plan, wanted.embedding_model, wanted.dimension)


def _check_stores(own: Services, without_vectors: str) -> None:
    try:
        own.vectors.ping()
    except VectorsUnavailable as error:
        raise VectorsUnavailable(without_vectors) from error
    try:
        own.graph.ping()
    except GraphUnavailable as error:
        raise GraphUnavailable("FalkorDB is unavailable") from error


def _dry_run(report: SyncReport) -> dict[str, Any]:
    drift = report.drift
    stale = drift.stale_texts + drift.stale_payloads
    return {
        "status": "dry_run",
        **_counts(report),
        "missing_count": len(drift.missing),
        "missing_sample": list(drift.missing[:_SAMPLE]),
        "orphaned_sample": list(drift.orphaned[:_SAMPLE]),
        "stale_sample": list(stale[:_SAMPLE]),
    }


def _repaired(report: SyncReport) -> dict[str, Any]:
    drift, outcome = report.drift, report.outcome
    counts = {**_counts(report), "synced": len(outcome.done), "orphaned_removed": report.removed}
    if not (drift.unembedded or drift.stale_payloads):
        return {"status": "already_synced", **counts}
    done = {"failed": len(outcome.failed), "refreshed": report.refreshed}
    return {"status": "complete", **counts, **done, **_failed_ids(outcome.failed)}


def _counts(report: SyncReport) -> dict[str, int]:
    drift = report.drift
    return {
        "falkordb_count": report.memories,
        "qdrant_count": report.points,
        "orphaned_count": len(drift.orphaned),
        "stale_count": len(drift.stale_texts) + len(drift.stale_payloads),
    }


def _failed_ids(failed: Sequence[str]) -> dict[str, Any]:
    if not failed:
        return {}
    return compact(
        {"failed_ids": list(failed[:_SAMPLE]), "failed_ids_truncated": len(failed) > _SAMPLE or None}
    )


def _kept(report: SyncReport) -> list[Warn]:
    left = len(report.drift.orphaned) - report.removed
    message = (
        f"{left} vectors have no memory. So many may mean that the graph has lost some, and these hold their "
        "texts: they were kept. Send force=true to remove them."
    )
    return [Warn("orphans_kept", message)] if left else []


def _body(model: type[BaseModel]) -> tuple[dict[str, Any], list[Warn]]:
    body = optional_json_body("The JSON body is optional")
    return body, unknown_fields(body, known_names(model))


def _batch_size(body: Mapping[str, Any]) -> int:
    return _whole(body, "batch_size", BATCH_SIZE, (1, LARGEST_BATCH))


def _limit(body: Mapping[str, Any]) -> int:
    if isinstance(body.get("limit"), int) and body["limit"] < 0:
        raise InvalidInput("'limit' must be a whole number of at least 0, which means all", field="limit")
    return _whole(body, "limit", 0, (0, _MOST))


def _whole(body: Mapping[str, Any], name: str, default: int, bounds: tuple[int, int]) -> int:
    """Read a whole number, taken into its bounds (D1)."""
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        message = f"'{name}' must be a whole number ({bounds[0]} to {bounds[1]})"
        raise InvalidInput(message, field=name)
    return max(bounds[0], min(value, bounds[1]))
