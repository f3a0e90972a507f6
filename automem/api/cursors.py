"""Opaque cursors: the place of the last row of a page, for lists that go on behind it."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence

from automem.api.bodies import text_fault
from automem.errors import InvalidInput

Place = tuple[str | int, ...]
_INT64 = range(-(2**63), 2**63)


def write_cursor(kind: str, place: Sequence[str | int]) -> str:
    """Write a place in a list of this kind, to be given as ``next``."""
    text = json.dumps([kind, *place], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(kind: str, text: str, shape: Sequence[type]) -> Place | None:
    """Read what ``write_cursor`` wrote for a list of this kind; '' is None, the beginning.

    :param shape: the type of each part, ``str`` or ``int``.
    :raises InvalidInput: for anything else.
    """
    if not text:
        return None
    parts = _decoded(text)
    if not isinstance(parts, list) or [type(part) for part in parts] != [str, *shape] or parts[0] != kind:
        raise _fault()
    if any(text_fault(part) if isinstance(part, str) else part not in _INT64 for part in parts):
        raise _fault()
    return tuple(parts[1:])


def _decoded(text: str) -> object:
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        return json.loads(raw)
    except (ValueError, binascii.Error, RecursionError):
        raise _fault() from None


def _fault() -> InvalidInput:
    return InvalidInput("'cursor' must be the 'next' of an earlier answer of this list", field="cursor")
