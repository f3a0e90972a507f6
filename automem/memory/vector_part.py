"""The vector half of each write: after the graph, never able to fail it (D39)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from automem.errors import Unavailable
from automem.memory.answers import VectorOutcome
from automem.models import MemoryDraft
from automem.workers.vectors import Embedded

if TYPE_CHECKING:
    from automem.services import Services

_log = logging.getLogger("automem.memory")

FEW = 20
"""So many payloads are written before the answer."""


@contextmanager
def after_the_write(what: str) -> Iterator[None]:
    """Let nothing escape: the write is stored, and what is owed stands in the graph."""
    try:
        yield
    except Unavailable as error:
        _log.warning("%s failed, the worker will make it good: %s", what, error)
    except Exception:  # D39: clients repeat a 5xx, and would store the memory a second time
        _log.exception("%s failed, the worker will try again", what)


def settle_new(services: Services, draft: MemoryDraft) -> VectorOutcome:
    """Store the vector that came with a memory, or leave it to the worker."""
    if draft.embedding is None:
        services.embedder.notify()
        return VectorOutcome("queued", "pending" if services.embedder.failing else "queued")
    settled = put_given(services, [draft])
    return VectorOutcome("stored" if draft.id in settled else "failed", "provided")


def put_given(services: Services, drafts: Sequence[MemoryDraft]) -> frozenset[str]:
    """Store the vectors that clients gave; give the ids that are settled."""
    given: Mapping[str, Embedded] = {
        draft.id: Embedded(draft.content, draft.embedding) for draft in drafts if draft.embedding is not None
    }
    settled: frozenset[str] = frozenset()
    if given:
        with after_the_write("storing given vectors"):
            settled = services.embedder.writer.put(given)
    if len(settled) < len(given):
        services.embedder.notify()
    return settled


def refresh(services: Services, memory_ids: Sequence[str]) -> None:
    """Bring the payloads in step with changed memories; many are left to the worker."""
    settled: frozenset[str] = frozenset()
    if len(memory_ids) <= FEW:
        with after_the_write("updating a payload"):
            settled = services.embedder.writer.refresh(memory_ids)
    if not settled.issuperset(memory_ids):
        services.embedder.notify()


def remove(services: Services, memory_ids: Sequence[str]) -> None:
    """Remove the vectors of deleted memories; tombstones in the graph remember what fails.

    The worker looks too: memories that these had replaced owe their payload now.
    """
    with after_the_write("removing vectors"):
        services.embedder.writer.remove(memory_ids)
    services.embedder.notify()
