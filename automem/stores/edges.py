"""What the graph store offers on associations and on lists by tag; part of ``GraphStore``.

Every method may raise ``GraphUnavailable``; ids are those of memories, in canonical form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from automem.models import JSON, Memory, MemoryDraft, Relation
from automem.relations import RelationType

if TYPE_CHECKING:
    from automem.stores.base import Receipt

Direction = Literal["incoming", "outgoing"]

EdgeKey = tuple[str, str, str, int]
"""The place of an edge among a memory's, for good: label, direction, other id, its own id."""

TagKey = tuple[int, int, str]
"""The place of a memory in a list by tag: importance and time, negated, and id."""


@dataclass(frozen=True, slots=True)
class NewEdge:
    """An edge to make or to change."""

    source_id: str
    target_id: str
    strength: float
    properties: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class EdgePage:
    """Which edges of a memory to list: of these types and this direction, behind ``after``."""

    kinds: tuple[RelationType, ...]
    limit: int
    direction: Direction | None = None
    after: EdgeKey | None = None


@dataclass(frozen=True, slots=True)
class Association:
    """An edge seen from one of its ends, with the memory at the other."""

    relation: Relation
    direction: Direction
    other: Memory
    key: EdgeKey


@dataclass(frozen=True, slots=True)
class TagPage:
    """Which part of a list by tag to give: behind ``after``, then without the first ``offset``."""

    limit: int
    offset: int = 0
    after: TagKey | None = None


@dataclass(frozen=True, slots=True)
class Tagged:
    """A memory and its place in a list by tag."""

    memory: Memory
    key: TagKey


@dataclass(frozen=True, slots=True)
class Successor:
    """A new memory that takes the place of ``old_id``; ``at`` is when that is written (ISO)."""

    draft: MemoryDraft
    old_id: str
    at: str


class EdgeStore(Protocol):
    """The edges that clients make, list and remove; memories by tag."""

    def associate(self, kind: RelationType, edges: Sequence[NewEdge], at: str) -> frozenset[tuple[str, str]]:
        """Make the edges of one type in one query, or change those that exist: strength, ``updated_at``
        (``at``) and the properties given; others stay. At most one per ordered pair, none given twice.

        Gives the pairs (source, target) whose memories exist. Where the type replaces, the same write
        marks the payload of each source as owed.
        """
        ...

    def dissociate(self, kind: RelationType, source_id: str, target_id: str) -> list[Relation]:
        """Remove the edges of a type from one memory to another; give them. Payloads as above."""
        ...

    def associations(self, memory_id: str, page: EdgePage) -> list[Association]:
        """Give edges between a memory and others, in either direction, ordered by ``key``."""
        ...

    def related(self, memory_id: str, kinds: Sequence[RelationType], depth: int, limit: int) -> list[Memory]:
        """Give the memories that at most ``depth`` (1 to 3) edges of these types lead to, in any
        direction, most important first, then newest; the memory itself and archived ones left out.
        They have only what a summary shows (recall.md 9.1)."""
        ...

    def supersede(self, successor: Successor, receipts: Sequence[Receipt] = ()) -> bool:
        """Store a memory that owes its vector, close the old one at its timestamp and link the two by
        INVALIDATED_BY, all in one query with the receipts. False, and nothing written, when there is
        no such old memory. Raises as ``create`` does."""
        ...

    def tagged(self, tags: Sequence[str], page: TagPage) -> list[Tagged]:
        """Give the memories that bear one of the tags (D5: whole, canonical), archived ones too, most
        important first, then newest, then by id, with what is missing last. The index serves it."""
        ...
