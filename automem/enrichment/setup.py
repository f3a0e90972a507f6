"""Enrichment, put together from the settings; nothing is started."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event

from automem.config import Settings
from automem.enrichment.board import Desk, EnrichmentBoard
from automem.enrichment.chat import ChatModel, NoChat, make_chat
from automem.enrichment.chat_worker import ChatWorker
from automem.enrichment.enricher import Enricher, EnrichmentOptions, Stores
from automem.enrichment.summary import ChatSummaries
from automem.enrichment.worker import EnrichmentPace, EnrichmentWorker
from automem.entities.extract import EntityExtractor
from automem.entities.identity import IdentityPace, IdentityWorker, IdentityWriter
from automem.entities.recogniser import load_recogniser
from automem.events.base import EventSink
from automem.memory.classification import Classifier
from automem.utils.clock import Clock, IdSource
from automem.workers.embedding import EmbeddingWorker
from automem.workers.exclusive import ExclusiveRuns


@dataclass(frozen=True, slots=True)
class Company:
    """Who enrichment works with."""

    stores: Stores
    embedder: EmbeddingWorker
    events: EventSink
    chat: ChatModel
    classifier: Classifier
    clock: Clock
    ids: IdSource


def make_enrichment(settings: Settings, company: Company, bell: Event) -> tuple[EnrichmentWorker, ChatWorker]:
    """Make both workers; ``bell`` is rung when vectors were stored."""
    desk = Desk(company.ids.new_id(), company.clock)
    summaries = make_summaries(settings, company.chat)
    enricher = Enricher(
        company.stores,
        EntityExtractor(load_recogniser(settings.enrichment_spacy_model)),
        summaries,
        company.clock,
        company.ids,
        _options(settings, company.chat),
    )
    worker = EnrichmentWorker(
        enricher,
        company.embedder,
        EnrichmentBoard(company.events, company.clock),
        desk,
        EnrichmentPace(
            attempts=settings.enrichment_max_attempts,
            backoff=settings.enrichment_failure_backoff_seconds,
            idle=settings.enrichment_idle_sleep_seconds,
        ),
        bell,
    )
    chat = ChatWorker(company.stores.graph, company.classifier, summaries, company.embedder, desk)
    return worker, chat


def make_identities(settings: Settings, company: Company, runs: ExclusiveRuns) -> tuple[IdentityWorker, ...]:
    """Make the worker that writes identities, where they are wanted and there is a chat model."""
    interval = settings.consolidation_identity_interval_seconds
    off = interval is not None and interval <= 0
    if off or not settings.identity_synthesis_enabled or company.chat.name is None:
        return ()
    chat = make_chat(settings, company.clock, settings.identity_synthesis_model)
    pace = IdentityPace() if interval is None else IdentityPace(refresh=interval)
    writer = IdentityWriter(company.stores.graph, chat, company.clock, pace)
    return (IdentityWorker(writer, runs, company.events),)


def make_summaries(settings: Settings, chat: ChatModel) -> ChatSummaries:
    """Make what asks for summaries; nobody is asked when they are not wanted."""
    asked = chat if settings.memory_auto_summarize else NoChat()
    return ChatSummaries(asked, settings.memory_content_soft_limit, settings.memory_summary_target_length)


def _options(settings: Settings, chat: ChatModel) -> EnrichmentOptions:
    return EnrichmentOptions(
        neighbours=settings.enrichment_similarity_limit,
        threshold=settings.enrichment_similarity_threshold,
        summaries=settings.enrichment_enable_summaries,
        chat=chat.name is not None,
        excluded_types=tuple(settings.recall_excluded_types),
    )
