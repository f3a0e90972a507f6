"""What the embedding worker tells other threads: counters, and when given memories are settled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Condition, Lock
from types import TracebackType

from automem.embedding.base import EmbeddingRefused
from automem.errors import Unavailable


@dataclass(frozen=True, slots=True)
class EmbeddingStats:
    """Counters since the start, in memories.

    ``failures_in_a_row`` are those since the last success, refusals of a single text left out;
    ``outage_rounds`` are rounds given up in a row, 0 when all is well.
    """

    stored: int = 0
    failures: int = 0
    failures_in_a_row: int = 0
    outage_rounds: int = 0
    last_error: str | None = None
    last_error_at: datetime | None = None


class WorkBoard:
    """Where the worker writes what it did. Safe for many threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._stats = EmbeddingStats()
        self._watches: set[Watch] = set()

    def stats(self) -> EmbeddingStats:
        with self._lock:
            return self._stats

    def watch(self, memory_ids: Sequence[str]) -> Watch:
        """Wait for the vectors of these."""
        watch = Watch(self, memory_ids)
        with self._lock:
            self._watches.add(watch)
        return watch

    def unwatch(self, watch: Watch) -> None:
        with self._lock:
            self._watches.discard(watch)

    def paid(self, memory_ids: frozenset[str], embedded: bool = True) -> None:
        """Note settled memories; ``embedded`` says that the provider had a part in it, and so works."""
        with self._lock:
            in_a_row = 0 if embedded else self._stats.failures_in_a_row
            stored = self._stats.stored + len(memory_ids)
            self._stats = replace(self._stats, stored=stored, failures_in_a_row=in_a_row)
            watches = list(self._watches)
        for watch in watches:
            watch.settle(memory_ids)

    def refreshed(self, memory_ids: frozenset[str]) -> None:
        """Note memories whose payload only was owed: nobody watches for that."""
        with self._lock:
            self._stats = replace(self._stats, stored=self._stats.stored + len(memory_ids))

    def failed(self, memory_id: str, error: Unavailable, at: datetime) -> int:
        """Note that one memory has to wait for a later try; give the failures in a row."""
        with self._lock:
            in_a_row = self._stats.failures_in_a_row + (not isinstance(error, EmbeddingRefused))
            counted = replace(self._stats, failures=self._stats.failures + 1, failures_in_a_row=in_a_row)
            self._stats = replace(counted, last_error=error.message, last_error_at=at)
            watches = list(self._watches)
        for watch in watches:
            watch.give_up([memory_id])
        return in_a_row

    def outage(self, error: str, at: datetime) -> int:
        """Note a round that failed as a whole; give how many did in a row."""
        with self._lock:
            rounds = self._stats.outage_rounds + 1
            self._stats = replace(self._stats, outage_rounds=rounds, last_error=error, last_error_at=at)
            watches = list(self._watches)
        for watch in watches:
            watch.give_up()
        return rounds

    def recovered(self) -> None:
        with self._lock:
            self._stats = replace(self._stats, outage_rounds=0)


class Watch:
    """Waits for memories to be settled; a context manager."""

    def __init__(self, board: WorkBoard, memory_ids: Sequence[str]) -> None:
        self._board = board
        self._open = set(memory_ids)
        self._settled: set[str] = set()
        self._changed = Condition()

    def wait(self, timeout: float) -> frozenset[str]:
        """Wait until each memory is settled or has failed, at most ``timeout`` seconds.

        Gives the settled ones.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._open, timeout)
            return frozenset(self._settled)

    def settle(self, memory_ids: frozenset[str]) -> None:
        with self._changed:
            done = self._open & memory_ids
            self._open -= done
            self._settled |= done
            self._changed.notify_all()

    def give_up(self, memory_ids: Iterable[str] | None = None) -> None:
        """Wait no longer for these, or for any: they will not be settled soon."""
        with self._changed:
            self._open -= set(self._open if memory_ids is None else memory_ids)
            self._changed.notify_all()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._board.unwatch(self)
