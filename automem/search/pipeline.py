"""How a recall happens, from the parsed request to the ranked answer.

    questions -> arms side by side -> merged candidates -> scores -> evidence spreads along edges
              -> current state -> order and cut -> expansion -> bias and floors -> relations -> answer

A recall issues a bounded number of store calls, whatever the number of results.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from automem.errors import GraphUnavailable, Unavailable
from automem.models import Scope
from automem.search.context import context_echo
from automem.search.current import (
    assemble,
    first_wanted,
    hidden_reasons,
    merged_reports,
)
from automem.search.expansion import Expanded, expand, identity_rows
from automem.search.explain import explain_one
from automem.search.fallback import fill_from_outside
from automem.search.neighbourhood import spread_evidence
from automem.search.order import deduplicated, floored, sorted_results, with_recency_bias
from automem.search.pool import Pool, Run, finish_look, look_without_text, start_look, wanted_by_id
from automem.search.questions import plan_runs
from automem.search.rules import WIDEST_POOL, RecallRules
from automem.search.runtime_recall_helpers import GRAPH_DOWN
from automem.search.runtime_relations import expansion_key, fetch_relations
from automem.search.state import Chains, replacement_chains
from automem.search.types import (
    FloorReport,
    RecallAnswer,
    RecallRequest,
    Result,
    Scored,
    StateReport,
    Warn,
)
from automem.utils.time import is_temporal_intent

if TYPE_CHECKING:
    from automem.services import Services

_WIDER = 5


def recall(request: RecallRequest, services: Services) -> RecallAnswer:
    """Answer a recall. Raises ``Unavailable`` only when neither store could look (D4)."""
    rules = RecallRules.of(services.settings)
    scope = request.scope(rules.excluded_types)
    runs = plan_runs(request, rules, services)
    found = search(runs, scope, services)
    if all(_nobody_looked(one.pool) for one in found):
        raise Unavailable("Neither the graph nor the vector store can answer now")
    seeds = merge_runs(found, request, scope)
    expanded = expand(seeds.rows, runs[0], found[0].pool, scope, services)
    ranking = finish(seeds, expanded, request, rules)
    fills = fill_from_outside(ranking.rows, runs[0], found[0].pool, scope, services)
    rows = (*ranking.rows, *fills.rows)
    results, no_relations = with_relations(rows, rules, services)
    entities, no_entities = identity_rows(request.text, rows, services)
    services.access.record([row.id for row in seeds.rows])
    explained = explain_one(rows, ranking, found, scope, services) if request.explain_id else None
    warnings = [warning for one in found for warning in one.warnings]
    warnings += [*expanded.warnings, *fills.warnings, *filter(None, (no_relations, no_entities))]
    pools = [one.pool for one in found]
    return RecallAnswer(
        request=request,
        results=results,
        weights=rules.weights,
        texts=[run.text for run in runs],
        keywords=runs[0].keywords.echo,
        dedup_removed=seeds.duplicates,
        vector_matched=any(pool.arm("vector").finds for pool in pools),
        pool_size=sum(len(pool.arm("vector").finds) for pool in pools) if request.semantic else None,
        state=ranking.state if request.state_mode == "current" else None,
        score_filter=ranking.floors,
        recency_bias=ranking.biased,
        context_priority=_context_block(runs, rows),
        relation_expansion=expanded.relations,
        entity_expansion=expanded.entities,
        entities=entities,
        fell_back=fills.ran,
        explained=explained,
        warnings=_each_once(warnings),
    )


def _each_once(warnings: Sequence[Warn]) -> tuple[Warn, ...]:
    """Keep the first warning of each code: a store that is away is said once."""
    first: dict[str, Warn] = {}
    for warning in warnings:
        first.setdefault(warning.code, warning)
    return tuple(first.values())


@dataclass(frozen=True, slots=True)
class Found:
    """All candidates of a run and the replacement edges around them."""

    run: Run
    pool: Pool
    chains: Chains
    warnings: tuple[Warn, ...] = ()


def search(runs: Sequence[Run], scope: Scope, services: Services) -> list[Found]:
    """Run the questions side by side; each looks again, wider, where places in a full pool were lost
    to hidden or duplicate memories, so that a memory that matches never vanishes."""
    if not runs[0].request.semantic:
        pool = look_without_text(runs[0], scope, runs[0].sizes, services)
        return [_settled(runs[0], pool, scope, services)]
    looks = [start_look(run, scope, run.sizes, services) for run in runs]
    return [_settled(look.run, finish_look(look, services), scope, services) for look in looks]


def _settled(run: Run, first: Pool, scope: Scope, services: Services) -> Found:
    pool = spread_evidence(run, wanted_by_id(run, first, services), scope, services)
    found = _judged(run, pool, services)
    if not (pool.saturated and _places_were_lost(found)):
        return found
    wide, current = run.sizes.widened(_WIDER, WIDEST_POOL), replace(scope, state="current")
    if run.request.semantic:
        wider = finish_look(start_look(run, current, wide, services), services)
    else:
        wider = look_without_text(run, current, wide, services)
    return _judged(run, spread_evidence(run, _together(pool, wider), scope, services), services)


def _judged(run: Run, pool: Pool, services: Services) -> Found:
    if run.request.state_mode == "history":
        return Found(run, pool, {}, pool.warnings)
    try:
        chains = replacement_chains([row.memory for row in pool.scored], services.graph)
    except GraphUnavailable:
        return Found(run, pool, {}, (*pool.warnings, GRAPH_DOWN))
    return Found(run, pool, chains, pool.warnings)


def _places_were_lost(found: Found) -> bool:
    rows = found.pool.scored
    hidden = hidden_reasons(rows, found.chains, found.run.request)
    return bool(hidden) or len(deduplicated(rows)) < len(rows)


def _together(first: Pool, wider: Pool) -> Pool:
    rows = {row.id: row for row in (*wider.scored, *first.scored)}
    faults = (*first.faults, *wider.faults)
    return Pool(tuple(rows.values()), (*first.arms, *wider.arms), first.asked, faults)


def _nobody_looked(pool: Pool) -> bool:
    failed = {arm.arm for arm in pool.arms if arm.warning}
    blind = {"vector", "keyword"} <= failed or {"trending", "tag"} <= failed
    return blind and not pool.scored


@dataclass(frozen=True, slots=True)
class Seeds:
    """The merged first results of all runs, cut to the limit."""

    rows: tuple[Scored, ...]
    state: StateReport
    duplicates: int


def merge_runs(found: Sequence[Found], request: RecallRequest, scope: Scope) -> Seeds:
    """Give each run its own cut, then join: the best of each memory, deduplicated, in order, cut."""
    limit = request.limit if len(found) == 1 else request.per_query_limit
    shown = [assemble(one.pool.scored, one.chains, request, scope, limit) for one in found]
    report = merged_reports([one.report for one in shown])
    if len(shown) == 1:
        return Seeds(shown[0].rows, report, 0)
    every = [row for one in shown for row in one.rows]
    best: dict[str, Scored] = {}
    for row in sorted_results(every, "score"):
        best.setdefault(row.id, row)
    unique = deduplicated(list(best.values()))
    ordered = first_wanted(sorted_results(unique, request.sort), request)
    return Seeds(tuple(ordered[: request.limit]), report, len(every) - len(unique))


@dataclass(frozen=True, slots=True)
class Ranking:
    """The rows after bias and floors, what was hidden, and what the floors removed."""

    rows: tuple[Scored, ...]
    state: StateReport
    biased: bool = False
    floors: FloorReport | None = None
    cut: tuple[Scored, ...] = ()


def finish(seeds: Seeds, expanded: Expanded, request: RecallRequest, rules: RecallRules) -> Ranking:
    """Apply the recency bias, then the floors; expansions stay behind the seeds (D13)."""
    rows: tuple[Scored, ...] = (*seeds.rows, *expanded.rows)
    biased = bool(rows) and request.sort == "score" and _wants_recency(request)
    if biased:
        rows = _biased(rows, {row.id for row in seeds.rows}, request, rules)
    kept, report = floored(rows, request)
    names = {row.id for row in kept}
    state = merged_reports([seeds.state, expanded.report])
    return Ranking(kept, state, biased, report, tuple(row for row in rows if row.id not in names))


def _biased(
    rows: Sequence[Scored], seeds: Collection[str], request: RecallRequest, rules: RecallRules
) -> tuple[Scored, ...]:
    lifted = with_recency_bias(rows, rules.temporal_weight)
    first = sorted_results([row for row in lifted if row.id in seeds], "score")
    others = sorted((row for row in lifted if row.id not in seeds), key=expansion_key)
    return (*first_wanted(first, request), *others)


def _wants_recency(request: RecallRequest) -> bool:
    if request.recency_bias == "auto":
        return any(is_temporal_intent(text) for text in (request.query, *request.queries))
    return request.recency_bias == "on"


def with_relations(
    rows: Sequence[Scored], rules: RecallRules, services: Services
) -> tuple[list[Result], Warn | None]:
    """Add to each row its outgoing edges; one that came over an edge shows that instead."""
    own = [row.id for row in rows if not row.via]
    neighbours, warning = fetch_relations(services.graph, own, rules.relation_limit)
    return [Result(row, () if row.via else tuple(neighbours.get(row.id, ()))) for row in rows], warning


def _context_block(runs: Sequence[Run], rows: Sequence[Scored]) -> dict[str, object] | None:
    profile = next((run.profile for run in runs if run.profile), None)
    if profile is None:
        return None
    return context_echo(profile, injected=any(not row.candidate.arms and not row.via for row in rows))
