"""Events on their way from a request to the log: noted at once, sent by a thread."""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Mapping
from threading import Lock
from typing import Any

from automem.errors import Unavailable
from automem.stores.event_log import EventLog
from automem.utils.clock import Clock
from automem.workers.thread import WorkerThread

_log = logging.getLogger("automem.events")


class EventSender(WorkerThread):
    """``EventSink`` that writes into the log in the order of telling.

    With the log away the newest ``capacity`` events wait for it; the oldest are dropped and counted.
    """

    def __init__(self, log: EventLog, clock: Clock, capacity: int = 10_000, retry: float = 1.0) -> None:
        super().__init__("events")
        self._event_log = log
        self._clock = clock
        self._capacity = capacity
        self._retry = retry
        self._lock = Lock()
        self._waiting: deque[str] = deque()
        self._dropped = 0

    @property
    def dropped(self) -> int:
        """Events since the start that nobody will hear of."""
        return self._dropped

    def emit(self, type: str, data: Mapping[str, Any]) -> None:
        event = {"type": type, "timestamp": self._clock.now().isoformat(), "data": dict(data)}
        try:
            text = json.dumps(event, ensure_ascii=False, allow_nan=False, default=str)
            text.encode()
        except (ValueError, TypeError, RecursionError) as error:
            _log.error("an event %s cannot be told: %s", type, error)
            self._drop(1)
            return
        with self._lock:
            self._waiting.append(text)
            excess = len(self._waiting) - self._capacity
            if excess > 0:
                self._waiting.popleft()
        if excess > 0:
            self._drop(1)
        self.notify()

    def stop(self, timeout: float | None = None) -> None:
        """Send what is waiting if the log takes it, then end."""
        super().stop(timeout)
        self._send()

    def _run_once(self) -> float:
        if self._send():
            return 3600.0
        self._rest(self._retry)
        return 0.0

    def _send(self) -> bool:
        """Send all that is waiting, False when the log is away."""
        while (text := self._next()) is not None:
            try:
                self._event_log.append(text)
            except Unavailable as error:
                _log.warning("events wait: %s", error)
                with self._lock:
                    self._waiting.appendleft(text)
                return False
        return True

    def _next(self) -> str | None:
        with self._lock:
            return self._waiting.popleft() if self._waiting else None

    def _drop(self, count: int) -> None:
        with self._lock:
            self._dropped += count
