"""Structured logs on stderr: one line an event, ``key=value`` after the message."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from time import perf_counter

from flask import Flask, Response, g, has_request_context, request

from automem.api.context import request_id

# What every record has anyway; the rest was given as `extra` and is printed.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_HANDLER_NAME = "automem-stderr"

_log = logging.getLogger("automem.access")


class KeyValueFormatter(logging.Formatter):
    """Writes ``time level logger message key=value …``; a stack trace follows on its own lines."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = {name: value for name, value in vars(record).items() if name not in _STANDARD}
        if has_request_context() and "request_id" not in fields:
            fields["request_id"] = request_id()
        pairs = [f"{name}={_value(value)}" for name, value in fields.items()]
        line = " ".join([moment, record.levelname, record.name, _one_line(record.getMessage()), *pairs])
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def _one_line(text: str) -> str:
    return text.replace("\r", "\\r").replace("\n", "\\n")


def _value(value: object) -> str:
    text = str(value)
    plain = text.isascii() and text.isprintable() and not set(text) & {" ", '"', "="}
    return text if plain and text else json.dumps(text)


def configure(level: str) -> None:
    """Send all logs of the process to stderr in this form. Calling it again changes the level only."""
    root = logging.getLogger()
    root.setLevel(level)
    if any(handler.get_name() == _HANDLER_NAME for handler in root.handlers):
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.set_name(_HANDLER_NAME)
    handler.setFormatter(KeyValueFormatter())
    root.handlers[:] = [handler]
    # These tell each request again, with query strings that hold memories or keys.
    for chatty in ("httpx", "httpx2", "httpcore", "httpcore2", "urllib3", "openai", "qdrant_client"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def register(app: Flask) -> None:
    """Log one line a request: id, method, path (never the query: it holds texts and keys), status, ms."""

    @app.before_request
    def start_watch() -> None:
        g.started = perf_counter()

    @app.after_request
    def log_request(response: Response) -> Response:
        started = g.get("started")
        _log.info(
            "request",
            extra={
                "request_id": request_id(),
                "method": request.method,
                "path": request.path,
                "status": response.status_code,
                "ms": round((perf_counter() - started) * 1000, 1) if started is not None else 0.0,
            },
        )
        return response
