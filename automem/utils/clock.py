"""Time and identity as objects, so that tests decide them (style.md, rule 5)."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Give the present moment, aware, in UTC."""
        ...


class IdSource(Protocol):
    """Makes the ids of new memories."""

    def new_id(self) -> str:
        """Give a fresh random UUID (version 4) in lower case with hyphens."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class RandomIds:
    """UUIDs from the system's random source."""

    def new_id(self) -> str:
        return str(uuid.uuid4())
