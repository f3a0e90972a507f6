"""Deduplication, order and floors (recall.md 11, D14, D16). Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from automem.models import Memory, Sort
from automem.search.types import Bonus, FloorReport, RecallRequest, Scored

_NO_TIME = float("-inf")
RELEVANT_SHARE = 0.5
"""A time sort takes memories with at least this share of the best evidence, so that it does not show
the newest of everything that some arm happened to bring."""


def _epoch(moment: datetime | None) -> float:
    return _NO_TIME if moment is None else moment.timestamp()


def score_key(scored: Scored) -> tuple[float, bool, float, float, float, str]:
    """Give the key of the score order; smaller comes first, missing values last (D20)."""
    memory = scored.memory
    importance = _NO_TIME if memory.importance is None else memory.importance
    found_by_vector = "vector" in scored.candidate.arms
    return (
        -scored.final,
        not found_by_vector,
        -scored.original,
        -importance,
        -_epoch(memory.timestamp),
        memory.id,
    )


def sorted_results(results: Sequence[Scored], sort: Sort) -> list[Scored]:
    """Give the results in the order asked for, stable on ties."""
    if sort == "score":
        return sorted(results, key=score_key)
    newest_first = sort.endswith("_desc")
    key = _time_key if sort.startswith("time") else _update_key
    dated = [result for result in results if key(result.memory) is not None]
    undated = [result for result in results if key(result.memory) is None]
    dated.sort(key=lambda result: result.id)
    dated.sort(key=lambda result: key(result.memory) or 0.0, reverse=newest_first)
    return dated + sorted(undated, key=score_key)


def _time_key(memory: Memory) -> float | None:
    return memory.timestamp.timestamp() if memory.timestamp else None


def _update_key(memory: Memory) -> float | None:
    moment = memory.updated_at or memory.timestamp
    return moment.timestamp() if moment else None


def relevant(results: Sequence[Scored], limit: int) -> list[Scored]:
    """Keep what a time sort may choose from: strong evidence, filled up to ``limit`` by score."""
    ranked = sorted(results, key=score_key)
    best = max((_relevance(result) for result in ranked), default=0.0)
    strong = [result for result in ranked if _relevance(result) >= RELEVANT_SHARE * best]
    weak = [result for result in ranked if _relevance(result) < RELEVANT_SHARE * best]
    return strong + weak[: max(0, limit - len(strong))]


def _relevance(result: Scored) -> float:
    parts = result.score.components
    return sum(parts[name] for name in ("vector", "keyword", "metadata", "exact"))


def content_key(memory: Memory) -> str:
    """Give the form in which two texts are the same: Unicode-normalised, blanks folded (D16).

    Case counts: ``US`` and ``us`` are two texts.
    """
    return " ".join(unicodedata.normalize("NFKC", memory.content).split())


def deduplicated(results: Sequence[Scored]) -> list[Scored]:
    """Keep the best of each group with the same text (D16); the winner names the group.

    The order of the winners is kept. Memories without text are never duplicates.
    """
    groups: dict[str, list[Scored]] = {}
    for result in results:
        groups.setdefault(content_key(result.memory) or f"\0{result.id}", []).append(result)
    return [_winner(group) for group in groups.values()]


def _winner(group: Sequence[Scored]) -> Scored:
    if len(group) == 1:
        return group[0]
    best = min(group, key=score_key)
    names = tuple(sorted({name for result in group for name in (result.id, *result.deduped_from)}))
    return replace(best, deduped_from=names) if len(names) > 1 else best


def with_recency_bias(results: Sequence[Scored], weight: float) -> list[Scored]:
    """Add ``weight`` times the place between the oldest (0) and the newest (1) (recall.md 7.5)."""
    times = {r.id: r.memory.timestamp.timestamp() for r in results if r.memory.timestamp}
    if not times or weight <= 0 or min(times.values()) == max(times.values()):
        return list(results)
    oldest, newest = min(times.values()), max(times.values())
    return [
        replace(r, bonus={**r.bonus, "temporal": Bonus((times[r.id] - oldest) / (newest - oldest), weight)})
        if r.id in times
        else r
        for r in results
    ]


def adaptive_floor(results: Sequence[Scored]) -> float | None:
    """Give the score just below the largest gap of a ranking, or None (recall.md 11.5)."""
    if len(results) <= 3:
        return None
    scores = sorted((result.final for result in results), reverse=True)
    gaps = [(scores[i - 1] - scores[i], -i) for i in range(1, max(3, len(scores) // 2))]
    gap, negative = max(gaps)
    floor = scores[-negative]
    kept = sum(score >= floor for score in scores)
    return floor if gap > 0.25 * scores[0] and gap > 0 and 2 * kept >= len(scores) else None


def floored(rows: Sequence[Scored], request: RecallRequest) -> tuple[tuple[Scored, ...], FloorReport | None]:
    """Keep what reaches the least score and the adaptive floor, and say what was cut (D14).

    Memories asked for by id stay (D21).
    """
    adaptive = adaptive_floor(rows) if request.adaptive_floor and request.sort == "score" else None
    least = max(request.min_score or 0.0, adaptive or 0.0)
    if not least:
        return tuple(rows), None
    wanted = set(request.context.priority_ids)
    kept = tuple(row for row in rows if row.id in wanted or row.final >= least)
    return kept, FloorReport(len(rows) - len(kept), request.min_score or None, adaptive)
