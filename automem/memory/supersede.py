"""Storing a memory in the place of another, in one write (``supersedes`` on POST /memory)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from automem.errors import GraphUnavailable, NotFound
from automem.events.memories import tell_updated
from automem.memory import vector_part
from automem.memory.vector_part import after_the_write
from automem.models import MemoryDraft
from automem.stores.base import Receipt
from automem.stores.edges import Successor

if TYPE_CHECKING:
    from automem.services import Services

NO_OLD_MEMORY = "'supersedes' names no memory; nothing was stored"


def create_successor(
    services: Services, draft: MemoryDraft, old_id: str, receipts: Sequence[Receipt]
) -> None:
    """Store the new memory, close the old one at the new one's timestamp, and link the two.

    :raises NotFound: when there is no such old memory; nothing is stored then.
    """
    successor = Successor(draft, old_id, services.clock.now().isoformat())
    try:
        found = services.graph.supersede(successor, receipts)
    except GraphUnavailable:
        # A connection that breaks after the write has not lost it: look (D39, D41).
        found = bool(services.graph.get_many([draft.id]))
        if not found:
            raise
    if not found:
        raise NotFound(NO_OLD_MEMORY)


def follow_up(services: Services, old_id: str, took_ms: float) -> None:
    """Bring the old memory's payload in step, and tell that it has changed."""
    vector_part.refresh(services, [old_id])
    with after_the_write("telling of a superseded memory"):
        for memory in services.graph.get_many([old_id]).values():
            tell_updated(services.events, memory, {"t_invalid": memory.properties.get("t_invalid")}, took_ms)
