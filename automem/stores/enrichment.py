"""What the graph store offers to enrichment: the work that memories wait for; part of ``GraphStore``.

A memory waits for its vector (``waiting``), may be enriched (``ready``), has been but for what needs its
vector (``partial``), or was given up (``failed``). That stands on its node, written with the memory itself
(D22). Work is claimed for a while: what a dead process had claimed comes back (several may share a graph).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from automem.models import JSON, Memory
from automem.stores.additions import Additions


@dataclass(frozen=True, slots=True)
class Lease:
    """A claim on work: of whom, and until when."""

    owner: str
    now: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Claim:
    """A memory to enrich, as it was when it was claimed.

    :param attempt: counts from 1.
    :param forced: asked for by name.
    :param changed: its text is another than the one enriched before, so what was found then is void.
    :param by_chat: its summary is the chat model's, and better than a rule's.
    :param provisional: nobody chose its type.
    :param refused: the provider refuses its text, so that it gets no vector.
    """

    memory: Memory
    attempt: int = 1
    forced: bool = False
    changed: bool = False
    by_chat: bool = False
    provisional: bool = False
    refused: bool = False


@dataclass(frozen=True, slots=True)
class ChatClaim:
    """A memory that the chat model may improve; ``provisional``: its type too, which nobody chose."""

    memory: Memory
    attempt: int
    provisional: bool


@dataclass(frozen=True, slots=True)
class Enriched:
    """What to write on an enriched memory, if it still is as it was read.

    :param properties: public properties to set, ``tags`` and ``metadata`` whole.
    :param complete: nothing waits for the vector.
    :param chat: the chat model may still improve it, in the background.
    """

    memory: Memory
    properties: Mapping[str, JSON]
    additions: Additions
    complete: bool
    chat: bool = False


@dataclass(frozen=True, slots=True)
class EnrichmentCounts:
    """Memories: ``pending`` wait for enrichment, ``inflight`` of them claimed; ``failed`` were given up,
    or their vectors were."""

    pending: int
    inflight: int
    failed: int


@dataclass(frozen=True, slots=True)
class EnrichmentFailure:
    """A memory that was given up."""

    memory_id: str
    attempts: int
    error: str


@dataclass(frozen=True, slots=True)
class Similar:
    """The neighbours of a memory by meaning, with their cosine; ``fresh`` drops those of an older text."""

    memory_id: str
    near: tuple[tuple[str, float], ...]
    fresh: bool = False


class EnrichmentStore(Protocol):
    """Pending enrichment, and what it writes."""

    def claim_enrichment(self, lease: Lease, limit: int, ahead: bool) -> list[Claim]:
        """Take memories that may be enriched and are due, none that another holds.

        :param ahead: also those that still wait for their vector.
        """
        ...

    def finish_enrichment(self, owner: str, results: Sequence[Enriched]) -> set[str]:
        """Write results on the memories that are still at the revision read and held by ``owner``; give
        their ids. Their payload is owed. One that is not ``complete`` goes on when its vector is stored."""
        ...

    def enrichment_failed(self, owner: str, memory_id: str, error: str, retry_at: datetime | None) -> None:
        """Count an attempt and set when to try again; None: the memory is given up."""
        ...

    def release_enrichment(self, owner: str, memory_ids: Sequence[str], at: datetime) -> None:
        """Give claims back without counting an attempt, to be due at ``at``."""
        ...

    def free_enrichment(self) -> None:
        """Take all claims away: to be called where no other process can hold one."""
        ...

    def request_enrichment(self, memory_ids: Sequence[str]) -> list[str]:
        """Queue memories again, whatever was done; give the ids that exist."""
        ...

    def retry_enrichment(self) -> int:
        """Queue all that were given up again; give their number."""
        ...

    def enrichment_counts(self, now: datetime) -> EnrichmentCounts: ...

    def enrichment_failures(self, after: str, limit: int) -> list[EnrichmentFailure]:
        """Give memories that were given up, or whose vectors were, by id, those greater than ``after``."""
        ...

    def unsettled_count(self) -> int:
        """Count memories that owe the vector store something or wait for enrichment."""
        ...

    def link_similar(self, similar: Sequence[Similar], at: str) -> None:
        """Make SIMILAR_TO edges, both ways, with ``score``."""
        ...

    # what the chat model may improve
    def claim_chat(self, lease: Lease, limit: int) -> list[ChatClaim]:
        """Take memories whose type or summary the chat model may improve."""
        ...

    def finish_chat(self, owner: str, memory: Memory, properties: Mapping[str, JSON]) -> bool:
        """Write what the model gave, if the memory is still as it was read. False: it was changed, or is
        claimed by another; a changed one stays claimed."""
        ...

    def chat_failed(self, owner: str, memory_id: str, retry_at: datetime | None) -> None:
        """Count an attempt and set when to try again; None: leave it as it is."""
        ...
