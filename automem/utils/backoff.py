"""How long to wait after failures."""

from __future__ import annotations

_MOST_DOUBLINGS = 30


def backoff(first: float, failures: int, longest: float) -> float:
    """Give the seconds to wait: ``first`` after no earlier failure, twice as long after each, ``longest`` at
    most."""
    return min(longest, first * 2.0 ** min(failures, _MOST_DOUBLINGS))
