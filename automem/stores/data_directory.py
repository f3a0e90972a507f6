"""The directory that holds all data of an embedded service, used by one service at a time (D29)."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType

from automem.errors import StartupError

_LOCK = "automem.lock"
_MEND = "name a directory that this user can write in AUTOMEM_DATA_DIR"


class DirectoryInUse(StartupError):
    """Another service owns the directory."""


class DataDirectory:
    """A data directory that is ours until ``close``.

    The lock is the kernel's and ends with this process, however that ends. It is shared with forked
    children: open the directory in the process that serves.
    """

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock: int | None = lock

    @classmethod
    def open(cls, path: Path) -> DataDirectory:
        """Make the directory if need be, for this user only, and lock it.

        :raises StartupError: when it cannot be written, or another service uses it (names its pid).
        """
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            reason = error.strerror or "unknown"
            raise StartupError(f"The data directory {path} cannot be used ({reason}): {_MEND}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(lock, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(lock)
            raise DirectoryInUse(
                f"The data directory {path} is in use by another service (process {holder}): "
                "stop that one, or name another directory in AUTOMEM_DATA_DIR"
            ) from error
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        return cls(path.resolve(), lock)

    def subdirectory(self, name: str) -> Path:
        """Give a directory inside, made for this user only when missing.

        :raises StartupError: when it cannot be made.
        """
        path = self.path / name
        try:
            path.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            reason = error.strerror or "unknown"
            raise StartupError(f"The directory {path} cannot be made ({reason}): {_MEND}") from error
        return path

    def close(self) -> None:
        """Let another service have it."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> DataDirectory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
