"""Comparing and repairing both stores, with a provider and stores that fail."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from automem.errors import Conflict, GraphUnavailable
from automem.models import MemoryDraft
from automem.stores.base import VectorPoint
from automem.stores.falkordb_connection import Connection, Limits, SocketAddress
from automem.stores.falkordb_locks import FalkorDBLocks
from automem.utils.clock import RandomIds
from automem.workers.embedding import EmbeddingWorker, Pace
from automem.workers.exclusive import ExclusiveRuns
from automem.workers.reembed import Reembedder
from automem.workers.sync import BUSY, RUN, StoreSync, SyncWorker

Draft = Callable[..., MemoryDraft]
Eventually = Callable[[Callable[[], bool]], None]


@pytest.fixture
def runs(falkordb: Any) -> Iterator[ExclusiveRuns]:
    connection = Connection(SocketAddress(falkordb.socket_path), f"l{uuid.uuid4().hex}", Limits())
    yield ExclusiveRuns(FalkorDBLocks(connection), RandomIds())
    connection.close()


@pytest.fixture
def embedder(graph: Any, vectors: Any, provider: Any, clock: Any) -> Iterator[EmbeddingWorker]:
    worker = EmbeddingWorker(graph, vectors, provider, clock, Pace(first_retry=0.01, idle=0.02))
    yield worker
    worker.stop()


@pytest.fixture
def reembedder(graph: Any, provider: Any, embedder: EmbeddingWorker) -> Reembedder:
    return Reembedder(graph, provider, embedder.writer)


@pytest.fixture
def sync(graph: Any, vectors: Any, embedder: EmbeddingWorker, runs: ExclusiveRuns) -> StoreSync:
    return StoreSync(graph, vectors, embedder, runs, ["MetaPattern"])


def stored(graph: Any, draft: Draft, *texts: str) -> list[str]:
    """Store memories that owe nothing and have no vector, as after the loss of the vector store."""
    drafts = [draft(text, number=number) for number, text in enumerate(texts)]
    graph.create(drafts, pending=False)
    return [made.id for made in drafts]


def test_what_cannot_be_embedded_stays_owed(
    sync: StoreSync, reembedder: Reembedder, graph: Any, vectors: Any, draft: Draft, clock: Any
) -> None:
    ids = stored(graph, draft, "a", "poison", "b", "more poison")
    report = sync.repair(reembedder, 10, force=False)
    assert set(report.drift.missing) == set(ids)
    assert set(report.outcome.done) == {ids[0], ids[2]}
    assert set(report.outcome.failed) == {ids[1], ids[3]}
    assert {debt.memory.id for debt in graph.pending_vectors(10, clock.now())} == {ids[1], ids[3]}
    assert (report.memories, report.points) == (4, 2)


def test_a_provider_that_is_down_fails_each_batch_and_stores_nothing(
    sync: StoreSync, reembedder: Reembedder, graph: Any, vectors: Any, draft: Draft, provider: Any
) -> None:
    ids = stored(graph, draft, "a", "b", "c")
    provider.down = True
    report = sync.repair(reembedder, 2, force=False)
    assert set(report.outcome.failed) == set(ids)
    assert [len(call) for call in provider.calls] == [2, 1]
    assert vectors.count([]) == 0
    assert graph.pending_vector_count() == 3


def test_repair_in_the_background_only_records_what_is_owed(
    sync: StoreSync,
    graph: Any,
    vectors: Any,
    draft: Draft,
    provider: Any,
    embedder: EmbeddingWorker,
    eventually: Eventually,
) -> None:
    gone, tagged, rewritten = stored(graph, draft, "a", "b", "c")
    points = {
        name: VectorPoint(name, provider.embed_query("b").tolist(), memory)
        for name, memory in graph.get_many([tagged, rewritten]).items()
    }
    orphan = str(uuid.uuid4())
    vectors.upsert([*points.values(), VectorPoint(orphan, [1.0] * 8, points[tagged].memory)])
    for name, changes in ((tagged, {"tags": ["new"]}), (rewritten, {"content": "other"})):
        graph.update(name, changes, 0)
        graph.vector_done({name: 1})
    report = sync.repair_later()
    drift = report.drift
    assert (drift.missing, drift.stale_texts, drift.stale_payloads) == ((gone,), (rewritten,), (tagged,))
    assert (drift.orphaned, report.removed) == ((orphan,), 1)
    assert provider.calls == []
    assert graph.pending_vector_count() == 3
    embedder.start()
    eventually(lambda: graph.pending_vector_count() == 0)
    assert sorted(text for call in provider.calls for text in call) == ["a", "other"]
    after = sync.examine()
    assert after.drift.unembedded == after.drift.stale_payloads == after.drift.orphaned == ()


def test_what_is_owed_already_is_left_to_its_worker(sync: StoreSync, graph: Any, draft: Draft) -> None:
    made = draft("a")
    graph.create([made], pending=True)
    report = sync.repair_later()
    assert report.drift.missing == (made.id,)
    assert graph.get_many([made.id])[made.id].revision == 0


def test_more_than_a_page(
    sync: StoreSync, reembedder: Reembedder, graph: Any, vectors: Any, draft: Draft
) -> None:
    ids = stored(graph, draft, *["text"] * 450)
    report = sync.repair(reembedder, 100, force=False)
    assert set(report.outcome.done) == set(ids)
    memory = next(iter(graph.get_many(ids[:1]).values()))
    orphans = {str(uuid.uuid4()) for _ in range(450)}
    vectors.upsert([VectorPoint(name, [1.0] * 8, memory) for name in orphans])
    assert set(sync.examine().drift.orphaned) == orphans


def test_ids_that_others_spell_otherwise_are_no_orphans(sync: StoreSync, graph: Any, vectors: Any) -> None:
    inner: Any = graph
    names = [str(uuid.uuid4()).upper(), uuid.uuid4().hex, "no uuid"]
    for name in names:
        inner._write("CREATE (:Memory {id: $id, content: 'x', type: 'T'})", id=name)
    found = graph.get_many(names)
    vectors.upsert([VectorPoint(name, [1.0] * 8, found[name]) for name in names[:2]])
    drift = sync.examine().drift
    assert (drift.missing, drift.orphaned) == ((), ())


def test_a_memory_that_comes_back_under_the_id_of_an_orphan_gets_its_vector(
    sync: StoreSync, embedder: EmbeddingWorker, graph: Any, vectors: Any, draft: Draft, clock: Any
) -> None:
    made = draft("a")
    graph.create([made], pending=False)
    embedder.writer.remove([made.id])
    assert [debt.memory.id for debt in graph.pending_vectors(10, clock.now())] == [made.id]


def test_one_run_at_a_time(sync: StoreSync, reembedder: Reembedder, runs: ExclusiveRuns) -> None:
    with runs.run(RUN, BUSY):
        for run in (sync.repair_later, lambda: sync.repair(reembedder, 1, force=False)):
            with pytest.raises(Conflict, match="running"):
                run()
        sync.examine()


def test_the_worker_outlives_an_outage(
    sync: StoreSync, graph: Any, vectors: Any, draft: Draft, eventually: Eventually
) -> None:
    worker = SyncWorker(sync, 1.0, retry=0.02)
    graph.down = True
    worker.start()
    eventually(lambda: graph.calls.count("ids") >= 2)
    graph.down = False
    stored(graph, draft, "a")
    eventually(lambda: graph.pending_vector_count() == 1)
    worker.stop()


def test_a_change_during_the_embedding_is_embedded_again(
    reembedder: Reembedder, embedder: EmbeddingWorker, graph: Any, provider: Any, draft: Draft, runs: Any
) -> None:
    """The text changes while the provider works on it, once."""
    (memory_id,) = stored(graph, draft, "old")
    inner = provider.embed_batch

    def embed(texts: Any) -> Any:
        if list(texts) == ["old"]:
            graph.update(memory_id, {"content": "new"}, 0)
        return inner(texts)

    provider.embed_batch = embed
    with runs.run(RUN, BUSY) as lease:
        outcome = reembedder.run([memory_id], 10, lease)
    assert (outcome.done, outcome.failed) == ((memory_id,), ())
    assert [call for call in provider.calls] == [["old"], ["new"]]
    assert graph.pending_vector_count() == 0


def test_the_loss_of_a_store_ends_a_run(reembedder: Reembedder, graph: Any, runs: Any, draft: Draft) -> None:
    ids = stored(graph, draft, "a")
    graph.down = True
    with pytest.raises(GraphUnavailable), runs.run(RUN, BUSY) as lease:
        reembedder.run(ids, 10, lease)
