"""How a recall happens, from the parsed request to the ranked answer.

    question -> arms side by side -> merged candidates -> scores -> current state -> order and cut
             -> recency bias and floors -> relations -> answer

A recall issues a bounded number of store calls, whatever the number of results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from automem.errors import GraphUnavailable, Unavailable
from automem.models import Scope
from automem.search.context import _build_context_profile, context_echo
from automem.search.current import Shown, assemble, first_wanted, hidden_reasons
from automem.search.order import (
    adaptive_floor,
    deduplicated,
    floor_report,
    sorted_results,
    with_recency_bias,
)
from automem.search.pool import Pool, Run, look, wanted_by_id
from automem.search.rules import WIDEST_POOL, RecallRules
from automem.search.runtime_keywords import extract_keywords
from automem.search.runtime_recall_helpers import GRAPH_DOWN
from automem.search.runtime_relations import fetch_relations
from automem.search.state import Chains, replacement_chains
from automem.search.types import FloorReport, RecallAnswer, RecallRequest, Result, Scored, Warn
from automem.utils.time import is_temporal_intent

if TYPE_CHECKING:
    from automem.services import Services

_WIDER = 5


def recall(request: RecallRequest, services: Services) -> RecallAnswer:
    """Answer a recall. Raises ``Unavailable`` only when neither store could look (D4)."""
    rules = RecallRules.of(services.settings)
    run = start_run(request, rules)
    scope = request.scope(rules.excluded_types)
    found = search(run, scope, services)
    if _nobody_looked(found.pool):
        raise Unavailable("Neither the graph nor the vector store can answer now")
    shown = assemble(found.pool.scored, found.chains, request, scope)
    ranking = finish(shown.rows, request, rules)
    results, warning = with_relations(ranking.rows, shown, rules, services)
    services.access.record([row.id for row in ranking.rows])
    warnings = (*found.warnings, *((warning,) if warning else ()))
    return answer(run, found, shown, ranking, results, tuple(dict.fromkeys(warnings)))


def start_run(request: RecallRequest, rules: RecallRules) -> Run:
    """Read the words of the query and the situation of the caller."""
    keywords = extract_keywords(request.text)
    profile = _build_context_profile(request.context, request.text)
    return Run(request, rules, request.text, keywords, profile)


@dataclass(frozen=True, slots=True)
class Found:
    """All candidates of a run and the replacement edges around them."""

    pool: Pool
    chains: Chains
    warnings: tuple[Warn, ...] = ()


def search(run: Run, scope: Scope, services: Services) -> Found:
    """Look once and, where hidden or duplicate memories took places in a full pool, once wider.

    So a memory that matches never vanishes because others filled a pool first.
    """
    focused = bool(run.request.tags or (run.profile and run.profile.tags))
    sizes = run.rules.pools(run.request, focused and run.request.semantic)
    pool = wanted_by_id(run, look(run, scope, sizes, services), services)
    found = _judged(pool, run, services)
    if not (pool.saturated and _places_were_lost(found, run)):
        return found
    wider = look(run, replace(scope, state="current"), sizes.widened(_WIDER, WIDEST_POOL), services)
    return _judged(_together(pool, wider), run, services)


def _judged(pool: Pool, run: Run, services: Services) -> Found:
    if run.request.state_mode == "history":
        return Found(pool, {}, pool.warnings)
    try:
        chains = replacement_chains([row.memory for row in pool.scored], services.graph)
    except GraphUnavailable:
        return Found(pool, {}, (*pool.warnings, GRAPH_DOWN))
    return Found(pool, chains, pool.warnings)


def _places_were_lost(found: Found, run: Run) -> bool:
    rows = found.pool.scored
    hidden = hidden_reasons(rows, found.chains, run.request)
    return bool(hidden) or len(deduplicated(rows)) < len(rows)


def _together(first: Pool, wider: Pool) -> Pool:
    rows = {row.id: row for row in (*first.scored, *wider.scored)}
    return Pool(tuple(rows.values()), (*first.arms, *wider.arms), first.asked)


def _nobody_looked(pool: Pool) -> bool:
    asked = [arm for arm in pool.arms if arm.finds or arm.warning]
    names = {arm.arm for arm in asked if arm.warning}
    blind = {"vector", "keyword"} <= names or {"trending", "tag"} <= names
    return blind and not pool.scored


@dataclass(frozen=True, slots=True)
class Ranking:
    """The rows after bias and floors, and what the floors removed."""

    rows: tuple[Scored, ...]
    biased: bool
    floors: FloorReport | None = None


def finish(rows: Sequence[Scored], request: RecallRequest, rules: RecallRules) -> Ranking:
    """Apply the recency bias, then the adaptive floor and the least score (recall.md 7.5, 11.5)."""
    biased = bool(rows) and request.sort == "score" and _wants_recency(request)
    if biased:
        rows = sorted_results(with_recency_bias(rows, rules.temporal_weight), "score")
        rows = first_wanted(rows, request)
    adaptive = adaptive_floor(rows) if request.adaptive_floor and request.sort == "score" else None
    least = max(request.min_score or 0.0, adaptive or 0.0)
    wanted = set(request.context.priority_ids)
    kept = tuple(row for row in rows if row.id in wanted or not least or row.final >= least)
    return Ranking(kept, biased, floor_report(request.min_score, adaptive, len(rows) - len(kept)))


def _wants_recency(request: RecallRequest) -> bool:
    if request.recency_bias == "auto":
        return is_temporal_intent(request.query)
    return request.recency_bias == "on"


def with_relations(
    rows: Sequence[Scored], shown: Shown, rules: RecallRules, services: Services
) -> tuple[list[Result], Warn | None]:
    """Add to each row its outgoing edges; a replacement shows the edge that it came over."""
    own = [row.id for row in rows if not row.replaces]
    neighbours, warning = fetch_relations(services.graph, own, rules.relation_limit)
    edges = shown.edges or {}
    results = [
        Result(row, via=edges[row.id]) if row.replaces else Result(row, tuple(neighbours.get(row.id, ())))
        for row in rows
    ]
    return results, warning


def answer(
    run: Run,
    found: Found,
    shown: Shown,
    ranking: Ranking,
    results: Sequence[Result],
    warnings: tuple[Warn, ...],
) -> RecallAnswer:
    """Gather what the response of recall.md 2.1 tells besides the results."""
    request = run.request
    vector = found.pool.arm("vector")
    injected = any(not row.candidate.arms for row in ranking.rows if not row.replaces)
    return RecallAnswer(
        request=request,
        results=results,
        keywords=run.keywords.echo,
        vector_matched=bool(vector.finds),
        pool_size=len(vector.finds) if request.semantic else None,
        state=shown.report if request.state_mode == "current" else None,
        score_filter=ranking.floors,
        recency_bias=ranking.biased,
        context_priority=context_echo(run.profile, injected) if run.profile else None,
        weights=run.rules.weights,
        warnings=warnings,
        degraded=bool(warnings),
    )
