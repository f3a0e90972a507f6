"""Reading an event stream as a client does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx


@dataclass(frozen=True)
class Told:
    """One event as it came."""

    id: str
    type: str
    timestamp: str
    data: dict[str, Any]


@dataclass
class Remembered:
    """An event sink that keeps what it is told."""

    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    dropped = 0

    def emit(self, type: str, data: Mapping[str, Any]) -> None:
        self.events.append((type, dict(data)))

    def of(self, type: str) -> list[dict[str, Any]]:
        """Give what was told of one type."""
        return [data for kind, data in self.events if kind == type]


class Listener:
    """An open stream. ``next`` gives the next event of a type; comments are kept aside."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.comments: list[str] = []
        self._lines = response.iter_lines()

    def lines(self) -> Iterator[str]:
        return self._lines

    def next(self, *types: str, about: str | None = None) -> Told:
        """Wait for an event of one of the types, about this memory; the client's time-out bounds it."""
        for told in self.events():
            if told.type in types and about in (None, told.data.get("id"), told.data.get("memory_id")):
                return told
        raise AssertionError("the stream ended")

    def comment(self) -> str:
        """Wait for the next comment."""
        for line in self._lines:
            if line.startswith(":"):
                return line
        raise AssertionError("the stream ended")

    def events(self) -> Iterator[Told]:
        event_id = ""
        for line in self._lines:
            if line.startswith(":"):
                self.comments.append(line)
            elif line.startswith("id: "):
                event_id = line[4:]
            elif line.startswith("data: "):
                told = json.loads(line[6:])
                assert set(told) == {"type", "timestamp", "data"}
                yield Told(event_id, told["type"], told["timestamp"], told["data"])


@contextmanager
def listening(
    url: str, after: str | None = None, query: str = "", timeout: float = 20.0
) -> Iterator[Listener]:
    """Open a stream, and wait until the service has said hello."""
    headers = {} if after is None else {"Last-Event-ID": after}
    with (
        httpx.Client(timeout=timeout) as client,
        client.stream("GET", f"{url}/stream{query}", headers=headers) as response,
    ):
        assert response.status_code == 200, response.read()
        listener = Listener(response)
        assert listener.comment() == ": connected"
        yield listener
