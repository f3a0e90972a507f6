"""Single fields of a memory: what is accepted, and the messages of what is not."""

from __future__ import annotations

import math
from typing import Any

import pytest

from automem.errors import InvalidInput
from automem.memory import fields

UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


@pytest.mark.parametrize(
    "text",
    [
        UUID,
        UUID.upper(),
        UUID.replace("-", ""),
        "{" + UUID + "}",
        f"urn:uuid:{UUID}",
        "0f-8fad5bd9cb469fa16570867728950e",
        f" {UUID} ",
    ],
)
def test_every_spelling_of_a_uuid_has_one_canonical_form(text: str) -> None:
    assert fields.canonical_id(text) == UUID


@pytest.mark.parametrize(
    "value",
    ["", "batch", UUID[:-1], UUID + "0", "1_345678901234567890123456789012", "٣" * 32, None, 5, [UUID]],
)
def test_what_is_no_uuid_has_no_canonical_form(value: object) -> None:
    assert fields.canonical_id(value) is None


def test_content_is_trimmed_at_both_ends_only() -> None:
    assert fields.read_content(" \n a  b\n\nc \t", 100) == "a  b\n\nc"


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_content_is_required(value: object) -> None:
    with pytest.raises(InvalidInput, match="^'content' is required$") as caught:
        fields.read_content(value, 100)
    assert caught.value.field == "content"


@pytest.mark.parametrize("value", [5, 0, True, False, ["a"], {"a": 1}, 1.5])
def test_content_of_another_type_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="'content' must be a string"):
        fields.read_content(value, 100)


def test_content_may_be_as_long_as_the_limit_after_trimming() -> None:
    assert len(fields.read_content("  " + "é" * 10 + "  ", 10)) == 10
    with pytest.raises(InvalidInput) as caught:
        fields.read_content("x" * 11, 10)
    assert caught.value.message == (
        "Content exceeds maximum length of 10 characters (11 provided). "
        "Please split into smaller memories or summarize."
    )


@pytest.mark.parametrize(
    ("value", "number"),
    [(0, 0.0), (1, 1.0), (0.25, 0.25), ("0.25", 0.25), (" 1e-1 ", 0.1), (True, 1.0), (False, 0.0)],
)
def test_numbers_numeric_texts_and_booleans_are_shares(value: object, number: float) -> None:
    assert fields.read_share(value, "importance") == number


@pytest.mark.parametrize("value", ["high", "", "1_0", [], {}, [0.5], "nan", math.nan])
def test_what_is_no_number_is_named(value: object) -> None:
    with pytest.raises(InvalidInput, match="^'confidence' must be a number$") as caught:
        fields.read_share(value, "confidence")
    assert caught.value.field == "confidence"


@pytest.mark.parametrize("value", [-0.01, 1.01, "2", math.inf, -math.inf, 10**400, "1e999"])
def test_numbers_out_of_range_are_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="^'importance' must be between 0 and 1$"):
        fields.read_share(value, "importance")


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        (None, ()),
        ([], ()),
        ("a, b,,a", ("a", "b")),
        (["A", " a ", "b,c", "", "A"], ("A", "a", "b", "c")),
        (["slack:U1/x"], ("slack:U1/x",)),
    ],
)
def test_tags_are_split_and_trimmed_in_their_case(value: object, tags: tuple[str, ...]) -> None:
    assert fields.read_tags(value) == tags


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (5, "'tags' must be a list of strings or a single string"),
        ({"a": 1}, "'tags' must be a list of strings or a single string"),
        (["a", 5], "'tags' must be a list of strings or a single string"),
        (["a", None], "'tags' must be a list of strings or a single string"),
        ([f"t{n}" for n in range(201)], "'tags' must be at most 200 tags, not 201"),
        (["x" * 257], "Each of 'tags' must have at most 256 characters, not 257"),
    ],
)
def test_bad_tags_are_refused(value: object, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        fields.read_tags(value)
    assert (caught.value.message, caught.value.field) == (message, "tags")


def test_metadata_may_have_any_keys() -> None:
    metadata = {"a-b": 1, "": [None, True], "ключ 1": {"x.y": 1.5}, "$ref": "'; DROP"}
    assert fields.read_metadata(metadata) == metadata
    assert fields.read_metadata(None) == {}


def _nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"n": value}
    return value


