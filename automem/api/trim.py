"""Smaller answers for agents with small windows: chosen fields, and a budget of tokens. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from automem.errors import InvalidInput

CHARACTERS_PER_TOKEN = 4
"""A token is taken as four characters of the JSON text, as is usual for English."""

RESULT_FIELDS = frozenset(
    {
        "id",
        "match_type",
        "match_types",
        "source",
        "match_score",
        "original_score",
        "score",
        "final_score",
        "score_components",
        "memory",
        "relations",
        "related_to",
        "relation_score",
        "bridge",
        "expanded_from_entity",
        "outside_tag_scope",
        "deduped_from",
        "state_replaces",
        "explain",
        "_query",
    }
)
_MEMORY = "memory."


def checked_fields(names: Sequence[str]) -> tuple[str, ...]:
    """Give the fields asked for; raises ``InvalidInput`` for one that no result has."""
    for name in names:
        if name not in RESULT_FIELDS and not name.startswith(_MEMORY):
            accepted = ", ".join(sorted(RESULT_FIELDS))
            message = f"'fields' must name result fields ({accepted}) or memory.<property>, not '{name[:64]}'"
            raise InvalidInput(message, field="fields")
    return tuple(names)


def with_fields(result: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Keep the named fields of a result; ``id`` always stays, ``memory.tags`` keeps one property."""
    if not names:
        return dict(result)
    kept = {name: value for name, value in result.items() if name == "id" or name in names}
    properties = {name.removeprefix(_MEMORY) for name in names if name.startswith(_MEMORY)}
    if properties and "memory" not in names:
        memory = result["memory"]
        kept["memory"] = {name: memory[name] for name in memory if name in properties}
    return kept


def within_budget(answer: Mapping[str, Any], tokens: int | None) -> dict[str, Any]:
    """Drop whole results from the end until the answer has about ``tokens`` tokens.

    ``count`` follows, and ``truncated`` says that results were dropped.
    """
    results = answer["results"]
    if tokens is None:
        return dict(answer)
    room = tokens * CHARACTERS_PER_TOKEN - _size({**answer, "results": []})
    kept = 0
    for result in results:
        room -= _size(result) + 2
        if room < 0:
            break
        kept += 1
    if kept == len(results):
        return dict(answer)
    return {**answer, "results": results[:kept], "count": kept, "truncated": True}


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, default=str))
