"""The WSGI server (D33): gunicorn with threads in one process, which owns the embedded engines.

Gunicorn's master holds the port and starts one worker; the worker builds the services after the fork
and closes them when it ends. A start that fails ends both at once. Nothing here imports an engine: their
libraries start threads when they are loaded, and a fork would break those.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import signal
import socket
import sys
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger
from gunicorn.http.errors import LimitRequestLine
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.workers.gthread import ThreadWorker

from automem import logs
from automem.banner import banner, complaint
from automem.config import Settings
from automem.errors import StartupError
from automem.security.policy import access_policy

if TYPE_CHECKING:
    from flask import Flask

    from automem.services import Services

LONGEST_REQUEST_LINE = 262_144
"""Bytes of method and URL: an `embedding` of 3072 numbers in a query string takes some 70,000."""
GRACEFUL_SECONDS = 30
KEEPALIVE_SECONDS = 75
# The worker's exit code that makes gunicorn's master give up instead of starting another.
_BOOT_FAILED = 3
_PR_SET_PDEATHSIG = 1

_log = logging.getLogger("automem.server")


class LongRequest(Request):
    """A request whose first line may be longer than gunicorn's usual 8190 bytes, but not endless."""

    def read_line(self, unreader: Any, buf: Any, limit: int = 0) -> Any:
        return super().read_line(unreader, buf, limit or LONGEST_REQUEST_LINE)


class LongRequestParser(RequestParser):
    """The usual parser for such requests."""

    mesg_class = LongRequest


class Worker(ThreadWorker):
    """A threaded worker that stops gracefully on Ctrl-C too and answers bad HTTP in our own shape."""

    def enqueue_req(self, conn: Any) -> None:
        if conn.parser is None:
            conn.parser = LongRequestParser(conn.cfg, conn.sock, conn.client)
        super().enqueue_req(conn)

    def handle_exit(self, sig: int, frame: Any) -> None:
        self.app.end_streams()
        super().handle_exit(sig, frame)

    def handle_quit(self, sig: int, frame: Any) -> None:
        self.handle_exit(sig, frame)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Answer what is no HTTP, which never reaches the application."""
        status, reason, message = 400, "Bad Request", "The request is not valid HTTP"
        if isinstance(exc, LimitRequestLine):
            status, reason = 414, "URI Too Long"
            message = f"The URL is longer than {LONGEST_REQUEST_LINE} bytes"
        _log.warning("bad HTTP", extra={"fault": type(exc).__name__, "status": status})
        # The client may be gone already; nobody is left to tell then.
        with suppress(OSError):
            client.sendall(_raw_error(status, reason, message))


class StandardLogger(Logger):
    """Gunicorn's own lines in the form of all others."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.handlers[:] = []
        self.error_log.propagate = True


class Server(BaseApplication):
    """One AutoMem service behind one address."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._services: Services | None = None
        super().__init__()

    def load_config(self) -> None:
        options = {
            "bind": bind_address(self._settings),
            "worker_class": Worker,
            "logger_class": StandardLogger,
            "workers": 1,
            "threads": self._settings.automem_threads,
            "worker_connections": 1000,
            "keepalive": KEEPALIVE_SECONDS,
            "graceful_timeout": GRACEFUL_SECONDS,
            # No killing of a worker that is slow to boot: it may be loading a large store.
            "timeout": 0,
            "limit_request_line": 0,
            "control_socket_disable": True,
            "loglevel": "warning",
            "post_fork": _end_with_master,
            "worker_exit": self._worker_exit,
        }
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """Build the services in the worker; a failure ends the service with its message only."""
        from automem.app import create_app
        from automem.services import build_services

        try:
            self._services = build_services(self._settings)
            app = create_app(self._settings, self._services)
            self._services.start()
        except StartupError as error:
            print(complaint(error), file=sys.stderr, flush=True)
            self.close()
            sys.exit(_BOOT_FAILED)
        print(banner(self._settings, self._services), file=sys.stderr, flush=True)
        return app

    def end_streams(self) -> None:
        """Let the endless answers end, so that a stop need not wait for them."""
        if self._services is not None:
            # Only a mark: this runs in a signal handler.
            self._services.streams.ending = True

    def close(self) -> None:
        """Close the services of this process; does nothing in the master."""
        if self._services is not None:
            self._services.close()

    def _worker_exit(self, _server: Any, _worker: Any) -> None:
        self.close()
        _log.info("stopped")


def bind_address(settings: Settings) -> str:
    """Give host and port as gunicorn wants them, IPv6 addresses in brackets."""
    host = settings.automem_host.removeprefix("[").removesuffix("]")
    return f"[{host}]:{settings.port}" if ":" in host else f"{host}:{settings.port}"


def check_port(settings: Settings) -> None:
    """Raise ``StartupError`` when the address cannot be listened on."""
    host = settings.automem_host.removeprefix("[").removesuffix("]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, settings.port))
        except OSError as error:
            raise StartupError(
                f"Port {settings.port} of {host} cannot be used ({error.strerror}). Stop what uses it, or "
                "choose another with PORT (or --port) and AUTOMEM_HOST (or --host)."
            ) from error


def serve(settings: Settings) -> int:
    """Run the service until it is told to stop; give the exit code: 0, or 1 after a failed start."""
    logs.configure(settings.automem_log_level)
    try:
        access_policy(settings)
        check_port(settings)
    except StartupError as error:
        print(complaint(error), file=sys.stderr, flush=True)
        return 1
    master = os.getpid()
    try:
        Server(settings).run()
    except SystemExit as end:
        if os.getpid() != master:
            # The worker is a fork and leaves through here too; the master reads its code.
            raise
        return 1 if end.code else 0
    return 0


def _raw_error(status: int, reason: str, message: str) -> bytes:
    request_id = uuid.uuid4().hex
    body = json.dumps({"status": "error", "code": status, "message": message, "request_id": request_id})
    head = [
        f"HTTP/1.1 {status} {reason}",
        "Connection: close",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        f"X-Request-ID: {request_id}",
    ]
    return "\r\n".join([*head, "", body]).encode("ascii")


def _end_with_master(_server: Any, _worker: Any) -> None:
    """Let a killed master take the worker along, so that the data directory is free at once (Linux).

    Elsewhere the worker notices within a second that its parent is gone, and stops.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
