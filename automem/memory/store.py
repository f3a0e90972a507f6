"""Storing one memory (memory-api.md 1; D22, D25, D39)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from automem.errors import Conflict, GraphUnavailable
from automem.events.memories import tell_stored
from automem.memory import idempotency
from automem.memory.answers import Answer, VectorOutcome, stored_answer
from automem.memory.classification import Classification
from automem.memory.drafts import NewMemory
from automem.memory.idempotency import WriteRequest
from automem.memory.supersede import create_successor, follow_up
from automem.memory.vector_part import after_the_write, settle_new
from automem.models import MemoryDraft
from automem.stores.base import GraphStore, Receipt

if TYPE_CHECKING:
    from automem.services import Services

RACES = 5
"""So often a write that lost to a twin looks for the twin's answer."""


def store(services: Services, memory: NewMemory, request: WriteRequest) -> Answer:
    """Store a memory, or give the first answer again (D25).

    :raises Conflict: when the key or the id was used with other content.
    :raises NotFound: when there is no memory to supersede; nothing was stored.
    :raises GraphUnavailable: when nothing was stored.
    """
    for _ in range(RACES):
        earlier = idempotency.answer_of_key(
            services.graph, request, services.clock.now()
        ) or idempotency.answer_of_id(services.graph, memory, request.timer)
        if earlier is not None:
            return _repeated(earlier, memory)
        try:
            return _store_new(services, memory, request)
        except Conflict:
            # A twin of this request was faster: its answer is there now.
            continue
    raise Conflict(idempotency.ID_REUSED)


def _store_new(services: Services, memory: NewMemory, request: WriteRequest) -> Answer:
    draft = complete(services, [memory])[0]
    # What is true whatever happens next; the full answer replaces it below.
    first = _answer(draft, VectorOutcome("queued", "queued"), memory, request)
    receipts = [
        *request.receipt(first, services.clock.now()),
        *idempotency.id_receipt(memory, first),
    ]
    if memory.supersedes is None:
        create(services.graph, [draft], receipts)
    else:
        create_successor(services, draft, memory.supersedes, receipts)
    link_conversation(services, [draft.id])
    answer = _answer(draft, settle_new(services, draft), memory, request)
    amend(services.graph, receipts, answer)
    tell_stored(services.events, [draft], answer["query_time_ms"])
    if memory.supersedes is not None:
        follow_up(services, memory.supersedes, answer["query_time_ms"])
    return answer


def _answer(draft: MemoryDraft, outcome: VectorOutcome, memory: NewMemory, request: WriteRequest) -> Answer:
    answer = stored_answer(draft, outcome, request.timer.milliseconds())
    return answer if memory.supersedes is None else {**answer, "superseded": memory.supersedes}


def _repeated(earlier: Answer, memory: NewMemory) -> Answer:
    """Give the first answer again, unless another memory is to be superseded now."""
    if memory.supersedes not in (None, earlier.get("superseded")):
        raise Conflict(idempotency.ID_REUSED)
    return earlier


def complete(services: Services, memories: Sequence[NewMemory]) -> list[MemoryDraft]:
    """Give each memory an id, a type and a confidence."""
    unsorted = [memory.content for memory in memories if memory.type is None]
    found = iter(services.classifier.classify(unsorted))
    drafts = []
    for memory in memories:
        if memory.type is not None and memory.confidence is not None:
            chosen = Classification(memory.type, memory.confidence)
        else:
            chosen = next(found)
        drafts.append(memory.draft(memory.id or services.new_id.new_id(), chosen))
    return drafts


def create(graph: GraphStore, drafts: Sequence[MemoryDraft], receipts: Sequence[Receipt]) -> None:
    """Write to the graph. A connection that breaks after the write has not lost it: look (D39, D41)."""
    try:
        graph.create(drafts, pending=True, receipts=receipts)
    except GraphUnavailable:
        if len(graph.get_many([draft.id for draft in drafts])) < len(drafts):
            raise


def link_conversation(services: Services, memory_ids: Sequence[str]) -> None:
    """Link memories to those before and after them in their conversation (D42)."""
    with after_the_write("linking a conversation"):
        at = services.clock.now().isoformat()
        services.graph.link_conversation(list(memory_ids), at)


def amend(graph: GraphStore, receipts: Sequence[Receipt], answer: Answer) -> None:
    """Record the full answer."""
    with after_the_write("recording an answer"):
        for receipt in receipts:
            graph.amend_receipt(receipt.key, json.dumps(answer))
