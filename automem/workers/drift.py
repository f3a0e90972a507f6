"""What is not in step between the graph and the vector store, both ways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from automem.models import Memory
from automem.stores.base import GraphStore, VectorStore
from automem.stores.payload import PointMark, mark_of
from automem.stores.vector_values import point_id

PAGE = 200


@dataclass(frozen=True, slots=True)
class Drift:
    """Ids by what is wrong with them; ``owed`` are those of the first two that the graph knows of.

    ``stale_texts`` have the vector of another text, ``stale_payloads`` only other fields.
    """

    missing: tuple[str, ...] = ()
    stale_texts: tuple[str, ...] = ()
    stale_payloads: tuple[str, ...] = ()
    orphaned: tuple[str, ...] = ()
    owed: frozenset[str] = frozenset()
    considered: int = 0
    """How many memories or points were looked at."""

    @classmethod
    def of(cls, parts: Iterable[Drift]) -> Drift:
        """Put the drifts of pages together."""
        pages = list(parts)
        return cls(
            tuple(chain.from_iterable(page.missing for page in pages)),
            tuple(chain.from_iterable(page.stale_texts for page in pages)),
            tuple(chain.from_iterable(page.stale_payloads for page in pages)),
            tuple(chain.from_iterable(page.orphaned for page in pages)),
            frozenset(chain.from_iterable(page.owed for page in pages)),
            sum(page.considered for page in pages),
        )

    @property
    def unembedded(self) -> tuple[str, ...]:
        """Memories that need a vector."""
        return self.missing + self.stale_texts


class Comparison:
    """Compares page by page of ids; of the vector store only ids and marks are read."""

    def __init__(self, graph: GraphStore, vectors: VectorStore, excluded_types: Sequence[str]) -> None:
        """:param excluded_types: memories that need no vector (storage.md 4)."""
        self._graph = graph
        self._vectors = vectors
        self._excluded_types = tuple(excluded_types)

    def memories(self) -> Iterator[Drift]:
        """Look for each memory's point; a drift for each page, also where there is none.

        Memories without a text, or with an id that no point can have, are left out.
        """
        after = ""
        while page := self._graph.ids(after, PAGE, self._excluded_types):
            after = page[-1]
            found = self._graph.get_many(page).values()
            memories = [memory for memory in found if memory.content and point_id(memory.id)]
            marks = self._vectors.marks([memory.id for memory in memories])
            yield replace(_compared(memories, marks), considered=len(page))

    def points(self) -> Iterator[Drift]:
        """Look for each point's memory, of whatever type; a drift for each page."""
        after = ""
        while page := list(self._vectors.ids(after, PAGE)):
            after = page[-1]
            existing = self._graph.existing(page)
            suspects = [name for name in page if name not in existing]
            # Others may have spelled an id in another way than the vector store does.
            spelled = self._graph.existing([form for name in suspects for form in _spellings(name)])
            known = {point_id(name) for name in spelled}
            orphaned = tuple(name for name in suspects if name not in known)
            yield Drift(orphaned=orphaned, considered=len(page))


def _compared(memories: Sequence[Memory], marks: dict[str, PointMark]) -> Drift:
    missing, texts, payloads = [], [], []
    for memory in memories:
        found, wanted = marks.get(memory.id), mark_of(memory)
        if found is None:
            missing.append(memory.id)
        elif found.text != wanted.text:
            texts.append(memory.id)
        elif found.payload != wanted.payload:
            payloads.append(memory.id)
    owed = frozenset(memory.id for memory in memories if memory.vector_pending)
    return Drift(tuple(missing), tuple(texts), tuple(payloads), owed=owed)


def _spellings(name: str) -> tuple[str, ...]:
    plain = name.replace("-", "")
    return name.upper(), plain, plain.upper()
