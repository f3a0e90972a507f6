"""Memories and scored rows for the pure parts of the search, in few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from automem.models import Memory, Relation
from automem.search.types import ArmName, Candidate, Find, MatchType, Scored
from automem.stores.base import Replacement
from automem.utils.scoring import COMPONENTS, Score


def memory(memory_id: str, **properties: Any) -> Memory:
    """Give a memory with a text of its own."""
    return Memory({"id": memory_id, "content": f"Text of {memory_id}", **properties})


def row(
    memory_id: str,
    final: float = 0.5,
    *,
    arms: Mapping[ArmName, float] | None = None,
    match_type: MatchType = "keyword",
    match_score: float = 0.0,
    **properties: Any,
) -> Scored:
    """Give a scored row; all of its score is evidence of the keyword component."""
    found = memory(memory_id, **properties)
    finds = {name: Find(found, 1, score) for name, score in (arms or {}).items()}
    components = {**dict.fromkeys((*COMPONENTS, "context"), 0.0), "keyword": final}
    return Scored(
        Candidate(found, finds), match_type, (match_type,), match_score, Score(components, False, final)
    )


def replaced_by(old: str, new: Memory, kind: str = "EVOLVED_INTO") -> Replacement:
    """Give the edge from an old memory to the one that replaces it."""
    return Replacement(old, new, Relation(old, new.id, kind, 1.0))
