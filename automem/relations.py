"""The registry of relation types: one table that every route, query and job reads (memory-api.md 7.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LEGACY_KINDS: Mapping[str, str] = {
    "EXPLAINS": "explains",
    "SHARES_THEME": "shares_theme",
    "PARALLEL_CONTEXT": "parallel_context",
}
"""Labels that an older service made; each is read as DISCOVERED of this kind (storage.md 2.2)."""


@dataclass(frozen=True, slots=True)
class RelationType:
    """One kind of edge between memories; ``properties`` are its own, beside strength and updated_at.

    :param authorable: clients may make it; the others are made by the service.
    :param expands: relation expansion follows it unless told otherwise.
    :param public: it is offered where clients choose types.
    :param colour: how the graph viewer draws it.
    :param replaces: the memory at its beginning is no longer current (recall.md 10).
    """

    name: str
    colour: str
    properties: tuple[str, ...] = ()
    authorable: bool = True
    expands: bool = True
    public: bool = True
    replaces: bool = False

    @property
    def system(self) -> bool:
        """Say whether the service makes it."""
        return not self.authorable

    @property
    def labels(self) -> tuple[str, ...]:
        """Give the labels under which its edges stand in the graph."""
        return (self.name, *LEGACY_KINDS) if self.name == DISCOVERED else (self.name,)


DISCOVERED = "DISCOVERED"
DEFAULT_TYPE = "RELATES_TO"


def _made_by_service(
    name: str, colour: str, properties: tuple[str, ...], public: bool = True
) -> RelationType:
    return RelationType(name, colour, properties, authorable=False, expands=False, public=public)


REGISTRY: Mapping[str, RelationType] = {
    relation.name: relation
    for relation in (
        RelationType("RELATES_TO", "#94A3B8"),
        RelationType("LEADS_TO", "#3B82F6"),
        RelationType("OCCURRED_BEFORE", "#6B7280"),
        RelationType("PREFERS_OVER", "#8B5CF6", ("context", "reason")),
        RelationType("EXEMPLIFIES", "#10B981", ("pattern_type", "confidence")),
        RelationType("CONTRADICTS", "#EF4444", ("resolution", "reason")),
        RelationType("REINFORCES", "#22C55E", ("observations",)),
        RelationType("INVALIDATED_BY", "#F97316", ("reason", "timestamp"), replaces=True),
        RelationType("EVOLVED_INTO", "#06B6D4", ("confidence", "reason"), replaces=True),
        RelationType("DERIVED_FROM", "#A855F7", ("transformation", "confidence")),
        RelationType("PART_OF", "#64748B", ("role", "context")),
        _made_by_service("SIMILAR_TO", "#0EA5E9", ("score",)),
        _made_by_service("PRECEDED_BY", "#475569", ("count",)),
        _made_by_service(DISCOVERED, "#A1A1AA", ("kind", "confidence", "similarity", "origin"), public=False),
    )
}

AUTHORABLE: tuple[str, ...] = tuple(sorted(name for name, kind in REGISTRY.items() if kind.authorable))
"""The types that clients may make, sorted."""

MADE_BY_SERVICE: tuple[str, ...] = tuple(
    label for kind in REGISTRY.values() if kind.system for label in kind.labels
)
"""The labels of edges that the service makes by itself."""

OWN_PROPERTIES: tuple[str, ...] = tuple(
    sorted({name for kind in REGISTRY.values() if kind.authorable for name in kind.properties})
)
"""The properties that some type that clients may make has, sorted."""


def relation_named(name: str) -> RelationType | None:
    """Find a type by its name in any case, a legacy label as DISCOVERED; None for another word."""
    known = name.strip().upper()
    return REGISTRY.get(DISCOVERED if known in LEGACY_KINDS else known)
