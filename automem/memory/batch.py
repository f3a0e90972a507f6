"""Storing many memories at once: all or none (memory-api.md 2, D28)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from automem.errors import Conflict
from automem.events.memories import tell_stored
from automem.memory import idempotency
from automem.memory.answers import Answer, batch_answer
from automem.memory.drafts import NewMemory
from automem.memory.idempotency import WriteRequest
from automem.memory.store import RACES, amend, complete, create, link_conversation
from automem.memory.vector_part import FEW, put_given
from automem.models import Memory, MemoryDraft
from automem.stores.base import GraphStore, Receipt

if TYPE_CHECKING:
    from automem.services import Services

PATIENCE_SECONDS = 10.0
"""So long a batch waits for its vectors; the rest is left to the worker and reported as queued."""


def store_batch(
    services: Services,
    memories: Sequence[NewMemory],
    request: WriteRequest,
    patience: float = PATIENCE_SECONDS,
) -> Answer:
    """Store all memories in one write; rows whose id is stored with the same content keep it.

    :param patience: seconds to wait for the vectors after that.
    :raises Conflict: when the key or an id was used with other content; nothing is stored then.
    """
    for _ in range(RACES):
        earlier = idempotency.answer_of_key(services.graph, request, services.clock.now())
        if earlier is not None:
            return earlier
        existing = _existing(services.graph, memories)
        try:
            return _store_new(services, memories, existing, request, patience)
        except Conflict:
            # Another request was faster with one of the ids or with the key: look again.
            continue
    raise Conflict(idempotency.ID_REUSED)


def _existing(graph: GraphStore, memories: Sequence[NewMemory]) -> dict[str, Memory]:
    named = [memory.id for memory in memories if memory.id is not None]
    existing = graph.get_many(named) if named else {}
    for index, memory in enumerate(memories):
        found = existing.get(memory.id or "")
        if found is not None and found.content != memory.content:
            raise Conflict(f"Memory at index {index}: {idempotency.ID_REUSED}")
    return existing


def _store_new(
    services: Services,
    memories: Sequence[NewMemory],
    existing: Mapping[str, Memory],
    request: WriteRequest,
    patience: float,
) -> Answer:
    drafts = complete(services, [memory for memory in memories if memory.id not in existing])
    made = iter(drafts)
    memory_ids = [memory.id if memory.id in existing else next(made).id for memory in memories]
    ids = [memory_id for memory_id in memory_ids if memory_id is not None]
    first = batch_answer(ids, 0, request.timer.milliseconds())
    receipts = request.receipt(first, services.clock.now())
    settled = frozenset[str]()
    if drafts:
        owed = [draft.id for draft in drafts if draft.embedding is None]
        with services.embedder.watch(owed) as watch:
            _write(services, drafts, receipts)
            settled = put_given(services, drafts) | watch.wait(patience)
    ready = sum(not memory.vector_pending for memory in existing.values()) + len(settled)
    answer = batch_answer(ids, ready, request.timer.milliseconds())
    if drafts:
        amend(services.graph, receipts, answer)
        tell_stored(services.events, drafts, answer["query_time_ms"])
    return answer


def _write(services: Services, drafts: Sequence[MemoryDraft], receipts: Sequence[Receipt]) -> None:
    """Write to the graph and let the worker begin."""
    create(services.graph, drafts, receipts)
    if len(drafts) <= FEW:
        # Of many, enrichment does it in the background.
        link_conversation(services, [draft.id for draft in drafts])
    services.embedder.notify()
