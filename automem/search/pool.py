"""One look into the stores: the arms side by side, merged and scored."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from automem.errors import EmbeddingUnavailable, GraphUnavailable
from automem.models import Memory, Scope
from automem.search.merge import Asked, evidence_of, hydrate, merge_arms, similarities
from automem.search.rules import RecallRules
from automem.search.runtime_keywords import Keywords, Rarity, equal_rarity
from automem.search.runtime_recall_helpers import (
    GRAPH_DOWN,
    PoolSizes,
    _graph_trending_results,
    _keyword_search,
    _metadata_search,
    _vector_search,
    tag_scroll,
)
from automem.search.types import ArmName, ArmResult, Candidate, Find, MatchType, RecallRequest, Scored, Warn
from automem.utils.scoring import (
    ContextProfile,
    Evidence,
    _compute_context_bonus,
    _compute_metadata_score,
)
from automem.utils.text import tag_token

if TYPE_CHECKING:
    from automem.services import Services

Found = TypeVar("Found")

ARM_TIMEOUT_SECONDS = 20.0
CONTEXT_FETCH = 50
MAX_CONTEXT_CANDIDATES = 3


@dataclass(frozen=True, slots=True)
class Run:
    """One query text of a request, with all that is derived from it.

    ``vector`` is the question's embedding where it is known already; ``no_vector`` says why there is
    none.
    """

    request: RecallRequest
    rules: RecallRules
    text: str
    keywords: Keywords
    profile: ContextProfile | None
    sizes: PoolSizes
    vector: Sequence[float] | None = None
    no_vector: Warn | None = None


@dataclass(frozen=True, slots=True)
class Pool:
    """What one look brought, scored, in no order yet. ``faults`` are of the scoring, not of an arm."""

    scored: tuple[Scored, ...]
    arms: tuple[ArmResult, ...]
    asked: Asked
    faults: tuple[Warn, ...] = ()

    @property
    def warnings(self) -> tuple[Warn, ...]:
        return tuple(dict.fromkeys([*(arm.warning for arm in self.arms if arm.warning), *self.faults]))

    @property
    def saturated(self) -> bool:
        """Whether some arm had more to give than it was asked for."""
        return any(arm.saturated for arm in self.arms)

    def arm(self, name: ArmName) -> ArmResult:
        return next((arm for arm in self.arms if arm.arm == name), ArmResult(name))


@dataclass(frozen=True, slots=True)
class Look:
    """The arms of a run, at work. ``finish_look`` waits for them."""

    run: Run
    near: Future[tuple[Sequence[float] | None, ArmResult]]
    worded: Future[tuple[Rarity | None, ArmResult]]
    described: Future[tuple[None, ArmResult]]
    fitting: Future[tuple[None, ArmResult]]


def start_look(run: Run, scope: Scope, sizes: PoolSizes, services: Services) -> Look:
    """Send all arms of a run on their way, side by side."""
    submit = services.executor.submit
    return Look(
        run,
        near=submit(_by_meaning, run, scope, sizes.vector, services),
        worded=submit(_by_words, run, scope, sizes.keyword, services),
        described=submit(_by_metadata, run, scope, sizes.metadata, services),
        fitting=submit(_context_memories, run, scope, services),
    )


def finish_look(look: Look, services: Services) -> Pool:
    """Merge what the arms found, fetch what is missing, and score it (D8)."""
    run = look.run
    vector, vector_arm = _within_time("vector", look.near)
    rarity, keyword_arm = _within_time("keyword", look.worded)
    _, metadata_arm = _within_time("metadata", look.described)
    _, context = _within_time("keyword", look.fitting)
    arms = (vector_arm, keyword_arm, metadata_arm)
    rarity = rarity or equal_rarity(run.keywords)
    asked = Asked(run.text, run.keywords, rarity, vector, run.rules.tag_cap, run.rules.metadata_enabled)
    also = [find.memory for find in context.finds]
    scored, faults = score_all(run, asked, merge_arms(arms, also), services)
    return Pool(scored, (*arms, replace(context, finds=())), asked, faults)


def _within_time(arm: ArmName, future: Future[tuple[Found, ArmResult]]) -> tuple[Found | None, ArmResult]:
    """Wait for an arm, but not for ever: a hung store costs its arm, not the answer (D4)."""
    try:
        return future.result(timeout=ARM_TIMEOUT_SECONDS)
    except FutureTimeout:
        warning = Warn(f"{arm}_timeout", f"The {arm} search took more than {ARM_TIMEOUT_SECONDS:g} s.")
        return None, ArmResult(arm, warning=warning)


def _by_meaning(
    run: Run, scope: Scope, limit: int, services: Services
) -> tuple[Sequence[float] | None, ArmResult]:
    """Give the question's vector and the memories near it."""
    vector, warning = run.vector, run.no_vector
    if vector is None and warning is None and run.text:
        vectors, warning = embed_questions([run.text], services)
        vector = vectors[0] if vectors else None
    if vector is None:
        return None, ArmResult("vector", warning=warning)
    return vector, _vector_search(services.vectors, vector, scope, limit)


