"""Node serialisation and relation summaries (recall.md 9.1)."""

from __future__ import annotations

from typing import Any

import pytest

from automem.models import Memory, Relation
from automem.utils.graph import memory_object, memory_summary, relation_object, shortened


def memory(**properties: Any) -> Memory:
    return Memory({"id": "m1", "content": "Text", **properties})


def test_all_public_properties_and_no_nulls() -> None:
    shown = memory_object(memory(importance=0.0, summary="", t_invalid=None, metadata={"a": None}))
    assert shown == {"id": "m1", "content": "Text", "importance": 0.0, "summary": "", "metadata": {"a": None}}


def test_summary_with_content_where_there_is_no_summary() -> None:
    found = memory(
        type="Insight",
        timestamp="2026-01-01T00:00:00+00:00",
        importance=0.5,
        confidence=0.75,
        tags=["a", "b", "c", "d", "e", "f"],
        metadata={"a": 1},
        archived=True,
    )
    assert memory_summary(found) == {
        "id": "m1",
        "type": "Insight",
        "timestamp": "2026-01-01T00:00:00+00:00",
        "importance": 0.5,
        "confidence": 0.75,
        "content": "Text",
        "tags": ["a", "b", "c", "d", "e"],
    }


def test_summary_instead_of_content() -> None:
    assert memory_summary(memory(summary="Short")) == {"id": "m1", "summary": "Short"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  short  ", "short"),
        ("x" * 160, "x" * 160),
        ("x" * 161, "x" * 157 + "…"),
        ("word " * 40, ("word " * 31).rstrip() + "…"),
        # 150 letters, a blank, and more: cut back to the blank.
        ("a" * 150 + " " + "b" * 50, "a" * 150 + "…"),
    ],
)
def test_cut_at_a_blank_below_160_characters(text: str, expected: str) -> None:
    assert shortened(text) == expected


def test_an_edge_with_the_memory_at_its_end() -> None:
    edge = Relation("m0", "m1", "LEADS_TO", 0.7)
    assert relation_object(edge, memory()) == {
        "type": "LEADS_TO",
        "strength": 0.7,
        "memory": {"id": "m1", "content": "Text"},
    }


def test_the_kind_of_an_edge_is_shown_where_it_has_one() -> None:
    edge = Relation("m0", "m1", "DISCOVERED", 0.0, kind="explains")
    assert relation_object(edge, memory())["kind"] == "explains"
