"""A circuit breaker: a service that is down is left alone for a while instead of waited for each time."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

_log = logging.getLogger(__name__)


class Stopwatch(Protocol):
    """Time that only runs forward; its zero means nothing."""

    def seconds(self) -> float: ...


class MonotonicStopwatch:
    """The system's monotonic clock."""

    def seconds(self) -> float:
        return time.monotonic()


@dataclass(frozen=True)
class BreakerConfig:
    """:param failures: failures in a row that open it. :param cooldown_seconds: how long it stays open."""

    failures: int = 3
    cooldown_seconds: float = 30.0


class CircuitBreaker:
    """Counts failures in a row; when open, refuses until the cool-down is over, then lets one call try.

    Ask ``admits()`` before each call; after True report exactly one of ``succeeded()`` and
    ``failed()``. One success closes it, a failed trial opens it for another cool-down.
    """

    def __init__(self, name: str, config: BreakerConfig, stopwatch: Stopwatch) -> None:
        self._name = name
        self._config = config
        self._stopwatch = stopwatch
        self._lock = Lock()
        self._failures = 0
        self._opened_at: float | None = None
        self._trying = False

    @property
    def is_open(self) -> bool:
        """Say whether the service counts as down. Changes nothing."""
        with self._lock:
            return self._opened_at is not None

    def admits(self) -> bool:
        """Say whether a call may be made now."""
        with self._lock:
            if self._opened_at is None:
                return True
            waited = self._stopwatch.seconds() - self._opened_at
            if self._trying or waited < self._config.cooldown_seconds:
                return False
            self._trying = True
            return True

    def succeeded(self) -> None:
        """Report that the service answered."""
        with self._lock:
            if self._opened_at is not None:
                _log.info("%s answers again", self._name)
            self._failures = 0
            self._opened_at = None
            self._trying = False

    def failed(self) -> None:
        """Report that the service did not answer, or not properly."""
        with self._lock:
            self._failures += 1
            self._trying = False
            if self._failures >= self._config.failures:
                if self._opened_at is None:
                    _log.warning("%s is left alone after %d failures in a row", self._name, self._failures)
                self._opened_at = self._stopwatch.seconds()