def embed_questions(texts: Sequence[str], services: Services) -> tuple[list[Sequence[float]], Warn | None]:
    """Embed the questions, several in one batch; none, with a warning, when that fails (D4)."""
    try:
        if len(texts) == 1:
            return [services.provider.embed_query(texts[0]).tolist()], None
        return services.provider.embed_batch(texts).tolist(), None
    except EmbeddingUnavailable as error:
        message = f"The question could not be embedded: {error.message}. Search by meaning is missing."
        return [], Warn("embedding_unavailable", message)


def _by_words(run: Run, scope: Scope, limit: int, services: Services) -> tuple[Rarity | None, ArmResult]:
    """Give how rare the words of the question are, and the memories that hold them."""
    if not run.keywords.items:
        return None, ArmResult("keyword")
    try:
        rarity = services.terms.rarity(run.keywords)
    except GraphUnavailable:
        return None, ArmResult("keyword", warning=GRAPH_DOWN)
    return rarity, _keyword_search(services.graph, run.keywords, rarity, scope, limit)


def _by_metadata(run: Run, scope: Scope, limit: int, services: Services) -> tuple[None, ArmResult]:
    if not (run.rules.metadata_enabled and run.text):
        return None, ArmResult("metadata")
    return None, _metadata_search(services.graph, run.text, scope, limit)


def _context_memories(run: Run, scope: Scope, services: Services) -> tuple[None, ArmResult]:
    """Draw in a few memories that carry a context tag, so that the bonus can speak (recall.md 6.5)."""
    if run.profile is None or not run.profile.tags:
        return None, ArmResult("keyword")
    tokens = "|".join(tag_token(tag) for tag in run.profile.tags)
    try:
        hits = services.graph.keyword_search(f"({tokens})", scope, CONTEXT_FETCH)
    except GraphUnavailable:
        return None, ArmResult("keyword", warning=GRAPH_DOWN)
    best = sorted((hit.memory for hit in hits), key=lambda memory: -(memory.importance or 0.0))
    kept = best[: min(MAX_CONTEXT_CANDIDATES, run.request.limit)]
    return None, ArmResult("keyword", tuple(Find(memory, 0, 0.0) for memory in kept))


def look_without_text(run: Run, scope: Scope, sizes: PoolSizes, services: Services) -> Pool:
    """Give the most important memories, or those first in time; from the payloads with the graph down."""
    arm = _graph_trending_results(services.graph, scope, run.request.sort, sizes.vector)
    arms: tuple[ArmResult, ...] = (arm,)
    if arm.warning is not None:
        arms = (arm, tag_scroll(services.vectors, scope, sizes.vector))
    _, context = _context_memories(run, scope, services)
    asked = Asked("", run.keywords, equal_rarity(run.keywords), None)
    also = [find.memory for find in context.finds]
    scored, faults = score_all(run, asked, merge_arms(arms, also), services)
    return Pool(scored, arms, asked, faults)


