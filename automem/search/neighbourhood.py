"""Evidence spreads one step along edges: the tenth component for memories found directly.

A turn of a conversation is often found by its neighbour: the question stands in one, the answer in the
next. So each candidate gets, as ``relation``, the best evidence among its direct neighbours, weighted by
the edge and bounded to 0..1; strong candidates also pull their neighbours in. One graph query for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from automem.errors import GraphUnavailable
from automem.models import Memory, Scope
from automem.search.order import score_key
from automem.search.pool import Pool, Run, score_memories, with_relation
from automem.search.runtime_recall_helpers import GRAPH_DOWN
from automem.search.scope import outside
from automem.search.types import ArmResult, Scored, Warn
from automem.stores.base import Link
from automem.utils.scoring import clip

if TYPE_CHECKING:
    from automem.services import Services

STRONG = 20
"""So many of the best candidates are followed. Measured: more changes nothing."""
LINKS_PER_MEMORY = 12
SIMILARITY_SHARE = 0.5
"""Similar memories share their evidence already, so their edges count half."""


def spread_evidence(run: Run, pool: Pool, scope: Scope, services: Services) -> Pool:
    """Give candidates the evidence of their neighbours and add the neighbours of strong ones."""
    if not (run.rules.spread and run.request.semantic and pool.scored):
        return pool
    strong = sorted(pool.scored, key=score_key)[:STRONG]
    known = [row.id for row in pool.scored]
    try:
        links = services.graph.links([row.id for row in strong], known, LINKS_PER_MEMORY)
    except GraphUnavailable:
        return replace(pool, arms=(*pool.arms, ArmResult("keyword", warning=GRAPH_DOWN)))
    if not links:
        return pool
    pulled, faults = _pulled_in(run, pool, links, scope, services)
    rows = {row.id: row for row in (*pool.scored, *pulled)}
    lifted = _lifted(links, {row_id: own_evidence(row) for row_id, row in rows.items()})
    scored = (
        with_relation(run, row, clip(lifted[row_id])) if row_id in lifted else row
        for row_id, row in rows.items()
    )
    return replace(pool, scored=tuple(scored), faults=(*pool.faults, *faults))


def _pulled_in(
    run: Run, pool: Pool, links: Sequence[Link], scope: Scope, services: Services
) -> tuple[tuple[Scored, ...], tuple[Warn, ...]]:
    """Score the neighbours that no arm found, as far as they are in the scope."""
    new: dict[str, Memory] = {link.other.id: link.other for link in links if link.other is not None}
    inside = [memory for memory in new.values() if not outside(memory, scope) and not memory.archived]
    return score_memories(run, pool.asked, inside, services)


def own_evidence(row: Scored) -> float:
    """Give how well a memory itself answers: the mean of meaning and words, 0..1."""
    parts = row.score.components
    return (parts["vector"] + parts["keyword"]) / 2


def _lifted(links: Iterable[Link], evidence: Mapping[str, float]) -> dict[str, float]:
    """Give the best weighted evidence of a neighbour, by memory; it flows both ways along an edge."""
    best: dict[str, float] = {}
    for link in links:
        if link.memory_id in evidence and link.other_id in evidence:
            weight = clip(link.weight) * (SIMILARITY_SHARE if link.type == "SIMILAR_TO" else 1.0)
            for receiver, giver in ((link.memory_id, link.other_id), (link.other_id, link.memory_id)):
                best[receiver] = max(best.get(receiver, 0.0), weight * evidence[giver])
    return best
