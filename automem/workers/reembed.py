"""Making vectors anew in place, with the model that is in use (service.md 9, POST /admin/reembed)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from automem.embedding.base import EmbeddingRefused, Provider
from automem.errors import EmbeddingUnavailable
from automem.models import Memory
from automem.stores.base import GraphStore
from automem.workers.exclusive import Lease
from automem.workers.vectors import Embedded, VectorWriter

_log = logging.getLogger("automem.embedding")

_TRIES = 3
"""So often a memory is embedded whose text changes while that is done."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the memories that were to be embedded. Those without a text, or gone, are in neither."""

    done: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @classmethod
    def of(cls, parts: Iterable[Outcome]) -> Outcome:
        """Put the outcomes of batches together."""
        batches = list(parts)
        return cls(
            tuple(chain.from_iterable(batch.done for batch in batches)),
            tuple(chain.from_iterable(batch.failed for batch in batches)),
        )


def embed_texts(
    provider: Provider, memories: Sequence[Memory], epoch: int | None = None
) -> dict[str, Embedded]:
    """Embed the texts of memories, all or none. ``epoch`` is the writer's of this moment.

    :raises EmbeddingUnavailable: also for an answer that cannot be right (D23).
    """
    made = provider.embed_batch([memory.content for memory in memories])
    if made.shape != (len(memories), provider.dimension):
        raise EmbeddingUnavailable(f"{provider.name} gave vectors of shape {made.shape}")
    return {
        memory.id: Embedded(memory.content, row.tolist(), epoch)
        for memory, row in zip(memories, made, strict=True)
    }


def batches(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Cut ids into batches."""
    for start in range(0, len(ids), size):
        yield ids[start : start + size]


class Reembedder:
    """Embeds memories batch by batch and stores the vectors; a batch that fails is counted, not raised."""

    def __init__(self, graph: GraphStore, provider: Provider, writer: VectorWriter) -> None:
        self._graph = graph
        self._provider = provider
        self._writer = writer

    def run(self, memory_ids: Sequence[str], batch_size: int, lease: Lease) -> Outcome:
        """Embed these memories in the order given.

        :raises GraphUnavailable: when the graph goes away; what was done stays done.
        :raises VectorsUnavailable: when the vector store does.
        """
        outcomes = []
        for batch in batches(memory_ids, batch_size):
            lease.check()
            outcomes.append(self._batch(batch))
        return Outcome.of(outcomes)

    def _batch(self, memory_ids: Sequence[str]) -> Outcome:
        waiting, done = list(memory_ids), list[str]()
        for _ in range(_TRIES):
            found = self._graph.get_many(waiting)
            memories = [found[name] for name in waiting if name in found and found[name].content]
            if not memories:
                return Outcome(tuple(done))
            try:
                settled = self._writer.put(embed_texts(self._provider, memories, self._writer.epoch))
            except EmbeddingUnavailable as error:
                return Outcome.of([Outcome(tuple(done)), self._failed(memories, error)])
            done += [memory.id for memory in memories if memory.id in settled]
            waiting = [memory.id for memory in memories if memory.id not in settled]
        return Outcome(tuple(done), tuple(waiting))

    def _failed(self, memories: Sequence[Memory], error: EmbeddingUnavailable) -> Outcome:
        """A text that is refused does not keep the others of its batch."""
        if isinstance(error, EmbeddingRefused) and len(memories) > 1:
            return Outcome.of(self._batch([memory.id]) for memory in memories)
        _log.warning("%d memories could not be embedded anew: %s", len(memories), error)
        return Outcome(failed=tuple(memory.id for memory in memories))
