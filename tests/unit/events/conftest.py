"""A log of events on the real embedded server, which can be put out."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from automem.errors import GraphUnavailable
from automem.stores.data_directory import DataDirectory
from automem.stores.embedded import EmbeddedFalkorDB
from automem.stores.falkordb_connection import Connection, Limits, SocketAddress
from automem.stores.falkordb_events import FalkorDBEvents
from tests.support.breakable import Breakable


@pytest.fixture(scope="session")
def falkordb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedFalkorDB]:
    with DataDirectory.open(tmp_path_factory.mktemp("events")) as directory:
        engine = EmbeddedFalkorDB(directory)
        engine.start()
        yield engine
        engine.stop()


@pytest.fixture
def log(falkordb: EmbeddedFalkorDB) -> Iterator[Any]:
    connection = Connection(SocketAddress(falkordb.socket_path), f"g{uuid.uuid4().hex}", Limits())
    events = FalkorDBEvents(connection)
    yield Breakable(events, GraphUnavailable)
    events.close()
