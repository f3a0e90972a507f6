"""Everything that a request needs, made once from the settings and handed to the application."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from threading import Event

from automem.config import Settings, reveal
from automem.embedding.base import ClosingProvider, Provider
from automem.embedding.select import make_provider
from automem.enrichment.chat import ChatModel, make_chat
from automem.enrichment.enricher import Stores
from automem.enrichment.setup import Company, make_enrichment, make_identities
from automem.enrichment.worker import EnrichmentWorker
from automem.errors import EmbeddingUnavailable, GraphUnavailable, StartupError
from automem.events.base import EventSink
from automem.events.hub import StreamHub
from automem.events.sender import EventSender
from automem.identity import IdentityKeeper
from automem.maintenance import Maintenance, StorePair, make_maintenance
from automem.memory.classification import Classifier
from automem.search.statistics import TermStatistics
from automem.stores.base import GraphStore, StoreIdentity, VectorStore
from automem.stores.data_directory import DataDirectory
from automem.stores.embedded import EmbeddedFalkorDB
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection, ServerAddress
from automem.stores.falkordb_events import FalkorDBEvents
from automem.stores.falkordb_locks import FalkorDBLocks
from automem.stores.generations import EmbeddedGenerations, ServerGenerations, VectorGenerations
from automem.stores.open_vectors import QdrantServer
from automem.stores.switchable import SwitchableProvider, SwitchableVectors
from automem.stores.vector_values import check_dimension
from automem.utils.clock import Clock, IdSource, RandomIds, SystemClock
from automem.utils.text import ANALYSIS_VERSION
from automem.workers.access import AccessRecorder
from automem.workers.adoption import AdoptionWorker
from automem.workers.embedding import EmbeddingWorker, Pace
from automem.workers.exclusive import ExclusiveRuns
from automem.workers.thread import WorkerThread

_log = logging.getLogger(__name__)

# Each recall asks up to four arms at the same time, and health asks two stores.
_EXECUTOR_THREADS_PER_REQUEST = 2


@dataclass(frozen=True)
class Services:
    """The parts of one running service. ``start`` begins the background work, ``close`` ends it all."""

    settings: Settings
    graph: GraphStore
    vectors: VectorStore
    provider: Provider
    clock: Clock
    new_id: IdSource
    executor: ThreadPoolExecutor
    chat: ChatModel
    classifier: Classifier
    embedder: EmbeddingWorker
    enrichment: EnrichmentWorker
    access: AccessRecorder
    terms: TermStatistics
    identity: IdentityKeeper
    events: EventSink
    streams: StreamHub
    maintenance: Maintenance
    adoption: AdoptionWorker
    background: tuple[WorkerThread, ...] = ()
    """Workers that nobody else asks anything of; started and stopped with the service."""
    resources: ExitStack = field(default_factory=ExitStack, repr=False)

    def start(self) -> None:
        """Begin the background work; to be called once, in the process that serves.

        Raises ``StartupError`` when the data was made with another embedding model (D30).
        """
        self.identity.settle()
        self.maintenance.tidy()
        if not self.settings.graph_embedded and (generation := _generation(self.graph)) is not None:
            self.embedder.writer.guard(generation)
        self.embedder.start()
        self._take_over_enrichment()
        self.access.start()
        self.adoption.start()
        for worker in self.background:
            worker.start()

    def _take_over_enrichment(self) -> None:
        """Begin it. What an embedded graph says to be claimed was claimed by a process that is dead."""
        if self.settings.graph_embedded:
            self.graph.free_enrichment()
        self.enrichment.start()

    def close(self) -> None:
        """Finish the work in hand, then close stores and engines. Calling it twice does no harm."""
        self.resources.close()


def build_services(settings: Settings) -> Services:
    """Open what the settings name (D29); raises ``StartupError`` saying how to mend what is wrong.

    A server that is away is no fault: requests that need it answer 503, or go on without it, until it
    is back. Nothing stays open after a failure.
    """
    with ExitStack() as stack:
        provider = SwitchableProvider(make_provider(settings))
        stack.callback(provider.close)
        data = claim_data(settings, stack)
        graph = open_graph(settings, data, stack)
        dimension = _dimension(settings, provider, graph)
        generations = open_generations(settings, data)
        vectors = SwitchableVectors(generations.open(_generation(graph), dimension))
        stack.callback(vectors.close)
        check_dimension(vectors.dimension, dimension)
        wanted = StoreIdentity(provider.name, dimension, ANALYSIS_VERSION)
        keeper = IdentityKeeper(graph, wanted, watch=not settings.graph_embedded)
        pair = StorePair(graph, vectors, provider, generations, keeper)
        services = _assemble(settings, pair, graph.beside())
        stack.callback(services.streams.close)
        stack.callback(services.chat.close)
        stack.callback(services.classifier.close)
        stack.callback(services.executor.shutdown, wait=True, cancel_futures=True)
        # Last in, first out: the workers end while everything that they use is still open.
        own = (services.embedder, services.access, services.identity, services.adoption)
        for worker in (*reversed(services.background), *own, services.enrichment):
            stack.callback(worker.stop)
        services.resources.push(stack.pop_all())
        return services


def _assemble(settings: Settings, pair: StorePair, beside: Connection) -> Services:
    clock, graph, vectors, provider = SystemClock(), pair.graph, pair.vectors, pair.provider
    chat = make_chat(settings, clock)
    event_log = FalkorDBEvents(beside)
    events = EventSender(event_log, clock)
    bell = Event()
    embedder = EmbeddingWorker(
        graph, vectors, provider, clock, Pace(batch_size=settings.embedding_batch_size), bell
    )
    classifier, ids = Classifier(chat, clock), RandomIds()
    maintenance = make_maintenance(settings, pair, embedder, open_runs(settings, beside))
    streams = StreamHub(event_log, settings.automem_threads // 2)
    stores = Stores(graph, vectors, maintenance.gate)
    company = Company(stores, embedder, events, chat, classifier, clock, ids)
    enrichment, chat_worker = make_enrichment(settings, company, bell)
    identities = make_identities(settings, company, maintenance.runs)
    return Services(
        settings=settings,
        graph=graph,
        vectors=vectors,
        provider=provider,
        clock=clock,
        new_id=ids,
        executor=ThreadPoolExecutor(
            settings.automem_threads * _EXECUTOR_THREADS_PER_REQUEST, thread_name_prefix="arm"
        ),
        chat=chat,
        classifier=classifier,
        embedder=embedder,
        enrichment=enrichment,
        access=AccessRecorder(graph, clock),
        terms=TermStatistics(graph),
        adoption=AdoptionWorker(graph),
        identity=pair.keeper,
        events=events,
        streams=streams,
        maintenance=maintenance,
        # In the order of stopping: what others tell while they stop is still sent.
        background=(chat_worker, *identities, *maintenance.workers, streams, events),
    )


def claim_data(settings: Settings, stack: ExitStack) -> DataDirectory | None:
    """Lock the data directory if an embedded engine needs it; the stack gives it free.

    Raises ``StartupError`` when it cannot be used, or another service has it.
    """
    if not (settings.graph_embedded or settings.vectors_embedded):
        return None
    return stack.enter_context(DataDirectory.open(settings.automem_data_dir))


def open_graph(settings: Settings, data: DataDirectory | None, stack: ExitStack) -> FalkorDBGraph:
    """Open the graph store; the stack closes it, and the engine below it.

    Raises ``StartupError`` when the embedded engine does not start. A server is not asked yet.
    """
    if data is not None and settings.graph_embedded:
        engine = EmbeddedFalkorDB(data)
        stack.callback(engine.stop)
        engine.start()
        graph = FalkorDBGraph.over_socket(engine.socket_path, settings.falkordb_graph)
        stack.callback(graph.close)
        graph.prepare()
        engine.settle_log()
        return graph
    address = ServerAddress(
        host=settings.falkordb_host or "",
        port=settings.falkordb_port,
        password=reveal(settings.falkordb_password),
        tls=settings.falkordb_tls,
    )
    graph = FalkorDBGraph.over_tcp(address, settings.falkordb_graph)
    stack.callback(graph.close)
    return graph


def _dimension(settings: Settings, provider: ClosingProvider, graph: GraphStore) -> int:
    """Give the length of vectors: the model's; while its server is away, the setting's or the data's."""
    try:
        return provider.dimension
    except EmbeddingUnavailable as error:
        known = settings.vector_size or _recorded_dimension(graph, provider.name)
        if known is None:
            raise StartupError(
                f"The embedding model {provider.name} does not answer ({error.message}), so the length of "
                "its vectors is not known. Start it, or name the length in VECTOR_SIZE."
            ) from error
        return known


