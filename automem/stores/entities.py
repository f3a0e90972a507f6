"""What the graph store offers on entities, as nodes of their own; part of ``GraphStore`` (storage.md 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


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


class EntityStore(Protocol):
    """Entity nodes and the memories that refer to them. Merged entities stand for their canonical one."""

    def mention(self, mentions: Sequence[Mentions], at: str) -> None:
        """Make the entities named and let each memory be referred to by exactly these.

        New aliases are added. An entity that was merged into another is that other. One that no memory
        names any more is removed, unless it has an identity or aliases. Safe to repeat.
        """
        ...
