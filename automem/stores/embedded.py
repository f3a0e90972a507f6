"""The embedded FalkorDB: a server process of our own, watched and started again when it dies (D29)."""

from __future__ import annotations

import logging
import subprocess
import threading
import time

from automem.errors import GraphUnavailable, StartupError
from automem.stores import server_process
from automem.stores.data_directory import DataDirectory

logger = logging.getLogger(__name__)

_POLL = 0.02
_WATCH = 0.1
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 30.0
_STABLE = 60.0
"""Seconds a server must have lived for its death not to count as another failure in a row."""


class EmbeddedFalkorDB:
    """The server of a data directory. ``start`` once; ``stop`` ends it cleanly and for good.

    A watcher thread starts the process, as on Linux it ends with the thread that started it, and
    starts it again with growing pauses when it dies. In the meantime the graph is unavailable.
    """

    def __init__(self, directory: DataDirectory, ready_timeout: float = 120.0) -> None:
        """:param ready_timeout: seconds that a start, with loading all data, may take."""
        self._files = server_process.server_files(directory.subdirectory("falkordb"))
        self._ready_timeout = ready_timeout
        self._stopping = threading.Event()
        self._ready = threading.Event()
        self._first_start = threading.Event()
        self._failure: StartupError | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: threading.Thread | None = None

    @property
    def socket_path(self) -> str:
        """The unix socket of the server."""
        return str(self._files.socket)

    @property
    def pid(self) -> int | None:
        """The process that serves now, None while there is none."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def start(self) -> None:
        """Start the server and wait until it has loaded its data. Whatever a dead service left is ended.

        :raises StartupError: when the package is missing or the server does not come up; the message
            has the end of its log.
        """
        binaries = server_process.find_binaries()
        server_process.end_orphan(self._files)
        self._watcher = threading.Thread(target=self._watch, args=(binaries,), name="falkordb", daemon=True)
        self._watcher.start()
        self._first_start.wait()
        if self._failure is not None:
            self._watcher.join()
            raise self._failure

    def ensure_running(self, timeout: float) -> None:
        """Wait until the server serves.

        :raises GraphUnavailable: when it does not within so many seconds.
        """
        if not self._ready.wait(timeout):
            raise GraphUnavailable("The embedded FalkorDB is not running")

    def settle_log(self) -> bool:
        """Let the log begin with a snapshot that holds the indexes, so that it loads fast; call it when
        they are made."""
        return server_process.settle_log(self._files)

    def stop(self) -> None:
        """End the server and its watcher. Calling it again does nothing."""
        self._stopping.set()
        if self._watcher is not None:
            self._watcher.join()

    def _watch(self, binaries: server_process.Binaries) -> None:
        pause = _FIRST_PAUSE
        while not self._stopping.is_set():
            began = time.monotonic()
            try:
                self._serve(binaries)
            except StartupError as error:
                if not self._first_start.is_set():
                    self._failure = error
                    self._first_start.set()
                    return
                logger.error("%s", error.message)
            if self._stopping.is_set():
                return
            pause = _FIRST_PAUSE if time.monotonic() - began > _STABLE else pause
            logger.warning("the embedded FalkorDB is gone; starting it again in %.1f s", pause)
            self._stopping.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _serve(self, binaries: server_process.Binaries) -> None:
        """Run one process from start to end."""
        process = self._process = server_process.spawn(binaries, self._files)
        try:
            self._await_ready(process)
            self._ready.set()
            self._first_start.set()
            while process.poll() is None and not self._stopping.wait(_WATCH):
                server_process.turn_log(self._files)
        finally:
            self._ready.clear()
            server_process.end(process, self._files)

    def _await_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + self._ready_timeout
        while not server_process.is_serving(self._files):
            if process.poll() is not None:
                raise self._failed(f"ended with status {process.returncode}")
            if time.monotonic() > deadline:
                raise self._failed(f"was not ready within {self._ready_timeout:g} seconds")
            if self._stopping.wait(_POLL):
                raise self._failed("was stopped while starting")

    def _failed(self, what: str) -> StartupError:
        tail = server_process.log_tail(self._files)
        return StartupError(f"The embedded FalkorDB {what}. The end of {self._files.log}:\n{tail}")
