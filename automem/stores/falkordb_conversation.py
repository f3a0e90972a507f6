"""Who stands before whom in a conversation (D42); mixed into the store.

Times are compared in the graph only: an answer has 15 digits of them, which is less than they have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from automem.stores.falkordb_connection import Rows

Found = tuple[str, bool]

PREDECESSORS = 5
"""A memory is linked to the one before it in its conversation, and to up to four more (D42)."""

# The second is the limit of D42. The first suffices where much is stored: sorting all that was stored in
# seven days is the dear part.
_WINDOWS_SECONDS = (2 * 3600.0, 7 * 86_400.0)

_FOUND = "[m.id, coalesce(m._scope = n._scope, m._scope IS NULL)]"
"""Who was found, and whether ``n`` may stand before it: it has the same tags, or none."""


@dataclass(frozen=True, slots=True)
class _Search:
    """One list to look for around the memory ``n``; ``scoped``: of its tags, else of all memories."""

    name: str
    forward: bool
    scoped: bool

    @property
    def others(self) -> str:
        """Give the part that finds the next ones up to the time ``edge``, nearest first."""
        near, far, order = (">", "<=", "") if self.forward else ("<", ">=", " DESC")
        scope = "m._scope = n._scope AND " if self.scoped else ""
        stored, own = "coalesce(m._seq, 0)", "coalesce(n._seq, 0)"
        return (
            f"MATCH (m:Memory) WHERE {scope}m._ts {near}= n._ts AND m._ts {far} edge AND (m._ts {near} n._ts "
            f"OR {stored} {near} {own} OR ({stored} = {own} AND m.id {near} n.id)) "
            f"WITH n, m ORDER BY m._ts{order}, {stored}{order}, m.id{order} LIMIT {PREDECESSORS}"
        )

    def step(self, window: float, names: Sequence[str]) -> str:
        """Give the step that looks within one window, unless enough were found in the one before."""
        enough = f"size({self.name}) = {PREDECESSORS}"
        sign, back = ("+", "-") if self.forward else ("-", "+")
        rest = "".join(f"{name}, " for name in names if name != self.name)
        return (
            f"WITH n, {', '.join(names)}, "
            f"CASE WHEN {enough} THEN n._ts {back} 1 ELSE n._ts {sign} {window} END AS edge "
            f"CALL {{ WITH n, edge {self.others} RETURN collect({_FOUND}) AS found }} "
            f"WITH n, {rest}CASE WHEN {enough} THEN {self.name} ELSE found END AS {self.name} "
        )


_BEFORE_TAGGED = _Search("before", forward=False, scoped=True)
_BEFORE_TAGLESS = _Search("before", forward=False, scoped=False)
_AFTER_TAGGED = _Search("after", forward=True, scoped=True)
_AFTER_AT_ALL = _Search("anywhere", forward=True, scoped=False)


def _nearest(*searches: _Search) -> str:
    """Give the query that finds the lists of each memory of ``$ids``. One query, whatever their number."""
    names = [search.name for search in searches]
    steps = [search.step(window, names) for window in _WINDOWS_SECONDS for search in searches]
    empty = ", ".join(f"[] AS {name}" for name in names)
    return (
        f"UNWIND $ids AS id MATCH (n:Memory {{id: id}}) WITH n, {empty} {''.join(steps)}"
        f"RETURN n.id, {', '.join(names)}"
    )


PLACES = """
MATCH (m:Memory) WHERE m.id IN $ids
WITH m OPTIONAL MATCH (m)-[r:PRECEDED_BY]->(p:Memory) WITH m, collect([p.id, r.distance]) AS edges
OPTIONAL MATCH (f:Memory)-[:PRECEDED_BY]->(m)
RETURN m.id, m._ts > -1e300, m._scope IS NULL, edges, collect(f.id)"""

# A memory without tags is preceded by all: one with tags may stand before it too, but not after it.
AROUND_TAGGED = _nearest(_BEFORE_TAGGED, _AFTER_TAGGED, _AFTER_AT_ALL)
AROUND_TAGLESS = _nearest(_BEFORE_TAGLESS, _AFTER_AT_ALL)
BEFORE_TAGGED = _nearest(_BEFORE_TAGGED)
BEFORE_TAGLESS = _nearest(_BEFORE_TAGLESS)

# An edge to be removed has no distance.
RELINK = """
UNWIND $rows AS row MATCH (m:Memory {id: row.id}) MATCH (p:Memory {id: row.before})
MERGE (m)-[r:PRECEDED_BY]->(p) ON CREATE SET r.count = 1, r.updated_at = $at
SET r.distance = row.distance
WITH r WHERE r.distance IS NULL DELETE r"""


@dataclass(frozen=True, slots=True)
class _Place:
    """A memory as it stands: whether it has a time and tags, and the edges from and to it."""

    id: str
    timed: bool
    tagless: bool
    edges: Mapping[str, int | None]
    """The distance noted on each edge, by the id of the one before."""
    followers: tuple[str, ...]
    """The memories that have an edge to it."""


@dataclass(frozen=True, slots=True)
class _Around:
    """Who should stand before a memory, nearest first, and who stands after it."""

    before: tuple[str, ...]
    after: tuple[str, ...]


class Conversations:
    """The part of the graph store that links memories to those before them."""

    _read: Callable[..., Rows]
    _write: Callable[..., Rows]

    def link_conversation(self, memory_ids: Sequence[str], at: str) -> dict[str, int]:
        named = self._places(memory_ids)
        around = self._around(named, AROUND_TAGGED, AROUND_TAGLESS)
        after = (other for found in around.values() for other in found.after)
        followers = (other for place in named for other in place.followers)
        moved = self._places([other for other in dict.fromkeys((*after, *followers)) if other not in around])
        found = {**around, **self._around(moved, BEFORE_TAGGED, BEFORE_TAGLESS)}
        rows = [row for place in (*named, *moved) for row in _changes(place, found[place.id].before)]
        if rows:
            self._write(RELINK, rows=rows, at=at)
        return {place.id: len(found[place.id].before) for place in named}

    def _places(self, memory_ids: Sequence[str]) -> list[_Place]:
        rows = self._read(PLACES, ids=list(dict.fromkeys(memory_ids))) if memory_ids else []
        return [_place(row) for row in rows]

    def _around(self, places: Sequence[_Place], tagged: str, tagless: str) -> dict[str, _Around]:
        """Look around each memory; one without a time has nobody before or after it."""
        found = {place.id: _Around((), ()) for place in places}
        for query, is_tagless in ((tagged, False), (tagless, True)):
            ids = [place.id for place in places if place.timed and place.tagless == is_tagless]
            rows = self._read(query, ids=ids) if ids else []
            found |= {row[0]: _neighbours(*row[1:]) for row in rows}
        return found


def _place(row: Sequence[Any]) -> _Place:
    memory_id, timed, tagless, edges, followers = row
    known = {before: distance for before, distance in edges if before is not None}
    return _Place(memory_id, bool(timed), bool(tagless), known, tuple(followers))


def _neighbours(before: Sequence[Found], *later: Sequence[Found]) -> _Around:
    after = (other for found in later for other, follows in found if follows)
    return _Around(tuple(other for other, _ in before), tuple(dict.fromkeys(after)))


def _changes(place: _Place, before: Sequence[str]) -> list[dict[str, Any]]:
    """Give the edges that are to be made or to get another distance, and without one those to remove."""
    wanted: dict[str, int | None] = {other: distance for distance, other in enumerate(before, start=1)}
    wanted |= {other: None for other in place.edges if other not in wanted}
    return [
        {"id": place.id, "before": other, "distance": distance}
        for other, distance in wanted.items()
        if distance is None or place.edges.get(other) != distance
    ]