def score_all(
    run: Run, asked: Asked, found: Sequence[Candidate], services: Services
) -> tuple[tuple[Scored, ...], tuple[Warn, ...]]:
    """Take the graph's values, look up missing cosines, and score every candidate; says what failed."""
    candidates, no_graph = hydrate(found, services.graph)
    cosines, no_vectors = similarities(candidates, asked, services.vectors)
    rows = tuple(
        score(run, candidate, evidence_of(candidate, asked, cosines.get(candidate.memory.id, 0.0)))
        for candidate in candidates
    )
    return rows, tuple(filter(None, (no_graph, no_vectors)))


def wanted_by_id(run: Run, pool: Pool, services: Services) -> Pool:
    """Add the memories that the caller asked for by id, whatever the scope (D21)."""
    wanted = run.request.context.priority_ids
    missing = [memory_id for memory_id in wanted if memory_id not in {row.id for row in pool.scored}]
    if not missing:
        return pool
    try:
        memories = services.graph.get_many(missing)
    except GraphUnavailable:
        return replace(pool, arms=(*pool.arms, ArmResult("keyword", warning=GRAPH_DOWN)))
    rows, faults = score_memories(run, pool.asked, tuple(memories.values()), services)
    return replace(pool, scored=(*pool.scored, *rows), faults=(*pool.faults, *faults))


def score(run: Run, candidate: Candidate, evidence: Evidence) -> Scored:
    """Turn the evidence of one candidate into its score (recall.md 6.1)."""
    total = _compute_metadata_score(
        candidate.memory,
        evidence,
        run.rules.score_rules(run.request.now),
        _compute_context_bonus(candidate.memory, run.profile),
        has_tokens=bool(run.keywords.items),
    )
    kind, kinds, value = match_types(run, candidate, evidence)
    return Scored(candidate, kind, kinds, value, total, query=run.text)


def score_memories(
    run: Run, asked: Asked, memories: Sequence[Memory], services: Services
) -> tuple[tuple[Scored, ...], tuple[Warn, ...]]:
    """Score memories that no arm found, by what the question finds in them; says what failed."""
    return score_all(run, asked, merge_arms((), memories), services) if memories else ((), ())


def with_relation(run: Run, row: Scored, relation: float) -> Scored:
    """Score a row again with a relation component."""
    parts = row.score.components
    evidence = Evidence(
        vector=parts["vector"],
        keyword=parts["keyword"],
        metadata=parts["metadata"],
        relation=relation,
        tag=parts["tag"],
        exact=parts["exact"],
    )
    return score(run, row.candidate, evidence)


def match_types(
    run: Run, candidate: Candidate, evidence: Evidence
) -> tuple[MatchType, tuple[MatchType, ...], float]:
    """Give the arm with the largest weighted contribution, all arms that matched, and its value (D8)."""
    for unasked in ("trending", "tag"):
        if unasked in candidate.arms:
            return unasked, (unasked,), candidate.arms[unasked].score
    values: dict[MatchType, float] = {
        "vector": evidence.vector,
        "keyword": evidence.keyword,
        "metadata": evidence.metadata,
    }
    if not candidate.arms and candidate.memory.id in run.request.context.priority_ids:
        return "priority_id", ("priority_id",), 0.0
    best = max(values, key=lambda name: getattr(run.rules.weights, name) * values[name])
    if values[best] <= 0 and not candidate.arms:
        return "trending", ("trending",), candidate.memory.importance or 0.0
    matched = [n for n in values if n in candidate.arms or (n != "vector" and values[n] > 0) or n == best]
    return best, tuple(matched), values[best]
