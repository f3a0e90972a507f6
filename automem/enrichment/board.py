"""What the enrichment worker tells others: counters, and events (service.md 7 and 10)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock

from automem.events.base import EventSink
from automem.stores.enrichment import Claim, Lease
from automem.utils.clock import Clock

_TOLD_ERROR = 100


@dataclass(frozen=True, slots=True)
class EnrichmentStats:
    """Counters since the start, in memories."""

    successes: int = 0
    failures: int = 0
    last_success_id: str | None = None
    last_success_at: datetime | None = None
    last_error: str | None = None
    last_error_at: datetime | None = None

    @property
    def processed(self) -> int:
        """Tries that came to an end."""
        return self.successes + self.failures


@dataclass(frozen=True, slots=True)
class Desk:
    """Who claims work, and by what clock; ``owner`` is another in every process."""

    owner: str
    clock: Clock

    def lease(self, seconds: float) -> Lease:
        """Give a claim from now on."""
        now = self.clock.now()
        return Lease(self.owner, now, now + timedelta(seconds=seconds))


class EnrichmentBoard:
    """Counts and tells what is done. Safe for many threads."""

    def __init__(self, events: EventSink, clock: Clock) -> None:
        self._clock = clock
        self._events = events
        self._lock = Lock()
        self._stats = EnrichmentStats()
        self._begun: dict[str, datetime] = {}

    @property
    def stats(self) -> EnrichmentStats:
        with self._lock:
            return self._stats

    def started(self, claim: Claim) -> None:
        """Note that a memory is worked on."""
        with self._lock:
            self._begun[claim.memory.id] = self._clock.now()
        self._events.emit("enrichment.start", {"memory_id": claim.memory.id, "attempt": claim.attempt})

    def completed(self, memory_id: str, skipped: bool = False) -> None:
        """Note that a memory is done; ``skipped``: it was deleted or has another text by now."""
        now, elapsed = self._end(memory_id)
        with self._lock:
            successes = self._stats.successes + 1
            self._stats = replace(
                self._stats, successes=successes, last_success_id=memory_id, last_success_at=now
            )
        done = {"memory_id": memory_id, "success": True, "elapsed_ms": elapsed, "skipped": skipped}
        self._events.emit("enrichment.complete", done)

    def postponed(self, memory_id: str) -> None:
        """Note that the rest waits."""
        self._end(memory_id)

    def failed(self, claim: Claim, error: str, will_retry: bool) -> None:
        """Note a try that failed."""
        now, elapsed = self._end(claim.memory.id)
        with self._lock:
            failures = self._stats.failures + 1
            self._stats = replace(self._stats, failures=failures, last_error=error, last_error_at=now)
        about = {"memory_id": claim.memory.id, "error": error[:_TOLD_ERROR], "attempt": claim.attempt}
        self._events.emit("enrichment.failed", {**about, "elapsed_ms": elapsed, "will_retry": will_retry})

    def _end(self, memory_id: str) -> tuple[datetime, float]:
        """Give now, and the milliseconds since the start."""
        now = self._clock.now()
        with self._lock:
            begun = self._begun.pop(memory_id, now)
        return now, round((now - begun).total_seconds() * 1000, 2)
