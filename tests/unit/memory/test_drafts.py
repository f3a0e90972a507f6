"""Bodies of POST /memory and POST /memory/batch."""

from __future__ import annotations

from typing import Any

import pytest

from automem.errors import InvalidInput
from automem.memory.drafts import Limits, read_batch, read_new_memory

LIMITS = Limits(content=50, dimension=2)
NOW = "2025-06-01T12:00:00+00:00"
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


def test_only_content_is_needed() -> None:
    memory = read_new_memory({"content": " hello "}, LIMITS, NOW)
    assert (memory.content, memory.tags, memory.importance) == ("hello", (), 0.5)
    assert memory.metadata == {}
    assert memory.timestamp == memory.updated_at == memory.last_accessed == memory.t_valid == NOW
    assert memory.t_invalid is None
    assert memory.type is memory.confidence is memory.embedding is memory.id is None
    assert memory.warnings == ()


def test_null_counts_as_absent_in_every_optional_field() -> None:
    names = ["tags", "importance", "metadata", "type", "confidence", "timestamp", "updated_at"]
    names += ["last_accessed", "t_valid", "t_invalid", "embedding", "id"]
    body = {"content": "a", **dict.fromkeys(names)}
    assert read_new_memory(body, LIMITS, NOW) == read_new_memory({"content": "a"}, LIMITS, NOW)


def test_times_default_to_each_other_and_are_normalised() -> None:
    body = {"content": "a", "timestamp": "2024-01-01T02:00:00+02:00", "updated_at": "2024-02-01"}
    memory = read_new_memory(body, LIMITS, NOW)
    assert memory.timestamp == memory.t_valid == "2024-01-01T00:00:00+00:00"
    assert memory.updated_at == memory.last_accessed == "2024-02-01T00:00:00+00:00"


def test_an_empty_time_or_type_is_absent_too() -> None:
    memory = read_new_memory({"content": "a", "timestamp": "", "t_invalid": "", "type": ""}, LIMITS, NOW)
    assert (memory.timestamp, memory.t_invalid, memory.type) == (NOW, None, None)


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ({"type": "Decision"}, ("Decision", 0.9)),
        ({"type": "anything else", "confidence": "0.2"}, ("anything else", 0.2)),
        ({"type": "Decision", "confidence": None}, ("Decision", 0.9)),
        ({"confidence": 0.2}, (None, None)),
    ],
)
def test_confidence_goes_with_the_type(extra: dict[str, Any], expected: tuple[object, object]) -> None:
    memory = read_new_memory({"content": "a", **extra}, LIMITS, NOW)
    assert (memory.type, memory.confidence) == expected


@pytest.mark.parametrize(
    ("extra", "field"),
    [
        ({"confidence": 2}, "confidence"),
        ({"type": 7}, "type"),
        ({"timestamp": 0}, "timestamp"),
        ({"last_accessed": False}, "last_accessed"),
        ({"embedding": [1, 2, 3]}, "embedding"),
        ({"tags": 5, "importance": "x"}, "tags"),
        ({"importance": "x", "metadata": 5}, "importance"),
        ({"t_invalid": "x", "timestamp": "y"}, "t_invalid"),
    ],
)
def test_the_first_fault_in_the_order_of_the_contract_is_named(extra: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_new_memory({"content": "a", **extra}, LIMITS, NOW)
    assert caught.value.field == field


def test_a_uuid_is_taken_as_id_in_canonical_form() -> None:
    assert read_new_memory({"content": "a", "id": UUID.upper()}, LIMITS, NOW).id == UUID


@pytest.mark.parametrize("value", ["my-id", 5, {"a": 1}, ""])
def test_another_id_is_ignored_with_a_warning(value: object) -> None:
    memory = read_new_memory({"content": "a", "id": value}, LIMITS, NOW)
    assert memory.id is None
    assert [(warning.code, warning.parameter) for warning in memory.warnings] == [("id_ignored", "id")]


@pytest.mark.parametrize("value", [None, [], {}, "text", 5])
def test_a_batch_must_be_a_list(value: object) -> None:
    with pytest.raises(InvalidInput, match="^'memories' must be a non-empty array$"):
        read_batch({"memories": value}, LIMITS, NOW)


def test_a_batch_has_at_most_500_rows() -> None:
    rows = [{"content": "a"}] * 500
    assert len(read_batch({"memories": rows}, LIMITS, NOW)) == 500
    with pytest.raises(InvalidInput, match="^Batch size limit is 500 memories per request$"):
        read_batch({"memories": [*rows, {"content": "a"}]}, LIMITS, NOW)


def test_every_bad_row_of_a_batch_is_listed() -> None:
    rows: list[Any] = [
        {"content": "fine"},
        "text",
        {"content": " "},
        {"content": "x" * 51},
        {"content": "a", "importance": 7, "tags": 5},
        {"content": "a", "timestamp": "soon"},
        {"content": "a", "id": UUID},
        {"content": "b", "id": UUID.upper()},
        {"content": 5},
    ]
    with pytest.raises(InvalidInput) as caught:
        read_batch({"memories": rows}, LIMITS, NOW)
    assert caught.value.message == "Memory at index 1 must be an object"
    assert [(row["index"], row.get("field"), row["message"]) for row in caught.value.rows] == [
        (1, None, "Memory at index 1 must be an object"),
        (2, "content", "Memory at index 2 missing 'content'"),
        (3, "content", "Memory at index 3 exceeds content limit (51/50)"),
        (4, "tags", "'tags' must be a list of strings or a single string"),
        (5, "timestamp", "Invalid ISO timestamp"),
        (7, "id", "'id' repeats that of index 6"),
        (8, "content", "'content' must be a string, not a number"),
    ]


def test_the_message_of_a_bad_batch_names_the_row() -> None:
    with pytest.raises(InvalidInput) as caught:
        read_batch({"memories": [{"content": "a"}, {"content": "a", "importance": 7}]}, LIMITS, NOW)
    assert caught.value.message == "Memory at index 1: 'importance' must be between 0 and 1"
    assert caught.value.field == "importance"
