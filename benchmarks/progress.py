"""Progress bars on stderr."""

from __future__ import annotations

from types import TracebackType

from tqdm import tqdm


class Progress:
    """One bar, used as a context manager."""

    def __init__(self, label: str, total: int, unit: str) -> None:
        self._bar = tqdm(total=total, desc=label, unit=unit, dynamic_ncols=True)

    def advance(self, steps: int = 1) -> None:
        """Move on."""
        self._bar.update(steps)

    def reach(self, done: int, total: int) -> None:
        """Set how much is done of how much."""
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()