def test_metadata_may_be_nested_up_to_the_limit() -> None:
    assert fields.read_metadata(_nested(32))
    with pytest.raises(InvalidInput, match="at most 32 levels"):
        fields.read_metadata(_nested(33))
    with pytest.raises(InvalidInput, match="at most 32 levels"):
        fields.read_metadata({"a": [[[[_nested(30)]]]]})


@pytest.mark.parametrize("value", ["text", 5, ["a"], True, 0, "", []])
def test_metadata_must_be_an_object(value: object) -> None:
    with pytest.raises(InvalidInput, match="^'metadata' must be an object$"):
        fields.read_metadata(value)


@pytest.mark.parametrize("value", [{"a": math.nan}, {"a": [math.inf]}, {"a": "\ud800"}])
def test_metadata_that_no_json_can_hold_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="'metadata' must be JSON"):
        fields.read_metadata(value)


def test_metadata_is_limited_in_bytes() -> None:
    with pytest.raises(InvalidInput, match="at most 65536 bytes of JSON"):
        fields.read_metadata({"a": "é" * 32_768})


@pytest.mark.parametrize("value", [5, ["Decision"], {}, "", "  ", "x" * 101, True])
def test_a_type_must_be_text(value: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        fields.read_type(value)
    assert caught.value.field == "type"


def test_a_type_is_kept_as_it_is() -> None:
    assert fields.read_type(" My type ") == " My type "


@pytest.mark.parametrize(
    ("value", "field", "message"),
    [
        (5, "timestamp", "Timestamp must be a non-empty ISO formatted string"),
        ("  ", "timestamp", "Timestamp must be a non-empty ISO formatted string"),
        ("soon", "timestamp", "Invalid ISO timestamp"),
        ("soon", "t_valid", "Invalid t_valid: Invalid ISO timestamp"),
        (5, "t_invalid", "Invalid t_invalid: Timestamp must be a non-empty ISO formatted string"),
        ("0001-01-01T00:00:00+05:00", "updated_at", "Invalid updated_at: Invalid ISO timestamp"),
    ],
)
def test_bad_times_are_refused_in_the_words_of_the_contract(value: object, field: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        fields.read_timestamp(value, field)
    assert (caught.value.message, caught.value.field) == (message, field)


@pytest.mark.parametrize("value", [None, ""])
def test_no_embedding_is_none(value: object) -> None:
    assert fields.read_embedding(value, 3) is None


@pytest.mark.parametrize(
    "value", [[3, 0, 4], "3, 0 ,4", "3,,0, ,4", [3e300, 0, 4e300], [3e-300, 0.0, 4e-300]]
)
def test_an_embedding_is_made_a_unit_vector(value: object) -> None:
    assert fields.read_embedding(value, 3) == pytest.approx((0.6, 0.0, 0.8))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (5, "Embedding must be a list of floats or a comma-separated string"),
        ({"a": 1}, "Embedding must be a list of floats or a comma-separated string"),
        (True, "Embedding must be a list of floats or a comma-separated string"),
        ([], "Embedding must contain exactly 3 values"),
        ([1, 2], "Embedding must contain exactly 3 values"),
        ("1,2,3,4", "Embedding must contain exactly 3 values"),
        ([1, None, 2], "Embedding must contain numeric values"),
        ([1, True, 2], "Embedding must contain numeric values"),
        ([1, "2", 3], "Embedding must contain numeric values"),
        ([1, [2], 3], "Embedding must contain numeric values"),
        ("1,x,3", "Embedding must contain numeric values"),
        ([1, math.inf, 3], "Embedding must contain finite values"),
        ([1, 10**400, 3], "Embedding must contain finite values"),
        ("1,nan,3", "Embedding must contain finite values"),
        ([0, 0.0, -0.0], "Embedding must not be all zeros"),
    ],
)
def test_bad_embeddings_are_refused(value: object, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        fields.read_embedding(value, 3)
    assert (caught.value.message, caught.value.field) == (message, "embedding")
