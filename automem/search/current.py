"""What is shown: live memories in order, and what stands in the place of the hidden (recall.md 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from automem.models import Memory, Relation, Scope
from automem.search.order import deduplicated, relevant, sorted_results
from automem.search.scope import outside
from automem.search.state import Chains, head_of_chain, state_reason
from automem.search.types import (
    Candidate,
    RecallRequest,
    Scored,
    StateReason,
    StateReport,
    Substitute,
    Suppressed,
)


@dataclass(frozen=True, slots=True)
class Shown:
    """The rows of the answer in order; ``edges`` tells by row id which edge a replacement came over."""

    rows: tuple[Scored, ...] = ()
    report: StateReport = StateReport()
    edges: Mapping[str, Relation] | None = None


def hidden_reasons(
    scored: Sequence[Scored], chains: Chains, request: RecallRequest
) -> dict[str, StateReason]:
    """Say which memories are hidden and why; none in history mode."""
    if request.state_mode == "history":
        return {}
    judged = ((row.id, state_reason(row.memory, chains, request.now)) for row in scored)
    return {memory_id: reason for memory_id, reason in judged if reason is not None}


def assemble(scored: Sequence[Scored], chains: Chains, request: RecallRequest, scope: Scope) -> Shown:
    """Order, deduplicate and cut the live memories; hidden ones above the cut give way to their heads."""
    reasons = hidden_reasons(scored, chains, request)
    live = deduplicated([row for row in scored if row.id not in reasons])
    if request.sort != "score" and request.semantic:
        live = relevant(live, request.limit)
    cut = first_wanted(sorted_results(live, request.sort), request)[: request.limit]
    hidden = [row for row in scored if row.id in reasons]
    return _with_heads(cut, _above_the_cut(cut, hidden, request), reasons, _Context(chains, request, scope))


def first_wanted(rows: Sequence[Scored], request: RecallRequest) -> list[Scored]:
    """Put the priority ids first, in the order asked for (recall.md 6.5, D21)."""
    place = {memory_id: rank for rank, memory_id in enumerate(request.context.priority_ids)}
    return sorted(rows, key=lambda row: place.get(row.id, len(place)))


def _above_the_cut(cut: Sequence[Scored], hidden: Sequence[Scored], request: RecallRequest) -> list[Scored]:
    """Give live and hidden rows in order, up to the last live one when the cut is full."""
    together = first_wanted(sorted_results([*cut, *hidden], request.sort), request)
    if len(cut) < request.limit:
        return together
    last = max(index for index, row in enumerate(together) if row.id == cut[-1].id)
    return together[: last + 1]


@dataclass(frozen=True, slots=True)
class _Context:
    chains: Chains
    request: RecallRequest
    scope: Scope


def _with_heads(
    cut: Sequence[Scored], together: Sequence[Scored], reasons: Mapping[str, StateReason], context: _Context
) -> Shown:
    shown = {row.id for row in cut}
    rows: list[Scored] = []
    suppressed: list[Suppressed] = []
    edges: dict[str, Relation] = {}
    for row in together:
        if row.id not in reasons:
            rows.append(row)
            continue
        hop = head_of_chain(row.id, context.chains, context.request.now)
        suppressed.append(_suppressed(row, reasons[row.id], hop[0].relation if hop else None))
        if hop and hop[1].id not in shown and not outside(hop[1], context.scope):
            shown.add(hop[1].id)
            rows.append(_in_place_of(row, hop[1]))
            edges[hop[1].id] = hop[0].relation
    rows = rows[: context.request.limit]
    return Shown(tuple(rows), StateReport(tuple(suppressed), _substitutes(rows, edges)), edges)


def _suppressed(row: Scored, reason: StateReason, relation: Relation | None) -> Suppressed:
    if relation is None:
        return Suppressed(row.id, reason)
    return Suppressed(row.id, reason, relation.target_id, relation.type)


def _in_place_of(row: Scored, head: Memory) -> Scored:
    """Give the head the place and the scores of the memory that it replaces; it is not rescored."""
    return replace(
        row,
        candidate=Candidate(head),
        match_type="state_replacement",
        match_types=("state_replacement",),
        replaces=row.id,
        query="",
        deduped_from=(),
    )


def _substitutes(rows: Sequence[Scored], edges: Mapping[str, Relation]) -> tuple[Substitute, ...]:
    return tuple(Substitute(row.id, row.replaces, edges[row.id].type) for row in rows if row.replaces)
