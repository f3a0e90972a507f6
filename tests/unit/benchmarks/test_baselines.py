"""The rankers that AutoMem is compared with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from automem.embedding.base import Vectors as Matrix
from benchmarks.baselines import Bm25, Fusion, Vectors
from benchmarks.data import Turn

TURNS = [
    Turn("cats", "The cats were sleeping in the sun"),
    Turn("dog", "A dog barks"),
    Turn("cat", "One cat"),
    Turn("sun", "The sun, the sun, and nothing but the sun"),
]


def test_bm25_matches_stems_and_leaves_out_what_has_no_word_in_common() -> None:
    assert Bm25(TURNS).rank("sleep, CAT!") == ["cats", "cat"]


def test_bm25_prefers_rare_words_then_short_texts() -> None:
    ranker = Bm25(TURNS)
    assert ranker.rank("cat") == ["cat", "cats"]
    assert ranker.rank("barking sun")[0] == "dog"


def test_bm25_worked_out_by_hand() -> None:
    # Two of three turns hold the word, all are of equal length: idf = ln(1 + 1.5 / 2.5), and
    # a word that stands twice counts 2 * 2.2 / 3.2 = 1.375 times that of one that stands once.
    ranker = Bm25([Turn("a", "oak elm"), Turn("b", "oak oak"), Turn("c", "elm fir")])
    assert ranker.rank("oak") == ["b", "a"]
    assert ranker.rank("oak", depth=1) == ["b"]


class Compass:
    """A provider that knows four directions."""

    name = "compass"
    dimension = 2
    _known = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "north-east": (0.6, 0.8)}

    def embed_query(self, text: str) -> Matrix:
        return np.array(self._known[text], dtype=np.float32)

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        return np.array([self._known[text] for text in texts], dtype=np.float32)


def test_vectors_rank_by_cosine_and_leave_out_what_points_away() -> None:
    ranker = Vectors([Turn(text, text) for text in ("south", "east", "north", "north-east")], Compass())
    assert ranker.rank("north") == ["north", "north-east"]


class Fixed:
    """A ranker with one answer."""

    def __init__(self, *ids: str) -> None:
        self._ids = list(ids)

    def rank(self, question: str, depth: int = 20) -> list[str]:
        return self._ids[:depth]


@pytest.mark.parametrize(
    ("first", "second", "fused"),
    [
        (["a", "b", "c"], ["b", "c", "d"], ["b", "c", "a", "d"]),
        (["a"], [], ["a"]),
        (["a", "b"], ["b", "a"], ["a", "b"]),
    ],
)
def test_fusion_prefers_what_both_found(first: list[str], second: list[str], fused: list[str]) -> None:
    assert Fusion([Fixed(*first), Fixed(*second)]).rank("?") == fused
