"""One background thread with a bell: woken by work, stopped cleanly (D33)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from threading import Event, Thread


class WorkerThread(ABC):
    """Base of the workers: subclasses do ``_run_once`` again and again until ``stop``."""

    def __init__(self, name: str, bell: Event | None = None) -> None:
        """:param bell: rung by those who know of work but not of the worker."""
        self._bell = bell or Event()
        self._stopping = Event()
        self._thread = Thread(target=self._loop, name=name, daemon=True)

    @property
    def running(self) -> bool:
        """Say whether the thread is alive."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin; to be called once."""
        self._thread.start()

    def notify(self) -> None:
        """Say that there is work. Cheap, never blocks."""
        self._bell.set()

    def stop(self, timeout: float | None = None) -> None:
        """Finish the work in hand, then end. Calling it twice, or before ``start``, does no harm."""
        self._stopping.set()
        self._bell.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _loop(self) -> None:
        while not self._stopping.is_set():
            self._bell.clear()
            if (pause := self._run_once()) > 0:
                self._bell.wait(pause)

    def _rest(self, seconds: float) -> None:
        """Wait without being woken by new work, only by ``stop``."""
        self._stopping.wait(seconds)

    @abstractmethod
    def _run_once(self) -> float:
        """Do what there is to do; give how long to wait for the bell, 0 to go on at once."""
