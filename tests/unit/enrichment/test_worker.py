"""The enrichment worker on real engines: shared work, retries, giving up, outages (issue 4.2)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from automem.embedding.placeholder import PlaceholderProvider
from automem.enrichment.board import Desk, EnrichmentBoard
from automem.enrichment.chat import NoChat
from automem.enrichment.enricher import Enricher, EnrichmentOptions, Stores
from automem.enrichment.summary import ChatSummaries
from automem.enrichment.worker import EnrichmentPace, EnrichmentWorker
from automem.entities.extract import EntityExtractor
from automem.entities.recogniser import NoRecogniser
from automem.errors import GraphUnavailable, VectorsUnavailable
from automem.stores.embedded import EmbeddedFalkorDB
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.qdrant_edge import EdgeVectors
from automem.utils.clock import RandomIds, SystemClock
from automem.utils.gate import Gate
from automem.workers.embedding import EmbeddingWorker, Pace
from tests.support.breakable import Breakable
from tests.support.events import Remembered
from tests.support.graphs import embedded_server, plain_draft
from tests.support.service import wait_until

DIMENSION = 8
PACE = EnrichmentPace(attempts=3, backoff=0.02, idle=0.02, batch=5, lease=30.0, outage=0.02)


class Poisonous:
    """A vector store whose search fails, as told, in the neighbourhood of some memories."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.poison: dict[str, Exception] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def vectors(self, memory_ids: list[str]) -> Any:
        for memory_id in memory_ids:
            if memory_id in self.poison:
                raise self.poison[memory_id]
        return self._inner.vectors(memory_ids)


@dataclass
class Bench:
    """Stores, an embedder, and workers on them."""

    graph: Any
    vectors: Any
    embedder: EmbeddingWorker
    workers: list[EnrichmentWorker] = field(default_factory=list)

    def worker(self, told: Remembered, pace: EnrichmentPace = PACE) -> EnrichmentWorker:
        stores = Stores(self.graph, self.vectors, Gate())
        extractor = EntityExtractor(NoRecogniser())
        summaries = ChatSummaries(NoChat(), 500, 300)
        options = EnrichmentOptions(threshold=0.5)
        enricher = Enricher(stores, extractor, summaries, SystemClock(), RandomIds(), options)
        board = EnrichmentBoard(told, SystemClock())
        desk = Desk(str(uuid.uuid4()), SystemClock())
        self.workers.append(EnrichmentWorker(enricher, self.embedder, board, desk, pace))
        return self.workers[-1]

    def store(self, count: int = 1, pending: bool = True) -> list[str]:
        drafts = [plain_draft(f"Met with Ann Smith, visit {number}.") for number in range(count)]
        self.graph.create(drafts, pending)
        self.embedder.notify()
        return [draft.id for draft in drafts]

    def pending(self) -> int:
        return int(self.graph.enrichment_counts(datetime.now(UTC)).pending)

    def done(self) -> None:
        wait_until(lambda: self.pending() == 0)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedFalkorDB]:
    with embedded_server(tmp_path_factory.mktemp("enrichment")) as running:
        yield running


@pytest.fixture
def bench(engine: EmbeddedFalkorDB, tmp_path: Path) -> Iterator[Bench]:
    store = FalkorDBGraph.over_socket(engine.socket_path, f"g{uuid.uuid4().hex}")
    points = EdgeVectors.open(tmp_path / "vectors", DIMENSION)
    graph: Any = Breakable(store, GraphUnavailable)
    vectors: Any = Poisonous(Breakable(points, VectorsUnavailable))
    embedder = EmbeddingWorker(
        graph, vectors, PlaceholderProvider(DIMENSION), SystemClock(), Pace(idle=0.02), Event()
    )
    made = Bench(graph, vectors, embedder)
    embedder.start()
    yield made
    graph.down = False
    for worker in made.workers:
        worker.stop()
    embedder.stop()
    points.close()
    store.close()


def test_two_workers_do_each_memory_once(bench: Bench) -> None:
    tellers = Remembered(), Remembered()
    stored = bench.store(60)
    for told in tellers:
        bench.worker(told).start()
    bench.done()
    ends = [data["memory_id"] for told in tellers for data in told.of("enrichment.complete")]
    assert sorted(ends) == sorted(stored)
    assert all(told.of("enrichment.complete") for told in tellers), "both had a share"
    memories = bench.graph.get_many(stored)
    assert all("entity:people:ann-smith" in memories[memory_id].tags for memory_id in stored)


