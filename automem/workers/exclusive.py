"""Running something in one process at a time (D35)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from automem.errors import Conflict, GraphUnavailable
from automem.stores.run_locks import RunLocks
from automem.utils.clock import IdSource

_log = logging.getLogger(__name__)


class RunLost(GraphUnavailable):
    """The lock of a run could not be kept: another process may have begun the same."""


class Lease:
    """The right to go on with a run, kept by a thread until the run ends."""

    def __init__(self) -> None:
        self.ended = Event()
        self.lost = False

    def check(self) -> None:
        """Raise ``RunLost`` when the right is lost; to be called between the steps of a run."""
        if self.lost:
            raise RunLost("The lock of this run was lost")


class ExclusiveRuns:
    """Hands out named runs, each to one process at a time. A dead process's run is free after its lease."""

    def __init__(self, locks: RunLocks, ids: IdSource, seconds: float = 30.0) -> None:
        """:param seconds: length of the lease; it is renewed three times as often."""
        self._locks = locks
        self._ids = ids
        self._seconds = seconds

    @contextmanager
    def run(self, name: str, busy: str) -> Iterator[Lease]:
        """Hold the run ``name`` for the block.

        :raises Conflict: with the text ``busy``, when it is held elsewhere.
        :raises GraphUnavailable: when nobody can tell.
        """
        owner, lease = self._ids.new_id(), Lease()
        if not self._locks.take(name, owner, self._seconds):
            raise Conflict(busy)
        keeper = Thread(target=self._keep, args=(name, owner, lease), name=f"lease-{name}", daemon=True)
        keeper.start()
        try:
            yield lease
        finally:
            lease.ended.set()
            keeper.join()
            self._release(name, owner)

    def _keep(self, name: str, owner: str, lease: Lease) -> None:
        failures = 0
        while not lease.ended.wait(self._seconds / 3):
            try:
                lease.lost = not self._locks.take(name, owner, self._seconds)
                failures = 0
            except GraphUnavailable:
                failures += 1
                lease.lost = failures >= 3
            if lease.lost:
                return

    def _release(self, name: str, owner: str) -> None:
        try:
            self._locks.release(name, owner)
        except GraphUnavailable as error:
            _log.warning("the lock of %s ends with its lease: %s", name, error)
