"""From the body of a PATCH to the changes that it asks for (memory-api.md 4, D24)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from automem.errors import InvalidInput
from automem.memory import fields

CHANGEABLE = (
    "content",
    "tags",
    "importance",
    "metadata",
    "type",
    "confidence",
    "timestamp",
    "t_valid",
    "t_invalid",
    "updated_at",
    "last_accessed",
)
_SHARES = ("importance", "confidence")
_TIMES = ("timestamp", "t_valid", "t_invalid", "updated_at", "last_accessed")
_REMOVABLE = ("timestamp", "t_valid", "t_invalid", "last_accessed")


def read_changes(body: Mapping[str, Any], content_limit: int, now: str) -> dict[str, Any]:
    """Validate the fields that are present; empty when nothing is to change.

    Null empties ``tags`` and ``metadata``, removes the times but ``updated_at``, counts as absent for
    ``type``, ``importance`` and ``confidence``, and is a fault for ``content``. ``updated_at`` becomes
    ``now`` unless it is given.
    """
    changes: dict[str, Any] = {}
    if "content" in body:
        changes["content"] = _content(body["content"], content_limit)
    if "tags" in body:
        changes["tags"] = list(fields.read_tags(body["tags"]))
    if "metadata" in body:
        changes["metadata"] = fields.read_metadata(body["metadata"])
    if body.get("type") is not None:
        changes["type"] = fields.read_type(body["type"])
    changes |= {name: fields.read_share(body[name], name) for name in _SHARES if body.get(name) is not None}
    changes |= _times(body)
    if changes:
        changes.setdefault("updated_at", now)
    return changes


def _content(value: object, limit: int) -> str:
    if value is None:
        raise InvalidInput("'content' must be a non-empty string, not null", field="content")
    return fields.read_content(value, limit)


def _times(body: Mapping[str, Any]) -> dict[str, str | None]:
    changes: dict[str, str | None] = {}
    for name in _TIMES:
        if body.get(name) is not None:
            changes[name] = fields.read_timestamp(body[name], name)
        elif name in body and name in _REMOVABLE:
            changes[name] = None
    return changes
