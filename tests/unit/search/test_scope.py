"""Whether one memory is inside a scope, and which condition fails first (recall.md 8.3)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from automem.models import Memory, Scope
from automem.search.scope import outside
from automem.utils.time import TimeWindow

AT = datetime(2026, 4, 1, tzinfo=UTC)
MARCH = TimeWindow(datetime(2026, 3, 1, tzinfo=UTC), AT)
MEMORY = Memory(
    {"id": "m1", "type": "Insight", "timestamp": "2026-03-10T00:00:00+00:00", "tags": ["Project/X", "draft"]}
)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ({}, None),
        ({"excluded_types": ("Insight",)}, "excluded_type"),
        ({"excluded_types": ("insight", "Pattern")}, None),
        ({"window": MARCH}, None),
        ({"window": TimeWindow(None, MARCH.start)}, "time_window"),
        ({"window": TimeWindow(None, None)}, None),
        ({"tags": ("project",)}, None),
        ({"tags": ("project:x", "other")}, None),
        ({"tags": ("project:x", "other"), "tag_mode": "all"}, "tag_filter"),
        ({"tags": ("proj",)}, "tag_filter"),
        ({"tags": ("project",), "tag_match": "exact"}, "tag_filter"),
        ({"tags": ("PROJECT:X",), "tag_match": "exact"}, None),
        ({"exclude_tags": ("project",)}, "excluded_tag"),
        ({"exclude_tags": ("project",), "tag_match": "exact"}, None),
        ({"exclude_tags": ("dr",)}, None),
        # the first that fails is named
        ({"excluded_types": ("Insight",), "tags": ("other",)}, "excluded_type"),
        ({"window": TimeWindow(AT, None), "tags": ("other",), "exclude_tags": ("draft",)}, "time_window"),
        ({"tags": ("other",), "exclude_tags": ("draft",)}, "tag_filter"),
    ],
)
def test_first_condition_that_fails(scope: dict[str, Any], expected: str | None) -> None:
    assert outside(MEMORY, Scope(at=AT, **scope)) == expected


@pytest.mark.parametrize("odd", [None, "soon", True, []])
def test_no_readable_time_is_outside_every_window(odd: object) -> None:
    assert outside(Memory({"id": "m", "timestamp": odd}), Scope(at=AT, window=MARCH)) == "time_window"
    assert outside(Memory({"id": "m", "timestamp": odd}), Scope(at=AT)) is None


def test_no_tags_fail_a_tag_filter_only() -> None:
    bare = Memory({"id": "m"})
    assert outside(bare, Scope(at=AT, tags=("a",))) == "tag_filter"
    assert outside(bare, Scope(at=AT, exclude_tags=("a",))) is None
