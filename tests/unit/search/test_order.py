"""Order, duplicates, recency bias and floors by hand-computed examples (recall.md 7.5, 11, D14, D16, D20)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from automem.models import Sort
from automem.search.order import (
    adaptive_floor,
    content_key,
    deduplicated,
    floored,
    relevant,
    sorted_results,
    with_recency_bias,
)
from automem.search.types import ContextHints, RecallRequest, Scored
from tests.support.rows import memory, row

NOW = datetime(2026, 4, 1, tzinfo=UTC)
JAN, FEB, MAR = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"


def ids(rows: list[Scored] | tuple[Scored, ...]) -> list[str]:
    return [found.id for found in rows]


def ranking(*scores: float) -> list[Scored]:
    return [row(f"r{index}", score) for index, score in enumerate(scores)]


class TestScoreOrder:
    def test_final_first(self) -> None:
        assert ids(sorted_results([row("a", 0.1), row("b", 0.9), row("c", 1.4)], "score")) == ["c", "b", "a"]

    def test_then_what_the_vector_search_found(self) -> None:
        rows = [row("a", match_score=0.9), row("b", arms={"vector": 0.1}), row("c", match_score=0.95)]
        assert ids(sorted_results(rows, "score")) == ["b", "c", "a"]

    def test_an_id_that_was_only_asked_for_has_no_arm_score(self) -> None:
        rows = [row("a", match_type="priority_id", match_score=0.9), row("b", match_score=0.1)]
        assert ids(sorted_results(rows, "score")) == ["b", "a"]

    @pytest.mark.parametrize("odd", [None, "high", True, float("nan")])
    def test_no_importance_comes_last(self, odd: object) -> None:
        rows = [row("a", importance=odd), row("b", importance=0.0), row("c", importance=0.9)]
        assert ids(sorted_results(rows, "score")) == ["c", "b", "a"]

    @pytest.mark.parametrize("odd", [None, "soon"])
    def test_no_timestamp_comes_last(self, odd: object) -> None:
        rows = [
            row("a", timestamp=odd),
            row("b", timestamp="1969-01-01T00:00:00Z"),
            row("c", timestamp=JAN),
        ]
        assert ids(sorted_results(rows, "score")) == ["c", "b", "a"]

    def test_then_the_id(self) -> None:
        assert ids(sorted_results([row("b"), row("a")], "score")) == ["a", "b"]


class TestTimeOrder:
    ROWS = (
        row("old", timestamp=JAN, updated_at=MAR),
        row("new", timestamp=MAR),
        row("mid", timestamp=FEB, updated_at=FEB),
        row("none", 0.1, timestamp="soon"),
        row("none-better", 0.9),
    )

    @pytest.mark.parametrize(
        ("sort", "expected"),
        [
            ("time_asc", ["old", "mid", "new", "none-better", "none"]),
            ("time_desc", ["new", "mid", "old", "none-better", "none"]),
            ("updated_asc", ["mid", "new", "old", "none-better", "none"]),
            ("updated_desc", ["new", "old", "mid", "none-better", "none"]),
        ],
    )
    def test_missing_times_are_last_in_both_directions(self, sort: Sort, expected: list[str]) -> None:
        assert ids(sorted_results(self.ROWS, sort)) == expected

    @pytest.mark.parametrize("sort", ["time_asc", "time_desc"])
    def test_equal_times_stand_by_id(self, sort: Sort) -> None:
        rows = [row("b", timestamp=JAN), row("a", timestamp="2026-01-01T01:00:00+01:00")]
        assert ids(sorted_results(rows, sort)) == ["a", "b"]

    def test_the_epoch_itself_is_a_time(self) -> None:
        rows = [row("none"), row("epoch", timestamp=0), row("before", timestamp=-5)]
        assert ids(sorted_results(rows, "time_asc")) == ["before", "epoch", "none"]


class TestRelevant:
    def test_half_of_the_best_evidence_is_strong(self) -> None:
        rows = ranking(0.8, 0.4, 0.39)
        assert ids(relevant(rows, 1)) == ["r0", "r1"]

    def test_filled_up_to_the_limit(self) -> None:
        assert ids(relevant(ranking(0.8, 0.3, 0.2, 0.1), 3)) == ["r0", "r1", "r2"]

    def test_nothing_found(self) -> None:
        assert relevant([], 5) == []


class TestDuplicates:
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("Zürich", "Zu\u0308rich"),
            ("ｋ８ｓ runs", "k8s runs"),
            ("one  two\n", "one two"),
        ],
    )
    def test_the_same_after_normalisation(self, first: str, second: str) -> None:
        assert content_key(memory("a", content=first)) == content_key(memory("b", content=second))

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("東京 2026", "大阪 2026"),
            ("Zürich", "Zurich"),
            ("x" * 400 + "a", "x" * 400 + "b"),
            ("a-b", "a b"),
            ("50 %", "50"),
            ("Ask the US office", "Ask the us office"),
            ("", "a"),
        ],
    )
    def test_different_texts(self, first: str, second: str) -> None:
        rows = [row("a", content=first), row("b", content=second)]
        assert len(deduplicated(rows)) == 2

    def test_the_best_stays_and_names_the_group(self) -> None:
        rows = [
            row("a", 0.4, content="x"),
            row("z", 0.3),
            row("b", 0.6, content=" x"),
            row("c", 0.5, content="x "),
        ]
        found = deduplicated(rows)
        assert ids(found) == ["b", "z"]
        assert found[0].deduped_from == ("a", "b", "c")
        assert found[1].deduped_from == ()

    def test_on_equal_scores_the_newer_stays(self) -> None:
        rows = [row("a", content="x", timestamp=JAN), row("b", content="x", timestamp=MAR)]
        assert ids(deduplicated(rows)) == ["b"]

    def test_groups_of_earlier_runs_are_kept(self) -> None:
        rows = [replace(row("a", 0.9, content="x"), deduped_from=("a", "q")), row("b", content="x")]
        assert deduplicated(rows)[0].deduped_from == ("a", "b", "q")

    @pytest.mark.parametrize("content", ["", "  ", None, 7])
    def test_without_text_nothing_is_a_duplicate(self, content: object) -> None:
        assert len(deduplicated([row("a", content=content), row("b", content=content)])) == 2


class TestRecencyBias:
    def test_by_the_place_between_oldest_and_newest(self) -> None:
        rows = [
            row("old", 0.5, timestamp="2026-03-01T00:00:00Z"),
            row("mid", 0.5, timestamp="2026-03-04T00:00:00Z"),
            row("new", 0.5, timestamp="2026-03-11T00:00:00Z"),
            row("none", 0.5),
        ]
        biased = {found.id: found for found in with_recency_bias(rows, 0.1)}
        # 3 of 10 days: 0.5 + 0.1 * 0.3
        assert {name: found.final for name, found in biased.items()} == pytest.approx(
            {"old": 0.5, "mid": 0.53, "new": 0.6, "none": 0.5}
        )
        assert biased["mid"].bonus["temporal"].value == pytest.approx(0.3)
        assert "temporal" in biased["old"].bonus
        assert "temporal" not in biased["none"].bonus

    @pytest.mark.parametrize(
        ("times", "weight"),
        [((JAN, JAN), 0.1), ((JAN, MAR), 0.0), ((JAN, MAR), -1.0), ((JAN, "soon"), 0.1), ((None, None), 0.1)],
    )
    def test_nothing_to_add(self, times: tuple[str | None, str | None], weight: float) -> None:
        rows = [row("a", timestamp=times[0]), row("b", timestamp=times[1])]
        assert with_recency_bias(rows, weight) == rows


class TestAdaptiveFloor:
    @pytest.mark.parametrize(
        ("scores", "floor"),
        [
            # the example of recall.md 11.5: the gap 0.58 is above 0.25 * 1.0, and 4 of 8 are kept
            ((1.0, 0.99, 0.98, 0.40, 0.39, 0.38, 0.37, 0.36), 0.40),
            # any order
            ((0.36, 0.40, 1.0, 0.39, 0.98, 0.38, 0.99, 0.37), 0.40),
            # three or fewer results
            ((1.0, 0.2, 0.1), None),
            # the gap 0.25 is not above 0.25 * 1.0
            ((1.0, 0.75, 0.7, 0.7), None),
            # among four only the first two gaps are looked at: h = max(3, 2)
            ((1.0, 0.9, 0.9, 0.1), None),
            # gap after the first of four: the one below the gap stays too, 2 of 4
            ((1.0, 0.5, 0.4, 0.3), 0.5),
            # gap after the first of five: 2 of 5 is less than half
            ((1.0, 0.5, 0.4, 0.3, 0.2), None),
            # equal gaps: the first counts, 2 of 4
            ((1.0, 0.5, 0.0, 0.0), 0.5),
            # equals of the one below the gap are kept: 4 of 5
            ((1.0, 0.5, 0.5, 0.5, 0.2), 0.5),
            ((0.5, 0.5, 0.5, 0.5), None),
            ((0.0, 0.0, 0.0, 0.0), None),
        ],
    )
    def test_by_hand(self, scores: tuple[float, ...], floor: float | None) -> None:
        assert adaptive_floor(ranking(*scores)) == floor


class TestFloors:
    SCORES = (1.0, 0.99, 0.98, 0.40, 0.39, 0.38, 0.37, 0.36)

    def request(self, **fields: Any) -> RecallRequest:
        return RecallRequest(now=NOW, query="x", **fields)

    def test_none_unless_asked_for(self) -> None:
        kept, report = floored(ranking(*self.SCORES), self.request())
        assert len(kept) == 8
        assert report is None

    def test_adaptive(self) -> None:
        kept, report = floored(ranking(*self.SCORES), self.request(adaptive_floor=True))
        assert ids(kept) == ["r0", "r1", "r2", "r3"]
        assert report is not None
        assert (report.filtered_count, report.min_score, report.adaptive_floor) == (4, None, 0.40)

    def test_adaptive_only_for_the_score_order(self) -> None:
        _, report = floored(ranking(*self.SCORES), self.request(adaptive_floor=True, sort="time_desc"))
        assert report is None

    def test_least_score_is_inclusive(self) -> None:
        kept, report = floored(ranking(*self.SCORES), self.request(min_score=0.98))
        assert ids(kept) == ["r0", "r1", "r2"]
        assert report is not None
        assert (report.filtered_count, report.min_score, report.adaptive_floor) == (5, 0.98, None)

    def test_the_higher_of_both_counts(self) -> None:
        kept, report = floored(ranking(*self.SCORES), self.request(min_score=0.985, adaptive_floor=True))
        assert ids(kept) == ["r0", "r1"]
        assert report is not None
        assert (report.filtered_count, report.min_score, report.adaptive_floor) == (6, 0.985, 0.40)

    def test_nothing_cut_is_said_too(self) -> None:
        _, report = floored(ranking(0.9), self.request(min_score=0.1))
        assert report is not None
        assert report.filtered_count == 0

    def test_ids_asked_for_stay(self) -> None:
        kept, _ = floored(
            ranking(0.9, 0.5, 0.1), self.request(min_score=0.8, context=ContextHints(priority_ids=("r2",)))
        )
        assert ids(kept) == ["r0", "r2"]
