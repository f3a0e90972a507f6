"""What AutoMem is compared with, in this process: stemmed BM25, vectors alone, fusion of their ranks."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import Stemmer
from numpy.typing import NDArray

from automem.embedding.base import Provider
from benchmarks.data import Turn
from benchmarks.measures import DEPTH

K1 = 1.2
B = 0.75
FUSION_K = 60
FUSED_DEPTH = 100
EMBEDDED_AT_ONCE = 32

_WORD = re.compile(r"[^\W_]+")


class Ranker(Protocol):
    """Ranks the turns of one conversation."""

    def rank(self, question: str, depth: int = DEPTH) -> list[str]:
        """Give the ids of the best turns, best first, at most ``depth``; ties in the turns' order."""


class Bm25:
    """Okapi BM25 on Snowball stems, no stop words; idf over the conversation, never negative."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._ids = [turn.id for turn in turns]
        self._stemmer = Stemmer.Stemmer("english")
        counts = [Counter(self.stems(turn.text)) for turn in turns]
        lengths = np.array([sum(count.values()) for count in counts], dtype=np.float64)
        self._norm = K1 * (1 - B + B * lengths / max(1e-9, float(lengths.mean())))
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for index, count in enumerate(counts):
            for stem, times in count.items():
                self._postings.setdefault(stem, []).append((index, times))

    def stems(self, text: str) -> list[str]:
        """Give the stems of a text in order, repeated as they stand there."""
        words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
        return list(self._stemmer.stemWords(words))

    def rank(self, question: str, depth: int = DEPTH) -> list[str]:
        scores = np.zeros(len(self._ids))
        for stem in dict.fromkeys(self.stems(question)):
            self._add(scores, self._postings.get(stem, []))
        return _best(self._ids, scores, depth)

    def _add(self, scores: NDArray[np.float64], postings: Sequence[tuple[int, int]]) -> None:
        idf = np.log(1 + (len(self._ids) - len(postings) + 0.5) / (len(postings) + 0.5))
        for index, times in postings:
            scores[index] += idf * times * (K1 + 1) / (times + self._norm[index])


class Vectors:
    """Cosine similarity by the product's own provider, long texts pooled as it pools them."""

    def __init__(self, turns: Sequence[Turn], provider: Provider) -> None:
        self._ids = [turn.id for turn in turns]
        self._provider = provider
        texts = [turn.text for turn in turns]
        starts = range(0, len(texts), EMBEDDED_AT_ONCE)
        batches = [provider.embed_batch(texts[start : start + EMBEDDED_AT_ONCE]) for start in starts]
        self._matrix = np.concatenate(batches)

    def rank(self, question: str, depth: int = DEPTH) -> list[str]:
        return _best(self._ids, self._matrix @ self._provider.embed_query(question), depth)


class Fusion:
    """Equal reciprocal rank fusion of other rankers: the sum of 1 / (60 + rank) over their first 100."""

    def __init__(self, rankers: Sequence[Ranker]) -> None:
        self._rankers = rankers

    def rank(self, question: str, depth: int = DEPTH) -> list[str]:
        scores: dict[str, float] = {}
        for ranker in self._rankers:
            for place, turn in enumerate(ranker.rank(question, FUSED_DEPTH), 1):
                scores[turn] = scores.get(turn, 0.0) + 1 / (FUSION_K + place)
        return sorted(scores, key=lambda turn: -scores[turn])[:depth]


def _best(ids: Sequence[str], scores: NDArray[np.floating], depth: int) -> list[str]:
    order = np.argsort(-scores, kind="stable")[:depth]
    return [ids[index] for index in order if scores[index] > 0]
