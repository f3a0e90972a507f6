"""Recall, ranks and percentiles, by examples worked out by hand."""

from __future__ import annotations

import pytest

from benchmarks.measures import Outcome, by_category, difference, latency, outcome, summarize


def test_an_outcome_names_the_places_of_the_evidence() -> None:
    found = outcome("c", ["x", "y", "z"], ["a", "x", "x", "b", "c", "d", "y"])
    assert (found.places, found.evidence) == ((2, 6), 3)
    assert found.recall(1) == 0
    assert found.recall(5) == pytest.approx(1 / 3)
    assert found.recall(10) == pytest.approx(2 / 3)
    assert found.reciprocal_rank == 0.5


def test_evidence_beyond_the_twentieth_place_is_not_found() -> None:
    found = outcome("c", ["late"], [f"t{place}" for place in range(20)] + ["late"])
    assert (found.places, found.reciprocal_rank) == ((), 0.0)


def test_a_summary_averages_over_questions() -> None:
    outcomes = [Outcome("a", (1, 2), 2), Outcome("a", (4,), 2), Outcome("b", (), 1), Outcome("b", (12,), 1)]
    all_of_them = summarize(outcomes)
    assert all_of_them.questions == 4
    # @1: 1/2, 0, 0, 0; @5: 1, 1/2, 0, 0; @20: 1, 1/2, 0, 1
    assert all_of_them.recall == {1: 0.125, 5: 0.375, 10: 0.375, 20: 0.625}
    assert all_of_them.mrr == pytest.approx((1 + 1 / 4 + 0 + 1 / 12) / 4)
    assert all_of_them.full == 0.25


def test_categories_are_summarized_apart() -> None:
    parts = by_category([Outcome("b", (1,), 1), Outcome("a", (), 1), Outcome("b", (), 1)])
    assert list(parts) == ["a", "b"]
    assert (parts["a"].mrr, parts["b"].mrr, parts["b"].questions) == (0, 0.5, 2)


def test_nothing_gives_zeros() -> None:
    assert summarize([]).mrr == 0
    assert latency([]).p99 == 0


def test_differences_are_taken_question_by_question() -> None:
    ours = [Outcome("a", (1,), 1), Outcome("a", (1,), 1), Outcome("a", (), 1), Outcome("a", (9,), 1)]
    theirs = [Outcome("a", (), 1), Outcome("a", (1,), 1), Outcome("a", (), 1), Outcome("a", (3,), 1)]
    at_five = difference(ours, theirs, 5)
    # gained, same, same, lost
    assert at_five.mean == 0
    assert at_five.error == pytest.approx((2 / 4) ** 0.5 / 2)


def test_latency_is_by_nearest_rank_in_milliseconds() -> None:
    found = latency([second / 1000 for second in range(100, 0, -1)])
    assert (found.p50, found.p90, found.p99) == pytest.approx((50, 90, 99))
