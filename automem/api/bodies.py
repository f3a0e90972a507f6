"""Reading a JSON body strictly (D1): what JSON or a store cannot carry is refused by name."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from flask import current_app, request
from werkzeug.exceptions import RequestEntityTooLarge

from automem.errors import InvalidInput

MAX_DEPTH = 64
_INTEGER_LIMIT = 2**63
_INTEGER_DIGITS = 20

Path = tuple[str | int, ...]


class _Refused(ValueError):
    """JSON that Python would read, but that we do not take."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


def json_body(message: str) -> dict[str, Any]:
    """Read the body as a JSON object.

    ``message`` is the route's text for a body that is missing, of another content type, malformed
    or no object; the reason follows it. Numbers outside 64 bits, NaN and Infinity, NUL characters,
    lone surrogates, repeated names and more than ``MAX_DEPTH`` levels are 400s that name the field.
    """
    text = _text(message)
    try:
        body = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_constant,
        )
    except _Refused as fault:
        raise InvalidInput(str(fault), field=fault.field) from None
    except json.JSONDecodeError as fault:
        where = f"line {fault.lineno}, column {fault.colno}"
        raise InvalidInput(f"{message}: the body is not valid JSON at {where} ({fault.msg})") from None
    except RecursionError:
        raise InvalidInput(_too_deep()) from None
    if not isinstance(body, dict):
        raise InvalidInput(f"{message}: the body must be an object, not {_kind(body)}")
    _refuse_faults(body)
    return body


def optional_json_body(message: str) -> dict[str, Any]:
    """Read the body as ``json_body`` does; a request without a body gives an empty object."""
    return json_body(message) if _data() else {}


def flag_of(body: Mapping[str, Any], name: str) -> bool:
    """Read a field that is true or false; absent and null are false.

    :raises InvalidInput: for anything else.
    """
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise InvalidInput(f"'{name}' must be true or false", field=name)
    return bool(value)


def _data() -> bytes:
    data = request.get_data()
    # A body without Content-Length is cut at the limit by the framework, not refused.
    if request.content_length is None and len(data) >= current_app.config["MAX_CONTENT_LENGTH"]:
        raise RequestEntityTooLarge()
    return data


def _text(message: str) -> str:
    data = _data()
    if not data:
        raise InvalidInput(message)
    if not request.is_json:
        given = request.mimetype or "none"
        raise InvalidInput(f"{message}: the Content-Type must be application/json, not {given}")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise InvalidInput(f"{message}: the body is not UTF-8 at byte {fault.start}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Refused(f"'{_shown(twice)}' stands twice in one JSON object", _shown(twice))
    return result


def _integer(text: str) -> int:
    number = int(text) if len(text) <= _INTEGER_DIGITS else _INTEGER_LIMIT
    if not -_INTEGER_LIMIT <= number < _INTEGER_LIMIT:
        raise _Refused(f"The number {text[:40]} is too large: whole numbers must fit in 64 bits")
    return number


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _Refused(f"The number {text[:40]} is too large")
    return number


def _constant(text: str) -> NoReturn:
    raise _Refused(f"{text} is no JSON number: numbers must be finite")


def _kind(value: object) -> str:
    if value is None:
        return "null"
    kinds = {list: "a list", str: "a text", bool: "a boolean"}
    return kinds.get(type(value), "a number")


def _too_deep() -> str:
    return f"The JSON body is nested too deeply: at most {MAX_DEPTH} levels are accepted"


def _refuse_faults(body: dict[str, Any]) -> None:
    faults = list(_faults(body))
    if not faults:
        return
    rows = tuple(
        _row(path, message) for path, message in faults if len(path) > 1 and isinstance(path[1], int)
    )
    path, message = faults[0]
    raise InvalidInput(message, field=_name(path), rows=rows)


def _faults(body: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """Give every text that no store can carry, with the way to it; raises when nested too deeply."""
    stack: list[tuple[Path, Any]] = [((), body)]
    while stack:
        path, value = stack.pop()
        if len(path) > MAX_DEPTH:
            raise InvalidInput(_too_deep(), field=_name(path[:1]))
        if isinstance(value, str):
            if fault := text_fault(value):
                yield path, f"'{_name(path)}' {fault}"
        elif isinstance(value, list):
            stack.extend(((*path, index), item) for index, item in enumerate(value))
        elif isinstance(value, dict):
            for name, item in value.items():
                if fault := text_fault(name):
                    yield (*path, name), f"The name '{_shown(name)}' {fault}"
                stack.append(((*path, name), item))


def text_fault(text: str) -> str | None:
    """Say what makes a text impossible to store; None for a good one."""
    if "\x00" in text:
        return "must not contain NUL characters"
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        return "must not contain lone surrogates: the text must be valid Unicode"
    return None


def _row(path: Path, message: str) -> dict[str, object]:
    field = {"field": _name(path[2:])} if len(path) > 2 else {}
    return {"index": path[1], **field, "message": message}


def _name(path: Path) -> str:
    name = ""
    for piece in path:
        name += f"[{piece}]" if isinstance(piece, int) else f".{_shown(piece)}"
    return name.lstrip(".")


def _shown(name: str) -> str:
    """Give a name as a message may repeat it: short, and without what could not be encoded."""
    return name[:64].encode("utf-8", "replace").decode("utf-8").replace("\x00", "?")
