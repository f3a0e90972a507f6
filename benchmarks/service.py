"""A service of our own, for the time of the measurement: a process on a free loopback port."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import httpx

from benchmarks.client import ServiceFault

_START_SECONDS = 120.0
_STOP_SECONDS = 60.0
_KEPT = ("PATH", "LANG", "TMPDIR", "PYTHONPATH", "LD_LIBRARY_PATH")


class OwnService:
    """``automem serve`` on one data directory; running while used as a context manager.

    Settings of the person who runs it do not reach it: only ``variables`` do. What it says goes to
    ``service.log`` in the directory.
    """

    def __init__(self, directory: Path, variables: Mapping[str, str]) -> None:
        self._directory = directory.resolve()
        self._variables = dict(variables)
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> OwnService:
        self._directory.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "automem", "serve"],
                env=self._environment(),
                cwd=self._directory,
                stdout=log,
                stderr=log,
            )
        try:
            self._wait_until_ready(self._process)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def kill(self) -> None:
        """End it with kill -9, in the middle of whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    @property
    def _log(self) -> Path:
        return self._directory / "service.log"

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        own = {
            "HOME": str(self._directory),
            "AUTOMEM_DATA_DIR": str(self._directory / "data"),
            "AUTOMEM_HOST": "127.0.0.1",
            "PORT": str(self._port),
            "AUTOMEM_LOG_LEVEL": "WARNING",
        }
        return {**kept, **own, **self._variables}

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not self._ready():
            if process.poll() is not None or time.monotonic() > deadline:
                raise ServiceFault(f"the service does not start:\n{self._last_words()}")
            time.sleep(0.1)

    def _ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health/ready", timeout=5.0).is_success
        except httpx.TransportError:
            return False

    def _last_words(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")[-2000:]

    def _stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])
