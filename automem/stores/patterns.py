"""What the graph store offers on Pattern nodes, one per type of memory; part of ``GraphStore``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Sighting:
    """Memories that were seen to exemplify the pattern of their type (background.md 2 step 3).

    :param pattern_id: the id of the node if it has to be made.
    :param members: the confidence that each memory is of the type, by its id.
    """

    type: str
    pattern_id: str
    content: str
    key_terms: tuple[str, ...]
    members: Mapping[str, float]


class PatternStore(Protocol):
    """Which memories exemplify what is common to a type."""

    def typical(self, types: Sequence[str], limit: int) -> dict[str, list[tuple[str, str]]]:
        """Give for each type the ids and texts of the newest memories that are of it with a confidence
        above 0.5. One query; a type without any is left out."""
        ...

    def exemplify(self, sightings: Sequence[Sighting], at: str) -> None:
        """Record sightings of distinct types: one Pattern node per type, and EXEMPLIFIES edges to it.

        One query. ``observations`` grows by the edges that are new, ``confidence`` from 0.35 by 0.05 for
        each after the first, to 0.95; text and key terms are replaced. Unknown memories are ignored.
        """
        ...

    def leave_patterns(self, types: Mapping[str, str]) -> None:
        """Remove the edges from each memory to patterns of another type than the one given for it."""
        ...
