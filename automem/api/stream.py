"""GET /stream: events as they happen (service.md 7, D34), and how many listen."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterator
from typing import Any

from flask import Blueprint, Response, request
from pydantic import BaseModel, Field

from automem.api.context import services
from automem.api.errors import ErrorAnswer
from automem.api.openapi import describe
from automem.api.requests import answer, query_string
from automem.errors import InvalidInput
from automem.events.hub import StreamHub
from automem.stores.event_log import LoggedEvent, id_order

bp = Blueprint("stream", __name__)

_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
_WELCOME = b": connected\n\n"
_KEEPALIVE = b": keepalive\n\n"


class StreamQuery(BaseModel):
    """Where to begin."""

    last_event_id: str | None = Field(
        default=None, description="Begin behind this event. The header `Last-Event-ID` does the same."
    )


class StreamStatus(BaseModel):
    """Who listens."""

    subscribers: int
    dropped: int | None = Field(default=None, description="Events that could not be told; absent: none.")


class EventStream:
    """The body of one stream: an iterator that ends with the service, or when its client is gone.

    ``close`` gives the place free; the server calls it in any case.
    """

    def __init__(self, hub: StreamHub, after: str | None, connection: socket.socket | None) -> None:
        self._hub = hub
        self._connection = connection
        self._subscription = hub.subscribe(after)
        self._welcomed = False

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if not self._welcomed:
            self._welcomed = True
            return _WELCOME
        silent_until = time.monotonic() + self._hub.pace.keepalive
        while not self._hub.ending and not _is_gone(self._connection):
            event = self._subscription.next_event(self._hub.pace.look)
            if event is not None:
                return _message(event)
            if time.monotonic() >= silent_until:
                return _KEEPALIVE
        raise StopIteration

    def close(self) -> None:
        """End the subscription."""
        self._hub.leave(self._subscription)


def _message(event: LoggedEvent) -> bytes:
    return f"id: {event.id}\ndata: {event.text}\n\n".encode()


def _is_gone(connection: socket.socket | None) -> bool:
    """Say whether the client has closed; the next write would tell, but that may be long away."""
    if connection is None:
        return False
    try:
        readable, _, _ = select.select([connection], [], [], 0)
        return bool(readable) and not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except (OSError, ValueError):
        return True


@bp.get("/stream")
@describe("Events", answers={200: None, 400: ErrorAnswer, 503: ErrorAnswer}, query=StreamQuery)
def stream() -> Response:
    """Send events as they happen, as server-sent events."""
    after = _begin()
    body: Any = b""
    if request.method != "HEAD":
        body = EventStream(services().streams, after, request.environ.get("gunicorn.socket"))
    response = Response(body, mimetype="text/event-stream")
    response.headers.update(_HEADERS)
    return response


@bp.get("/stream/status")
@describe("Events", answers={200: StreamStatus})
def stream_status() -> Response:
    """Count the listeners."""
    own = services()
    return answer({"subscribers": own.streams.subscribers, "dropped": own.events.dropped or None})


def _begin() -> str | None:
    query = query_string(StreamQuery)
    given = request.headers.get("Last-Event-ID", "").strip() or query.text("last_event_id")
    if not given:
        return None
    try:
        moment, number = id_order(given)
    except ValueError as error:
        message = "'last_event_id' must be the id of an event as it was sent, such as 1700000000000-0"
        raise InvalidInput(message, field="last_event_id") from error
    return f"{moment}-{number}"
