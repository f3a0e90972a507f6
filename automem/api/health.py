"""Health (service.md 6, D32): what is said was looked at, within a bounded time (D41)."""

from __future__ import annotations

import logging
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooSlow
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response
from pydantic import BaseModel, Field

from automem.api.context import services
from automem.api.errors import ErrorAnswer
from automem.api.openapi import describe
from automem.api.requests import answer, compact
from automem.errors import EmbeddingUnavailable, GraphUnavailable, Unavailable
from automem.services import Services

LONGEST_WAIT_SECONDS = 3.0

bp = Blueprint("health", __name__)
_log = logging.getLogger(__name__)


class VectorDimensions(BaseModel):
    """Lengths of vectors."""

    configured: int | None = Field(default=None, description="VECTOR_SIZE, or the model's own.")
    effective: int | None = Field(default=None, description="In use.")
    collection: int | None = Field(default=None, description="In the store; absent when it is down.")
    mismatch: bool


class EnrichmentHealth(BaseModel):
    """Background work on memories."""

    status: str = Field(description="`running` or `stopped`.")
    queue_depth: int
    pending: int = Field(description="Memories that still wait for their vector or for enrichment.")
    inflight: int = Field(description="Those of them whose enrichment a process works on.")
    processed: int = Field(description="Memories that this process has enriched since its start.")
    failed: int = Field(description="Its tries since then, at vectors or enrichment, that failed.")


class HealthAnswer(BaseModel):
    """The state of the service. Counts are absent when they could not be taken."""

    status: str = Field(description="`healthy` or `degraded`.")
    falkordb: str = Field(description="`connected` or `disconnected`.")
    qdrant: str = Field(description="`connected` or `disconnected`.")
    memory_count: int | None = None
    vector_count: int | None = None
    sync_status: str = Field(description="`synced`, `drift_detected`, `orphaned_vectors` or `unknown`.")
    vector_dimensions: VectorDimensions
    enrichment: EnrichmentHealth
    timestamp: str
    graph: str


class StatusAnswer(BaseModel):
    """A single word."""

    status: str


@dataclass(frozen=True, slots=True)
class StoreState:
    """What a store said: its count, or that it does not answer."""

    connected: bool = False
    count: int | None = None
    dimension: int | None = None
    pending: int = 0
    inflight: int = 0

    @property
    def word(self) -> str:
        return "connected" if self.connected else "disconnected"


@bp.get("/health")
@describe("Health", answers={200: HealthAnswer}, public=True)
def health() -> Response:
    """Tell how the service is. Always 200 and without a token."""
    own = services()
    looking = (own.executor.submit(_look_at_graph, own), own.executor.submit(_look_at_vectors, own))
    graph, vectors = (_within_bounds(look) for look in looking)
    return answer(_report(own, graph, vectors))


@bp.get("/health/live")
@describe("Health", answers={200: StatusAnswer}, public=True)
def live() -> Response:
    """Tell that the process answers; looks at nothing."""
    return answer({"status": "alive"})


@bp.get("/health/ready")
@describe("Health", answers={200: StatusAnswer, 503: ErrorAnswer}, public=True)
def ready() -> Response:
    """Tell whether the graph can serve; 503 when not."""
    own = services()
    if not _within_bounds(own.executor.submit(_look_at_graph, own)).connected:
        raise GraphUnavailable("FalkorDB is unavailable")
    return answer({"status": "ready"})


def _look_at_graph(own: Services) -> StoreState:
    try:
        own.graph.ping()
        count = own.graph.count(own.settings.recall_excluded_types)
        work = own.graph.enrichment_counts(own.clock.now())
        return StoreState(True, count, pending=own.graph.unsettled_count(), inflight=work.inflight)
    except Unavailable:
        return StoreState()


def _look_at_vectors(own: Services) -> StoreState:
    try:
        own.vectors.ping()
        count = own.vectors.count(own.settings.recall_excluded_types)
        return StoreState(True, count=count, dimension=own.vectors.dimension)
    except Unavailable:
        return StoreState()


def _within_bounds(look: Future[StoreState]) -> StoreState:
    try:
        return look.result(timeout=LONGEST_WAIT_SECONDS)
    except TooSlow:
        look.cancel()
        _log.warning("a store did not answer in time", extra={"seconds": LONGEST_WAIT_SECONDS})
        return StoreState()


def _report(own: Services, graph: StoreState, vectors: StoreState) -> dict[str, Any]:
    sync = sync_status(graph.count, vectors.count)
    good = graph.connected and vectors.connected and sync != "drift_detected"
    return {
        "status": "healthy" if good else "degraded",
        "falkordb": graph.word,
        "qdrant": vectors.word,
        "memory_count": graph.count,
        "vector_count": vectors.count,
        "sync_status": sync,
        "vector_dimensions": _dimensions(own, vectors.dimension),
        "enrichment": _enrichment(own, graph),
        "timestamp": own.clock.now().isoformat(),
        "graph": own.settings.falkordb_graph,
    }


def sync_status(memories: int | None, vectors: int | None) -> str:
    """Compare the two counts; None stands for one that could not be taken."""
    if memories is None or vectors is None:
        return "unknown"
    if memories == vectors:
        return "synced"
    return "drift_detected" if vectors < memories else "orphaned_vectors"


def _dimensions(own: Services, collection: int | None) -> dict[str, Any]:
    try:
        model = own.provider.dimension
    except EmbeddingUnavailable:
        model = None
    configured = own.settings.vector_size or model
    mismatch = collection is not None and configured is not None and collection != configured
    effective = collection or configured
    return compact(
        {"configured": configured, "effective": effective, "collection": collection, "mismatch": mismatch}
    )


def _enrichment(own: Services, graph: StoreState) -> dict[str, Any]:
    """Give the numbers of the background work; a memory is pending until all of it is done."""
    stats, vectors = own.enrichment.stats, own.embedder.stats()
    running = own.enrichment.running and own.embedder.running
    return {
        "status": "running" if running else "stopped",
        "queue_depth": graph.pending,
        "pending": graph.pending,
        "inflight": graph.inflight,
        "processed": stats.successes,
        "failed": stats.failures + vectors.failures,
    }
