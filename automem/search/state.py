"""Current state: what is hidden, and what stands in its place (recall.md 10, D17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from automem.models import Memory
from automem.search.types import StateReason
from automem.stores.base import GraphStore, Replacement

MAX_HOPS = 5
"""A chain of replacements is followed this far from the memory that was found."""

Chains = Mapping[str, Sequence[Replacement]]
"""Outgoing replacement edges by old id, newest first."""


def own_reason(memory: Memory, now: datetime) -> StateReason | None:
    """Say why a memory is hidden by its own fields; None when it is active."""
    if memory.archived:
        return "archived"
    if memory.valid_from is not None and memory.valid_from > now:
        return "not_yet_valid"
    if memory.valid_until is not None and memory.valid_until <= now:
        return "expired"
    return None


def active_replacement(memory_id: str, chains: Chains, now: datetime) -> Replacement | None:
    """Give the newest outgoing edge whose target is active, or None (recall.md 10)."""
    edges = chains.get(memory_id, ())
    return next(
        (edge for edge in edges if edge.new.id != memory_id and own_reason(edge.new, now) is None), None
    )


def state_reason(memory: Memory, chains: Chains, now: datetime) -> StateReason | None:
    """Say why a memory is hidden in current mode, in the order of the contract; None when it is not."""
    own = own_reason(memory, now)
    if own is not None:
        return own
    return "superseded" if active_replacement(memory.id, chains, now) else None


@dataclass(frozen=True, slots=True)
class Walk:
    """A chain from its first hop to its head; ``ended`` is false where only ``MAX_HOPS`` stopped it."""

    first: Replacement
    head: Memory
    ended: bool


def head_of_chain(memory_id: str, chains: Chains, now: datetime) -> Walk | None:
    """Follow replacements to the last one, None when there is none.

    Stops after ``MAX_HOPS`` or where the chain would return to a memory already seen.
    """
    first = active_replacement(memory_id, chains, now)
    if first is None:
        return None
    seen = {memory_id, first.new.id}
    head = first.new
    for _ in range(MAX_HOPS - 1):
        step = active_replacement(head.id, chains, now)
        if step is None or step.new.id in seen:
            return Walk(first, head, ended=True)
        head = step.new
        seen.add(head.id)
    return Walk(first, head, ended=active_replacement(head.id, chains, now) is None)


def replacement_chains(memories: Sequence[Memory], graph: GraphStore) -> Chains:
    """Read the replacement edges around these memories in one query.

    Raises ``GraphUnavailable``: then only the memories' own fields can be judged.
    """
    ids = [memory.id for memory in memories]
    return graph.replacements(ids, MAX_HOPS) if ids else {}
