"""Merging the arms: every memory once, its graph values, and all its evidence (D8, D17)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from automem.errors import GraphUnavailable, VectorsUnavailable
from automem.models import Memory
from automem.search.metadata_match import metadata_score
from automem.search.runtime_keywords import Keywords, Rarity, keyword_score
from automem.search.runtime_recall_helpers import GRAPH_DOWN, VECTORS_DOWN
from automem.search.types import ArmName, ArmResult, Candidate, Find, Warn
from automem.stores.base import GraphStore, VectorStore
from automem.utils.scoring import Evidence, clip, exact_score, tag_score
from automem.utils.text import document_lexemes

_GRAPH_ARMS: tuple[ArmName, ...] = ("keyword", "metadata", "trending")


@dataclass(frozen=True, slots=True)
class Asked:
    """What one run asks: its text, keywords with their rarity, and the vector if there is one.

    Without ``metadata`` its values are no evidence (RECALL_METADATA_SEARCH_ENABLED).
    """

    text: str
    keywords: Keywords
    rarity: Rarity
    vector: Sequence[float] | None
    tag_cap: int = 0
    metadata: bool = True


def merge_arms(arms: Iterable[ArmResult], also: Sequence[Memory] = ()) -> list[Candidate]:
    """Give each memory once with the finds of all arms; ``also`` adds memories that no arm found."""
    finds: dict[str, dict[ArmName, Find]] = {}
    memories: dict[str, Memory] = {memory.id: memory for memory in also}
    for result in arms:
        for find in result.finds:
            finds.setdefault(find.memory.id, {})[result.arm] = find
            if find.memory.id not in memories or result.arm in _GRAPH_ARMS:
                memories[find.memory.id] = find.memory
    return [Candidate(memory, finds.get(memory_id, {})) for memory_id, memory in memories.items()]


def hydrate(candidates: Sequence[Candidate], graph: GraphStore) -> tuple[list[Candidate], Warn | None]:
    """Replace what the vector store knows of a memory by what the graph says; one query.

    A point without a node is no memory and is dropped (storage.md 1). With the graph down the
    payloads serve as they are, with a warning (D4).
    """
    wanted = [candidate.memory.id for candidate in candidates if not candidate.memory.lexemes]
    if not wanted:
        return list(candidates), None
    try:
        known = graph.get_many(wanted)
    except GraphUnavailable:
        return list(candidates), GRAPH_DOWN
    live = [
        Candidate(known.get(candidate.memory.id, candidate.memory), candidate.arms)
        for candidate in candidates
        if candidate.memory.lexemes or candidate.memory.id in known
    ]
    return live, None


def similarities(
    candidates: Sequence[Candidate], asked: Asked, vectors: VectorStore
) -> tuple[Mapping[str, float], Warn | None]:
    """Give the cosine of every candidate to the question: found, or looked up in one query (D8).

    A vector that belongs to an older text counts as none (D24). What could not be looked up is
    missing, with a warning (D4).
    """
    current = [candidate for candidate in candidates if not candidate.memory.vector_pending]
    found = {c.memory.id: c.arms["vector"].score for c in current if "vector" in c.arms}
    missing = [c.memory.id for c in current if c.memory.id not in found]
    if asked.vector is None or not missing:
        return found, None
    try:
        return found | dict(vectors.similarities(asked.vector, missing)), None
    except VectorsUnavailable:
        return found, VECTORS_DOWN


def evidence_of(candidate: Candidate, asked: Asked, cosine: float) -> Evidence:
    """Give the query-dependent components of one memory, each 0..1, whichever arm found it (D8)."""
    memory = candidate.memory
    trending = candidate.arms.get("trending") or candidate.arms.get("tag")
    if trending is not None:
        return Evidence(keyword=clip(trending.score))
    lexemes = memory.lexemes or document_lexemes(
        memory.content, memory.tags, memory.metadata, memory.added_tags
    )
    return Evidence(
        vector=clip(cosine),
        keyword=keyword_score(asked.keywords, asked.rarity, lexemes),
        metadata=metadata_score(asked.text, memory.metadata) if asked.metadata else 0.0,
        tag=tag_score(asked.keywords.echo, memory, asked.tag_cap),
        exact=exact_score(asked.text, memory),
    )
