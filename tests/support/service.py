"""The real service as a process of its own, started from a directory and stopped or killed.

service = RunningService(tmp_path / "data", AUTOMEM_API_TOKEN="t")
service.start()
service.client.get("/health")
service.kill()          # kill -9
service.start()         # on the same data and port
service.stop()          # SIGTERM; gives the exit code
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx

START_SECONDS = 60.0
STOP_SECONDS = 40.0


def free_port() -> int:
    """Give a port that nobody listens on now."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for a condition by asking again and again; fails the test when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def clean_environment(home: Path, **variables: str) -> dict[str, str]:
    """Give an environment without any setting of the person who runs the tests."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(home), "OMP_NUM_THREADS": "1", **variables}


class RunningService:
    """One service on one directory; ``data_dir`` lies in it, beside ``stderr.log``."""

    def __init__(self, directory: Path, **variables: str) -> None:
        self.directory = directory
        self.directory.mkdir(parents=True, exist_ok=True)
        self.data_dir = directory / "data"
        self.port = int(variables.pop("PORT", 0)) or free_port()
        self.variables = {"AUTOMEM_DATA_DIR": str(self.data_dir), "PORT": str(self.port), **variables}
        self.client = httpx.Client(base_url=self.url, timeout=30.0)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        """Everything written to stderr so far."""
        return (self.directory / "stderr.log").read_text(encoding="utf-8")

    def launch(self) -> subprocess.Popen[bytes]:
        """Start the process without waiting."""
        with (self.directory / "stderr.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "automem", "serve"],
                env=clean_environment(self.directory, **self.variables),
                cwd=self.directory,
                stdout=log,
                stderr=log,
            )
        return self._process

    def start(self) -> None:
        """Start the process and wait until it is ready."""
        process = self.launch()
        deadline = time.monotonic() + START_SECONDS
        while not self._ready():
            assert process.poll() is None, f"the service ended:\n{self.log}"
            assert time.monotonic() < deadline, f"the service does not get ready:\n{self.log}"
            time.sleep(0.05)

    def _ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health/ready", timeout=5.0).status_code == 200
        except httpx.TransportError:
            return False

    def stop(self) -> int:
        """Send SIGTERM and wait; give the exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(STOP_SECONDS)

    def kill(self) -> None:
        """End it with kill -9."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(STOP_SECONDS)

    def close(self) -> None:
        """End it in any case."""
        self.client.close()
        if self._process is not None and self._process.poll() is None:
            self.stop()

    def wait_settled(self) -> None:
        """Wait until no memory owes a vector."""
        wait_until(lambda: self.client.get("/health").json()["enrichment"]["pending"] == 0)
