"""The workers under test on the real embedded engines, with a provider and a store that can be put out."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from automem.embedding.base import EmbeddingRefused, Vectors
from automem.embedding.placeholder import PlaceholderProvider
from automem.errors import EmbeddingUnavailable, GraphUnavailable, VectorsUnavailable
from automem.models import MemoryDraft
from automem.stores.embedded import EmbeddedFalkorDB
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.qdrant_edge import EdgeVectors
from tests.support.breakable import Breakable
from tests.support.graphs import embedded_server, plain_draft

DIMENSION = 8


class FaultyProvider:
    """Makes vectors, but refuses texts with ``poison`` in them and fails while ``down``."""

    def __init__(self) -> None:
        self._inner = PlaceholderProvider(DIMENSION)
        self.name = "faulty"
        self.dimension = DIMENSION
        self.down = False
        self.refuses_all = False
        self.calls: list[list[str]] = []

    def embed_query(self, text: str) -> Vectors:
        if self.refuses_all:
            raise EmbeddingRefused("the provider refuses every text")
        return self._inner.embed_query(text)

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        if self.down:
            raise EmbeddingUnavailable("the provider is down")
        if any("poison" in text for text in texts):
            raise EmbeddingRefused("the provider refuses this text")
        return self._inner.embed_batch(texts)


@dataclass
class ManualClock:
    """A clock that stands until it is told."""

    at: datetime = field(default_factory=lambda: datetime(2025, 6, 1, 12, tzinfo=UTC))

    def now(self) -> datetime:
        return self.at

    def forward(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture(scope="session")
def falkordb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedFalkorDB]:
    with embedded_server(tmp_path_factory.mktemp("workers")) as engine:
        yield engine


@pytest.fixture
def graph(falkordb: EmbeddedFalkorDB) -> Iterator[Any]:
    store = FalkorDBGraph.over_socket(falkordb.socket_path, f"g{uuid.uuid4().hex}")
    yield Breakable(store, GraphUnavailable)
    store.close()


@pytest.fixture
def vectors(tmp_path: Path) -> Iterator[Any]:
    store = EdgeVectors.open(tmp_path / "vectors", DIMENSION)
    yield Breakable(store, VectorsUnavailable)
    store.close()


@pytest.fixture
def provider() -> FaultyProvider:
    return FaultyProvider()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def draft() -> Callable[..., MemoryDraft]:
    """Give a function that drafts a memory."""
    at = "2025-06-01T12:00:00+00:00"

    def make(content: str, embedding: Sequence[float] | None = None, number: int = 0) -> MemoryDraft:
        own = {"timestamp": f"2025-06-01T12:00:{number:02}+00:00", "embedding": embedding}
        return plain_draft(content, updated_at=at, last_accessed=at, t_valid=at, **own)

    return make


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], None]:
    """Give a function that waits until a condition holds."""

    def wait(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < deadline, "it did not come true in time"
            time.sleep(0.01)

    return wait
