"""A scope cuts the same memories in every vector store, inside the search (D5, D7, D17)."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from automem.models import Memory, Scope, TagMatch
from automem.stores.base import VectorPoint, VectorStore
from automem.utils.tags import tags_excluded, tags_match
from automem.utils.time import TimeWindow

OpenStore = Callable[[int], VectorStore]

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)
TAGS = (
    "Slack",
    "slack:U123",
    "SLACK/u123/Ops",
    "slackbot",
    "Straße",
    "STRASSE:1",
    "ﬁle",
    "file/x",
    "日本/東京",
    "a",
)
TYPES = ("Memory", "Decision", "MetaPattern", None)
DIMENSION = 16


def _instant(chance: random.Random) -> str | None:
    """Give an instant on a coarse grid around NOW, so that bounds are hit exactly; or none."""
    return chance.choice([None, (NOW + timedelta(hours=chance.randint(-6, 6))).isoformat()])


def _memory(chance: random.Random) -> Memory:
    properties: dict[str, Any] = {
        "id": str(uuid.UUID(int=chance.getrandbits(128))),
        "content": "x",
        "tags": chance.sample(TAGS, chance.randint(0, 3)),
        "timestamp": _instant(chance),
        "t_valid": _instant(chance),
        "t_invalid": _instant(chance),
        "type": chance.choice(TYPES),
        "archived": chance.choice([None, None, False, True]),
    }
    present = {name: value for name, value in properties.items() if value is not None}
    return Memory(properties=present, replaced=chance.random() < 0.2)


def _window(chance: random.Random) -> TimeWindow | None:
    bounds = [NOW + timedelta(hours=chance.randint(-6, 6)) for _ in "ab"]
    start, end = (chance.choice([None, bound, bound]) for bound in bounds)
    return chance.choice([None, TimeWindow(start, end, chance.random() < 0.5)])


def _scope(chance: random.Random) -> Scope:
    wanted = [*TAGS, "SLA", "slack:", " ", "file", "日本", "b"]
    return Scope(
        at=NOW,
        tags=tuple(chance.sample(wanted, chance.choice([0, 0, 1, 2]))),
        tag_mode=chance.choice(["any", "all"]),
        tag_match=chance.choice(["prefix", "exact"]),
        exclude_tags=tuple(chance.sample(wanted, chance.choice([0, 0, 1, 2]))),
        window=_window(chance),
        excluded_types=tuple(chance.sample(["MetaPattern", "Decision"], chance.choice([0, 1, 2]))),
        state=chance.choice(["any", "current", "suppressed"]),
        archived=chance.random() < 0.5,
    )


def _is_current(memory: Memory) -> bool:
    begun = memory.valid_from is None or memory.valid_from <= NOW
    running = memory.valid_until is None or memory.valid_until > NOW
    return begun and running and not memory.replaced


def _inside(memory: Memory, scope: Scope) -> bool:
    return (
        (scope.archived or not memory.archived)
        and memory.type not in scope.excluded_types
        and (scope.window is None or scope.window.contains(memory.timestamp))
        and tags_match(memory.tags, scope.tags, scope.tag_mode, scope.tag_match)
        and not tags_excluded(memory.tags, scope.exclude_tags, scope.tag_match)
        and (scope.state == "any" or _is_current(memory) == (scope.state == "current"))
    )


def test_random_scopes_agree_with_a_plain_loop(open_store: OpenStore) -> None:
    chance, numbers = random.Random(20250601), np.random.default_rng(20250601)
    memories = [_memory(chance) for _ in range(200)]
    vectors = numbers.standard_normal((len(memories), DIMENSION))
    store = open_store(DIMENSION)
    store.upsert([VectorPoint(one.id, row.tolist(), one) for one, row in zip(memories, vectors, strict=True)])
    sizes = set()

    for _ in range(150):
        scope, query, limit = _scope(chance), numbers.standard_normal(DIMENSION), chance.choice([3, 20, 1000])
        cosines = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
        inside = [
            (one.id, cosine) for one, cosine in zip(memories, cosines, strict=True) if _inside(one, scope)
        ]
        expected = sorted(inside, key=lambda pair: -pair[1])[:limit]
        sizes.add(len(inside))

        hits = store.search(query.tolist(), scope, limit)

        assert [hit.memory.id for hit in hits] == [name for name, _ in expected], scope
        assert [hit.score for hit in hits] == pytest.approx([cosine for _, cosine in expected], abs=1e-5)
        scrolled = [one.id for one in store.scroll(scope, limit)]
        assert len(scrolled) == len(set(scrolled)) == min(limit, len(inside))
        assert set(scrolled) <= {name for name, _ in inside}
    assert 0 in sizes and len(sizes) > 30


def _store_one(store: VectorStore, **properties: Any) -> None:
    name = str(uuid.UUID(int=1))
    base = {"id": name, "content": "x", "timestamp": NOW.isoformat()}
    store.upsert([VectorPoint(name, [1, 0, 0, 0], Memory(properties=base | properties))])


TICK, HOUR = timedelta(microseconds=1), timedelta(hours=1)
WINDOWS = [
    (TimeWindow(NOW, None), True),
    (TimeWindow(NOW + TICK, None), False),
    (TimeWindow(None, NOW), False),
    (TimeWindow(None, NOW, end_inclusive=True), True),
    (TimeWindow(None, NOW + TICK), True),
    (TimeWindow(None, None), True),
    (TimeWindow(NOW + HOUR, NOW - HOUR), False),
]


def test_window_bounds_to_the_microsecond(store: VectorStore) -> None:
    _store_one(store)

    for window, inside in WINDOWS:
        found = store.search([1, 0, 0, 0], Scope(at=NOW, window=window), 5)
        assert len(found) == inside, window


# stored, wanted, found by prefix, found by exact match
TAG_CASES = [
    ("Project/Foo", "project:foo", True, True),
    ("Project/Foo", "PROJECT", True, False),
    ("Project/Foo", "proj", False, False),
    ("Project/Foo", "project/foo/bar", False, False),
    ("project:", "Project", True, True),
    ("ÉCOLE", "école", True, True),
    ("a", ":", False, False),
]


def test_tags_match_by_whole_segments_in_any_case(store: VectorStore) -> None:
    for stored, wanted, prefix, exact in TAG_CASES:
        _store_one(store, tags=[stored])
        expectations: list[tuple[TagMatch, bool]] = [("prefix", prefix), ("exact", exact)]
        for match, expected in expectations:
            only = Scope(at=NOW, tags=(wanted,), tag_match=match)
            without = Scope(at=NOW, exclude_tags=(wanted,), tag_match=match)
            assert len(store.search([1, 0, 0, 0], only, 5)) == expected, (stored, wanted, match)
            assert len(store.search([1, 0, 0, 0], without, 5)) == (not expected), (stored, wanted, match)


def test_a_narrow_scope_is_filled_however_many_nearer_points_lie_outside(open_store: OpenStore) -> None:
    store = open_store(2)
    points = []
    for number in range(200):
        name = str(uuid.UUID(int=number))
        wanted = number % 20 == 0
        properties = {"id": name, "tags": ["rare" if wanted else "common"]}
        vector = [0.1 if wanted else 1.0, 1.0 + number / 1000]
        points.append(VectorPoint(name, vector, Memory(properties=properties)))
    store.upsert(points)

    hits = store.search([1, 0], Scope(at=NOW, tags=("rare",)), 10)

    assert {hit.memory.tags for hit in hits} == {("rare",)}
    assert len(hits) == 10
