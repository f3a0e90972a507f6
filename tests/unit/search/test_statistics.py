"""How common words are: what is asked of the store, and what is remembered (D9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import pytest

from automem.errors import GraphUnavailable
from automem.search.runtime_keywords import Keywords, Rarity, extract_keywords
from automem.search.statistics import TermStatistics
from automem.stores.base import GraphStore


class CountingGraph:
    """Knows how many memories hold each stem, and counts what it is asked."""

    def __init__(self, total: int, counts: Mapping[str, int]) -> None:
        self.total = total
        self.counts = dict(counts)
        self.asked: list[list[str]] = []
        self.totals = 0
        self.down = False

    def count(self, excluded_types: Sequence[str]) -> int:
        assert list(excluded_types) == []
        self.totals += 1
        return self.total

    def frequencies(self, queries: Sequence[str]) -> list[int]:
        if self.down:
            raise GraphUnavailable("down")
        self.asked.append(list(queries))
        return [max((n for stem, n in self.counts.items() if stem in query), default=0) for query in queries]


class HandClock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def graph() -> CountingGraph:
    return CountingGraph(10_000, {"scommon": 2_000, "susual": 1_999, "srare": 3})


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def terms(graph: CountingGraph, clock: HandClock) -> TermStatistics:
    return TermStatistics(cast(GraphStore, graph), clock)


def queries(text: str) -> list[str]:
    keywords = extract_keywords(text)
    return [k.index_query for k in keywords.items] + [p.index_query for p in keywords.pairs]


def test_words_and_pairs_in_one_question(terms: TermStatistics, graph: CountingGraph) -> None:
    assert terms.rarity(extract_keywords("common rare and unknown")) == Rarity(
        10_000, (2_000, 3, 0), (2_000,)
    )
    assert graph.asked == [queries("common rare and unknown")]
    assert graph.totals == 1


def test_no_words_ask_for_the_total_only(terms: TermStatistics, graph: CountingGraph) -> None:
    assert terms.rarity(Keywords()) == Rarity(10_000, (), ())
    assert graph.asked == []


def test_only_common_words_are_remembered(terms: TermStatistics, graph: CountingGraph) -> None:
    asked = extract_keywords("common and usual and rare")
    terms.rarity(asked)
    graph.counts |= {"scommon": 2_500, "susual": 1_000, "srare": 4}
    assert terms.rarity(asked) == Rarity(10_000, (2_000, 1_000, 4), ())
    assert graph.asked[1] == queries("usual and rare")


def test_all_remembered_asks_nothing_but_the_total(terms: TermStatistics, graph: CountingGraph) -> None:
    for _ in range(3):
        assert terms.rarity(extract_keywords("common")).keywords == (2_000,)
    assert len(graph.asked) == 1
    assert graph.totals == 3


def test_after_a_minute_it_is_asked_again(
    terms: TermStatistics, graph: CountingGraph, clock: HandClock
) -> None:
    terms.rarity(extract_keywords("common"))
    graph.counts["scommon"] = 5_000
    clock.seconds += 59.9
    assert terms.rarity(extract_keywords("common")).keywords == (2_000,)
    clock.seconds += 0.2
    assert terms.rarity(extract_keywords("common")).keywords == (5_000,)


def test_the_total_is_never_remembered(terms: TermStatistics, graph: CountingGraph) -> None:
    terms.rarity(extract_keywords("common"))
    graph.total = 10_001
    assert terms.rarity(extract_keywords("common")).total == 10_001


def test_memory_is_bounded(graph: CountingGraph, terms: TermStatistics) -> None:
    graph.counts = {"s": 9_000}
    for number in range(5_001):
        terms.rarity(extract_keywords(f"word{number}x"))
    asked = len(graph.asked)
    terms.rarity(extract_keywords("word5000x"))
    assert len(graph.asked) == asked
    terms.rarity(extract_keywords("word0x"))
    assert len(graph.asked) == asked + 1


def test_a_store_that_is_down_is_an_error(terms: TermStatistics, graph: CountingGraph) -> None:
    graph.down = True
    with pytest.raises(GraphUnavailable):
        terms.rarity(extract_keywords("rare"))
