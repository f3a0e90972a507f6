"""What is counted: evidence recall, mean reciprocal rank, latencies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CUTS = (1, 5, 10, 20)
"""The k of recall@k."""
FULL_CUT = 10
DEPTH = 20
"""Evidence beyond this place counts as not found."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The places, from 1, at which the evidence of one question came; missed ones are left out.

    :param evidence: how many turns there were to find.
    """

    category: str
    places: tuple[int, ...]
    evidence: int

    def recall(self, k: int) -> float:
        """Give the share of the evidence among the first ``k``."""
        return sum(place <= k for place in self.places) / self.evidence

    @property
    def reciprocal_rank(self) -> float:
        """Give one over the place of the first evidence, 0 when none was found."""
        return 1 / min(self.places) if self.places else 0.0


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over questions, 0..1; ``recall`` by k, ``full`` the share with all evidence in the first 10."""

    questions: int
    recall: dict[int, float]
    mrr: float
    full: float


@dataclass(frozen=True, slots=True)
class Latency:
    """Percentiles in milliseconds."""

    p50: float
    p90: float
    p99: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean of paired differences and its standard error."""

    mean: float
    error: float


def outcome(category: str, evidence: Sequence[str], found: Sequence[str]) -> Outcome:
    """Look for the evidence among what was found, best first; turns found twice count once."""
    ranked = list(dict.fromkeys(found))[:DEPTH]
    wanted = set(evidence)
    places = tuple(place for place, turn in enumerate(ranked, 1) if turn in wanted)
    return Outcome(category, places, len(wanted))


def summarize(outcomes: Sequence[Outcome]) -> Summary:
    """Average over questions, each counting the same; of no questions all is 0."""
    return Summary(
        questions=len(outcomes),
        recall={k: _mean(one.recall(k) for one in outcomes) for k in CUTS},
        mrr=_mean(one.reciprocal_rank for one in outcomes),
        full=_mean(float(one.recall(FULL_CUT) == 1) for one in outcomes),
    )


def by_category(outcomes: Sequence[Outcome]) -> dict[str, Summary]:
    """Summarize each category, in the order of their names."""
    names = sorted({one.category for one in outcomes})
    return {name: summarize([one for one in outcomes if one.category == name]) for name in names}


def difference(ours: Sequence[Outcome], theirs: Sequence[Outcome], k: int) -> Difference:
    """Compare two systems at recall@k on the same questions, in the same order."""
    deltas = [a.recall(k) - b.recall(k) for a, b in zip(ours, theirs, strict=True)]
    mean = _mean(deltas)
    variance = _mean((delta - mean) ** 2 for delta in deltas)
    return Difference(mean, math.sqrt(variance / len(deltas)) if deltas else 0.0)


def latency(seconds: Sequence[float]) -> Latency:
    """Give the percentiles by nearest rank; of nothing all are 0."""
    return Latency(*(1000 * _percentile(sorted(seconds), share) for share in (0.5, 0.9, 0.99)))


def _percentile(ascending: Sequence[float], share: float) -> float:
    return ascending[max(0, math.ceil(share * len(ascending)) - 1)] if ascending else 0.0


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0
