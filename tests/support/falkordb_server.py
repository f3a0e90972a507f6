"""A FalkorDB server over TCP on a free port, with a password, that keeps nothing."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from automem.errors import GraphUnavailable
from automem.stores.falkordb_connection import Connection, Limits, ServerAddress
from automem.stores.server_process import find_binaries


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def tcp_server(address: ServerAddress, directory: Path) -> Iterator[None]:
    """Run a server for as long as the block lasts; it ends as by kill -9."""
    binaries = find_binaries()
    options = ["--bind", "127.0.0.1", "--port", str(address.port), "--dir", str(directory), "--save", ""]
    secret = ["--requirepass", address.password or ""]
    process = subprocess.Popen(
        [binaries.server, *options, *secret, "--loadmodule", binaries.module],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await(address, process)
        yield
    finally:
        process.kill()
        process.wait()


def _await(address: ServerAddress, process: subprocess.Popen[bytes]) -> None:
    probe = Connection(address, "probe", Limits(connect=2.0, answer=30.0))
    deadline = time.monotonic() + 20
    while not _answers(probe):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    probe.close()


def _answers(connection: Connection) -> bool:
    try:
        return bool(connection.command("PING"))
    except GraphUnavailable:
        return False
