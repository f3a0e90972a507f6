"""The gate between many users and the one who changes something."""

from __future__ import annotations

from threading import Event, Thread

import pytest

from automem.utils.gate import Busy, Gate


def test_many_are_inside_at_the_same_time() -> None:
    gate = Gate()
    with gate.use():
        other = Thread(target=lambda: gate.use().__enter__())
        other.start()
        other.join(10)
        assert not other.is_alive()


def test_the_one_who_closes_waits_for_those_inside_and_others_wait_for_it() -> None:
    gate, leave, events = Gate(), Event(), list[str]()
    inside = Event()

    def use(name: str) -> None:
        with gate.use():
            inside.set()
            leave.wait(10)
            events.append(name)

    def close() -> None:
        with gate.closed(10):
            events.append("alone")

    first = Thread(target=use, args=("first",))
    first.start()
    assert inside.wait(10)
    closing = Thread(target=close)
    closing.start()
    leave.set()
    for thread in (first, closing):
        thread.join(10)
    use("later")
    assert events == ["first", "alone", "later"]


def test_the_one_who_closes_gives_up_and_lets_the_others_pass() -> None:
    gate = Gate()
    with gate.use(), pytest.raises(Busy), gate.closed(0.01):
        pass
    with gate.use(), gate.use():
        pass
    with gate.closed(0.01):
        pass