def _generation(graph: GraphStore) -> str | None:
    """Give the generation of vectors that serves; None for new data, or while the graph is away."""
    try:
        identity = graph.identity()
    except GraphUnavailable:
        return None
    return identity.generation if identity is not None else None


def _recorded_dimension(graph: GraphStore, model: str) -> int | None:
    try:
        identity = graph.identity()
    except GraphUnavailable:
        return None
    return identity.dimension if identity is not None and identity.embedding_model == model else None


def open_runs(settings: Settings, beside: Connection) -> ExclusiveRuns:
    """Give what keeps runs apart. Locks in an embedded graph are of processes that are dead."""
    locks = FalkorDBLocks(beside)
    if settings.graph_embedded:
        locks.reset()
    return ExclusiveRuns(locks, RandomIds())


def open_generations(settings: Settings, data: DataDirectory | None) -> VectorGenerations:
    """Give the place of the vector stores, in the data directory or on a server."""
    if data is not None and settings.vectors_embedded:
        return EmbeddedGenerations(data)
    server = QdrantServer(
        url=settings.qdrant_address or "",
        collection=settings.qdrant_collection,
        api_key=reveal(settings.qdrant_api_key),
        timeout=settings.qdrant_timeout_seconds,
        ensure_indexes=settings.qdrant_ensure_payload_indexes,
    )
    return ServerGenerations(server)


def open_vectors(
    settings: Settings,
    data: DataDirectory | None,
    dimension: int,
    stack: ExitStack,
    generation: str | None = None,
) -> VectorStore:
    """Open the vector store of a generation, None: that there is; the stack closes it.

    A server that is away is opened when it is back.
    """
    store = open_generations(settings, data).open(generation, dimension)
    stack.callback(store.close)
    return store
