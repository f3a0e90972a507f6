"""Query strings (recall.md 1.1, D1, D2, D5)."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, Field
from werkzeug.datastructures import MultiDict

from automem.api.requests import Query, known_names
from automem.errors import InvalidInput


def query(*pairs: tuple[str, str]) -> Query:
    return Query(MultiDict(pairs), {"limit", "flag", "tags", "mode", "share"})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        (" +7 ", 7),
        ("0", 1),
        ("-3", 1),
        ("5000", 100),
        ("", 5),
        ("9" * 5000, 100),
        ("-" + "9" * 50, 1),
    ],
)
def test_whole_numbers_are_clamped(text: str, value: int) -> None:
    assert query(("limit", text)).count("limit", default=5, low=1, high=100) == value


@pytest.mark.parametrize("text", ["5.0", "five", "1_0", "٣", "NaN", "0x5", "1e1"])
def test_what_is_no_whole_number_is_named(text: str) -> None:
    with pytest.raises(InvalidInput, match="'limit' must be a whole number") as caught:
        query(("limit", text)).count("limit", default=5, low=1, high=100)
    assert caught.value.field == "limit"
    assert text in caught.value.message


@pytest.mark.parametrize(("text", "value"), [("0.25", 0.25), ("-1", 0.0), ("7", 1.0), (" ", None)])
def test_thresholds_are_clamped(text: str, value: float | None) -> None:
    assert query(("share", text)).share("share") == value


@pytest.mark.parametrize("text", ["half", "nan", "inf", "-Infinity", "1e999"])
def test_what_is_no_finite_number_is_named(text: str) -> None:
    with pytest.raises(InvalidInput, match="'share' must be a finite number"):
        query(("share", text)).share("share")


@pytest.mark.parametrize("text", ["1", "true", "YES", " y ", "on"])
def test_true(text: str) -> None:
    assert query(("flag", text)).flag("flag", default=False) is True


@pytest.mark.parametrize("text", ["0", "false", "No", "n", "off"])
def test_false(text: str) -> None:
    assert query(("flag", text)).flag("flag", default=True) is False


@pytest.mark.parametrize("default", [True, False])
def test_another_word_is_the_default_and_is_warned_of(default: bool) -> None:
    read = query(("flag", "maybe"))
    assert read.flag("flag", default=default) is default
    assert [(warn.code, warn.parameter) for warn in read.warnings] == [("invalid_value", "flag")]
    assert query(("flag", "")).flag("flag", default=default) is default


def test_enums_ignore_case_and_name_what_is_accepted() -> None:
    assert query(("mode", " ALL ")).choice("mode", options=("any", "all"), default="any") == "all"
    assert query().choice("mode", options=("any", "all"), default="any") == "any"
    with pytest.raises(InvalidInput, match="'mode' must be one of any, all, not 'al'"):
        query(("mode", "al")).choice("mode", options=("any", "all"), default="any")


def test_lists_repeated_and_joined_mean_the_same() -> None:
    read = query(("tags", "a, b"), ("tags", "c,,a"), ("tags", " "))
    assert read.names("tags") == ("a", "b", "c")
    assert query().names("tags") == ()


def test_the_first_alias_that_is_not_blank_counts() -> None:
    read = query(("flag", "false"), ("other", "true"))
    assert read.flag("flag", "other", default=True) is False
    assert query(("flag", " "), ("other", "true")).flag("flag", "other", default=False) is True


def test_the_first_of_a_repeated_value_counts() -> None:
    assert query(("limit", "3"), ("limit", "9")).count("limit", default=5, low=1, high=10) == 3


def test_unknown_parameters_are_warned_of_but_tokens_are_known() -> None:
    read = query(("bank", "x"), ("api_key", "k"), ("limit", "1"), ("bank", "y"))
    assert [(warn.code, warn.parameter) for warn in read.warnings] == [("unknown_parameter", "bank")]


@pytest.mark.parametrize("pair", [("limit", "a\x00"), ("a\x00", "b")])
def test_nul_is_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(InvalidInput, match="NUL"):
        query(pair)


def test_aliases_of_a_model_are_known() -> None:
    class Asked(BaseModel):
        limit: int = 5
        from_: str = Field(default="", alias="from")

    assert known_names(Asked) == {"limit", "from_", "from"}
