"""Bodies of PATCH /memory/{id}."""

from __future__ import annotations

from typing import Any

import pytest

from automem.errors import InvalidInput
from automem.memory.changes import read_changes

NOW = "2025-06-01T12:00:00+00:00"


def test_only_the_fields_present_are_changed_and_the_time_of_the_change() -> None:
    changes = read_changes({"importance": "0.7", "unknown": 1}, 50, NOW)
    assert changes == {"importance": 0.7, "updated_at": NOW}


@pytest.mark.parametrize("body", [{}, {"unknown": 1, "id": "x", "embedding": [1]}, {"type": None}])
def test_nothing_to_change_changes_nothing(body: dict[str, Any]) -> None:
    assert read_changes(body, 50, NOW) == {}


def test_a_given_updated_at_stays() -> None:
    given = {"updated_at": "2024-01-01", "content": " new "}
    assert read_changes(given, 50, NOW) == {"content": "new", "updated_at": "2024-01-01T00:00:00+00:00"}


def test_null_empties_or_removes() -> None:
    body = {"tags": None, "metadata": None, "timestamp": None, "t_valid": None, "t_invalid": None}
    assert read_changes(body, 50, NOW) == {
        "tags": [],
        "metadata": {},
        "timestamp": None,
        "t_valid": None,
        "t_invalid": None,
        "updated_at": NOW,
    }


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"content": None}, "content"),
        ({"content": "  "}, "content"),
        ({"content": 5}, "content"),
        ({"content": "x" * 51}, "content"),
        ({"importance": "high"}, "importance"),
        ({"confidence": 1.5}, "confidence"),
        ({"type": ""}, "type"),
        ({"type": ["Decision"]}, "type"),
        ({"metadata": []}, "metadata"),
        ({"tags": {"a": 1}}, "tags"),
        ({"t_invalid": ""}, "t_invalid"),
        ({"updated_at": "soon"}, "updated_at"),
        ({"importance": 0.5, "timestamp": 5}, "timestamp"),
    ],
)
def test_bad_fields_are_refused_as_on_create(body: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_changes(body, 50, NOW)
    assert caught.value.field == field
