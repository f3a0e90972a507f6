"""One reader of the log for all listeners of this process (service.md 7)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from automem.errors import Unavailable
from automem.events.subscription import Subscription
from automem.stores.event_log import EventLog, id_order
from automem.workers.thread import WorkerThread

_log = logging.getLogger("automem.events")


@dataclass(frozen=True, slots=True)
class StreamPace:
    """Times in seconds, sizes in events.

    :param keepalive: silence after which a listener is sent a sign of life.
    :param look: how often a silent stream looks whether its client is gone or the service stops.
    :param block: longest wait of the reader for new events; a stop takes as long.
    :param queue: events that wait for one listener; behind on more, it reads them from the log.
    """

    keepalive: float = 30.0
    look: float = 0.5
    block: float = 0.5
    retry: float = 1.0
    queue: int = 100


class TooManyStreams(Unavailable):
    """All places for listeners are taken."""


class StreamHub(WorkerThread):
    """Gives each event of the log to all subscriptions. Reads nothing while there are none."""

    def __init__(self, log: EventLog, limit: int, pace: StreamPace | None = None) -> None:
        """:param limit: most subscriptions at the same time."""
        super().__init__("streams")
        self.pace = pace or StreamPace()
        self.ending = False
        """Set, also by a signal handler, to make all streams end soon."""
        self._event_log = log
        self._limit = limit
        self._lock = Lock()
        self._subscriptions: set[Subscription] = set()
        self._taken = 0
        self._read_to = ""

    @property
    def subscribers(self) -> int:
        """Listeners of this process."""
        return self._taken

    def subscribe(self, after: str | None) -> Subscription:
        """Begin with the first event behind ``after``, None for the next one. To be ended by ``leave``.

        :raises TooManyStreams: when there are ``limit`` already.
        :raises GraphUnavailable: when the log does not answer.
        """
        with self._seat():
            newest = self._event_log.last_id()
            # An id beyond the newest was given by other data; waiting for it would tell nothing for long.
            start = newest if after is None or id_order(after) > id_order(newest) else after
            subscription = Subscription(self._event_log, start, self.pace.queue)
            with self._lock:
                if not self._subscriptions:
                    self._read_to = newest
                self._subscriptions.add(subscription)
        self.notify()
        return subscription

    def leave(self, subscription: Subscription) -> None:
        """End a subscription. Calling it twice does no harm."""
        with self._lock:
            if subscription in self._subscriptions:
                self._subscriptions.discard(subscription)
                self._taken -= 1

    def stop(self, timeout: float | None = None) -> None:
        """Let all streams end."""
        self.ending = True
        super().stop(timeout)

    def close(self) -> None:
        """Close the log; to be called when nothing uses it any more."""
        self._event_log.close()

    @contextmanager
    def _seat(self) -> Iterator[None]:
        """Take a place before asking the log; give it back if that fails."""
        with self._lock:
            if self._taken >= self._limit or self.ending:
                raise TooManyStreams(f"All {self._limit} event streams are taken; try again later")
            self._taken += 1
        try:
            yield
        except BaseException:
            with self._lock:
                self._taken -= 1
            raise

    def _run_once(self) -> float:
        with self._lock:
            listeners, position = list(self._subscriptions), self._read_to
        if not listeners:
            return 3600.0
        try:
            events = self._event_log.wait(position, self.pace.queue, self.pace.block)
        except Unavailable as error:
            _log.warning("streams wait: %s", error)
            self._rest(self.pace.retry)
            return 0.0
        if events:
            with self._lock:
                listeners, self._read_to = list(self._subscriptions), events[-1].id
            for listener in listeners:
                listener.offer(events)
        return 0.0
