"""The vector stores under test: the embedded engine, and the client's local mode in memory and on disk.

With AUTOMEM_TEST_QDRANT_URL the same tests run on that server too.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from automem.stores.base import VectorStore
from automem.stores.qdrant import QdrantServerVectors, connect
from automem.stores.qdrant_edge import EdgeVectors

SERVER = os.environ.get("AUTOMEM_TEST_QDRANT_URL")
BACK_ENDS = ["edge", "memory", "path", *(["server"] if SERVER else [])]


def _open(kind: str, directory: Path, dimension: int) -> VectorStore:
    if kind == "edge":
        return EdgeVectors.open(directory / "shard", dimension)
    if kind == "server":
        assert SERVER is not None
        return QdrantServerVectors.open(connect(SERVER), f"test-{uuid.uuid4()}", dimension)
    client = QdrantClient(":memory:") if kind == "memory" else QdrantClient(path=str(directory / "local"))
    return QdrantServerVectors.open(client, "memories", dimension, ensure_indexes=False)


@pytest.fixture(params=BACK_ENDS)
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[int], VectorStore]]:
    """Give a function that opens a store of its own with the dimension named."""
    opened: list[VectorStore] = []

    def open_one(dimension: int) -> VectorStore:
        opened.append(_open(request.param, tmp_path, dimension))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[[int], VectorStore]) -> VectorStore:
    return open_store(4)
