"""What the two stores offer to the domain: small protocols, bound to one graph and one collection.

Every method may raise ``GraphUnavailable`` or ``VectorsUnavailable``; an empty answer always means
"nothing matches", never "could not look" (D4). The same contract tests run on all implementations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from automem.models import Memory, MemoryDraft, Relation, Scope, Sort
from automem.stores.edges import EdgeStore
from automem.stores.enrichment import EnrichmentStore
from automem.stores.entities import EntityStore
from automem.stores.patterns import PatternStore
from automem.stores.payload import PointMark


@dataclass(frozen=True, slots=True)
class Hit:
    """A candidate of one search: ``score`` is the store's own (cosine, index score, importance)."""

    memory: Memory
    score: float


@dataclass(frozen=True, slots=True)
class StoreIdentity:
    """What the data was made with, recorded once and checked at every start (D30)."""

    embedding_model: str
    dimension: int
    analysis: int
    generation: str = ""
    """Which of the vector stores side by side holds its vectors."""
    previous: str | None = None
    """The one that did before a change of the model and is still to be removed; None: none is."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """One hop of an INVALIDATED_BY or EVOLVED_INTO edge, old to new (recall.md 10)."""

    old_id: str
    new: Memory
    relation: Relation


@dataclass(frozen=True, slots=True)
class PendingVector:
    """A memory that owes the vector store something (D22). Its ``revision`` guards newer writes.

    ``vector`` is what the client gave, kept on the node until it is stored; None when the provider
    is to make it. With ``memory.vector_pending`` false only the payload is owed: the stored vector,
    if there is one, belongs to this text.
    """

    memory: Memory
    attempts: int
    vector: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer of a write, kept to repeat it (D25). A node ``IdempotencyKey``, ``key`` unique.

    ``fingerprint`` tells requests apart, ``answer`` is JSON text. ``expires`` is in epoch seconds;
    None stands for as long as the memory does (keys ``id:<uuid>``, removed by ``delete``).
    """

    key: str
    fingerprint: str
    answer: str
    expires: float | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """An edge seen from one memory, for evidence that spreads along it, whatever its direction.

    ``weight`` is the edge's strength, 1 for the neighbour in a conversation. ``other`` is the memory
    at the other end, None where the caller knows it already.
    """

    memory_id: str
    other_id: str
    type: str
    weight: float
    other: Memory | None = None


