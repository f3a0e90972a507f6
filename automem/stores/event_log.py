"""What the log of events offers: appended to by every process of a store, read by all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

FIRST = "0-0"
"""The id before all events."""


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event as it is sent: its id in the log, and the JSON text."""

    id: str
    text: str


class EventLog(Protocol):
    """The newest events of one graph, about 10,000. Methods raise ``GraphUnavailable``."""

    def append(self, text: str) -> str:
        """Add an event; give its id."""
        ...

    def last_id(self) -> str:
        """Give the id of the newest event, ``FIRST`` without any."""
        ...

    def after(self, event_id: str, limit: int) -> list[LoggedEvent]:
        """Give the oldest events behind an id, at once."""
        ...

    def wait(self, event_id: str, limit: int, seconds: float) -> list[LoggedEvent]:
        """Give the oldest events behind an id; wait for one, but not longer than this."""
        ...

    def close(self) -> None: ...


def id_order(event_id: str) -> tuple[int, int]:
    """Give what orders ids; ValueError for what is none."""
    moment, dash, number = event_id.partition("-")
    if not (moment.isdecimal() and moment.isascii()) or (
        dash and not (number.isdecimal() and number.isascii())
    ):
        raise ValueError(f"not an event id: {event_id[:64]!r}")
    return int(moment), int(number or 0)
