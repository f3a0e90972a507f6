"""Reading single fields of a memory (D1, memory-api.md 0 and 1): each returns the value or raises.

The messages are those of the contract where it gives one. ``docs/memories.md`` lists the limits.
"""

from __future__ import annotations

import json
import math
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from automem.errors import InvalidInput
from automem.models import JSON
from automem.utils.tags import INVALID_TAGS, clean_tags
from automem.utils.time import TimeParseError, normalize_timestamp

MAX_TAGS = 200
MAX_TAG_LENGTH = 256
MAX_TYPE_LENGTH = 100
MAX_METADATA_BYTES = 65_536
MAX_METADATA_DEPTH = 32

INVALID_ID = "memory_id must be a valid UUID"
CONTENT_REQUIRED = "'content' is required"

_HEX = re.compile(r"[0-9a-fA-F]{32}")
_FLOAT32_SAFE = 1e-30
"""Below this size a number is 0 beside the largest of its vector, as far as 32 bits can tell."""


def canonical_id(text: object) -> str | None:
    """Give a UUID in lower case with hyphens; None for what is no UUID (memory-api.md 0.2).

    Hyphens anywhere, braces, ``urn:uuid:`` and upper case are understood.
    """
    if not isinstance(text, str):
        return None
    bare = text.strip().lower().removeprefix("urn:").removeprefix("uuid:").strip("{}").replace("-", "")
    return str(uuid.UUID(bare)) if _HEX.fullmatch(bare) else None


def read_content(value: object, hard_limit: int) -> str:
    """Trim the text at both ends and keep it whole (D40)."""
    if value is None:
        raise InvalidInput(CONTENT_REQUIRED, field="content")
    if not isinstance(value, str):
        raise InvalidInput(f"'content' must be a string, not {kind_of(value)}", field="content")
    content = value.strip()
    if not content:
        raise InvalidInput(CONTENT_REQUIRED, field="content")
    if len(content) > hard_limit:
        raise InvalidInput(
            f"Content exceeds maximum length of {hard_limit} characters ({len(content)} provided). "
            "Please split into smaller memories or summarize.",
            field="content",
        )
    return content


def read_share(value: object, field: str) -> float:
    """Read importance, confidence or strength: a number, numeric text or boolean, 0 to 1."""
    number = _number(value)
    if number is None or math.isnan(number):
        raise InvalidInput(f"'{field}' must be a number", field=field)
    if not 0 <= number <= 1:
        raise InvalidInput(f"'{field}' must be between 0 and 1", field=field)
    # -0.0 would come back as such.
    return number + 0.0


def _number(value: object) -> float | None:
    if not isinstance(value, bool | int | float | str) or (isinstance(value, str) and "_" in value):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except ValueError:
        return None


def read_tags(value: object) -> tuple[str, ...]:
    """Read tags in the client's case: split at commas, trimmed, blanks and duplicates dropped (D5, D27)."""
    try:
        tags = clean_tags(value)
    except ValueError:
        raise InvalidInput(INVALID_TAGS, field="tags") from None
    if len(tags) > MAX_TAGS:
        raise InvalidInput(f"'tags' must be at most {MAX_TAGS} tags, not {len(tags)}", field="tags")
    longest = max(map(len, tags), default=0)
    if longest > MAX_TAG_LENGTH:
        message = f"Each of 'tags' must have at most {MAX_TAG_LENGTH} characters, not {longest}"
        raise InvalidInput(message, field="tags")
    return tuple(tags)


def read_metadata(value: object) -> dict[str, JSON]:
    """Read an object with any keys; null is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidInput("'metadata' must be an object", field="metadata")
    if depth_of(value) > MAX_METADATA_DEPTH:
        message = f"'metadata' must be nested at most {MAX_METADATA_DEPTH} levels deep"
        raise InvalidInput(message, field="metadata")
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except (ValueError, TypeError):
        message = "'metadata' must be JSON: finite numbers and valid Unicode text"
        raise InvalidInput(message, field="metadata") from None
    if size > MAX_METADATA_BYTES:
        message = f"'metadata' must be at most {MAX_METADATA_BYTES} bytes of JSON, not {size}"
        raise InvalidInput(message, field="metadata")
    return value


def depth_of(value: object) -> int:
    """Count the levels of objects and lists, 0 for a plain value; stops soon after the limit."""
    level: list[object] = [value]
    depth = 0
    while depth <= MAX_METADATA_DEPTH:
        level = [item for item in level if isinstance(item, dict | list)]
        if not level:
            break
        depth += 1
        level = [inner for item in level for inner in _children(item)]
    return depth


def _children(item: object) -> list[object]:
    if isinstance(item, dict):
        return list(item.values())
    return item if isinstance(item, list) else []


def read_type(value: object) -> str:
    """Read a type as the client writes it: any text that is not blank (memory-api.md 0.6)."""
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_TYPE_LENGTH:
        message = f"'type' must be a non-empty string of at most {MAX_TYPE_LENGTH} characters"
        raise InvalidInput(message, field="type")
    return value


def read_timestamp(value: object, field: str) -> str:
    """Read ISO text as UTC; the message for ``timestamp`` is bare, others name the field."""
    try:
        return normalize_timestamp(value)
    except TimeParseError as error:
        message = str(error) if field == "timestamp" else f"Invalid {field}: {error}"
        raise InvalidInput(message, field=field) from None


def read_embedding(value: object, dimension: int) -> tuple[float, ...] | None:
    """Read a list of numbers or comma-separated text as a unit vector; null and '' are none.

    Scaled before it is normalised: very large and very small numbers survive.
    """
    if value is None or value == "":
        return None
    if not isinstance(value, list | str):
        raise _bad_embedding("Embedding must be a list of floats or a comma-separated string")
    elements: Sequence[Any] = value
    if isinstance(value, str):
        elements = [piece for raw in value.split(",") if (piece := raw.strip())]
    if len(elements) != dimension:
        raise _bad_embedding(f"Embedding must contain exactly {dimension} values")
    return _unit(elements, as_text=isinstance(value, str))


def _unit(elements: Sequence[Any], as_text: bool) -> tuple[float, ...]:
    accepted = str if as_text else int | float
    if any(isinstance(item, bool) or not isinstance(item, accepted) for item in elements):
        raise _bad_embedding("Embedding must contain numeric values")
    numbers = [_number(item) for item in elements]
    if None in numbers:
        raise _bad_embedding("Embedding must contain numeric values")
    vector = np.array(numbers, dtype=np.float64)
    if not np.isfinite(vector).all():
        raise _bad_embedding("Embedding must contain finite values")
    largest = float(np.abs(vector).max())
    if largest == 0:
        raise _bad_embedding("Embedding must not be all zeros")
    vector = vector / largest
    vector[np.abs(vector) < _FLOAT32_SAFE] = 0.0
    return tuple((vector / np.linalg.norm(vector)).tolist())


def _bad_embedding(message: str) -> InvalidInput:
    return InvalidInput(message, field="embedding")


def kind_of(value: object) -> str:
    """Name a JSON type for a message."""
    if value is None:
        return "null"
    if isinstance(value, Mapping):
        return "an object"
    kinds = {list: "a list", str: "a string", bool: "a boolean"}
    return kinds.get(type(value), "a number")
