"""One listener's place in the log: what it has been given, and what waits for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from threading import Condition

from automem.errors import Unavailable
from automem.stores.event_log import EventLog, LoggedEvent, id_order

_PAGE = 200


class Subscription:
    """Every event behind ``after``, once and in order, for one consumer.

    New events are offered by the hub. A listener that is slower than they come does not lose any: its
    queue is given up, and it reads on from the log.
    """

    def __init__(self, log: EventLog, after: str, capacity: int) -> None:
        self._log = log
        self._given = id_order(after)
        self._position = after
        self._capacity = capacity
        self._page: deque[LoggedEvent] = deque()
        self._arrival = Condition()
        self._offered: deque[LoggedEvent] = deque()
        self._behind = True

    def offer(self, events: Iterable[LoggedEvent]) -> None:
        """Hand over new events, never waiting for the listener."""
        with self._arrival:
            self._offered.extend(events)
            if len(self._offered) > self._capacity:
                self._offered.clear()
                self._behind = True
            self._arrival.notify()

    def next_event(self, seconds: float) -> LoggedEvent | None:
        """Give the next event; None when there is none within this time."""
        while (event := self._take(seconds)) is not None:
            order = id_order(event.id)
            if order > self._given:
                self._given, self._position = order, event.id
                return event
        return None

    def _take(self, seconds: float) -> LoggedEvent | None:
        if not self._page and self._behind:
            self._catch_up()
        if self._page:
            return self._page.popleft()
        with self._arrival:
            if self._behind:
                # The log is away: what is offered now comes after what is still missing.
                self._arrival.wait(seconds)
                return None
            self._arrival.wait_for(lambda: bool(self._offered), seconds)
            return self._offered.popleft() if self._offered and not self._behind else None

    def _catch_up(self) -> None:
        # First the mark, then the look: what comes in between is offered, or was in the log already.
        with self._arrival:
            self._behind = False
        try:
            self._page.extend(self._log.after(self._position, _PAGE))
            unfinished = len(self._page) >= _PAGE
        except Unavailable:
            unfinished = True
        with self._arrival:
            self._behind = self._behind or unfinished
