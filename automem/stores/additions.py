"""What enrichment added to a memory, and how it outlives changes of clients (D37). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from automem.models import Memory


@dataclass(frozen=True, slots=True)
class Additions:
    """The tags and the keys of ``metadata`` that are enrichment's; all others are the client's."""

    tags: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def keep_additions(memory: Memory, changes: Mapping[str, Any]) -> tuple[dict[str, Any], Additions]:
    """Complete a client's new tags and metadata with what enrichment had added to the old ones.

    A client that names any of the additions knows them: then its list or its object stands as it is,
    and what it left out is gone. Gives the changes and whose the rest is.
    """
    completed = dict(changes)
    tags, keys = memory.added_tags, memory.added_keys
    if "tags" in changes:
        completed["tags"], tags = _tags(changes["tags"] or [], tags)
    if "metadata" in changes:
        completed["metadata"], keys = _metadata(changes["metadata"] or {}, memory, keys)
    return completed, Additions(tags, keys)


def _tags(given: Sequence[str], added: tuple[str, ...]) -> tuple[list[str], tuple[str, ...]]:
    known = tuple(tag for tag in added if tag in given)
    return (list(given), known) if known else ([*given, *added], added)


def _metadata(
    given: Mapping[str, Any], memory: Memory, added: tuple[str, ...]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    if any(key in given for key in added):
        return dict(given), tuple(key for key in added if given.get(key) == memory.metadata.get(key))
    kept = {key: memory.metadata[key] for key in added if key in memory.metadata}
    return {**given, **kept}, tuple(kept)
