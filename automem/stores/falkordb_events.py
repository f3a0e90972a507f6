"""The log of events as a Redis stream on the server of the graph, so that processes share it."""

from __future__ import annotations

from typing import Any

from automem.stores.event_log import FIRST, LoggedEvent
from automem.stores.falkordb_connection import Connection

KEPT = 10_000
"""Events kept, about; the server trims whole blocks."""

_FIELD = "event"


class FalkorDBEvents:
    """``EventLog`` on the stream ``automem:events:<graph>``. Thread-safe."""

    def __init__(self, connection: Connection) -> None:
        """:param connection: of its own, since ``wait`` holds one for as long as it waits."""
        self._connection = connection
        self._key = f"automem:events:{connection.graph}"

    def append(self, text: str) -> str:
        return str(self._connection.command("XADD", self._key, "MAXLEN", "~", KEPT, "*", _FIELD, text))

    def last_id(self) -> str:
        newest = self._connection.command("XREVRANGE", self._key, "+", "-", "COUNT", 1)
        return str(newest[0][0]) if newest else FIRST

    def after(self, event_id: str, limit: int) -> list[LoggedEvent]:
        return _events(self._connection.command("XRANGE", self._key, f"({event_id}", "+", "COUNT", limit))

    def wait(self, event_id: str, limit: int, seconds: float) -> list[LoggedEvent]:
        milliseconds = max(1, int(seconds * 1000))
        found = self._connection.command(
            "XREAD", "COUNT", limit, "BLOCK", milliseconds, "STREAMS", self._key, event_id
        )
        return _events(found[0][1]) if found else []

    def close(self) -> None:
        self._connection.close()


def _events(entries: Any) -> list[LoggedEvent]:
    return [LoggedEvent(str(entry), str(fields.get(_FIELD, "{}"))) for entry, fields in entries or []]
