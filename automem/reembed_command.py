"""``automem reembed``: make all vectors anew with the model of the settings, while no service runs."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

from automem.config import Settings
from automem.embedding.base import ClosingProvider
from automem.embedding.select import make_provider
from automem.services import claim_data, open_generations, open_graph, open_runs
from automem.stores.base import GraphStore, StoreIdentity
from automem.stores.generations import VectorGenerations, generation_name
from automem.utils.text import ANALYSIS_VERSION
from automem.workers.exclusive import Lease
from automem.workers.rebuild import Rebuild, retire_previous, same_model, switch_identity
from automem.workers.reembed import Reembedder, batches
from automem.workers.sync import BUSY, RUN
from automem.workers.vectors import VectorWriter


class Progress(Protocol):
    """Shows how far it is."""

    def begin(self, label: str, total: int) -> None:
        """Say what begins, and how many memories there are."""
        ...

    def advance(self, count: int) -> None:
        """Say that so many more are done."""
        ...


@dataclass(frozen=True, slots=True)
class Result:
    """What was done: ``failed`` memories lack a vector of this model, the service will try again."""

    model: str
    total: int
    failed: int
    changed: bool


@dataclass(frozen=True, slots=True)
class Workplace:
    """What a run works on."""

    graph: GraphStore
    generations: VectorGenerations
    provider: ClosingProvider
    batch_size: int


def reembed(settings: Settings, batch_size: int, progress: Progress) -> Result:
    """Embed all memories with the model of the settings; an interrupted run goes on when called again.

    With another model than the data's the old vectors stay until all new ones are made.

    :raises StartupError: when a store or the model cannot be opened; a running service is named.
    :raises Unavailable: when one of them goes away.
    :raises Conflict: when another sync or re-embedding is running.
    """
    with ExitStack() as stack:
        provider = make_provider(settings)
        stack.callback(provider.close)
        data = claim_data(settings, stack)
        graph = open_graph(settings, data, stack)
        graph.ping()
        beside = graph.beside()
        stack.callback(beside.close)
        place = Workplace(graph, open_generations(settings, data), provider, batch_size)
        wanted = StoreIdentity(provider.name, provider.dimension, ANALYSIS_VERSION)
        lease = stack.enter_context(open_runs(settings, beside).run(RUN, BUSY))
        found = graph.identity()
        if found is not None and same_model(found, wanted):
            return _in_place(place, found, lease, progress)
        result = _change(place, wanted, lease, progress)
        # A server's old collection may still be read by services that wait to be restarted.
        if settings.vectors_embedded:
            retire_previous(graph, place.generations)
        return result


def _in_place(place: Workplace, found: StoreIdentity, lease: Lease, progress: Progress) -> Result:
    vectors = place.generations.open(found.generation, found.dimension)
    try:
        reembedder = Reembedder(place.graph, place.provider, VectorWriter(place.graph, vectors))
        chosen = place.graph.newest_ids(None)
        progress.begin(f"Embedding anew with {place.provider.name}", len(chosen))
        failed = 0
        for batch in batches(chosen, place.batch_size):
            failed += len(reembedder.run(batch, place.batch_size, lease).failed)
            progress.advance(len(batch))
    finally:
        vectors.close()
    return Result(place.provider.name, len(chosen), failed, changed=False)


def _change(place: Workplace, wanted: StoreIdentity, lease: Lease, progress: Progress) -> Result:
    name, total = generation_name(wanted.embedding_model, wanted.dimension), place.graph.count(())
    target = place.generations.open(name, wanted.dimension)
    try:
        rebuild = Rebuild(place.graph, target, place.provider, place.batch_size)
        progress.begin(f"Embedding with {place.provider.name}", total)
        for count in rebuild.fill():
            progress.advance(count)
            lease.check()
    finally:
        target.close()
    switched = StoreIdentity(wanted.embedding_model, wanted.dimension, wanted.analysis, name)
    switch_identity(place.graph, switched, sorted(rebuild.refused))
    return Result(place.provider.name, total, len(rebuild.refused), changed=True)
