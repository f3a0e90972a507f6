"""A gate: many pass at the same time, and now and then one closes it to change something."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Busy(Exception):
    """Those inside did not leave in time."""


class Gate:
    """Thread-safe. Nobody may pass it again while inside."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._inside = 0
        self._closed = False

    @contextmanager
    def use(self) -> Iterator[None]:
        """Be inside for the block; waits while the gate is closed."""
        with self._changed:
            self._changed.wait_for(lambda: not self._closed)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def closed(self, patience: float) -> Iterator[None]:
        """Be alone for the block; for one thread.

        :raises Busy: when the others have not left within so many seconds.
        """
        try:
            with self._changed:
                self._closed = True
                if not self._changed.wait_for(lambda: self._inside == 0, patience):
                    raise Busy("those inside did not leave in time")
            yield
        finally:
            with self._changed:
                self._closed = False
                self._changed.notify_all()
