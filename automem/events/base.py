"""What happens in the service, told to whoever listens (service.md 7, D34)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class EventSink(Protocol):
    """Takes events."""

    @property
    def dropped(self) -> int:
        """Events since the start that nobody will hear of."""
        ...

    def emit(self, type: str, data: Mapping[str, Any]) -> None:
        """Tell an event, ``data`` as JSON. Never blocks and never fails; what cannot be told is counted."""
        ...


class NullEvents:
    """Tells nobody."""

    dropped = 0

    def emit(self, type: str, data: Mapping[str, Any]) -> None:
        """Do nothing."""
