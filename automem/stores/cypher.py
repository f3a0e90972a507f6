"""Scopes and orders as parts of Cypher queries. Pure: text and parameters in, text and parameters out.

Every value travels as a parameter; what is put into a query's text is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from automem.models import Scope, Sort
from automem.utils.tags import canonical_tag
from automem.utils.text import exact_tag_token, tag_token
from automem.utils.time import TimeWindow, to_epoch

REPLACED = "outDegree(m, 'INVALIDATED_BY', 'EVOLVED_INTO') > 0"
"""An outgoing replacement edge. As a pattern predicate this takes 40 times as long."""

_LOWEST, _HIGHEST = "-1e300", "1e300"
_IMPORTANCE = f"CASE WHEN m.importance > {_LOWEST} THEN m.importance ELSE {_LOWEST} END"
_NEWEST = f"coalesce(m._ts, {_LOWEST}) DESC"

# Missing values last in both directions (D20); the id makes the order the same each time.
ORDERS: Mapping[Sort, str] = {
    "score": f"{_IMPORTANCE} DESC, {_NEWEST}, m.id",
    "time_desc": f"{_NEWEST}, {_IMPORTANCE} DESC, m.id",
    "time_asc": f"coalesce(m._ts, {_HIGHEST}), {_IMPORTANCE} DESC, m.id",
    "updated_desc": f"coalesce(m._updated, {_LOWEST}) DESC, {_IMPORTANCE} DESC, m.id",
    "updated_asc": f"coalesce(m._updated, {_HIGHEST}), {_IMPORTANCE} DESC, m.id",
}
_SORT_FIELDS: Mapping[Sort, str] = {
    "time_desc": "_ts",
    "time_asc": "_ts",
    "updated_desc": "_updated",
    "updated_asc": "_updated",
}
_RUNGS = (0.9, 0.7, 0.5)
_DAY = 86_400.0
_SPANS = tuple(days * _DAY for days in (1, 7, 31, 92, 366))


@dataclass(frozen=True, slots=True)
class Conditions:
    """Clauses on ``m``, all of which must hold, with their parameters."""

    clauses: tuple[str, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)

    def __and__(self, other: Conditions) -> Conditions:
        return Conditions(self.clauses + other.clauses, {**self.params, **other.params})

    @property
    def where(self) -> str:
        """Give the WHERE of a query, '' without clauses."""
        return f"WHERE {' AND '.join(self.clauses)}" if self.clauses else ""


def conditions(scope: Scope) -> Conditions:
    """Give the conditions of a scope except its tags, which are cut by the full-text index (D7, D17)."""
    return window_conditions(scope.window) & types_left_out(scope.excluded_types) & _visible(scope)


def is_unmatchable(scope: Scope) -> bool:
    """Tell whether the wanted tags can match nothing: a tag without any segment finds nothing."""
    named = [bool(canonical_tag(tag)) for tag in scope.tags]
    return bool(named) and not (all(named) if scope.tag_mode == "all" else any(named))


def tag_query(scope: Scope) -> str:
    """Give the full-text expression of the tags wanted and not wanted, '' for none of the former."""
    wanted = _tokens(scope.tags, scope)
    if not wanted:
        return ""
    joined = (" " if scope.tag_mode == "all" else "|").join(wanted)
    return f"({joined}){_unwanted(scope)}"


def scoped_query(query: str, scope: Scope) -> str:
    """Narrow a full-text query to the tags of a scope, without a say in the index's score."""
    wanted = _tokens(scope.tags, scope)
    joined = (" " if scope.tag_mode == "all" else "|").join(wanted)
    narrowed = f" (({joined}) => {{ $weight: 0.0; }})" if wanted else ""
    return f"({query}){narrowed}{_unwanted(scope)}"


def exclusion(scope: Scope) -> Conditions:
    """Give the tags not wanted as a condition, for queries that do not use the full-text index."""
    excluded = [tag for tag in map(canonical_tag, scope.exclude_tags) if tag]
    if not excluded:
        return Conditions()
    stored = "_prefixes" if scope.tag_match == "prefix" else "_tags"
    clause = f"none(tag IN coalesce(m.{stored}, []) WHERE tag IN $excluded_tags)"
    return Conditions((clause,), {"excluded_tags": excluded})


