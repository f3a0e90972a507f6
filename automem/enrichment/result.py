"""From what was found in a memory to what is written on it (background.md 2; D37). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from automem.enrichment.patterns import PatternFound
from automem.enrichment.summary import first_sentence
from automem.entities.extract import Entity
from automem.models import Memory
from automem.stores.additions import Additions
from automem.utils.tags import canonical_tag

ENTITIES, ENRICHMENT = "entities", "enrichment"
"""The keys of ``metadata`` that are enrichment's."""
_RAW = "_raw_metadata"


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found about a memory. ``near`` are ids and cosines, None while it has no vector."""

    entities: tuple[Entity, ...] = ()
    links: int = 0
    pattern: PatternFound | None = None
    near: tuple[tuple[str, float], ...] | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """The circumstances: when, whether it was asked for by name, and whether a summary is to be written."""

    at: str
    forced: bool
    summarise: bool


def enriched_properties(memory: Memory, found: Findings, run: Run) -> tuple[dict[str, Any], Additions]:
    """Give the public properties to set, and which tags and metadata keys are enrichment's then.

    Tags and metadata of clients stay as they are; an ``entities`` or ``enrichment`` of theirs too.
    """
    tags, added_tags = _tags(memory, found.entities)
    metadata, added_keys = _metadata(memory, found, run)
    properties: dict[str, Any] = {
        "tags": tags,
        "metadata": metadata,
        "enriched": True,
        "enriched_at": run.at,
        "processed": found.near is not None,
    }
    if run.summarise:
        properties["summary"] = first_sentence(memory.content)
    return properties, Additions(added_tags, added_keys)


def _tags(memory: Memory, entities: Sequence[Entity]) -> tuple[list[str], tuple[str, ...]]:
    own = memory.own_tags
    known = {canonical_tag(tag) for tag in own}
    added = tuple(sorted({entity.id for entity in entities} - known))
    return [*own, *added], added


def _metadata(memory: Memory, found: Findings, run: Run) -> tuple[dict[str, Any], tuple[str, ...]]:
    stored = memory.properties.get("metadata")
    own = dict(stored) if isinstance(stored, Mapping) else {} if stored in (None, "") else {_RAW: stored}
    earlier = own.get(ENRICHMENT)
    for key in memory.added_keys:
        own.pop(key, None)
    additions: dict[str, Any] = {}
    if found.entities and ENTITIES not in own:
        additions[ENTITIES] = _by_category(found.entities)
    if isinstance(earlier, Mapping | None):
        additions[ENRICHMENT] = {**(earlier or {}), **_report(found, run)}
    return {**own, **additions}, tuple(additions)


def _by_category(entities: Sequence[Entity]) -> dict[str, list[str]]:
    categories = sorted({entity.category for entity in entities})
    return {
        category: sorted({entity.name for entity in entities if entity.category == category})
        for category in categories
    }


def _report(found: Findings, run: Run) -> dict[str, Any]:
    pattern = found.pattern
    patterns = [] if pattern is None else [_pattern(pattern)]
    near = [{"id": other, "score": round(score, 6)} for other, score in found.near or ()]
    return {
        "last_run": run.at,
        "forced": run.forced,
        "temporal_links": found.links,
        "patterns_detected": patterns,
        "semantic_neighbors": near,
    }


def _pattern(pattern: PatternFound) -> dict[str, Any]:
    return {
        "type": pattern.type,
        "similar_memories": pattern.similar_memories,
        "key_terms": list(pattern.key_terms),
    }
