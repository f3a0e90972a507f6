"""The graph stores under test: the embedded server's unix socket, and a server over TCP with a password.

One server of each kind serves the whole session; every test has a graph of its own.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from automem.models import MemoryDraft
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection, Limits, ServerAddress, SocketAddress
from tests.support.falkordb_server import free_port, tcp_server
from tests.support.graphs import embedded_server, plain_draft

PASSWORD = 'pass "word" \\ ü'
LIMITS = Limits(connect=2.0, answer=30.0, read=10.0, indexes=30.0)

Address = SocketAddress | ServerAddress
MakeDraft = Callable[..., MemoryDraft]


@pytest.fixture(scope="session")
def socket_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SocketAddress]:
    with embedded_server(tmp_path_factory.mktemp("data")) as server:
        yield SocketAddress(server.socket_path)


@pytest.fixture(scope="session")
def tcp_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAddress]:
    directory = tmp_path_factory.mktemp("tcp")
    address = ServerAddress("127.0.0.1", free_port(), PASSWORD)
    with tcp_server(address, directory):
        yield address


@pytest.fixture(params=["socket", "tcp"])
def address(request: pytest.FixtureRequest) -> Address:
    found: Address = request.getfixturevalue(f"{request.param}_address")
    return found


@pytest.fixture
def connection(address: Address) -> Iterator[Connection]:
    """Give a raw way to the graph under test, to write what other services would."""
    opened = Connection(address, f"test-{uuid.uuid4()}", LIMITS)
    yield opened
    opened.write("MERGE (:Made)", {})
    opened.command("GRAPH.DELETE", opened.graph)
    opened.close()


@pytest.fixture
def graph(address: Address, connection: Connection) -> Iterator[FalkorDBGraph]:
    store = FalkorDBGraph(Connection(address, connection.graph, LIMITS))
    yield store
    store.close()


@pytest.fixture
def make_draft() -> MakeDraft:
    """Give a maker of drafts: an id and the fields that matter; ``timestamp`` fills the other times."""

    def make(memory_id: str, **fields: Any) -> MemoryDraft:
        plain = {
            "id": memory_id,
            "content": f"Content of {memory_id}",
            "tags": (),
            "type": "Context",
            "confidence": 0.75,
            "timestamp": "2026-03-01T12:00:00+00:00",
        }
        return plain_draft(**{**plain, **fields})

    return make


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 4, 1, tzinfo=UTC)