@dataclass(frozen=True, slots=True)
class EdgeFilter:
    """Which edges to follow, in either direction, and what to accept at their other end.

    ``scope`` holds for the memory at the other end; the limit counts after all filters.
    """

    types: tuple[str, ...]
    scope: Scope
    min_strength: float = 0.0
    min_importance: float = 0.0
    per_memory: int = 5


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory reached from another over one edge."""

    seed_id: str
    relation: Relation
    memory: Memory


@dataclass(frozen=True, slots=True)
class TypeCount:
    """How many memories have a type (None: none), how many of them a confidence, and the sum of those."""

    type: Any
    count: int
    rated: int
    confidence_sum: float


@dataclass(frozen=True, slots=True)
class Preference:
    """A PREFERS_OVER edge with the ids and contents at its ends."""

    prefers: Memory
    over: Memory
    relation: Relation


class GraphStore(EdgeStore, EnrichmentStore, EntityStore, PatternStore, Protocol):
    """The canonical store. A memory exists if and only if its node does (storage.md 1)."""

    def ping(self) -> None: ...
    def close(self) -> None: ...

    def identity(self) -> StoreIdentity | None:
        """Give the recorded identity; None for data that has none yet."""
        ...

    def record_identity(self, identity: StoreIdentity) -> None: ...

    def model_change(self) -> str | None:
        """Give the change of the model that is planned or being made, None without one."""
        ...

    def plan_model_change(self, plan: str | None) -> None:
        """Record it, so that a restart goes on with it; None: it is done."""
        ...

    def adopt(self, limit: int) -> int:
        """Derive what searches need of memories that others, or an older analysis, wrote; gives how
        many of at most ``limit`` were done, 0 when none is left."""
        ...

    # write
    def create(self, drafts: Sequence[MemoryDraft], pending: bool, receipts: Sequence[Receipt] = ()) -> None:
        """Write all nodes and receipts in one query, or none. Confirmed: raises unless every id came back.

        ``pending`` marks each as owing a vector, in the same write (D22); a draft's ``embedding`` is
        kept on its node until ``vector_done``. A tombstone of the same id goes away. Raises
        ``Conflict``, with nothing written, when an id or a receipt's key exists already (D25).
        """
        ...

    def update(self, memory_id: str, changes: Mapping[str, Any], revision: int) -> bool:
        """Set the public properties named (None removes) if the node is still at ``revision``.

        Derived fields follow. In the same write a change of ``content`` marks the vector as owed (and
        drops a kept ``embedding``) and queues its enrichment anew, any other change the payload. What
        enrichment had added to tags and metadata is kept (D37, ``additions.py``). False when the node
        has moved on or is gone: read again and retry, so that no concurrent change is lost (D24).
        """
        ...

    def delete(self, memory_ids: Sequence[str]) -> list[str]:
        """Remove nodes with all their edges and receipts; give the ids that existed.

        The same write leaves a tombstone for each: its vector is still to be removed. Memories that
        they had replaced owe their payload.
        """
        ...

    def tombstones(self, limit: int) -> list[str]:
        """Give ids of deleted memories whose vectors may still be there, oldest first."""
        ...

    def bury(self, memory_ids: Sequence[str]) -> None:
        """Remove tombstones, their vectors being gone. A memory that lives again under such an id
        (stored between) is marked as owing its vector, since that went too."""
        ...

    # answers to repeat (D25)
    def receipts(self, keys: Sequence[str]) -> dict[str, Receipt]:
        """Give the receipts that exist, by key, expired ones too."""
        ...

    def amend_receipt(self, key: str, answer: str) -> None:
        """Replace the answer of a receipt; an unknown key is ignored."""
        ...

    def forget_receipts(self, before: float) -> int:
        """Remove receipts that expired before this epoch second; give how many."""
        ...

    def touch(self, memory_ids: Sequence[str], at: str) -> None:
        """Set ``last_accessed`` (D18). Unknown ids are ignored; the revision stays."""
        ...

    # owed vectors
    def pending_vectors(self, limit: int, now: datetime) -> list[PendingVector]:
        """Give memories that owe a vector or a payload and are due at ``now``, oldest first."""
        ...

    def vector_done(self, memory_ids: Mapping[str, int]) -> None:
        """Clear the debt (and a kept ``embedding``) of each id that is still at the revision given."""
        ...

    def vector_failed(self, memory_ids: Sequence[str], retry_at: datetime) -> None:
        """Count an attempt and set when to try again."""
        ...

    def vector_refused(self, memory_id: str, error: str) -> None:
        """Give a memory's vector up, until its text is changed, ``owe`` or enrichment is asked for it."""
        ...

    def pending_vector_count(self) -> int: ...

    def owe(self, memory_ids: Sequence[str], debt: Literal["vector", "payload"]) -> int:
        """Mark memories as owing the vector store, due now; give how many there are. A vector that is
        owed stays so. The revision grows, so that a ``vector_done`` on its way does not clear it."""
        ...

    # read
    def get_many(self, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """Give the memories that exist, by id, in one query."""
        ...

    def count(self, excluded_types: Sequence[str]) -> int: ...

    def ids(self, after: str, limit: int, excluded_types: Sequence[str]) -> list[str]:
        """Give ids greater than ``after`` in ascending order: pages for drift checks."""
        ...

    def existing(self, memory_ids: Sequence[str]) -> set[str]:
        """Give the ids of these that exist, of whatever type."""
        ...

    def newest_ids(self, limit: int | None) -> list[str]:
        """Give the ids of all memories with a text, newest timestamp first, at most ``limit``."""
        ...

    # search (runtime: no query scans all memories)
    def keyword_search(self, query: str, scope: Scope, limit: int) -> list[Hit]:
        """Run a query of the full-text index as built by ``search/runtime_keywords.py``; best first."""
        ...

    def frequencies(self, queries: Sequence[str]) -> list[int]:
        """Count the memories that each full-text query matches, in one round trip, same order."""
        ...

    def trending(self, scope: Scope, sort: Sort, limit: int) -> list[Hit]:
        """Give memories in the order of recall.md 4.4; missing values last (D20)."""
        ...

    # relations
    def relations(self, memory_ids: Sequence[str], limit: int) -> dict[str, list[tuple[Relation, Memory]]]:
        """Give outgoing edges of each memory, newest first, at most ``limit`` each (recall.md 9.1); those
        that the service made by itself behind the others, which they would crowd out."""
        ...

    def links(self, memory_ids: Sequence[str], known: Sequence[str], limit: int) -> list[Link]:
        """Give the edges around each memory over which evidence spreads, strongest first, at most
        ``limit`` each: relations, similarity, and the next and previous in a conversation (D42).

        One query. Memories among ``known`` are not read again.
        """
        ...

    def neighbours(self, memory_ids: Sequence[str], edges: EdgeFilter) -> list[Neighbour]:
        """Give memories one edge away from any of these, none of them itself, newest edge first by
        seed (recall.md 9.2). One query for all seeds (D11)."""
        ...

    def link_conversation(self, memory_ids: Sequence[str], at: str) -> dict[str, int]:
        """Link each memory to the one before it in its conversation, and up to four more (D42).

        The conversation is the memories that share its most specific tags (without tags, all), in the
        seven days before its own timestamp; at equal timestamps the order of storing decides. Memories
        that stand behind one of these, or did so before its tags or its time were changed, are linked
        anew, so that the order of storing makes no difference. What is right already is not written
        again. ``at`` is noted on new edges. Gives for each memory that exists the number of its edges.
        """
        ...

    def replacements(self, memory_ids: Sequence[str], hops: int) -> dict[str, list[Replacement]]:
        """Give, for every id reachable from ``memory_ids`` over at most ``hops`` replacement edges,
        its outgoing replacement edges, newest first (edge ``updated_at``, else target timestamp)."""
        ...

    # the whole (recall.md 12.2)
    def type_counts(self) -> list[TypeCount]:
        """Count the memories of each type; odd confidences are left out."""
        ...

    def patterns(self, above: float, limit: int) -> list[Mapping[str, Any]]:
        """Give the Pattern nodes with more than this confidence, best first."""
        ...

    def preferences(self, limit: int) -> list[Preference]:
        """Give the strongest PREFERS_OVER edges, strongest first; odd strengths last."""
        ...

    def newest(self, at: datetime, limit: int) -> list[Memory]:
        """Give the newest memories, without a time last, with only ``id``, ``timestamp``,
        ``importance``, ``confidence`` and ``metadata``. ``at`` is now; it only serves speed."""
        ...


@dataclass(frozen=True, slots=True)
class VectorPoint:
    """A vector with its complete payload (storage.md 3, D26)."""

    id: str
    vector: Sequence[float]
    memory: Memory


class VectorStore(Protocol):
    """A rebuildable projection: vectors plus a copy of the fields that filters need."""

    @property
    def dimension(self) -> int: ...

    def ping(self) -> None: ...
    def close(self) -> None: ...

    def upsert(self, points: Sequence[VectorPoint]) -> None:
        """Write points; acknowledged points survive kill -9."""
        ...

    def update_payload(self, memory: Memory) -> None:
        """Replace the payload of an existing point, keeping its vector; a missing point is ignored."""
        ...

    def delete(self, memory_ids: Sequence[str]) -> None: ...

    def search(self, vector: Sequence[float], scope: Scope, limit: int) -> list[Hit]:
        """Give the nearest points inside the scope by cosine, best first."""
        ...

    def scroll(self, scope: Scope, limit: int) -> list[Memory]:
        """Give points inside the scope in no particular order."""
        ...

    def similarities(self, vector: Sequence[float], memory_ids: Sequence[str]) -> dict[str, float]:
        """Give the cosine of each of these points to ``vector``; absent points are left out."""
        ...

    def vectors(self, memory_ids: Sequence[str]) -> dict[str, Sequence[float]]: ...

    def marks(self, memory_ids: Sequence[str]) -> dict[str, PointMark]:
        """Tell of each point, by the id asked for, what it was made of; absent points are left out."""
        ...

    def count(self, excluded_types: Sequence[str]) -> int: ...

    def ids(self, after: str, limit: int) -> Iterable[str]:
        """Give ids greater than ``after`` in ascending order: pages for drift checks."""
        ...