def test_a_claim_of_the_dead_comes_back(bench: Bench) -> None:
    [stored] = bench.store(pending=False)
    told = Remembered()
    worker = bench.worker(told)
    now = datetime.now(UTC)
    dead = Desk("dead", SystemClock()).lease(0.3)
    assert [claim.memory.id for claim in bench.graph.claim_enrichment(dead, 5, ahead=False)] == [stored]
    worker.start()
    bench.done()
    assert datetime.now(UTC) - now >= timedelta(seconds=0.3)
    assert [data["memory_id"] for data in told.of("enrichment.complete")] == [stored]


def test_one_bad_memory_does_not_keep_the_others_and_is_given_up(bench: Bench) -> None:
    stored = bench.store(5, pending=False)
    bad = stored[2]
    bench.vectors.poison[bad] = ValueError("odd vector")
    told = Remembered()
    worker = bench.worker(told)
    worker.start()
    bench.done()
    counts = bench.graph.enrichment_counts(datetime.now(UTC))
    assert (counts.pending, counts.failed) == (0, 1)
    [failure] = bench.graph.enrichment_failures("", 5)
    assert (failure.memory_id, failure.attempts, failure.error) == (bad, 3, "ValueError: odd vector")
    tries = told.of("enrichment.failed")
    assert [(each["attempt"], each["will_retry"]) for each in tries] == [(1, True), (2, True), (3, False)]
    assert {each["memory_id"] for each in tries} == {bad}
    assert (worker.stats.successes, worker.stats.failures) == (4, 3)
    bench.vectors.poison.clear()
    assert bench.graph.retry_enrichment() == 1
    worker.notify()
    bench.done()
    assert bench.graph.enrichment_counts(datetime.now(UTC)).failed == 0
    assert bench.graph.get_many([bad])[bad].properties["processed"] is True


def test_a_store_that_refuses_one_memory_is_no_outage(bench: Bench) -> None:
    first, second = bench.store(2, pending=False)
    bench.vectors.poison[first] = VectorsUnavailable("this point cannot be read")
    bench.worker(Remembered()).start()
    wait_until(lambda: bench.graph.enrichment_counts(datetime.now(UTC)).failed == 1)
    bench.done()
    assert bench.graph.get_many([second])[second].properties["processed"] is True


@pytest.mark.parametrize("store", ["graph", "vectors"])
def test_an_outage_costs_no_attempt(bench: Bench, store: str) -> None:
    stored = bench.store(3)
    wait_until(lambda: bench.graph.pending_vector_count() == 0)
    down: Any = bench.graph if store == "graph" else bench.vectors._inner
    down.down = True
    told = Remembered()
    worker = bench.worker(told)
    worker.start()
    calls = "claim_enrichment" if store == "graph" else "ping"
    wait_until(lambda: down.calls.count(calls) > 4)
    assert worker.stats.failures == 0
    down.down = False
    bench.done()
    assert bench.graph.enrichment_counts(datetime.now(UTC)).failed == 0
    assert sorted(data["memory_id"] for data in told.of("enrichment.complete")) == sorted(stored)
    assert {data["attempt"] for data in told.of("enrichment.start")} == {1}


def test_changes_in_between_survive(bench: Bench) -> None:
    """Clients change tags and metadata all the while, hundreds of times."""
    stored = bench.store(20, pending=False)
    worker = bench.worker(Remembered())
    worker.start()
    for number in range(10):
        for memory_id in stored:
            while True:
                revision = bench.graph.get_many([memory_id])[memory_id].revision
                change = {"tags": ["a", f"n{number}"], "metadata": {"n": number}}
                if bench.graph.update(memory_id, change, revision):
                    break
    bench.done()
    for memory in bench.graph.get_many(stored).values():
        assert memory.tags == ("a", "n9", "entity:people:ann-smith")
        assert memory.metadata["n"] == 9 and memory.metadata["entities"] == {"people": ["Ann Smith"]}


def test_a_memory_deleted_meanwhile_is_skipped(bench: Bench) -> None:
    [stored] = bench.store(pending=False)
    told = Remembered()

    class DeletedInBetween:
        """Deletes the memory while it is examined."""

        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> Any:
            if name == "link_similar":
                self._inner.delete([stored])
            return getattr(self._inner, name)

    bench.graph = DeletedInBetween(bench.graph)
    bench.worker(told).start()
    wait_until(lambda: bool(told.of("enrichment.complete")))
    assert told.of("enrichment.complete")[0]["skipped"] is True
    assert not told.of("enrichment.failed")
