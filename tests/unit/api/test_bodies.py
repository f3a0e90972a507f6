"""JSON bodies and answers (D1, D38)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask import Flask

from automem.api.requests import StrictJSON, Warn, answer, json_body, optional_json_body, unknown_fields
from automem.errors import InvalidInput


@pytest.fixture
def app() -> Flask:
    app = Flask("trial")
    app.json = StrictJSON(app)
    app.config["MAX_CONTENT_LENGTH"] = 1_000_000
    return app


def read(app: Flask, data: bytes | str, content_type: str | None = "application/json") -> dict[str, Any]:
    with app.test_request_context("/", method="POST", data=data, content_type=content_type):
        return json_body("JSON body is required")


def refused(app: Flask, data: bytes | str, content_type: str | None = "application/json") -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        read(app, data, content_type)
    return caught.value


def test_an_object_is_read(app: Flask) -> None:
    body = read(app, '{"a": [1, 2.5, null, true, "é"], "b": {"c": "\\ud83d\\ude00"}}')
    assert body == {"a": [1, 2.5, None, True, "é"], "b": {"c": "😀"}}
    assert read(app, "{}", "application/json; charset=utf-8") == {}
    assert read(app, "{}", "application/problem+json") == {}


def test_no_body_gives_the_message_of_the_route(app: Flask) -> None:
    assert refused(app, b"").message == "JSON body is required"


@pytest.mark.parametrize(
    ("data", "content_type", "fault"),
    [
        ("{}", "text/plain", "application/json, not text/plain"),
        ("{}", None, "application/json, not none"),
        ("[1]", "application/json", "an object, not a list"),
        ("null", "application/json", "an object, not null"),
        ('"x"', "application/json", "an object, not a text"),
        ("7", "application/json", "an object, not a number"),
        ("true", "application/json", "an object, not a boolean"),
        ('{"a": }', "application/json", "line 1, column 7"),
        (b'{"a": "\xff"}', "application/json", "not UTF-8"),
        ("{} {}", "application/json", "not valid JSON"),
    ],
)
def test_another_body_says_why(app: Flask, data: Any, content_type: str | None, fault: str) -> None:
    message = refused(app, data, content_type).message
    assert message.startswith("JSON body is required") and fault in message


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e400", "-1e999"])
def test_numbers_are_finite(app: Flask, text: str) -> None:
    assert "number" in refused(app, f'{{"a": {text}}}').message


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775809", "9" * 10_000])
def test_whole_numbers_fit_in_64_bits(app: Flask, text: str) -> None:
    assert "64 bits" in refused(app, f'{{"a": {text}}}').message


def test_the_largest_whole_numbers_are_read(app: Flask) -> None:
    assert read(app, '{"a": [9223372036854775807, -9223372036854775808]}')["a"] == [2**63 - 1, -(2**63)]


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ('{"content": "a\\u0000b"}', "content"),
        ('{"metadata": {"x": ["ok", "\\u0000"]}}', "metadata.x[1]"),
        ('{"content": "\\ud800"}', "content"),
        ('{"a": {"\\udfff": 1}}', "a.?"),
    ],
)
def test_texts_that_cannot_be_stored_are_named(app: Flask, data: str, field: str) -> None:
    assert refused(app, data).field == field


def test_faults_in_rows_name_the_row(app: Flask) -> None:
    data = '{"memories": [{"content": "ok"}, {"content": "\\u0000"}, {"tags": ["\\u0000"]}]}'
    rows = {row["index"]: row["field"] for row in refused(app, data).rows}
    assert rows == {1: "content", 2: "tags[0]"}


def test_a_name_twice_is_refused(app: Flask) -> None:
    assert refused(app, '{"a": 1, "b": {"c": 1, "c": 2}}').field == "c"


@pytest.mark.parametrize("levels", [65, 100_000])
def test_deep_nesting_is_refused(app: Flask, levels: int) -> None:
    assert "nested too deeply" in refused(app, '{"a": ' + "[" * levels + "]" * levels + "}").message


def test_some_nesting_is_read(app: Flask) -> None:
    read(app, '{"a": ' + "[" * 60 + "]" * 60 + "}")


def test_a_body_may_be_optional(app: Flask) -> None:
    with app.test_request_context("/", method="POST"):
        assert optional_json_body("no") == {}


def test_unknown_fields_are_named_once() -> None:
    found = unknown_fields(["content", "bank", "bank"], {"content"})
    assert [(warn.code, warn.parameter) for warn in found] == [("unknown_field", "bank")]


def test_an_answer_leaves_none_out_at_the_top_only(app: Flask) -> None:
    with app.app_context():
        response = answer({"id": "x", "summary": None, "metadata": {"a": None}}, status=201)
    assert response.status_code == 201
    assert response.get_json() == {"id": "x", "metadata": {"a": None}}


def test_an_answer_tells_warnings(app: Flask) -> None:
    with app.app_context():
        response = answer({"a": 1}, [Warn("c", "m", "p"), Warn("d", "n")])
    warnings = [{"code": "c", "message": "m", "parameter": "p"}, {"code": "d", "message": "n"}]
    assert response.get_json() == {"a": 1, "warnings": warnings}


def test_no_answer_holds_a_number_that_json_lacks(app: Flask) -> None:
    with app.app_context():
        text = answer({"a": [float("nan"), {"b": float("inf")}], "c": 1.5}).get_data(as_text=True)

    def never(word: str) -> None:
        raise AssertionError(word)

    assert json.loads(text, parse_constant=never) == {"a": [None, {"b": None}], "c": 1.5}
