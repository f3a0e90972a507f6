"""What is shown: live memories in order, and what stands in the place of the hidden (recall.md 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from automem.models import Memory, Relation, Scope
from automem.search.order import deduplicated, relevant, sorted_results
from automem.search.scope import outside
from automem.search.state import Chains, Walk, head_of_chain, state_reason
from automem.search.types import (
    Candidate,
    RecallRequest,
    Scored,
    StateReason,
    StateReport,
    Substitute,
    Suppressed,
    Via,
)


@dataclass(frozen=True, slots=True)
class Shown:
    """Rows in order, and what was hidden among them."""

    rows: tuple[Scored, ...] = ()
    report: StateReport = StateReport()


def hidden_reasons(
    scored: Sequence[Scored], chains: Chains, request: RecallRequest
) -> dict[str, StateReason]:
    """Say which memories are hidden and why; none in history mode."""
    if request.state_mode == "history":
        return {}
    judged = ((row.id, state_reason(row.memory, chains, request.now)) for row in scored)
    return {memory_id: reason for memory_id, reason in judged if reason is not None}


def assemble(
    scored: Sequence[Scored], chains: Chains, request: RecallRequest, scope: Scope, limit: int
) -> Shown:
    """Order, deduplicate and cut the live memories; hidden ones above the cut give way to their heads."""
    reasons = hidden_reasons(scored, chains, request)
    live = deduplicated([row for row in scored if row.id not in reasons])
    if request.sort != "score" and request.semantic:
        wanted = set(request.context.priority_ids)
        others = relevant([row for row in live if row.id not in wanted], limit)
        live = [row for row in live if row.id in wanted] + others
    cut = first_wanted(sorted_results(live, request.sort), request)[:limit]
    hidden = [row for row in scored if row.id in reasons]
    shown = replace_hidden(_above_the_cut(cut, hidden, request, limit), reasons, chains, scope)
    rows = shown.rows[:limit]
    kept = {row.id for row in rows}
    substitutes = tuple(row for row in shown.report.replacements if row.id in kept)
    return Shown(rows, StateReport(shown.report.suppressed, substitutes))


def first_wanted(rows: Sequence[Scored], request: RecallRequest) -> list[Scored]:
    """Put the priority ids first, in the order asked for (recall.md 6.5, D21)."""
    place = {memory_id: rank for rank, memory_id in enumerate(request.context.priority_ids)}
    return sorted(rows, key=lambda row: place.get(row.id, len(place)))


def _above_the_cut(
    cut: Sequence[Scored], hidden: Sequence[Scored], request: RecallRequest, limit: int
) -> list[Scored]:
    """Give live and hidden rows in order, up to the last live one when the cut is full."""
    together = first_wanted(sorted_results([*cut, *hidden], request.sort), request)
    if len(cut) < limit:
        return together
    last = max(index for index, row in enumerate(together) if row.id == cut[-1].id)
    return together[: last + 1]


def replace_hidden(
    rows: Sequence[Scored], reasons: Mapping[str, StateReason], chains: Chains, scope: Scope
) -> Shown:
    """Take the hidden rows out; the head of a chain steps in where it is not shown already.

    A head outside the scope stays out (recall.md 10).
    """
    present = {row.id for row in rows if row.id not in reasons}
    shown: list[Scored] = []
    suppressed: list[Suppressed] = []
    for row in rows:
        if row.id not in reasons:
            shown.append(row)
            continue
        walk = head_of_chain(row.id, chains, scope.at)
        suppressed.append(_suppressed(row, reasons[row.id], walk))
        # A walk cut short may stop at what this very answer hides; its own head steps in for that.
        live = walk is not None and (walk.ended or walk.head.id not in reasons)
        if walk and live and walk.head.id not in present and not outside(walk.head, scope):
            present.add(walk.head.id)
            shown.append(_in_place_of(row, walk.head, walk.first.relation))
    substitutes = tuple(
        Substitute(row.id, row.replaces, row.via[0].relation.type) for row in shown if row.replaces
    )
    return Shown(tuple(shown), StateReport(tuple(suppressed), substitutes))


def _suppressed(row: Scored, reason: StateReason, walk: Walk | None) -> Suppressed:
    """Name the head as the replacement, and the edge of the first hop (recall.md 10)."""
    if walk is None:
        return Suppressed(row.id, reason)
    return Suppressed(row.id, reason, walk.head.id, walk.first.relation.type)


def _in_place_of(row: Scored, head: Memory, relation: Relation) -> Scored:
    """Give the head the place and the scores of the memory that it replaces; it is not rescored."""
    return replace(
        row,
        candidate=Candidate(head),
        match_type="state_replacement",
        match_types=("state_replacement",),
        via=(Via(relation, row.id),),
        replaces=row.id,
        query="",
        deduped_from=(),
    )


def merged_reports(reports: Sequence[StateReport]) -> StateReport:
    """Join what several steps hid and put in, each memory once."""
    suppressed = {row.id: row for report in reports for row in report.suppressed}
    replacements = {row.id: row for report in reports for row in report.replacements}
    return StateReport(tuple(suppressed.values()), tuple(replacements.values()))
