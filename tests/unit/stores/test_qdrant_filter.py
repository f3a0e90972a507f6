"""Scopes as conditions on the payload (D5, D7, D17)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from automem.models import Scope, TagMatch, TagMode
from automem.stores.qdrant_filter import (
    PAYLOAD_INDEXES,
    AnyOf,
    FilterSpec,
    Within,
    scope_filter,
    tag_conditions,
    type_filter,
)
from automem.utils.time import TimeWindow

NOW = datetime(1970, 1, 2, tzinfo=UTC)
DAY = 86400.0


def test_an_open_scope_filters_nothing() -> None:
    assert scope_filter(Scope(at=NOW, archived=True)) == FilterSpec()
    assert scope_filter(Scope(at=NOW, archived=True, window=TimeWindow(None, None))) == FilterSpec()
    assert not FilterSpec()


def test_archived_memories_are_left_out_unless_asked_for() -> None:
    assert scope_filter(Scope(at=NOW)) == FilterSpec(must_not=(AnyOf("_archived", (1,)),))


@pytest.mark.parametrize(
    ("mode", "match", "expected"),
    [
        ("any", "prefix", (AnyOf("tag_prefixes", ("a:b", "c")),)),
        ("any", "exact", (AnyOf("_tags", ("a:b", "c")),)),
        ("all", "prefix", (AnyOf("tag_prefixes", ("a:b",)), AnyOf("tag_prefixes", ("c",)))),
        ("all", "exact", (AnyOf("_tags", ("a:b",)), AnyOf("_tags", ("c",)))),
    ],
)
def test_tags_are_compared_in_their_canonical_form(
    mode: TagMode, match: TagMatch, expected: tuple[AnyOf, ...]
) -> None:
    assert tag_conditions(["A/B", "C:", "a:b"], mode, match) == expected


def test_no_tags_are_no_condition_and_an_empty_tag_finds_nothing() -> None:
    assert tag_conditions([], "all", "prefix") == ()
    assert tag_conditions([":"], "any", "exact") == (AnyOf("_tags", ("",)),)


def test_excluded_tags_follow_tag_match() -> None:
    exact = scope_filter(Scope(at=NOW, archived=True, exclude_tags=("A/B",), tag_match="exact"))
    prefix = scope_filter(Scope(at=NOW, archived=True, exclude_tags=("A/B",)))

    assert exact.must_not == (AnyOf("_tags", ("a:b",)),)
    assert prefix.must_not == (AnyOf("tag_prefixes", ("a:b",)),)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (TimeWindow(NOW, None), Within("_ts", gte=DAY)),
        (TimeWindow(None, NOW), Within("_ts", lt=DAY)),
        (TimeWindow(None, NOW, end_inclusive=True), Within("_ts", lte=DAY)),
        (TimeWindow(NOW, NOW, end_inclusive=True), Within("_ts", gte=DAY, lte=DAY)),
    ],
)
def test_windows_bound_the_timestamp(window: TimeWindow, expected: Within) -> None:
    assert scope_filter(Scope(at=NOW, window=window, archived=True)).must == (expected,)


def test_current_and_suppressed_are_each_other_s_opposite() -> None:
    reasons = (Within("_from", gt=DAY), Within("_until", lte=DAY), AnyOf("_replaced", (1,)))

    assert scope_filter(Scope(at=NOW, state="current", archived=True)) == FilterSpec(must_not=reasons)
    assert scope_filter(Scope(at=NOW, state="suppressed", archived=True)) == FilterSpec(should=reasons)


def test_types_are_left_out() -> None:
    assert type_filter([]) == FilterSpec()
    assert type_filter(["MetaPattern"]) == FilterSpec(must_not=(AnyOf("type", ("MetaPattern",)),))
    assert (
        type_filter(["A", "B"]).must_not
        == scope_filter(Scope(at=NOW, archived=True, excluded_types=("A", "B"))).must_not
    )


def test_every_field_that_a_filter_uses_has_an_index() -> None:
    everything = Scope(
        at=NOW,
        tags=("a",),
        exclude_tags=("b",),
        window=TimeWindow(NOW, None),
        excluded_types=("x",),
        state="current",
    )
    exact = Scope(at=NOW, tags=("a",), tag_match="exact")
    specs = [scope_filter(everything), scope_filter(exact)]

    used = {condition.key for spec in specs for condition in (*spec.must, *spec.must_not, *spec.should)}

    assert used | {"tags"} == {field for field, _ in PAYLOAD_INDEXES}
