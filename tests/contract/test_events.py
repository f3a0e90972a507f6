"""The log of events on the embedded server and on a server over TCP."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from automem.errors import GraphUnavailable
from automem.stores.event_log import FIRST, LoggedEvent, id_order
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection, Limits, ServerAddress
from automem.stores.falkordb_events import KEPT, FalkorDBEvents
from tests.support.falkordb_server import free_port


@pytest.fixture
def log(graph: FalkorDBGraph) -> Iterator[FalkorDBEvents]:
    made = FalkorDBEvents(graph.beside())
    yield made
    made.close()


def test_an_empty_log(log: FalkorDBEvents) -> None:
    assert log.last_id() == FIRST
    assert log.after(FIRST, 10) == []
    assert log.wait(FIRST, 10, 0.01) == []


def test_events_are_read_behind_an_id_oldest_first(log: FalkorDBEvents) -> None:
    texts = ["a", 'quote " \\ \n ü 日本', "{}", ""]
    ids = [log.append(text) for text in texts]
    assert ids == sorted(ids, key=id_order)
    assert log.after(FIRST, 10) == [LoggedEvent(*pair) for pair in zip(ids, texts, strict=True)]
    assert [event.id for event in log.after(ids[0], 2)] == ids[1:3]
    assert [event.id for event in log.wait(ids[1], 10, 1)] == ids[2:]
    assert log.last_id() == ids[-1]
    assert log.after(ids[-1], 10) == []


def test_a_reader_is_woken_by_another_connection(graph: FalkorDBGraph, log: FalkorDBEvents) -> None:
    found: list[LoggedEvent] = []
    reader = threading.Thread(target=lambda: found.extend(log.wait(FIRST, 10, 20)))
    reader.start()
    other = FalkorDBEvents(graph.beside())
    event_id = other.append("hello")
    reader.join(20)
    assert found == [LoggedEvent(event_id, "hello")]
    other.close()


def test_graphs_have_logs_of_their_own(graph: FalkorDBGraph, log: FalkorDBEvents, address: object) -> None:
    log.append("mine")
    others = Connection(address, f"{graph.beside().graph}-2", Limits())  # type: ignore[arg-type]
    assert FalkorDBEvents(others).after(FIRST, 10) == []
    others.close()


def test_old_events_go(log: FalkorDBEvents) -> None:
    for number in range(KEPT + 500):
        log.append(str(number))
    kept = log.after(FIRST, 2 * KEPT)
    assert KEPT <= len(kept) < KEPT + 500
    assert kept[-1].text == str(KEPT + 499)


@pytest.mark.parametrize("text", ["", "a", "1-", "-1", "1-2-3", "1.5", "+1", "²"])
def test_what_is_no_id(text: str) -> None:
    with pytest.raises(ValueError, match="not an event id"):
        id_order(text)


def test_ids_order_as_numbers() -> None:
    ids = ["10-0", "9-10", "9-9", "9"]
    assert sorted(ids, key=id_order) == ["9", "9-9", "9-10", "10-0"]


def test_a_server_that_is_away() -> None:
    log = FalkorDBEvents(Connection(ServerAddress("127.0.0.1", free_port()), "g", Limits(connect=1.0)))
    for call in (log.last_id, lambda: log.append("a"), lambda: log.after(FIRST, 1)):
        with pytest.raises(GraphUnavailable):
            call()
