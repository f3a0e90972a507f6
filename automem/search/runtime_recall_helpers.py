"""The arms of a recall: vector, keyword and metadata search, and trending when there is no text.

Each gives an ``ArmResult``; an arm that could not look says so in its ``warning`` and is never an
empty answer without a word (D4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from automem.errors import GraphUnavailable, VectorsUnavailable
from automem.models import Scope, Sort, TagMatch, TagMode
from automem.search.metadata_match import metadata_score, metadata_terms_query
from automem.search.runtime_keywords import Keyword, Keywords, Rarity, any_of
from automem.search.types import ArmName, ArmResult, Find, Warn
from automem.stores.base import GraphStore, Hit, VectorStore
from automem.stores.qdrant_filter import FilterSpec, tag_conditions

COMMON_SHARE = 0.2
"""Words in more than this share of a large store choose no candidates where rarer ones can."""
LARGE_STORE = 5_000

GRAPH_DOWN = Warn("graph_unavailable", "The graph did not answer: keyword search and relations are missing.")
VECTORS_DOWN = Warn("vector_unavailable", "The vector store did not answer: search by meaning is missing.")


@dataclass(frozen=True, slots=True)
class PoolSizes:
    """How many candidates each arm may give (recall.md 3.2)."""

    vector: int
    keyword: int
    metadata: int

    def widened(self, factor: int, most: int) -> PoolSizes:
        """Give larger pools for a second look, each at most ``most``."""
        return PoolSizes(*(min(size * factor, most) for size in (self.vector, self.keyword, self.metadata)))


def _vector_search(vectors: VectorStore, vector: Sequence[float], scope: Scope, limit: int) -> ArmResult:
    """Find the memories nearest to a vector (seed, recall.md 3)."""
    try:
        return _found("vector", vectors.search(vector, scope, limit), limit)
    except VectorsUnavailable:
        return ArmResult("vector", warning=VECTORS_DOWN)


def _build_qdrant_tag_filter(tags: Sequence[str], mode: TagMode, match: TagMatch) -> FilterSpec:
    """Build the tag part of a vector filter: canonical, by whole segments (recall.md 3.4, D5)."""
    return FilterSpec(must=tag_conditions(tuple(tags), mode, match))


def _keyword_search(
    graph: GraphStore, keywords: Keywords, rarity: Rarity, scope: Scope, limit: int
) -> ArmResult:
    """Find memories that hold any of the keywords, through the full-text index (D9, D10)."""
    chosen = choose_keywords(keywords, rarity)
    if not chosen:
        return ArmResult("keyword")
    try:
        return _found("keyword", graph.keyword_search(any_of(chosen), scope, limit), limit)
    except GraphUnavailable:
        return ArmResult("keyword", warning=GRAPH_DOWN)


def choose_keywords(keywords: Keywords, rarity: Rarity) -> list[Keyword]:
    """Leave too common words out of the search, unless there are no others: they still score."""
    known = [(word, n) for word, n in zip(keywords.items, rarity.keywords, strict=True) if n]
    if rarity.total < LARGE_STORE:
        return [word for word, _ in known]
    rare = [word for word, count in known if count <= COMMON_SHARE * rarity.total]
    return rare or [word for word, _ in known]


def _metadata_search(graph: GraphStore, query: str, scope: Scope, limit: int) -> ArmResult:
    """Find memories by the values of their metadata fields (recall.md 5), through the index."""
    terms = metadata_terms_query(query)
    if not terms:
        return ArmResult("metadata")
    fetched = min(1_000, max(200, 25 * limit))
    try:
        hits = graph.keyword_search(terms, scope, fetched)
    except GraphUnavailable:
        return ArmResult("metadata", warning=GRAPH_DOWN)
    scored = ((hit.memory, metadata_score(query, hit.memory.metadata)) for hit in hits)
    admitted = sorted((Hit(memory, score) for memory, score in scored if score > 0), key=_metadata_order)
    return _found("metadata", admitted[:limit], limit)


def _metadata_order(hit: Hit) -> tuple[float, float, str]:
    return (-hit.score, -(hit.memory.importance or 0.0), hit.memory.id)


def _graph_trending_results(graph: GraphStore, scope: Scope, sort: Sort, limit: int) -> ArmResult:
    """Give the memories of highest importance, or first in time as ``sort`` says (seed, recall.md 4.4)."""
    try:
        return _found("trending", graph.trending(scope, sort, limit), limit)
    except GraphUnavailable:
        return ArmResult("trending", warning=GRAPH_DOWN)


def tag_scroll(vectors: VectorStore, scope: Scope, limit: int) -> ArmResult:
    """Serve a recall without text from the vector store; used when the graph is down."""
    try:
        memories = vectors.scroll(scope, limit)
    except VectorsUnavailable:
        return ArmResult("tag", warning=VECTORS_DOWN)
    return _found("tag", [Hit(memory, memory.importance or 0.0) for memory in memories], limit)


def _found(arm: ArmName, hits: Sequence[Hit], limit: int) -> ArmResult:
    """Number the hits, each memory once."""
    seen: dict[str, Hit] = {}
    for hit in hits:
        seen.setdefault(hit.memory.id, hit)
    finds = tuple(Find(hit.memory, rank, hit.score) for rank, hit in enumerate(seen.values(), start=1))
    return ArmResult(arm, finds, saturated=len(hits) >= limit)
