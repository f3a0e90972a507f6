"""The only writer of the vector store: one at a time, always from what the graph says now.

The lock orders every vector write after the graph read that it is made of, so that neither an old
payload nor a deleted memory's point can be left standing by two threads that overtake each other.
The owed work itself is recorded in the graph (D22); whatever fails here is made good by
``EmbeddingWorker``. Several service processes on one data set share no lock: there, the revision
that ``vector_done`` checks keeps the debt of the one that was overtaken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock

from automem.errors import VectorsUnavailable
from automem.models import Memory
from automem.stores.base import GraphStore, VectorPoint, VectorStore
from automem.stores.payload import PointMark, mark_of


@dataclass(frozen=True, slots=True)
class Embedded:
    """A vector and the exact text that it was made of.

    ``epoch`` is the writer's when the making began, by which it sees that another model made it; None
    for a client's own vector.
    """

    content: str
    vector: Sequence[float]
    epoch: int | None = None


class VectorWriter:
    """Brings the vector store in step with the graph. Methods raise ``Unavailable``."""

    def __init__(self, graph: GraphStore, vectors: VectorStore, bell: Event | None = None) -> None:
        """:param bell: rung when vectors were stored, for who waits for them."""
        self._bell = bell or Event()
        self._graph = graph
        self._vectors = vectors
        self._lock = Lock()
        self._epoch = 0
        self._generation: str | None = None
        self._journal: set[str] | None = None

    @property
    def epoch(self) -> int:
        """Grows with each change of the model."""
        return self._epoch

    def put(self, embedded: Mapping[str, Embedded]) -> frozenset[str]:
        """Store vectors with the payload of this moment; give the ids that are settled.

        A memory whose text or whose model has changed since keeps its debt (D24); a deleted one counts
        as settled.
        """
        with self._lock:
            self._check_generation()
            self._note(embedded)
            memories = self._graph.get_many(list(embedded))
            current = [memory for memory in memories.values() if self._fits(embedded[memory.id], memory)]
            if current:
                self._vectors.upsert([VectorPoint(m.id, embedded[m.id].vector, m) for m in current])
                self._graph.vector_done(_revisions(current))
                self._bell.set()
        stale = memories.keys() - {memory.id for memory in current}
        return frozenset(embedded.keys() - stale)

    def refresh(self, memory_ids: Sequence[str]) -> frozenset[str]:
        """Write the payload of memories whose text is as embedded; give the ids that are settled.

        The others owe a new vector, or have none yet; so does one whose text was changed by others.
        """
        with self._lock:
            self._note(memory_ids)
            memories = self._graph.get_many(memory_ids)
            trusted = [memory for memory in memories.values() if not memory.vector_pending]
            stored = self._vectors.marks([memory.id for memory in trusted])
            current = [memory for memory in trusted if _is_made_of(stored.get(memory.id), memory)]
            for memory in current:
                self._vectors.update_payload(memory)
            if current:
                self._graph.vector_done(_revisions(current))
        owing = memories.keys() - {memory.id for memory in current}
        return frozenset(set(memory_ids) - owing)

    def remove(self, memory_ids: Sequence[str]) -> None:
        """Remove the vectors of deleted memories, then their tombstones."""
        with self._lock:
            self._note(memory_ids)
            self._vectors.delete(memory_ids)
            self._graph.bury(memory_ids)

    # while a successor of the vector store is filled
    def keep_journal(self) -> None:
        """Begin to note which memories are written."""
        with self._lock:
            self._journal = set()

    def take_journal(self) -> set[str]:
        """Give the memories written since it was taken last."""
        with self._lock:
            return self._taken()

    def end_journal(self) -> None:
        """Note no more."""
        with self._lock:
            self._journal = None

    @contextmanager
    def alone(self) -> Iterator[set[str]]:
        """Keep all writes waiting for the block; gives the rest of the journal."""
        with self._lock:
            yield self._taken()

    def next_epoch(self, generation: str) -> None:
        """Refuse what was embedded before; to be called inside ``alone``."""
        self._epoch += 1
        if self._generation is not None:
            self._generation = generation

    def guard(self, generation: str) -> None:
        """Store vectors only while the graph names this generation: other processes may change it."""
        self._generation = generation

    def _check_generation(self) -> None:
        if self._generation is None:
            return
        identity = self._graph.identity()
        if identity is not None and identity.generation != self._generation:
            raise VectorsUnavailable("Another process has changed the embedding model; restart this one")

    def _taken(self) -> set[str]:
        taken, self._journal = self._journal or set(), set()
        return taken

    def _note(self, memory_ids: Iterable[str]) -> None:
        if self._journal is not None:
            self._journal.update(memory_ids)

    def _fits(self, embedded: Embedded, memory: Memory) -> bool:
        return embedded.epoch in (None, self._epoch) and embedded.content == memory.content


def _is_made_of(mark: PointMark | None, memory: Memory) -> bool:
    return mark is not None and mark.text == mark_of(memory).text


def _revisions(memories: Sequence[Memory]) -> dict[str, int]:
    return {memory.id: memory.revision for memory in memories}
