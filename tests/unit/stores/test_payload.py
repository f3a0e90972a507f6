"""Memories as payloads and back (D26, storage.md 3)."""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import Any

import pytest

from automem.models import Memory
from automem.stores.payload import from_payload, to_payload

FULL = {
    "id": "00000000-0000-4000-8000-000000000001",
    "content": "text",
    "tags": ["Project/Foo", "project:foo", "x", ":"],
    "importance": 0.5,
    "timestamp": "1970-01-01T00:00:10+00:00",
    "type": "Memory",
    "confidence": 0.9,
    "t_valid": "1970-01-01T01:00:20+01:00",
    "t_invalid": "1970-01-02T00:00:00.5Z",
    "updated_at": "1970-01-01",
    "last_accessed": "1970-01-01T00:00:40+00:00",
    "metadata": {"a": [1, {"b": None}]},
    "relevance_score": 0.25,
    "archived": True,
    "processed": True,
    "summary": "not in the vector store",
}


def test_a_payload_is_complete() -> None:
    assert to_payload(Memory(properties=FULL, replaced=True, lexemes="words", revision=3)) == {
        "content": "text",
        "tags": ["Project/Foo", "project:foo", "x", ":"],
        "tag_prefixes": ["project", "project:foo", "x"],
        "importance": 0.5,
        "timestamp": "1970-01-01T00:00:10+00:00",
        "type": "Memory",
        "confidence": 0.9,
        "t_valid": "1970-01-01T01:00:20+01:00",
        "t_invalid": "1970-01-02T00:00:00.5Z",
        "updated_at": "1970-01-01",
        "last_accessed": "1970-01-01T00:00:40+00:00",
        "metadata": {"a": [1, {"b": None}]},
        "relevance_score": 0.25,
        "archived": True,
        "_tags": ["project:foo", "x"],
        "_ts": 10.0,
        "_updated": 0.0,
        "_from": 20.0,
        "_until": 86400.5,
        "_replaced": 1,
        "_archived": 1,
    }


def test_absent_and_null_values_are_left_out() -> None:
    odd = {"id": FULL["id"], "content": "x", "type": None, "importance": math.nan, "timestamp": "soon"}

    assert to_payload(Memory(properties=odd)) == {
        "content": "x",
        "timestamp": "soon",
        "tags": [],
        "tag_prefixes": [],
        "_tags": [],
    }


@pytest.mark.parametrize("archived", [None, False, "true", 1])
def test_only_true_counts_as_archived(archived: object) -> None:
    assert "_archived" not in to_payload(Memory(properties={"archived": archived}))


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (2**63 - 1, 2**63 - 1),
        (-(2**63), -(2**63)),
        (2**63, "9223372036854775808"),
        (math.inf, None),
        ("\ud800", "?"),
        ({"\udfff": (1, "é")}, {"?": [1, "é"]}),
        ({1: datetime(2025, 1, 2)}, {"1": "2025-01-02 00:00:00"}),
    ],
)
def test_metadata_holds_what_every_engine_takes(value: Any, stored: Any) -> None:
    assert to_payload(Memory(properties={"metadata": {"v": value}}))["metadata"] == {"v": stored}


def test_what_lies_too_deep_is_cut_off() -> None:
    deep: Any = []
    for _ in range(300):
        deep = [deep]

    text = json.dumps(to_payload(Memory(properties={"metadata": {"v": deep}})))

    assert text.count("[") < 110 and "\\u2026" in text


def test_a_payload_gives_the_public_properties_back() -> None:
    back = from_payload("the-id", to_payload(Memory(properties=FULL, replaced=True)))

    dropped = {"processed", "summary"}
    public = {name: value for name, value in FULL.items() if name not in dropped}
    assert back.properties == public | {"id": "the-id", "tag_prefixes": ["project", "project:foo", "x"]}
    assert (back.replaced, back.archived, back.lexemes) == (True, True, "")


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1]", {}),
        ("{", {}),
        ("[" * 100_000, {}),
        ([1], {}),
        (7, {}),
        ({"a": {}}, {"a": {}}),
    ],
)
def test_metadata_of_others_is_read_as_an_object(stored: Any, read: dict[str, Any]) -> None:
    assert from_payload("x", {"metadata": stored}).metadata == read


def test_no_payload_is_an_empty_memory() -> None:
    assert from_payload("x", None) == Memory(properties={"id": "x"})
