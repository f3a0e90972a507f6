"""The parts of a service that keep its stores in step, put together."""

from __future__ import annotations

from dataclasses import dataclass

from automem.config import Settings
from automem.identity import IdentityKeeper
from automem.stores.base import GraphStore
from automem.stores.generations import VectorGenerations
from automem.stores.switchable import SwitchableProvider, SwitchableVectors
from automem.utils.gate import Gate
from automem.workers.embedding import EmbeddingWorker
from automem.workers.exclusive import ExclusiveRuns
from automem.workers.model_change import ModelChanger, Serving
from automem.workers.rebuild import retire_previous
from automem.workers.reembed import Reembedder
from automem.workers.sync import StoreSync, SyncWorker
from automem.workers.thread import WorkerThread


@dataclass(frozen=True, slots=True)
class StorePair:
    """Both stores, what makes vectors, and where other vector stores may stand beside the second."""

    graph: GraphStore
    vectors: SwitchableVectors
    provider: SwitchableProvider
    generations: VectorGenerations
    keeper: IdentityKeeper


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Repairs on demand and of its own accord; ``workers`` are started and stopped with the service."""

    runs: ExclusiveRuns
    sync: StoreSync
    reembedder: Reembedder
    pair: StorePair
    changer: ModelChanger
    gate: Gate
    """Closed for the moment in which model and vectors are exchanged: who uses both is inside."""
    workers: tuple[WorkerThread, ...]

    def tidy(self) -> None:
        """Remove what a change of the model has left; to be called when the identity is settled."""
        retire_previous(self.pair.graph, self.pair.generations)


def make_maintenance(
    settings: Settings, pair: StorePair, embedder: EmbeddingWorker, runs: ExclusiveRuns
) -> Maintenance:
    """Put the parts together; nothing is started."""
    sync = StoreSync(pair.graph, pair.vectors, embedder, runs, settings.recall_excluded_types)
    gate = Gate()
    serving = Serving(
        pair.graph, pair.vectors, pair.provider, embedder.writer, pair.generations, gate, pair.keeper
    )
    changer = ModelChanger(settings, serving, sync)
    repairs = (SyncWorker(sync, settings.sync_check_interval_seconds),) if settings.sync_auto_repair else ()
    return Maintenance(
        runs=runs,
        sync=sync,
        reembedder=Reembedder(pair.graph, pair.provider, embedder.writer),
        pair=pair,
        changer=changer,
        gate=gate,
        workers=(changer, *repairs),
    )
