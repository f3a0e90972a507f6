"""Filling a vector store from the graph with another model, and switching to it (D30).

There is no list of what was done: each round compares the successor with the graph by the points' marks,
so an interrupted fill goes on where it was, and what changed meanwhile is found.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace

from automem.embedding.base import EmbeddingRefused, Provider
from automem.errors import Unavailable
from automem.models import Memory
from automem.stores.base import GraphStore, StoreIdentity, VectorPoint, VectorStore
from automem.stores.generations import VectorGenerations
from automem.stores.vector_values import point_id
from automem.workers.drift import Comparison, Drift
from automem.workers.reembed import batches, embed_texts

_log = logging.getLogger("automem.reembed")


class Rebuild:
    """Brings one vector store in step with the graph, all types of memories. For one thread.

    Texts that the provider refuses are left out, in ``refused``. Methods raise ``Unavailable`` when a
    store or the provider is away; calling them again goes on.
    """

    def __init__(self, graph: GraphStore, target: VectorStore, provider: Provider, batch_size: int) -> None:
        self.refused: set[str] = set()
        self._graph = graph
        self._target = target
        self._provider = provider
        self._batch_size = batch_size

    def fill(self) -> Iterator[int]:
        """Go through all memories; after each batch give how many more were looked at."""
        comparison = Comparison(self._graph, self._target, ())
        for page in comparison.memories():
            yield from self._mend(page)
            yield page.considered - len(page.unembedded)
        for page in comparison.points():
            self._target.delete(page.orphaned)

    def renew(self, memory_ids: Sequence[str]) -> None:
        """Bring these memories in step, whatever has become of them."""
        for page in batches(memory_ids, self._batch_size):
            found = self._graph.get_many(page)
            self._target.delete([memory_id for memory_id in page if memory_id not in found])
            self._embed([memory for memory in found.values() if memory.content and point_id(memory.id)])

    def _mend(self, page: Drift) -> Iterator[int]:
        for batch in batches(page.unembedded, self._batch_size):
            self._embed(list(self._graph.get_many(batch).values()))
            yield len(batch)
        for memory in self._graph.get_many(page.stale_payloads).values():
            self._target.update_payload(memory)

    def _embed(self, memories: Sequence[Memory]) -> None:
        if not memories:
            return
        try:
            made = embed_texts(self._provider, memories)
        except EmbeddingRefused as error:
            self._split(memories, error)
            return
        self._target.upsert([VectorPoint(memory.id, made[memory.id].vector, memory) for memory in memories])

    def _split(self, memories: Sequence[Memory], error: EmbeddingRefused) -> None:
        if len(memories) > 1:
            for memory in memories:
                self._embed([memory])
            return
        _log.warning("memory %s could not be embedded: %s", memories[0].id, error)
        self.refused.add(memories[0].id)


def same_model(one: StoreIdentity | None, other: StoreIdentity) -> bool:
    """Say whether vectors of both can be compared."""
    return one is not None and (one.embedding_model, one.dimension) == (
        other.embedding_model,
        other.dimension,
    )


def switch_identity(graph: GraphStore, wanted: StoreIdentity, owing: Sequence[str]) -> None:
    """Let the successor serve: one write, after which a start opens it. ``owing`` lack a vector there."""
    found = graph.identity()
    for page in batches(list(owing), 500):
        graph.owe(page, "vector")
    graph.record_identity(replace(wanted, previous=found.generation if found is not None else ""))


def retire_previous(graph: GraphStore, generations: VectorGenerations) -> None:
    """Remove the vectors of the model before, if a switch has left them. Tried again at the next start."""
    try:
        identity = graph.identity()
        if identity is None or identity.previous is None:
            return
        if identity.previous != identity.generation:
            generations.retire(identity.previous, identity.generation)
        graph.record_identity(replace(identity, previous=None))
    except Unavailable as error:
        _log.warning("the vectors of the former model are still there: %s", error)
