"""What the graph store offers on entities, as nodes of their own; part of ``GraphStore`` (storage.md 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from automem.models import Memory

EntitySort = Literal["references", "id"]


@dataclass(frozen=True, slots=True)
class EntityName:
    """An entity as a memory names it; ``aliases`` are other slugs that it goes by there."""

    category: str
    slug: str
    name: str
    aliases: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The id of its node, which is the tag of its memories too."""
        return f"entity:{self.category}:{self.slug}"


@dataclass(frozen=True, slots=True)
class Mentions:
    """All entities that a memory names."""

    memory_id: str
    entities: tuple[EntityName, ...]


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """An entity node; ``references`` counts the memories that name it, ``changed`` tells when one was
    last gained or lost."""

    id: str
    properties: Mapping[str, Any]
    references: int
    changed: int = 0


@dataclass(frozen=True, slots=True)
class Identity:
    """What is known of an entity, in sentences. ``sources`` counts the current memories that say it."""

    text: str
    version: int
    sources: int
    at: str


class EntityStore(Protocol):
    """Entity nodes and the memories that refer to them. Merged entities stand for their canonical one."""

    def mention(self, mentions: Sequence[Mentions], at: str) -> None:
        """Make the entities named and let each memory be referred to by exactly these.

        New aliases are added. An entity that was merged into another is that other. One that no memory
        names any more is removed, unless it has an identity or aliases. Those that gained or lost a
        memory may need another identity. Safe to repeat.
        """
        ...

    def entity_page(
        self, category: str | None, sort: EntitySort, after: tuple[int, str] | None, limit: int
    ) -> list[EntityRecord]:
        """Give entities, those of most memories first, then by id, or all by id; merged ones are left out.

        :param after: the count and the id of the last one before.
        """
        ...

    def entity_named(self, slug: str) -> EntityRecord | None:
        """Find an entity by its slug, else by an alias; merged ones are left out."""
        ...

    def entities(self, slugs: Sequence[str]) -> list[Mapping[str, Any]]:
        """Give the Entity nodes with an identity that bear one of the slugs or aliases (recall.md 9.4)."""
        ...

    def adopt_identities(self) -> None:
        """Let the entities that others have made be due."""
        ...

    def identities_due(self, now: datetime, limit: int) -> list[EntityRecord]:
        """Give entities whose identity may have to be written again."""
        ...

    def entity_memories(self, entity_id: str, now: datetime, limit: int) -> tuple[int, list[Memory]]:
        """Count the current memories that name an entity, and give the most important ones."""
        ...

    def write_identity(self, entity_id: str, identity: Identity) -> None:
        """Write it; the entity stays due until it is postponed."""
        ...

    def postpone_identity(self, entity: EntityRecord, until: datetime) -> None:
        """Look at an entity again at this time, and sooner when it gains or loses a memory; one that did
        since ``entity`` was read stays due."""
        ...
