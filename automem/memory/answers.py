"""The answers to writes (memory-api.md 1 and 2) as JSON objects, and the time they took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from automem.embedding.breaker import Stopwatch
from automem.models import Memory, MemoryDraft

Answer = dict[str, Any]
"""A complete JSON answer without warnings."""

VectorState = Literal["stored", "failed", "queued"]
EmbeddingStatus = Literal["provided", "queued", "pending"]
ENRICHMENT = "queued"
"""It is recorded with the write itself (D22)."""


class Timer:
    """Measures one request from the moment it is made."""

    def __init__(self, stopwatch: Stopwatch) -> None:
        self._stopwatch = stopwatch
        self._start = stopwatch.seconds()

    def milliseconds(self) -> float:
        """Give what has passed so far, with two decimals."""
        return round((self._stopwatch.seconds() - self._start) * 1000, 2)


@dataclass(frozen=True, slots=True)
class VectorOutcome:
    """What became of a new memory's vector: in the vector store, and on the way to it.

    ``embedding`` is ``pending`` where the provider is known to fail at the moment (D23).
    """

    qdrant: VectorState
    embedding: EmbeddingStatus


def stored_answer(draft: MemoryDraft, outcome: VectorOutcome, took_ms: float) -> Answer:
    """Build the answer of POST /memory."""
    return {
        "status": "success",
        "memory_id": draft.id,
        "stored_at": draft.timestamp,
        "type": draft.type,
        "confidence": draft.confidence,
        "qdrant": outcome.qdrant,
        "embedding_status": outcome.embedding,
        "enrichment": ENRICHMENT,
        "metadata": dict(draft.metadata),
        "timestamp": draft.timestamp,
        "updated_at": draft.updated_at,
        "last_accessed": draft.last_accessed,
        "query_time_ms": took_ms,
    }


def repeated_answer(memory: Memory, took_ms: float) -> Answer:
    """Build the answer for a memory that was stored before, as it is now."""
    own = memory.properties
    answer = {
        "status": "success",
        "memory_id": memory.id,
        "stored_at": own.get("timestamp"),
        "type": own.get("type"),
        "confidence": own.get("confidence"),
        "qdrant": "queued" if memory.vector_pending else "stored",
        "embedding_status": "queued" if memory.vector_pending else "provided",
        "enrichment": ENRICHMENT,
        "metadata": dict(memory.metadata),
        "timestamp": own.get("timestamp"),
        "updated_at": own.get("updated_at"),
        "last_accessed": own.get("last_accessed"),
        "query_time_ms": took_ms,
    }
    return {name: value for name, value in answer.items() if value is not None}


def batch_answer(memory_ids: Sequence[str], vectors: int, took_ms: float) -> Answer:
    """Build the answer of POST /memory/batch; ``vectors`` counts the memories that have theirs."""
    return {
        "status": "success",
        "stored": len(memory_ids),
        "memory_ids": list(memory_ids),
        "qdrant": _batch_state(vectors, len(memory_ids) - vectors),
        "enrichment": ENRICHMENT,
        "query_time_ms": took_ms,
    }


def _batch_state(stored: int, queued: int) -> str:
    if not stored:
        return "queued"
    return f"stored ({stored}), queued ({queued})" if queued else f"stored ({stored})"


def public_properties(memory: Memory) -> Mapping[str, Any]:
    """Give a memory as GET shows it: what is set, and ``metadata`` always (memory-api.md 3, D38)."""
    shown = {name: value for name, value in memory.properties.items() if value is not None}
    shown.setdefault("metadata", {})
    return shown
