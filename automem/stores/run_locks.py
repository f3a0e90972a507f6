"""What keeps two processes on one store from doing the same work at the same time (D35)."""

from __future__ import annotations

from typing import Protocol


class RunLocks(Protocol):
    """Named locks with a lease. Methods raise ``GraphUnavailable``."""

    def take(self, name: str, owner: str, seconds: float) -> bool:
        """Take a lock, or keep one's own, for so long from now. False when another owner has it."""
        ...

    def release(self, name: str, owner: str) -> None:
        """Give a lock free; one that is another's stays."""
        ...
