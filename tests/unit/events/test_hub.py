"""Listeners: every event once and in order, whatever happens to the log and however slow they are."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from automem.api.stream import EventStream
from automem.errors import GraphUnavailable
from automem.events.hub import StreamHub, StreamPace, TooManyStreams
from automem.events.subscription import Subscription
from tests.support.service import wait_until

PACE = StreamPace(keepalive=0.2, look=0.05, block=0.05, retry=0.02, queue=10)


@pytest.fixture
def hub(log: Any) -> Iterator[StreamHub]:
    made = StreamHub(log, 3, PACE)
    made.start()
    yield made
    made.stop()


def take(subscription: Subscription, count: int) -> list[str]:
    found: list[str] = []
    deadline = time.monotonic() + 20
    while len(found) < count:
        assert time.monotonic() < deadline, f"only {len(found)} events came"
        event = subscription.next_event(0.1)
        found.extend([event.text] if event else [])
    return found


def numbers(first: int, last: int) -> list[str]:
    return [str(number) for number in range(first, last)]


def test_all_listeners_get_what_comes_after_they_came(hub: StreamHub, log: Any) -> None:
    log.append("before")
    early = hub.subscribe(None)
    log.append("0")
    late = hub.subscribe(None)
    for text in numbers(1, 4):
        log.append(text)
    assert take(early, 4) == numbers(0, 4)
    assert take(late, 3) == numbers(1, 4)


def test_a_slow_listener_loses_nothing(hub: StreamHub, log: Any) -> None:
    slow = hub.subscribe(None)
    for text in numbers(0, 500):
        log.append(text)
    assert take(slow, 500) == numbers(0, 500)
    assert slow.next_event(0.1) is None


def test_a_pause_of_the_log_loses_nothing(hub: StreamHub, log: Any) -> None:
    subscription = hub.subscribe(None)
    log.append("0")
    assert take(subscription, 1) == ["0"]
    log.broken |= {"wait", "after"}
    log.append("1")
    wait_until(lambda: "wait" in log.calls[-3:])
    log.broken.clear()
    log.append("2")
    assert take(subscription, 2) == ["1", "2"]


def test_a_listener_that_is_behind_waits_for_the_log_and_takes_nothing_early(log: Any) -> None:
    start = log.append("0")
    log.append("1")
    second = log.after(start, 1)
    subscription = Subscription(log, "0-0", 10)
    log.broken.add("after")
    subscription.offer(second)
    assert subscription.next_event(0.01) is None
    log.broken.clear()
    assert take(subscription, 2) == ["0", "1"]


def test_resuming_overlaps_with_what_is_offered(hub: StreamHub, log: Any) -> None:
    ids = [log.append(text) for text in numbers(0, 300)]
    first = hub.subscribe(ids[99])
    second = hub.subscribe("0-0")
    log.append("300")
    assert take(first, 201) == numbers(100, 301)
    assert take(second, 301) == numbers(0, 301)


def test_there_are_so_many_places_and_no_more(hub: StreamHub) -> None:
    taken = [hub.subscribe(None) for _ in range(3)]
    with pytest.raises(TooManyStreams):
        hub.subscribe(None)
    hub.leave(taken[0])
    hub.leave(taken[0])
    assert hub.subscribers == 2
    hub.subscribe(None)
    with pytest.raises(TooManyStreams):
        hub.subscribe(None)


def test_a_failed_subscription_takes_no_place(hub: StreamHub, log: Any) -> None:
    log.down = True
    with pytest.raises(GraphUnavailable):
        hub.subscribe(None)
    assert hub.subscribers == 0
    log.down = False


def test_silence_is_filled_with_signs_of_life(hub: StreamHub, log: Any) -> None:
    stream = EventStream(hub, None, None)
    assert [next(stream) for _ in range(3)] == [b": connected\n\n", b": keepalive\n\n", b": keepalive\n\n"]
    event_id = log.append('{"a":1}')
    assert next(stream) == f'id: {event_id}\ndata: {{"a":1}}\n\n'.encode()
    hub.ending = True
    assert list(stream) == []
    stream.close()
    assert hub.subscribers == 0


def test_after_the_end_nobody_is_let_in(hub: StreamHub) -> None:
    hub.stop()
    with pytest.raises(TooManyStreams):
        hub.subscribe(None)
