"""Repeating the first answer when a write is sent again (D25).

Two things name a write: a client's ``Idempotency-Key``, kept for ``KEY_LIFETIME_SECONDS``, and a
client's own ``id``, for as long as its memory lives. The answer is recorded in the graph in the same
query as the memory, so that neither a kill nor two requests at once can store it twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from automem.errors import Conflict, InvalidInput
from automem.memory.answers import Answer, Timer, repeated_answer
from automem.memory.drafts import NewMemory
from automem.stores.base import GraphStore, Receipt
from automem.utils.time import to_epoch

KEY_LIFETIME_SECONDS = 7 * 86_400
MAX_KEY_LENGTH = 255

KEY_REUSED = "The Idempotency-Key was used before with another body"
ID_REUSED = "A memory with this id exists already with other content"


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """One write as it came in: its key, if any, and what tells its body from others."""

    fingerprint: str
    timer: Timer
    key: str | None = None

    def receipt(self, answer: Answer, now: datetime) -> list[Receipt]:
        """Give what is to be recorded for the key; nothing without one."""
        if self.key is None:
            return []
        expires = to_epoch(now) + KEY_LIFETIME_SECONDS
        return [Receipt(self.key, self.fingerprint, json.dumps(answer), expires)]


def read_request(route: str, body: Mapping[str, Any], key: str | None, timer: Timer) -> WriteRequest:
    """Take the header as it came; raises ``InvalidInput`` for one that is blank or too long."""
    fingerprint = _digest(json.dumps([route, body], sort_keys=True))
    if key is None:
        return WriteRequest(fingerprint, timer)
    trimmed = key.strip()
    if not trimmed or len(trimmed) > MAX_KEY_LENGTH or not trimmed.isprintable():
        message = f"Idempotency-Key must be 1 to {MAX_KEY_LENGTH} printable characters"
        raise InvalidInput(message, field="Idempotency-Key")
    return WriteRequest(fingerprint, timer, f"key:{trimmed}")


def answer_of_key(graph: GraphStore, request: WriteRequest, now: datetime) -> Answer | None:
    """Give the answer recorded for the request's key; None where it is new or has expired.

    :raises Conflict: when the key came with another body.
    """
    if request.key is None:
        return None
    receipt = graph.receipts([request.key]).get(request.key)
    if receipt is None:
        return None
    if receipt.expires is not None and receipt.expires <= to_epoch(now):
        graph.forget_receipts(to_epoch(now))
        return None
    if receipt.fingerprint != request.fingerprint:
        raise Conflict(KEY_REUSED)
    return _read(receipt)


def id_receipt(memory: NewMemory, answer: Answer) -> list[Receipt]:
    """Give what is to be recorded for a client's own id; nothing without one."""
    if memory.id is None:
        return []
    return [Receipt(_id_key(memory.id), _digest(memory.content), json.dumps(answer))]


def answer_of_id(graph: GraphStore, memory: NewMemory, timer: Timer) -> Answer | None:
    """Give the first answer for the client's id; None where no such memory exists.

    :raises Conflict: when it was stored with other content.
    """
    if memory.id is None:
        return None
    existing = graph.get_many([memory.id]).get(memory.id)
    if existing is None:
        return None
    receipt = graph.receipts([_id_key(memory.id)]).get(_id_key(memory.id))
    if receipt is not None and receipt.fingerprint == _digest(memory.content):
        return _read(receipt)
    if existing.content != memory.content:
        raise Conflict(ID_REUSED)
    return repeated_answer(existing, timer.milliseconds())


def _id_key(memory_id: str) -> str:
    return f"id:{memory_id}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read(receipt: Receipt) -> Answer:
    return cast(Answer, json.loads(receipt.answer))
