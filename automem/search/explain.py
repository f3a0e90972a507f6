"""Why a result stands where it stands, and why a memory is not among the results (D19)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from automem.errors import GraphUnavailable
from automem.models import Memory, Scope
from automem.search.order import content_key
from automem.search.scope import outside
from automem.search.state import Chains, state_reason
from automem.search.types import ExplainCode, Explained, Scored
from automem.utils.scoring import COMPONENTS, Weights

if TYPE_CHECKING:
    from automem.search.pipeline import Found, Ranking
    from automem.services import Services


def explanation(row: Scored, weights: Weights) -> dict[str, Any]:
    """Give every component with weight and product (they sum to the final score) and the arms' ranks."""
    parts = [_part(name, row.score.components[name], getattr(weights, name)) for name in COMPONENTS]
    parts.append(_part("context", row.score.components["context"], 1.0))
    parts += [_part(name, bonus.value, bonus.weight) for name, bonus in row.bonus.items()]
    arms = {name: {"rank": find.rank, "score": find.score} for name, find in row.candidate.arms.items()}
    return {"components": parts, "arms": arms}


def _part(name: str, value: float, weight: float) -> dict[str, Any]:
    return {"name": name, "value": value, "weight": weight, "product": value * weight}


def explain_one(
    rows: Sequence[Scored], ranking: Ranking, found: Sequence[Found], scope: Scope, services: Services
) -> Explained:
    """Say why the memory ``explain_id`` was or was not returned."""
    request = found[0].run.request
    wanted = request.explain_id or ""
    for rank, row in enumerate(rows, start=1):
        if row.id == wanted:
            return Explained(wanted, "returned", f"It is result {rank}.", row, rank)
    try:
        memory = services.graph.get_many([wanted]).get(wanted)
    except GraphUnavailable:
        return Explained(wanted, "not_a_candidate", "The graph did not answer, so it cannot be told.")
    if memory is None:
        return Explained(wanted, "not_found", "There is no memory with this id.")
    chains: Chains = {old: edges for one in found for old, edges in one.chains.items()}
    return (
        _cut_by_scope(memory, scope)
        or _cut_by_state(memory, chains, found[0])
        or _cut_by_rank(memory, rows, ranking, found)
    )


def _cut_by_scope(memory: Memory, scope: Scope) -> Explained | None:
    failed = outside(memory, scope)
    if failed is None:
        return None
    reasons = {
        "excluded_type": f"Its type {memory.type!r} is never recalled.",
        "time_window": f"Its timestamp {memory.properties.get('timestamp')!r} is outside the time window.",
        "tag_filter": f"Its tags {list(memory.tags)} do not match the tags asked for: {list(scope.tags)}.",
        "excluded_tag": f"One of its tags {list(memory.tags)} is excluded: {list(scope.exclude_tags)}.",
    }
    return Explained(memory.id, cast(ExplainCode, failed), reasons[failed])


def _cut_by_state(memory: Memory, chains: Chains, found: Found) -> Explained | None:
    request = found.run.request
    if request.state_mode == "history":
        return None
    reason = state_reason(memory, chains, request.now)
    reasons = {
        "archived": "It is archived.",
        "not_yet_valid": f"It is valid only from {memory.properties.get('t_valid')}.",
        "expired": f"It was valid until {memory.properties.get('t_invalid')}.",
        "superseded": "Another memory has taken its place.",
    }
    return Explained(memory.id, reason, reasons[reason]) if reason else None


def _cut_by_rank(
    memory: Memory, rows: Sequence[Scored], ranking: Ranking, found: Sequence[Found]
) -> Explained:
    for row in ranking.cut:
        if row.id == memory.id:
            by_score = row.final < (found[0].run.request.min_score or 0.0)
            code: ExplainCode = "below_min_score" if by_score else "adaptive_floor"
            return Explained(memory.id, code, f"Its score {row.final:.4f} is below the floor.", row)
    twin = next((row for row in rows if content_key(row.memory) == content_key(memory)), None)
    if twin is not None:
        return Explained(memory.id, "not_a_candidate", f"Result {twin.id} has the same text.")
    for one in found:
        ordered = sorted(one.pool.scored, key=lambda row: -row.final)
        for rank, row in enumerate(ordered, start=1):
            if row.id == memory.id:
                reason = f"With a score of {row.final:.4f} it is candidate {rank}, beyond the limit."
                return Explained(memory.id, "beyond_limit", reason, row, rank)
    return Explained(memory.id, "not_a_candidate", "No search found it near enough to be a candidate.")
