"""Reading, changing and deleting one memory by its id (memory-api.md 3 to 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from automem.embedding.breaker import MonotonicStopwatch
from automem.errors import GraphUnavailable, InvalidInput, NotFound
from automem.events.memories import tell_deleted, tell_updated
from automem.memory import vector_part
from automem.memory.answers import Timer, public_properties
from automem.memory.fields import INVALID_ID, canonical_id
from automem.memory.store import link_conversation
from automem.models import Memory

if TYPE_CHECKING:
    from automem.services import Services

NOT_FOUND = "Memory not found"
PATIENCE_SECONDS = 2.0
"""So long a change of content waits for its vector; then the worker goes on alone."""

_RACES = 100
_PLACED_BY = frozenset(("tags", "timestamp"))
"""What decides on a memory's place in its conversation."""


def check_id(memory_id: str) -> str:
    """Give the id in canonical form.

    :raises InvalidInput: for what is no UUID.
    """
    canonical = canonical_id(memory_id)
    if canonical is None:
        raise InvalidInput(INVALID_ID, field="memory_id")
    return canonical


def get_memory(services: Services, memory_id: str) -> Mapping[str, Any]:
    """Give all public properties and ``superseded_by``; note the access in the background (D18).

    :raises InvalidInput: for an id that is no UUID.
    :raises NotFound: when there is no such memory.
    """
    memory = find(services, memory_id)
    services.access.record([memory.id])
    return {**public_properties(memory), **_successor(services, memory)}


def update_memory(services: Services, memory_id: str, changes: Mapping[str, Any]) -> str:
    """Apply all changes or none; give the memory's id (D24).

    Concurrent changes of other fields survive: the write counts only for the revision that was read,
    and is tried again on the next. Until a new text is embedded the graph says so, and recall does
    not trust the old vector.
    """
    timer = Timer(MonotonicStopwatch())
    memory = find(services, memory_id)
    if not changes:
        return memory.id
    with services.embedder.watch([memory.id]) as watch:
        applied = _apply(services, memory, changes)
        if "content" in applied:
            services.embedder.notify()
            watch.wait(PATIENCE_SECONDS)
        else:
            vector_part.refresh(services, [memory.id])
    if applied.keys() & _PLACED_BY:
        link_conversation(services, [memory.id])
    tell_updated(services.events, memory, changes, timer.milliseconds())
    return memory.id


def delete_memory(services: Services, memory_id: str) -> str:
    """Delete a memory with its edges, then its vector; give its id."""
    timer = Timer(MonotonicStopwatch())
    memory = find(services, memory_id)
    if not services.graph.delete([memory.id]):
        raise NotFound(NOT_FOUND)
    vector_part.remove(services, [memory.id])
    tell_deleted(services.events, [memory.id], timer.milliseconds())
    return memory.id


def _successor(services: Services, memory: Memory) -> Mapping[str, Any]:
    """Name the newest memory that has taken the place of this one, if there is any."""
    if not memory.replaced:
        return {}
    by_age = services.graph.replacements([memory.id], 1).get(memory.id)
    return {"superseded_by": by_age[0].new.id} if by_age else {}


def _apply(services: Services, memory: Memory, changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write the changes on whatever revision is current; give those that were made."""
    for _ in range(_RACES):
        applied = dict(changes)
        if applied.get("content") == memory.content:
            del applied["content"]
        if services.graph.update(memory.id, applied, memory.revision):
            return applied
        memory = find(services, memory.id)
    raise GraphUnavailable("Too many changes of this memory at the same time; try again")


def find(services: Services, memory_id: str) -> Memory:
    """Look under the canonical id, and as it is spelled: others may have written it so.

    :raises InvalidInput: for an id that is no UUID.
    :raises NotFound: when there is no such memory.
    """
    canonical = check_id(memory_id)
    found = services.graph.get_many(list(dict.fromkeys((canonical, memory_id))))
    memory = found.get(canonical) or found.get(memory_id)
    if memory is None:
        raise NotFound(NOT_FOUND)
    return memory
