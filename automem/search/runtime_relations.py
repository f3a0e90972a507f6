"""Relations of results, and following them to further memories (recall.md 9.1, 9.2, D11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from automem import relations
from automem.errors import GraphUnavailable
from automem.models import Memory, Relation, Scope
from automem.search.order import score_key
from automem.search.pool import Pool, Run, score_memories, with_relation
from automem.search.types import Expansion, Scored, Via, Warn
from automem.stores.base import EdgeFilter, GraphStore, Neighbour

if TYPE_CHECKING:
    from automem.services import Services

Neighbours = Sequence[tuple[Relation, Memory]]

AUTHORABLE = relations.AUTHORABLE
"""The relation types that clients may make (memory-api.md 7.1), sorted."""

SEED_SHARE = 0.25
"""How much of the best seed's score a memory reached from it inherits (D11)."""

RELATIONS_MISSING = Warn("graph_unavailable", "The graph did not answer: relations are missing.")


def fetch_relations(
    graph: GraphStore, memory_ids: Sequence[str], limit: int
) -> tuple[Mapping[str, Neighbours], Warn | None]:
    """Give the outgoing edges of each memory, newest first, at most ``limit`` each, none twice.

    With the graph down the lists are missing and the warning says so (D4).
    """
    if not memory_ids:
        return {}, None
    try:
        return graph.relations(list(memory_ids), limit), None
    except GraphUnavailable:
        return {}, RELATIONS_MISSING


def expansion_scope(scope: Scope, expansion: Expansion) -> Scope:
    """Give the scope of expanded results: the request's, without its tags unless they are to hold."""
    return scope if expansion.respect_tags else replace(scope, tags=())


def expand_relations(
    seeds: Sequence[Scored], run: Run, pool: Pool, scope: Scope, services: Services
) -> tuple[list[Scored], Warn | None]:
    """Follow the edges of all seeds in one query; memories that connect several seeds rank first.

    At most ``expansion.limit`` rows, best first (recall.md 9.2).
    """
    expansion = run.request.expansion
    edges = EdgeFilter(
        types=AUTHORABLE,
        scope=expansion_scope(scope, expansion),
        min_strength=expansion.min_strength,
        min_importance=expansion.min_importance,
        per_memory=expansion.relation_limit,
    )
    try:
        reached = services.graph.neighbours([seed.id for seed in seeds], edges)
    except GraphUnavailable:
        return [], RELATIONS_MISSING
    rows, faults = _scored_bridges(_by_memory(reached), seeds, run, pool, services)
    return sorted(rows, key=expansion_key)[: expansion.limit], next(iter(faults), None)


def _by_memory(reached: Sequence[Neighbour]) -> dict[str, list[Neighbour]]:
    groups: dict[str, list[Neighbour]] = {}
    for neighbour in reached:
        groups.setdefault(neighbour.memory.id, []).append(neighbour)
    return groups


def _scored_bridges(
    groups: Mapping[str, Sequence[Neighbour]],
    seeds: Sequence[Scored],
    run: Run,
    pool: Pool,
    services: Services,
) -> tuple[list[Scored], tuple[Warn, ...]]:
    memories = [group[0].memory for group in groups.values()]
    places = {seed.id: (rank, seed) for rank, seed in enumerate(seeds)}
    scored, faults = score_memories(run, pool.asked, memories, services)
    return [_bridge(run, row, _edges(groups[row.id], places)) for row in scored], faults


def _bridge(run: Run, row: Scored, via: tuple[Via, ...]) -> Scored:
    reach = relation_score(via)
    return replace(
        with_relation(run, row, reach),
        match_type="relation",
        match_types=("relation",),
        match_score=reach,
        via=via,
        relation_score=reach,
        query="",
    )


def _edges(group: Sequence[Neighbour], places: Mapping[str, tuple[int, Scored]]) -> tuple[Via, ...]:
    """Give one entry per connecting edge, by the rank of the seed."""
    entries = [
        Via(edge.relation, edge.seed_id, places[edge.seed_id][0], places[edge.seed_id][1].final)
        for edge in group
    ]
    return tuple(sorted(entries, key=lambda via: (via.seed_rank or 0, via.relation.type)))


def relation_score(via: Sequence[Via]) -> float:
    """Give the sum of the strengths of all connecting edges plus a share of the best seed (D11)."""
    best = max((entry.seed_score or 0.0 for entry in via), default=0.0)
    return sum(entry.relation.strength for entry in via) + SEED_SHARE * max(best, 0.0)


def is_bridge(via: Sequence[Via]) -> bool:
    """Say whether the edges come from two seeds or more."""
    return len({entry.from_id for entry in via}) > 1


def expansion_key(row: Scored) -> tuple[object, ...]:
    """Give the key of the order among expansions: bridges, what relations reached once, entities; by
    score within each (D11, seed: "bridges first, then entity expansion")."""
    return (row.match_type == "entity_expansion", not is_bridge(row.via), *score_key(row))
