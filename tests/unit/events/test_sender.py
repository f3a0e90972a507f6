"""Events on their way: never in the way of a request, in order, counted when dropped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from automem.events.sender import EventSender
from automem.stores.event_log import FIRST
from automem.utils.clock import SystemClock
from tests.support.service import wait_until


@pytest.fixture
def sender(log: Any) -> Iterator[EventSender]:
    made = EventSender(log, SystemClock(), capacity=5, retry=0.01)
    yield made
    made.stop()


def told(log: Any) -> list[Any]:
    return [json.loads(event.text)["data"].get("n") for event in log.after(FIRST, 1000)]


def test_events_are_sent_in_order(sender: EventSender, log: Any) -> None:
    sender.start()
    for number in range(50):
        sender.emit("memory.store", {"n": number})
        wait_until(lambda sent=number: len(log.after(FIRST, 1000)) > sent)  # type: ignore[misc]
    assert told(log) == list(range(50))
    assert sender.dropped == 0


def test_an_event_has_a_type_a_time_and_data(sender: EventSender, log: Any) -> None:
    sender.emit("some.type", {"text": "ü\n\u2028", "n": None})
    sender.stop()
    event = json.loads(log.after(FIRST, 1)[0].text)
    assert set(event) == {"type", "timestamp", "data"}
    assert event["data"] == {"text": "ü\n\u2028", "n": None}
    assert event["timestamp"].endswith("+00:00")


def test_no_event_text_has_a_line_break_in_it(sender: EventSender, log: Any) -> None:
    sender.emit("some.type", {"text": "a\nb\r\nc"})
    sender.stop()
    assert len(log.after(FIRST, 1)[0].text.splitlines()) == 1


def test_events_wait_for_the_log_and_the_oldest_go_first(sender: EventSender, log: Any) -> None:
    log.down = True
    sender.start()
    for number in range(12):
        sender.emit("memory.store", {"n": number})
    log.down = False
    wait_until(lambda: len(log.after(FIRST, 1000)) >= 5)
    found = told(log)
    assert found == sorted(found)
    assert found[-4:] == [8, 9, 10, 11]
    assert sender.dropped + len(found) == 12


@pytest.mark.parametrize("bad", [float("nan"), {(1, 2): 3}, "half \ud800"])
def test_what_cannot_be_told_is_counted_and_harms_nobody(sender: EventSender, log: Any, bad: Any) -> None:
    sender.emit("some.type", {"n": bad})
    sender.emit("some.type", {"n": 1})
    sender.stop()
    assert told(log) == [1]
    assert sender.dropped == 1


def test_a_stop_without_the_log_ends(sender: EventSender, log: Any) -> None:
    log.down = True
    sender.start()
    sender.emit("some.type", {})
    sender.stop()
    assert not sender.running
