"""Following results further: relations first, then entities; both share one limit (recall.md 9, D12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from automem.errors import GraphUnavailable, VectorsUnavailable
from automem.models import Memory, Scope
from automem.search.current import Shown, hidden_reasons, merged_reports, replace_hidden
from automem.search.decompose import query_entities
from automem.search.order import score_key
from automem.search.pool import Pool, Run, score_memories
from automem.search.runtime_relations import RELATIONS_MISSING, expand_relations, expansion_scope
from automem.search.state import replacement_chains
from automem.search.types import Bonus, ExpansionReport, Scored, StateReport, Warn
from automem.utils.scoring import ENTITY_EXPANSION_BONUS
from automem.utils.tags import parse_entity_tag, tag_matches
from automem.utils.text import tag_token

if TYPE_CHECKING:
    from automem.services import Services

ENTITY_TYPES = ("people", "tools", "projects", "concepts", "organizations")
MAX_ENTITIES = 10
IDENTITY_ROWS = 10


@dataclass(frozen=True, slots=True)
class Expanded:
    """The rows that expansion adds, in order, after the seeds (D13)."""

    rows: tuple[Scored, ...] = ()
    report: StateReport = StateReport()
    relations: ExpansionReport | None = None
    entities: ExpansionReport | None = None
    warnings: tuple[Warn, ...] = ()


def expand(seeds: Sequence[Scored], run: Run, pool: Pool, scope: Scope, services: Services) -> Expanded:
    """Add what relations and entities of the seeds lead to, under the rules of current state."""
    options = run.request.expansion
    related: list[Scored] = []
    warnings: list[Warn] = []
    relation_report = entity_report = None
    if options.relations:
        related, warning = expand_relations(seeds, run, pool, scope, services)
        warnings += [warning] if warning else []
        relation_report = ExpansionReport(len(seeds), len(related))
    named: list[Scored] = []
    if options.entities:
        found = _extract_entities_from_results(seeds)
        shown = [row.id for row in (*seeds, *related)]
        room = options.limit - len(related)
        named, warning = _expand_entities(found, shown, room, _Reach(run, pool, scope, services))
        warnings += [warning] if warning else []
        names = tuple(dict.fromkeys(entity.name for entity in found))
        entity_report = ExpansionReport(len(seeds), len(named), names)
    kept = _current(seeds, (*related, *named), run, scope, services)
    return Expanded(kept.rows, kept.report, relation_report, entity_report, tuple(warnings))


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that a tag ``entity:<type>:<slug>`` names."""

    type: str
    slug: str

    @property
    def tag(self) -> str:
        return f"entity:{self.type}:{self.slug}"

    @property
    def name(self) -> str:
        return self.slug.replace("-", " ")


def _extract_entities_from_results(results: Sequence[Scored]) -> list[Entity]:
    """Give the entities of the seeds' tags (seed): most often named first, then by rank of the seed."""
    named = [entity for row in results for entity in _entities_of(row.memory)]
    return [entity for entity, _ in Counter(named).most_common(MAX_ENTITIES)]


def _entities_of(memory: Memory) -> list[Entity]:
    parsed = (parse_entity_tag(tag) for tag in memory.tags)
    return list(dict.fromkeys(Entity(*pair) for pair in parsed if pair and pair[0] in ENTITY_TYPES))


@dataclass(frozen=True, slots=True)
class _Reach:
    run: Run
    pool: Pool
    scope: Scope
    services: Services


def _expand_entities(
    entities: Sequence[Entity], shown: Sequence[str], room: int, reach: _Reach
) -> tuple[list[Scored], Warn | None]:
    """Find other memories that name the same entities, through the graph or else the vector store."""
    if not entities or room < 1:
        return [], None
    tags = tuple(entity.tag for entity in entities)
    memories, warning = _tagged(tags, room + len(shown), reach)
    new = [memory for memory in memories if memory.id not in set(shown)]
    scored, faults = score_memories(reach.run, reach.pool.asked, new, reach.services)
    rows = _fair_shares([_named_row(row, entities) for row in scored], room)
    return sorted(rows, key=score_key), next(filter(None, (warning, *faults)), None)


def _fair_shares(rows: Sequence[Scored], room: int) -> list[Scored]:
    """Take the best row of each entity, then the second of each, and so on: one of which much is told does
    not crowd out another."""
    groups: dict[str, list[Scored]] = {}
    for row in sorted(rows, key=score_key):
        groups.setdefault(row.entity or "", []).append(row)
    turns = zip_longest(*groups.values())
    return [row for turn in turns for row in turn if row is not None][:room]


def _tagged(tags: tuple[str, ...], limit: int, reach: _Reach) -> tuple[list[Memory], Warn | None]:
    scope = expansion_scope(reach.scope, reach.run.request.expansion)
    query = f"({'|'.join(tag_token(tag) for tag in tags)})"
    try:
        return [hit.memory for hit in reach.services.graph.keyword_search(query, scope, limit)], None
    except GraphUnavailable:
        pass
    try:
        found = reach.services.vectors.scroll(
            replace(scope, tags=tags, tag_mode="any", tag_match="prefix"), limit
        )
        return found, RELATIONS_MISSING
    except VectorsUnavailable:
        return [], RELATIONS_MISSING


def _named_row(row: Scored, entities: Sequence[Entity]) -> Scored:
    tags = row.memory.tags
    entity = next(
        (e for e in entities if any(tag_matches(tag, e.tag, "prefix") for tag in tags)), entities[0]
    )
    return replace(
        row,
        match_type="entity_expansion",
        match_types=("entity_expansion",),
        bonus={**row.bonus, "entity_expansion": Bonus(ENTITY_EXPANSION_BONUS)},
        entity=entity.name,
        query="",
    )


def _current(
    seeds: Sequence[Scored], rows: Sequence[Scored], run: Run, scope: Scope, services: Services
) -> Shown:
    """Take hidden memories out of the expansions; heads of chains step in (recall.md 10)."""
    if not rows or run.request.state_mode == "history":
        return Shown(tuple(rows))
    try:
        chains = replacement_chains([row.memory for row in rows], services.graph)
    except GraphUnavailable:
        chains = {}
    reasons = hidden_reasons(rows, chains, run.request)
    kept = replace_hidden(rows, reasons, chains, expansion_scope(scope, run.request.expansion))
    shown = {seed.id for seed in seeds}
    return Shown(tuple(row for row in kept.rows if row.id not in shown), merged_reports([kept.report]))


def identity_rows(
    query: str, results: Sequence[Scored], services: Services
) -> tuple[Sequence[Mapping[str, Any]], Warn | None]:
    """Give what is known of the entities that the question or the first results name (recall.md 9.4)."""
    slugs = [name.lower() for name in query_entities(query)]
    slugs += [entity.slug for row in results[:IDENTITY_ROWS] for entity in _entities_of(row.memory)]
    wanted = list(dict.fromkeys(slugs))[:MAX_ENTITIES]
    if not wanted:
        return (), None
    try:
        return services.graph.entities(wanted), None
    except GraphUnavailable:
        return (), RELATIONS_MISSING
