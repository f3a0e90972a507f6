"""Parsing what clients send and writing what they get; every other blueprint uses these (D1, D2, D5, D38).

``json_body`` reads bodies, ``Query`` query strings (recall.md 1.1), ``answer`` writes JSON.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from flask import Response, jsonify, request
from flask.json.provider import DefaultJSONProvider
from pydantic import BaseModel
from werkzeug.datastructures import MultiDict

from automem.api.bodies import flag_of, json_body, optional_json_body, text_fault
from automem.errors import InvalidInput
from automem.search.types import Warn
from automem.utils.tags import split_list

__all__ = [
    "Query",
    "Warn",
    "answer",
    "compact",
    "flag_of",
    "json_body",
    "known_names",
    "optional_json_body",
    "query_string",
    "unknown_fields",
]

Word = TypeVar("Word", bound=str)

_TRUE = {"1", "true", "yes", "y", "on"}
_FALSE = {"0", "false", "no", "n", "off"}
_INTEGER = re.compile(r"[+-]?[0-9]+")
# Digits past these change nothing once the number is clamped, but would make int() refuse.
_MANY_DIGITS = 18
# Any route accepts these, whatever else it knows.
_CREDENTIALS = {"api_key", "admin_token"}
_WARNINGS_SHOWN = 20


def known_names(model: type[BaseModel]) -> frozenset[str]:
    """Give the field names of a model, and their aliases."""
    names = set(model.model_fields)
    names.update(field.alias for field in model.model_fields.values() if field.alias)
    return frozenset(names)


def unknown_fields(given: Iterable[str], known: Iterable[str], what: str = "field") -> list[Warn]:
    """Name what was sent and is ignored (D2). ``what`` is ``field`` or ``parameter``."""
    accepted = set(known)
    unknown = [name for name in dict.fromkeys(given) if name not in accepted]
    return [
        Warn(f"unknown_{what}", f"The {what} '{name[:64]}' is not known here and was ignored", name[:64])
        for name in unknown[:_WARNINGS_SHOWN]
    ]


class Query:
    """The query string of one request.

    Methods take aliases: the first with a value that is not blank counts; of a repeated parameter
    the first value. ``warnings`` gathers what was ignored.
    """

    def __init__(self, arguments: MultiDict[str, str], known: Iterable[str] | None = None) -> None:
        self._arguments = arguments
        self.warnings: list[Warn] = []
        for name, values in arguments.lists():
            if fault := next(filter(None, map(text_fault, [name, *values])), None):
                shown = name.replace("\x00", "?")
                raise InvalidInput(f"The parameter '{shown[:64]}' {fault}", field=shown[:64])
        if known is not None:
            self.warnings += unknown_fields(arguments, {*known, *_CREDENTIALS}, "parameter")

    def has(self, *names: str) -> bool:
        """Say whether any of the names was sent, blank or not."""
        return any(name in self._arguments for name in names)

    def raw(self, name: str) -> str:
        """Give the first value as it came, '' when it was not sent."""
        return self._arguments.get(name, "")

    def values(self, name: str) -> list[str]:
        """Give all values as they came."""
        return self._arguments.getlist(name)

    def text(self, *names: str) -> str:
        """Give a trimmed text, '' when it was not sent."""
        return self._first(names)[1]

    def flag(self, *names: str, default: bool) -> bool:
        """Give a boolean; another word is the default, with a warning (recall.md 1.1)."""
        name, value = self._first(names)
        word = value.lower()
        if word in _TRUE or word in _FALSE:
            return word in _TRUE
        if word:
            message = f"'{name}' must be true or false, not '{value[:64]}'; it was ignored"
            self.warnings.append(Warn("invalid_value", message, name))
        return default

    def count(self, *names: str, default: int, low: int, high: int) -> int:
        """Give a whole number, taken into low..high; what is no whole number raises."""
        name, value = self._first(names)
        if not value:
            return default
        if not _INTEGER.fullmatch(value):
            raise _fault(name, value, f"a whole number ({low} to {high})")
        negative, digits = value.startswith("-"), value.lstrip("+-").lstrip("0")
        size = int(digits or "0") if len(digits) <= _MANY_DIGITS else 10**_MANY_DIGITS
        return max(low, min(-size if negative else size, high))

    def share(self, *names: str) -> float | None:
        """Give a threshold taken into 0..1, None when it was not sent; raises for what is no number."""
        name, value = self._first(names)
        if not value:
            return None
        number = _finite_number(value)
        if number is None:
            raise _fault(name, value, "a finite number (0 to 1)")
        return max(0.0, min(number, 1.0))

    def choice(self, *names: str, options: Sequence[Word], default: Word) -> Word:
        """Give one of the words, whatever its case; another word raises."""
        name, value = self._first(names)
        if not value:
            return default
        for option in options:
            if value.lower() == option:
                return option
        raise _fault(name, value, "one of " + ", ".join(options))

    def names(self, *names: str) -> tuple[str, ...]:
        """Give a list: repeated and comma-separated forms mean the same (D5)."""
        for name in names:
            if found := split_list(self._arguments.getlist(name)):
                return tuple(found)
        return ()

    def _first(self, names: Iterable[str]) -> tuple[str, str]:
        pairs = [(name, self._arguments.get(name, "").strip()) for name in names]
        return next((pair for pair in pairs if pair[1]), pairs[0])


def _finite_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _fault(name: str, value: str, accepted: str) -> InvalidInput:
    return InvalidInput(f"'{name}' must be {accepted}, not '{value[:64]}'", field=name)


def query_string(model: type[BaseModel] | None = None) -> Query:
    """Read the query string of the present request; parameters that ``model`` lacks are warned of."""
    return Query(request.args, known_names(model) if model else None)


def compact(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is None (D38); deeper levels are left alone, they may be a client's own."""
    return {name: value for name, value in values.items() if value is not None}


def answer(payload: Mapping[str, Any], warnings: Sequence[Warn] = (), status: int = 200) -> Response:
    """Write an answer: None is left out (D38), ``warnings`` are added when there are any (D2)."""
    body = compact(payload)
    if warnings:
        body["warnings"] = [
            compact({"code": warn.code, "message": warn.message, "parameter": warn.parameter})
            for warn in warnings
        ]
    response = jsonify(body)
    response.status_code = status
    return response


class StrictJSON(DefaultJSONProvider):
    """Writes JSON that every parser reads: a NaN or Infinity that got into the data becomes null."""

    sort_keys = False
    compact = True

    def dumps(self, obj: Any, **options: Any) -> str:
        options.setdefault("allow_nan", False)
        try:
            return super().dumps(obj, **options)
        except ValueError:
            return super().dumps(_finite(obj), **options)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
