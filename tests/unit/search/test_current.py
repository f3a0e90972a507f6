"""What is shown: live memories in order, and what stands in the place of the hidden (recall.md 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from automem.models import Memory, Scope
from automem.search.current import Shown, assemble, hidden_reasons, merged_reports, replace_hidden
from automem.search.state import Chains
from automem.search.types import ContextHints, RecallRequest, Scored, StateReport, Substitute, Suppressed
from automem.stores.base import Replacement
from tests.support.rows import memory, replaced_by, row

NOW = datetime(2026, 4, 1, tzinfo=UTC)
PAST, FUTURE = "2026-03-01T00:00:00Z", "2026-05-01T00:00:00Z"


def links(*edges: tuple[str, Memory]) -> Mapping[str, Sequence[Replacement]]:
    found: dict[str, list[Replacement]] = {}
    for old, new in edges:
        found.setdefault(old, []).append(replaced_by(old, new))
    return found


def show(
    rows: Sequence[Scored],
    chains: Chains | None = None,
    limit: int = 5,
    scope: Scope | None = None,
    **fields: Any,
) -> Shown:
    request = RecallRequest(now=NOW, query="x", **fields)
    return assemble(rows, chains or {}, request, scope or Scope(at=NOW), limit)


def ids(shown: Shown) -> list[str]:
    return [found.id for found in shown.rows]


class TestHidden:
    ROWS = (row("a"), row("b", archived=True), row("c", t_valid=FUTURE), row("d", t_invalid=PAST), row("e"))

    def test_reasons(self) -> None:
        request = RecallRequest(now=NOW)
        assert hidden_reasons(self.ROWS, links(("e", memory("f"))), request) == {
            "b": "archived",
            "c": "not_yet_valid",
            "d": "expired",
            "e": "superseded",
        }

    def test_history_hides_nothing(self) -> None:
        request = RecallRequest(now=NOW, state_mode="history")
        assert hidden_reasons(self.ROWS, links(("e", memory("f"))), request) == {}
        shown = show(self.ROWS, links(("e", memory("f"))), state_mode="history")
        assert ids(shown) == ["a", "b", "c", "d", "e"]
        assert shown.report == StateReport()

    def test_hidden_ones_are_counted_and_gone(self) -> None:
        shown = show(self.ROWS)
        assert ids(shown) == ["a", "e"]
        assert shown.report.suppressed == (
            Suppressed("b", "archived"),
            Suppressed("c", "not_yet_valid"),
            Suppressed("d", "expired"),
        )


class TestReplacements:
    def test_the_head_takes_the_place_and_the_scores(self) -> None:
        rows = [row("a", 0.9), row("old", 0.8, match_score=0.7), row("b", 0.3)]
        shown = show(rows, links(("old", memory("mid")), ("mid", memory("head"))))
        assert ids(shown) == ["a", "head", "b"]
        head = shown.rows[1]
        assert (head.match_type, head.match_types) == ("state_replacement", ("state_replacement",))
        assert (head.final, head.match_score, head.replaces) == (0.8, 0.7, "old")
        assert head.memory.content == "Text of head"
        assert [(via.from_id, via.relation.type, via.relation.target_id) for via in head.via] == [
            ("old", "EVOLVED_INTO", "mid")
        ]
        assert shown.report == StateReport(
            (Suppressed("old", "superseded", "head", "EVOLVED_INTO"),),
            (Substitute("head", "old", "EVOLVED_INTO"),),
        )

    def test_a_head_that_is_there_already_is_not_shown_twice(self) -> None:
        shown = show([row("old", 0.9), row("head", 0.2)], links(("old", memory("head"))))
        assert ids(shown) == ["head"]
        assert shown.rows[0].replaces is None
        assert shown.report.replacements == ()

    def test_two_with_one_head_show_it_once_at_the_first_place(self) -> None:
        head = memory("head")
        shown = show([row("one", 0.9), row("a", 0.8), row("two", 0.7)], links(("one", head), ("two", head)))
        assert ids(shown) == ["head", "a"]
        assert shown.rows[0].replaces == "one"
        assert len(shown.report.suppressed) == 2

    def test_an_expired_memory_is_replaced_too(self) -> None:
        shown = show([row("old", t_invalid=PAST)], links(("old", memory("head"))))
        assert ids(shown) == ["head"]
        assert shown.report.suppressed[0].reason == "expired"

    @pytest.mark.parametrize(
        ("head", "scope"),
        [
            (memory("head", tags=["b"]), Scope(at=NOW, tags=("a",))),
            (memory("head", tags=["a", "x"]), Scope(at=NOW, exclude_tags=("x",))),
            (memory("head", type="MetaPattern"), Scope(at=NOW, excluded_types=("MetaPattern",))),
        ],
    )
    def test_a_head_outside_the_scope_stays_out(self, head: Memory, scope: Scope) -> None:
        shown = show([row("old", tags=["a"])], links(("old", head)), scope=scope)
        assert ids(shown) == []
        assert shown.report.suppressed == (Suppressed("old", "superseded", "head", "EVOLVED_INTO"),)
        assert shown.report.replacements == ()

    def test_two_that_replace_each_other(self) -> None:
        a, b = memory("a"), memory("b")
        shown = show([row("a", 0.9), row("b", 0.8)], links(("a", b), ("b", a)))
        # by the contract the last head before the repeat stays: each stands for the other
        assert sorted(ids(shown)) == ["a", "b"]
        assert {found.replaces for found in shown.rows} == {"a", "b"}

    def test_a_chain_of_five_hops(self) -> None:
        names = ["old", "b", "c", "d", "e", "f"]
        chains = links(*((old, memory(new)) for old, new in zip(names, names[1:], strict=False)))
        assert ids(show([row("old")], chains)) == ["f"]

    def test_rows_of_an_expansion_are_replaced_without_a_cut(self) -> None:
        rows = [row("a"), row("old"), row("b")]
        chains = links(("old", memory("head")))
        shown = replace_hidden(rows, {"old": "superseded"}, chains, Scope(at=NOW))
        assert ids(shown) == ["a", "head", "b"]


class TestCut:
    def test_a_hidden_one_takes_no_place(self) -> None:
        rows = [row("a", 0.9), row("gone", 0.8, archived=True), row("b", 0.7), row("c", 0.6)]
        assert ids(show(rows, limit=2)) == ["a", "b"]

    def test_a_head_takes_the_place_of_the_last(self) -> None:
        rows = [row("a", 0.9), row("old", 0.8), row("b", 0.7)]
        assert ids(show(rows, links(("old", memory("head"))), limit=2)) == ["a", "head"]

    def test_what_is_hidden_below_the_cut_is_not_counted(self) -> None:
        rows = [row("a", 0.9), row("b", 0.8), row("gone", 0.1, archived=True)]
        assert show(rows, limit=2).report.suppressed == ()
        assert len(show(rows, limit=3).report.suppressed) == 1

    def test_a_head_that_was_cut_off_is_not_reported(self) -> None:
        rows = [row("a", 0.9), row("one", 0.8), row("two", 0.7), row("b", 0.6)]
        shown = show(rows, links(("one", memory("h1")), ("two", memory("h2"))), limit=2)
        assert ids(shown) == ["a", "h1"]
        assert [found.id for found in shown.report.replacements] == ["h1"]

    def test_duplicates_are_looked_for_among_the_live(self) -> None:
        rows = [
            row("gone", 0.9, content="x", archived=True),
            row("a", 0.5, content="x"),
            row("b", 0.4, content="x "),
        ]
        shown = show(rows)
        assert ids(shown) == ["a"]
        assert shown.rows[0].deduped_from == ("a", "b")

    def test_a_time_order_takes_what_is_relevant(self) -> None:
        rows = [
            row("best", 0.9, timestamp="2026-01-01T00:00:00Z"),
            row("good", 0.5, timestamp="2026-02-01T00:00:00Z"),
            row("weak", 0.1, timestamp="2026-03-01T00:00:00Z"),
        ]
        assert ids(show(rows, limit=2, sort="time_desc")) == ["good", "best"]
        assert ids(show(rows, limit=3, sort="time_desc")) == ["weak", "good", "best"]


class TestPriority:
    WANTED = ContextHints(priority_ids=("c", "x", "a"))

    def test_ids_asked_for_come_first_in_their_order(self) -> None:
        rows = [row("a", 0.1), row("b", 0.9), row("c", 0.2)]
        assert ids(show(rows, context=self.WANTED)) == ["c", "a", "b"]
        assert ids(show(rows, limit=2, context=self.WANTED)) == ["c", "a"]

    def test_they_stay_in_a_time_order_whatever_their_evidence(self) -> None:
        rows = [row("a", 0.0, timestamp=PAST), row("b", 0.9, timestamp=PAST), row("d", 0.8, timestamp=PAST)]
        assert ids(show(rows, limit=2, sort="time_desc", context=self.WANTED)) == ["a", "b"]

    def test_the_rules_of_current_state_hold_for_them(self) -> None:
        shown = show([row("c", archived=True), row("b")], context=self.WANTED)
        assert ids(shown) == ["b"]


def test_reports_are_joined_each_memory_once() -> None:
    one = StateReport((Suppressed("a", "archived"),), (Substitute("h", "a", "EVOLVED_INTO"),))
    two = StateReport((Suppressed("a", "archived"), Suppressed("b", "expired")))
    joined = merged_reports([one, two])
    assert [found.id for found in joined.suppressed] == ["a", "b"]
    assert joined.replacements == one.replacements
