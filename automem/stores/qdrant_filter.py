"""The scope of a search as conditions on the payload, independent of a driver. Pure.

Each driver module translates a ``FilterSpec`` into its own classes, so that both engines cut the same
memories (D5, D7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from automem.models import Scope, TagMatch, TagMode
from automem.utils.tags import canonical_tag
from automem.utils.time import TimeWindow, to_epoch

IndexKind = Literal["keyword", "float", "integer"]

PAYLOAD_INDEXES: tuple[tuple[str, IndexKind], ...] = (
    ("tags", "keyword"),
    ("tag_prefixes", "keyword"),
    ("_tags", "keyword"),
    ("type", "keyword"),
    ("_ts", "float"),
    ("_from", "float"),
    ("_until", "float"),
    ("_replaced", "integer"),
    ("_archived", "integer"),
)
"""Every field that a filter uses, and ``tags`` for other readers of the collection (storage.md 3)."""


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The field is, or as a list holds, one of the values; absent fields never match."""

    key: str
    values: tuple[str, ...] | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Within:
    """The field is a number inside the bounds given; absent fields never match."""

    key: str
    gte: float | None = None
    gt: float | None = None
    lte: float | None = None
    lt: float | None = None


Condition = AnyOf | Within


@dataclass(frozen=True, slots=True)
class FilterSpec:
    """All of ``must``, none of ``must_not`` and, where given, at least one of ``should``."""

    must: tuple[Condition, ...] = ()
    must_not: tuple[Condition, ...] = ()
    should: tuple[Condition, ...] = ()

    def __bool__(self) -> bool:
        """Tell whether anything is filtered at all."""
        return bool(self.must or self.must_not or self.should)


def scope_filter(scope: Scope) -> FilterSpec:
    """Give the conditions of a whole scope (D5, D7, D17)."""
    unwanted = _tag_key(scope.tag_match), _canonical(scope.exclude_tags)
    excluded = (AnyOf(*unwanted),) if scope.exclude_tags else ()
    archived = () if scope.archived else (AnyOf("_archived", (1,)),)
    hidden = _suppressed(to_epoch(scope.at))
    return FilterSpec(
        must=tag_conditions(scope.tags, scope.tag_mode, scope.tag_match) + _window(scope.window),
        must_not=excluded
        + type_filter(scope.excluded_types).must_not
        + archived
        + (hidden if scope.state == "current" else ()),
        should=hidden if scope.state == "suppressed" else (),
    )


def type_filter(excluded_types: Sequence[str]) -> FilterSpec:
    """Leave out the types named (storage.md 4)."""
    return FilterSpec(must_not=(AnyOf("type", tuple(excluded_types)),) if excluded_types else ())


def tag_conditions(tags: Sequence[str], mode: TagMode, match: TagMatch) -> tuple[AnyOf, ...]:
    """Give what the tags wanted ask of a point (recall.md 8.2); without tags nothing.

    A tag without any segment finds nothing: its canonical form '' is never stored.
    """
    key, wanted = _tag_key(match), _canonical(tags)
    if not wanted:
        return ()
    return tuple(AnyOf(key, (tag,)) for tag in wanted) if mode == "all" else (AnyOf(key, wanted),)


def _tag_key(match: TagMatch) -> str:
    return "tag_prefixes" if match == "prefix" else "_tags"


def _canonical(tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(canonical_tag, tags)))


def _window(window: TimeWindow | None) -> tuple[Within, ...]:
    if window is None or window.is_open:
        return ()
    start = None if window.start is None else to_epoch(window.start)
    end = None if window.end is None else to_epoch(window.end)
    if window.end_inclusive:
        return (Within("_ts", gte=start, lte=end),)
    return (Within("_ts", gte=start, lt=end),)


def _suppressed(now: float) -> tuple[Condition, ...]:
    """Give the reasons for which current state hides a memory, each enough (recall.md 10)."""
    return (Within("_from", gt=now), Within("_until", lte=now), AnyOf("_replaced", (1,)))
