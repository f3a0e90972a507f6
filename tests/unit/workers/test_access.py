"""Recording accesses in the background."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from automem.models import MemoryDraft
from automem.workers.access import AccessRecorder

Draft = Callable[..., MemoryDraft]
Eventually = Callable[[Callable[[], bool]], None]


@pytest.fixture
def memory_id(graph: Any, draft: Draft) -> str:
    made = draft("hello")
    graph.create([made], pending=False)
    return made.id


@pytest.fixture
def recorder(graph: Any, clock: Any) -> Iterator[AccessRecorder]:
    made = AccessRecorder(graph, clock, interval=0.02)
    yield made
    graph.down = False
    made.stop()


def accessed(graph: Any, memory_id: str) -> str:
    return str(graph.get_many([memory_id])[memory_id].properties["last_accessed"])


def test_an_access_is_recorded_soon(
    recorder: AccessRecorder, graph: Any, clock: Any, memory_id: str, eventually: Eventually
) -> None:
    recorder.start()
    clock.forward(60)
    recorder.record([memory_id, "unknown"])
    eventually(lambda: accessed(graph, memory_id) == "2025-06-01T12:01:00+00:00")


def test_many_accesses_are_one_write(
    recorder: AccessRecorder, graph: Any, clock: Any, memory_id: str
) -> None:
    for _ in range(50):
        clock.forward(1)
        recorder.record([memory_id])
    recorder.stop()
    assert graph.calls.count("touch") == 1
    assert accessed(graph, memory_id) == "2025-06-01T12:00:50+00:00"


def test_what_waits_is_written_when_the_graph_is_back(
    recorder: AccessRecorder, graph: Any, clock: Any, memory_id: str, eventually: Eventually
) -> None:
    graph.down = True
    recorder.start()
    clock.forward(60)
    recorder.record([memory_id])
    eventually(lambda: "touch" in graph.calls)
    graph.down = False
    eventually(lambda: accessed(graph, memory_id) == "2025-06-01T12:01:00+00:00")


def test_nothing_read_writes_nothing(recorder: AccessRecorder, graph: Any) -> None:
    recorder.start()
    recorder.stop()
    assert "touch" not in graph.calls
