"""A real graph for one test module, and memories for it in few words."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from automem.models import MemoryDraft
from automem.stores.data_directory import DataDirectory
from automem.stores.embedded import EmbeddedFalkorDB


@contextmanager
def embedded_server(directory: Path) -> Iterator[EmbeddedFalkorDB]:
    """Run the embedded FalkorDB on a directory."""
    with DataDirectory.open(directory) as data:
        server = EmbeddedFalkorDB(data)
        server.start()
        yield server
        server.stop()


def plain_draft(content: str, **fields: Any) -> MemoryDraft:
    """Draft a memory; ``timestamp`` fills the other times."""
    at = fields.get("timestamp", "2026-05-01T00:00:00+00:00")
    plain = MemoryDraft(
        id=str(uuid.uuid4()),
        content=content,
        tags=("a",),
        importance=0.5,
        metadata={},
        type="Memory",
        confidence=0.3,
        timestamp=at,
        updated_at=at,
        last_accessed=at,
        t_valid=at,
    )
    return replace(plain, **fields)
