"""Enriching memories: entities, links, patterns, neighbours, summaries (background.md 2).

Everything written is safe to write again, so that a process that dies in between loses and doubles nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from automem.enrichment.patterns import Classified, PatternFound, detect
from automem.enrichment.result import Findings, Run, enriched_properties
from automem.enrichment.summary import ChatSummaries
from automem.entities.extract import Entity, EntityExtractor, known_tag
from automem.memory.classification import classify_by_phrases
from automem.models import Memory, Scope
from automem.stores.base import GraphStore, VectorStore
from automem.stores.enrichment import Claim, Enriched, Similar
from automem.stores.entities import EntityName, Mentions
from automem.utils.clock import Clock, IdSource
from automem.utils.gate import Gate


@dataclass(frozen=True, slots=True)
class EnrichmentOptions:
    """:param neighbours: SIMILAR_TO edges per memory.
    :param threshold: their least cosine, 0 to 1.
    :param chat: there is a chat model, which may choose types that nobody chose.
    """

    neighbours: int = 5
    threshold: float = 0.8
    summaries: bool = True
    chat: bool = False
    excluded_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stores:
    """Where memories and vectors are; ``gate`` is closed while both change their model."""

    graph: GraphStore
    vectors: VectorStore
    gate: Gate


class Enricher:
    """Finds and writes what enrichment adds. Methods raise ``Unavailable`` while a store is down."""

    def __init__(
        self,
        stores: Stores,
        extractor: EntityExtractor,
        summaries: ChatSummaries,
        clock: Clock,
        ids: IdSource,
        options: EnrichmentOptions,
    ) -> None:
        self.stores = stores
        self._extractor = extractor
        self._summaries = summaries
        self._clock = clock
        self._ids = ids
        self._options = options

    def examine(self, claims: Sequence[Claim]) -> dict[str, Findings]:
        """Find what there is about the memories, by id, and write their edges and entities."""
        graph, now = self.stores.graph, self._clock.now()
        memories = [claim.memory for claim in claims]
        entities = {memory.id: self._extractor.extract(memory.content) for memory in memories}
        graph.mention([_mentions(memory, entities[memory.id]) for memory in memories], now.isoformat())
        links = graph.link_conversation(list(entities), now.isoformat())
        patterns = self._patterns(memories, now)
        near = self._neighbours(claims, now)
        return {
            memory_id: Findings(found, links.get(memory_id, 0), patterns.get(memory_id), near.get(memory_id))
            for memory_id, found in entities.items()
        }

    def result(self, claim: Claim, memory: Memory, found: Findings) -> Enriched:
        """Give what to write on a memory, read just now, of which this was found."""
        summarise = self._options.summaries and not claim.by_chat
        run = Run(self._clock.now().isoformat(), claim.forced, summarise)
        properties, additions = enriched_properties(memory, found, run)
        chat = (claim.provisional and self._options.chat) or (
            not claim.by_chat and self._summaries.wanted(memory.content)
        )
        return Enriched(memory, properties, additions, complete=found.near is not None, chat=chat)

    def _patterns(self, memories: Sequence[Memory], now: datetime) -> Mapping[str, PatternFound]:
        rows = [_classified(memory) for memory in memories]
        return detect(self.stores.graph, rows, self._ids, now.isoformat())

    def _neighbours(self, claims: Sequence[Claim], now: datetime) -> dict[str, tuple[tuple[str, float], ...]]:
        """Link the memories that have their vector to the nearest ones; what still waits is left out."""
        embedded = [claim for claim in claims if not claim.memory.vector_pending]
        scope = Scope(at=now, excluded_types=self._options.excluded_types)
        with self.stores.gate.use():
            vectors = self.stores.vectors.vectors([claim.memory.id for claim in embedded])
            near = {
                claim.memory.id: self._nearest(claim.memory.id, vectors.get(claim.memory.id), scope)
                for claim in embedded
            }
        near |= {claim.memory.id: () for claim in claims if claim.refused}
        similar = [Similar(claim.memory.id, near[claim.memory.id], claim.changed) for claim in embedded]
        self.stores.graph.link_similar(similar, now.isoformat())
        return near

    def _nearest(
        self, memory_id: str, vector: Sequence[float] | None, scope: Scope
    ) -> tuple[tuple[str, float], ...]:
        limit = self._options.neighbours
        if vector is None or limit < 1:
            return ()
        hits = self.stores.vectors.search(vector, scope, limit + 1)
        others = [(hit.memory.id, min(1.0, hit.score)) for hit in hits if hit.memory.id != memory_id]
        return tuple(pair for pair in others[:limit] if pair[1] >= self._options.threshold)


def _mentions(memory: Memory, found: Sequence[Entity]) -> Mentions:
    """Name the entities of a text, and those that its client's tags name."""
    tagged = [known_tag(tag) for tag in memory.own_tags]
    named = {entity.id: entity for entity in (*[each for each in tagged if each], *found)}
    rows = [EntityName(each.category, each.slug, each.name, each.aliases) for each in named.values()]
    return Mentions(memory.id, tuple(rows))


def _classified(memory: Memory) -> Classified:
    """Sort the text by its phrases; without any, the type that it has counts."""
    found = classify_by_phrases(memory.content)
    if found is not None:
        return Classified(memory.id, memory.content, found.type, found.confidence)
    return Classified(memory.id, memory.content, memory.type, memory.confidence or 0.0)
