"""Filling free places from outside the tag scope, when asked to (recall.md 11.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from automem.errors import GraphUnavailable
from automem.models import Scope
from automem.search.current import hidden_reasons
from automem.search.merge import merge_arms
from automem.search.order import deduplicated, floored, sorted_results
from automem.search.pool import Pool, Run, score_all
from automem.search.runtime_recall_helpers import GRAPH_DOWN, _vector_search
from automem.search.state import replacement_chains
from automem.search.types import Scored, Warn
from automem.utils.tags import tags_match

if TYPE_CHECKING:
    from automem.services import Services


@dataclass(frozen=True, slots=True)
class Fills:
    """Rows from outside the scope, to stand behind all scoped ones. ``ran`` even when none was found."""

    rows: tuple[Scored, ...] = ()
    ran: bool = False
    warnings: tuple[Warn, ...] = ()


def fill_from_outside(
    rows: Sequence[Scored], run: Run, pool: Pool, scope: Scope, services: Services
) -> Fills:
    """Search once by meaning without the tags and give the free places to what is current there."""
    request = run.request
    free = request.limit - len(rows)
    if not (request.scope_fallback and request.tags and request.semantic and free > 0):
        return Fills()
    if pool.asked.vector is None:
        return Fills(ran=True)
    wide = replace(scope, tags=(), state="current" if request.state_mode == "current" else "any")
    wanted = min(2 * request.limit + len(rows), run.rules.fetch_cap)
    arm = _vector_search(services.vectors, pool.asked.vector, wide, wanted)
    shown = {row.id for row in rows}
    scored, faults = score_all(run, pool.asked, merge_arms([arm]), services)
    outside = [row for row in scored if row.id not in shown and not _in_scope(row, scope)]
    live, warning = _live(outside, run, services)
    kept, _ = floored(sorted_results(deduplicated(live), "score"), request)
    fills = tuple(replace(row, outside_scope=True, query="") for row in kept[:free])
    return Fills(fills, True, tuple(filter(None, (arm.warning, *faults, warning))))


def _in_scope(row: Scored, scope: Scope) -> bool:
    return tags_match(row.memory.tags, scope.tags, scope.tag_mode, scope.tag_match)


def _live(rows: Sequence[Scored], run: Run, services: Services) -> tuple[list[Scored], Warn | None]:
    warning = None
    try:
        chains = replacement_chains([row.memory for row in rows], services.graph)
    except GraphUnavailable:
        chains, warning = {}, GRAPH_DOWN
    hidden = hidden_reasons(rows, chains, run.request)
    return [row for row in rows if row.id not in hidden], warning
