"""Current state: own reasons, replacements, chains (recall.md 10, D17)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from automem.models import Memory
from automem.search.state import (
    active_replacement,
    head_of_chain,
    own_reason,
    replacement_chains,
    state_reason,
)
from automem.stores.base import GraphStore, Replacement
from tests.support.rows import memory, replaced_by

NOW = datetime(2026, 4, 1, tzinfo=UTC)
BEFORE, SAME, AFTER = "2026-03-31T23:59:59Z", "2026-04-01T00:00:00Z", "2026-04-01T00:00:01Z"


def chain(*ids: str) -> dict[str, list[Replacement]]:
    """Link memories one after the other."""
    return {old: [replaced_by(old, memory(new))] for old, new in zip(ids, ids[1:], strict=False)}


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({}, None),
        ({"archived": True}, "archived"),
        ({"archived": "true"}, None),
        ({"archived": 1}, None),
        ({"t_valid": AFTER}, "not_yet_valid"),
        ({"t_valid": SAME}, None),
        ({"t_invalid": BEFORE}, "expired"),
        ({"t_invalid": SAME}, "expired"),
        ({"t_invalid": AFTER}, None),
        ({"t_valid": "soon", "t_invalid": "later"}, None),
        ({"archived": True, "t_valid": AFTER, "t_invalid": BEFORE}, "archived"),
        ({"t_valid": AFTER, "t_invalid": BEFORE}, "not_yet_valid"),
    ],
)
def test_own_reason_in_order(properties: dict[str, Any], reason: str | None) -> None:
    assert own_reason(memory("a", **properties), NOW) == reason


class TestReplacement:
    def test_the_newest_active_target(self) -> None:
        edges = [
            replaced_by("a", memory("gone", archived=True)),
            replaced_by("a", memory("future", t_valid=AFTER)),
            replaced_by("a", memory("live")),
            replaced_by("a", memory("older")),
        ]
        found = active_replacement("a", {"a": edges}, NOW)
        assert found is not None
        assert found.new.id == "live"

    def test_no_active_target_is_no_replacement(self) -> None:
        edges = [replaced_by("a", memory("gone", t_invalid=BEFORE))]
        assert state_reason(memory("a"), {"a": edges}, NOW) is None
        assert head_of_chain("a", {"a": edges}, NOW) is None

    def test_a_memory_does_not_replace_itself(self) -> None:
        assert state_reason(memory("a"), {"a": [replaced_by("a", memory("a"))]}, NOW) is None

    def test_superseded_comes_last(self) -> None:
        chains = chain("a", "b")
        assert state_reason(memory("a"), chains, NOW) == "superseded"
        assert state_reason(memory("a", t_invalid=BEFORE), chains, NOW) == "expired"
        assert state_reason(memory("b"), chains, NOW) is None


class TestChain:
    @pytest.mark.parametrize(
        ("ids", "head", "ended"),
        [
            ("ab", "b", True),
            ("abcd", "d", True),
            ("abcdef", "f", True),  # five hops
            ("abcdefg", "f", False),  # a sixth is not taken
            ("aba", "b", True),
            ("abca", "c", True),
            ("abcb", "c", True),
        ],
    )
    def test_head(self, ids: str, head: str, ended: bool) -> None:
        walk = head_of_chain("a", chain(*ids), NOW)
        assert walk is not None
        assert (walk.first.new.id, walk.head.id, walk.ended) == ("b", head, ended)

    def test_a_walk_goes_round_what_is_not_active(self) -> None:
        chains = {
            "a": [replaced_by("a", memory("b"))],
            "b": [replaced_by("b", memory("x", archived=True)), replaced_by("b", memory("c"))],
        }
        walk = head_of_chain("a", chains, NOW)
        assert walk is not None
        assert walk.head.id == "c"

    def test_an_expired_memory_has_a_head_too(self) -> None:
        walk = head_of_chain("a", chain("a", "b"), NOW)
        assert walk is not None
        assert walk.head.id == "b"


class CountingGraph:
    """Answers ``replacements`` and counts how often it is asked."""

    def __init__(self, chains: dict[str, list[Replacement]]) -> None:
        self._chains = chains
        self.asked: list[tuple[list[str], int]] = []

    def replacements(self, memory_ids: Sequence[str], hops: int) -> dict[str, list[Replacement]]:
        self.asked.append((list(memory_ids), hops))
        return self._chains


def test_chains_are_read_in_one_query() -> None:
    graph = CountingGraph(chain("a", "b"))
    memories: list[Memory] = [memory("a"), memory("c")]
    assert set(replacement_chains(memories, cast(GraphStore, graph))) == {"a"}
    assert graph.asked == [(["a", "c"], 5)]


def test_no_memories_ask_nothing() -> None:
    graph = CountingGraph({})
    assert replacement_chains([], cast(GraphStore, graph)) == {}
    assert graph.asked == []
