"""The parts of a service that keep its stores in step, put together."""

from __future__ import annotations

from dataclasses import dataclass

from automem.config import Settings
from automem.embedding.base import Provider
from automem.stores.base import GraphStore, VectorStore
from automem.stores.falkordb_locks import FalkorDBLocks
from automem.utils.clock import IdSource
from automem.workers.embedding import EmbeddingWorker
from automem.workers.exclusive import ExclusiveRuns
from automem.workers.reembed import Reembedder
from automem.workers.sync import StoreSync, SyncWorker


@dataclass(frozen=True, slots=True)
class StorePair:
    """Both stores, and what fills the second from the first."""

    graph: GraphStore
    vectors: VectorStore
    provider: Provider
    embedder: EmbeddingWorker


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Repairs on demand and of its own accord; ``workers`` are started and stopped with the service."""

    runs: ExclusiveRuns
    sync: StoreSync
    reembedder: Reembedder
    workers: tuple[SyncWorker, ...]


def make_maintenance(settings: Settings, pair: StorePair, locks: FalkorDBLocks, ids: IdSource) -> Maintenance:
    """Put the parts together; nothing is started."""
    runs = ExclusiveRuns(locks, ids)
    sync = StoreSync(pair.graph, pair.vectors, pair.embedder, runs, settings.recall_excluded_types)
    worker = SyncWorker(sync, settings.sync_check_interval_seconds)
    return Maintenance(
        runs=runs,
        sync=sync,
        reembedder=Reembedder(pair.graph, pair.provider, pair.embedder.writer),
        workers=(worker,) if settings.sync_auto_repair else (),
    )