def window_conditions(window: TimeWindow | None) -> Conditions:
    """Give a time window as bounds of the index on ``_ts``; an open one is no condition (D7)."""
    bounds = Conditions()
    if window is not None and window.start is not None:
        bounds &= Conditions(("m._ts >= $window_start",), {"window_start": to_epoch(window.start)})
    if window is not None and window.end is not None:
        sign = "<=" if window.end_inclusive else "<"
        bounds &= Conditions((f"m._ts {sign} $window_end",), {"window_end": to_epoch(window.end)})
    return bounds


def types_left_out(types: Sequence[str]) -> Conditions:
    """Leave out types (storage.md 4); a memory without one is kept."""
    if not types:
        return Conditions()
    return Conditions(("NOT coalesce(m.type, '') IN $excluded_types",), {"excluded_types": list(types)})


def not_valid(name: str = "m") -> str:
    """Give the condition under which a memory is not valid at ``$at``: not yet, or no more."""
    return f"coalesce({name}._from > $at, false) OR coalesce({name}._until <= $at, false)"


def not_archived(name: str = "m") -> str:
    """Give the condition under which a memory is not archived; the mark may be of any type."""
    return f"NOT coalesce({name}.archived = true, false)"


def _visible(scope: Scope) -> Conditions:
    shown = () if scope.archived else (not_archived(),)
    if scope.state == "any":
        return Conditions(shown)
    hidden = f"{not_valid()} OR {REPLACED}"
    state = f"NOT ({hidden})" if scope.state == "current" else f"({hidden})"
    return Conditions((*shown, state), {"at": to_epoch(scope.at)})


def _tokens(tags: Sequence[str], scope: Scope) -> list[str]:
    token: Callable[[str], str] = tag_token if scope.tag_match == "prefix" else exact_tag_token
    return list(dict.fromkeys(token(tag) for tag in tags if canonical_tag(tag)))


def _unwanted(scope: Scope) -> str:
    return "".join(f" -{token}" for token in _tokens(scope.exclude_tags, scope))


def importance_bands() -> list[Conditions]:
    """Part all memories by importance, highest first, so that a search may stop when it has enough.

    The first bands are served by the index on importance; the last holds the rest, missing and
    non-numeric ones too.
    """
    bands = [Conditions((f"m.importance >= {_RUNGS[0]}",))]
    for high, low in zip(_RUNGS, _RUNGS[1:], strict=False):
        bands.append(Conditions((f"m.importance >= {low}", f"m.importance < {high}")))
    return [*bands, Conditions((f"NOT coalesce(m.importance >= {_RUNGS[-1]}, false)",))]


def sort_field(sort: Sort) -> str:
    """Give the internal property that a sort by time reads, '' for the sort by score."""
    return _SORT_FIELDS.get(sort, "")


def time_bands(name: str, anchor: float, descending: bool) -> list[Conditions]:
    """Part all memories by the time ``name``: spans that grow from ``anchor``, then the missing.

    Descending, the anchor is now and the first span has everything later too; ascending, it is the
    oldest time of all.
    """
    sign = -1 if descending else 1
    edges = [anchor + sign * span for span in _SPANS]
    near, far = (">=", "<") if descending else ("<", ">=")
    bands = [_band(name, (near, edges[0]))]
    bands += [
        _band(name, (far, inner), (near, outer)) for inner, outer in zip(edges, edges[1:], strict=False)
    ]
    return [*bands, _band(name, (far, edges[-1])), Conditions((f"m.{name} IS NULL",))]


def _band(name: str, *bounds: tuple[str, float]) -> Conditions:
    clauses = tuple(f"m.{name} {sign} $bound_{index}" for index, (sign, _) in enumerate(bounds))
    return Conditions(clauses, {f"bound_{index}": edge for index, (_, edge) in enumerate(bounds)})
