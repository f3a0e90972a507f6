"""The service as its clients see it: memories are stored and recalled over HTTP only."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import httpx

from benchmarks.data import Conversation, Turn
from benchmarks.progress import Progress

CONTENT_LIMIT = 32_768
"""Characters of one memory, the service's default MEMORY_CONTENT_HARD_LIMIT."""
LIMIT = 20

_BATCH_TURNS = 100
_BATCH_CHARACTERS = 2_000_000
_REQUEST_SECONDS = 300.0
_STALLED_SECONDS = 600.0
_POLL_SECONDS = 0.2
_NAMESPACE = uuid.UUID("8f1d7c54-0b5e-5b0c-9c41-6a4f2a3b7d10")


class ServiceFault(RuntimeError):
    """The service answered otherwise than it should; the message says what."""


@dataclass(frozen=True, slots=True)
class Ingest:
    """How storing went: seconds until all was accepted, and until the last vector was there."""

    turns: int
    accepted_seconds: float
    settled_seconds: float


@dataclass(frozen=True, slots=True)
class Recalled:
    """The ids of the memories found, best first, and how long the answer took."""

    memory_ids: tuple[str, ...]
    seconds: float


class Client:
    """One connection to one service; close it, or use it as a context manager."""

    def __init__(self, url: str, token: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=_REQUEST_SECONDS)

    def store(self, conversation: Conversation, tag: str, progress: Progress) -> dict[str, str]:
        """Store the turns in their order; gives the turn's id by the memory's.

        The memories' ids are made of tag and turn, so that storing the same again changes nothing.
        """
        turns: dict[str, str] = {}
        for batch in batches(conversation.turns):
            rows = [_memory(turn, tag) for turn in batch]
            answer = self._send("POST", "/memory/batch", json={"memories": rows})
            pairs = zip(answer["memory_ids"], batch, strict=True)
            turns.update((memory_id, turn.id) for memory_id, turn in pairs)
            progress.advance(len(batch))
        return turns

    def settle(self, progress: Progress) -> None:
        """Wait until no memory owes a vector; fails when their number stands still for ten minutes."""
        owed = self.pending()
        most, moved = owed, time.monotonic()
        while owed:
            time.sleep(_POLL_SECONDS)
            left = self.pending()
            if left != owed:
                moved = time.monotonic()
            elif time.monotonic() - moved > _STALLED_SECONDS:
                raise ServiceFault(f"{left} memories still owe their vectors and nothing moves")
            progress.reach(max(0, most - left), most)
            owed = left

    def pending(self) -> int:
        """Ask how many memories owe a vector."""
        return int(self._send("GET", "/health")["enrichment"]["pending"])

    def recall(self, question: str, tag: str, params: Mapping[str, str]) -> Recalled:
        """Ask one question inside one tag; an answer that says it is degraded is a fault."""
        query = {"query": question, "tags": tag, "tag_match": "exact", "limit": str(LIMIT), **params}
        start = time.perf_counter()
        answer = self._send("GET", "/recall", params=query)
        seconds = time.perf_counter() - start
        if answer.get("degraded"):
            raise ServiceFault(f"a recall was degraded: {answer.get('warnings')}")
        return Recalled(tuple(result["id"] for result in answer["results"]), seconds)

    def _send(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        try:
            response = self._http.request(method, path, **request)
        except httpx.TransportError as error:
            raise ServiceFault(f"{method} {path}: {type(error).__name__} {error}") from error
        if not response.is_success:
            raise ServiceFault(f"{method} {path} answered {response.status_code}: {response.text[:500]}")
        answer: dict[str, Any] = response.json()
        return answer

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()


def batches(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Part the turns, in order, into requests of a size that the service takes."""
    batch: list[Turn] = []
    characters = 0
    for turn in turns:
        full = len(batch) == _BATCH_TURNS or characters + len(turn.text) > _BATCH_CHARACTERS
        if batch and full:
            yield batch
            batch, characters = [], 0
        batch.append(turn)
        characters += len(turn.text)
    if batch:
        yield batch


def _memory(turn: Turn, tag: str) -> dict[str, Any]:
    memory_id = str(uuid.uuid5(_NAMESPACE, f"{tag}\n{turn.id}"))
    memory: dict[str, Any] = {"id": memory_id, "content": turn.text, "tags": [tag]}
    if turn.when is not None:
        memory["timestamp"] = turn.when.isoformat()
    return memory
