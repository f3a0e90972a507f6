"""Waiting for memories to be settled."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Thread

from automem.embedding.base import EmbeddingRefused
from automem.errors import EmbeddingUnavailable
from automem.workers.watch import WorkBoard

NOW = datetime(2025, 6, 1, tzinfo=UTC)


def test_a_watch_ends_when_all_is_settled() -> None:
    board = WorkBoard()
    with board.watch(["a", "b"]) as watch:
        thread = Thread(target=lambda: [board.paid(frozenset({name})) for name in "xab"])
        thread.start()
        assert watch.wait(20) == {"a", "b"}
        thread.join()


def test_a_watch_of_nothing_does_not_wait() -> None:
    with WorkBoard().watch([]) as watch:
        assert watch.wait(20) == frozenset()


def test_a_failed_memory_is_not_waited_for() -> None:
    board = WorkBoard()
    with board.watch(["a", "b"]) as watch:
        board.failed("a", EmbeddingRefused("no"), NOW)
        board.paid(frozenset({"b"}))
        assert watch.wait(20) == {"b"}


def test_an_outage_ends_every_wait() -> None:
    board = WorkBoard()
    with board.watch(["a"]) as watch:
        board.outage("down", NOW)
        assert watch.wait(20) == frozenset()


def test_time_that_runs_out_gives_what_is_settled() -> None:
    board = WorkBoard()
    with board.watch(["a", "b"]) as watch:
        board.paid(frozenset({"a"}))
        assert watch.wait(0.01) == {"a"}


def test_failures_in_a_row_leave_out_refusals_and_end_with_a_success() -> None:
    board = WorkBoard()
    assert board.failed("a", EmbeddingUnavailable("down"), NOW) == 1
    assert board.failed("b", EmbeddingRefused("no"), NOW) == 1
    assert board.failed("c", EmbeddingUnavailable("down"), NOW) == 2
    assert (board.stats().failures, board.stats().last_error) == (3, "down")
    board.paid(frozenset(), embedded=False)
    assert board.stats().failures_in_a_row == 2
    board.paid(frozenset({"a"}))
    assert (board.stats().failures_in_a_row, board.stats().stored) == (0, 1)


def test_a_payload_that_is_written_settles_nobody() -> None:
    board = WorkBoard()
    with board.watch(["a"]) as watch:
        board.refreshed(frozenset({"a"}))
        assert watch.wait(0.01) == frozenset()
    assert board.stats().stored == 1
