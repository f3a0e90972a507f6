"""The embedding worker: everything owed is paid, in the end, and nothing false is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from automem.models import MemoryDraft, Scope
from automem.stores.base import Receipt
from automem.workers.embedding import EmbeddingWorker, Pace

Draft = Callable[..., MemoryDraft]
Eventually = Callable[[Callable[[], bool]], None]

EVERYTHING = Scope(at=datetime(2025, 6, 1, tzinfo=UTC))
PACE = Pace(batch_size=3, first_retry=0.01, longest_retry=1000.0, longest_outage=0.05, idle=0.02)


@pytest.fixture
def worker(graph: Any, vectors: Any, provider: Any, clock: Any) -> Iterator[EmbeddingWorker]:
    made = EmbeddingWorker(graph, vectors, provider, clock, PACE)
    yield made
    graph.down = vectors.down = False
    made.stop()


def ids(drafts: list[MemoryDraft]) -> list[str]:
    return [draft.id for draft in drafts]


def test_what_is_owed_at_the_start_is_paid_in_batches(
    worker: EmbeddingWorker, graph: Any, vectors: Any, provider: Any, draft: Draft, eventually: Eventually
) -> None:
    drafts = [draft(f"memory {n}", number=n) for n in range(7)]
    graph.create(drafts, pending=True)
    worker.start()
    eventually(lambda: graph.pending_vector_count() == 0)
    stored = vectors.vectors(ids(drafts))
    for made in drafts:
        assert np.allclose(stored[made.id], provider.embed_query(made.content), atol=1e-5)
    assert [len(call) for call in provider.calls] == [3, 3, 1]
    eventually(lambda: worker.stats().stored == 7)
    assert worker.stats().failures == 0


def test_a_notified_worker_pays_at_once(
    graph: Any, vectors: Any, provider: Any, clock: Any, draft: Draft, eventually: Eventually
) -> None:
    worker = EmbeddingWorker(graph, vectors, provider, clock, Pace(idle=3600))
    worker.start()
    eventually(lambda: "pending_vectors" in graph.calls)
    made = draft("hello")
    with worker.watch([made.id]) as watch:
        graph.create([made], pending=True)
        worker.notify()
        assert watch.wait(20) == {made.id}
    assert vectors.count([]) == 1
    worker.stop()
    assert not worker.running


def test_a_poisoned_text_does_not_keep_the_others(
    worker: EmbeddingWorker, graph: Any, vectors: Any, draft: Draft, eventually: Eventually
) -> None:
    drafts = [draft("poison" if n == 0 else f"memory {n}", number=n) for n in range(5)]
    graph.create(drafts, pending=True)
    worker.start()
    eventually(lambda: graph.pending_vector_count() == 1)
    assert set(vectors.vectors(ids(drafts))) == set(ids(drafts[1:]))
    assert worker.stats().last_error == "the provider refuses this text"
    assert worker.stats().outage_rounds == 0
    assert not worker.failing


def test_a_failed_memory_is_tried_again_later_and_later(
    worker: EmbeddingWorker, graph: Any, provider: Any, clock: Any, draft: Draft, eventually: Eventually
) -> None:
    graph.create([draft("poison")], pending=True)
    worker.start()
    for attempts in (1, 2, 3):
        eventually(lambda n=attempts: worker.stats().failures == n)  # type: ignore[misc]
        assert graph.pending_vectors(10, clock.now()) == []
        clock.forward(PACE.retry(attempts - 1))
    assert provider.calls[:3] == [["poison"]] * 3


def test_a_text_that_is_always_refused_is_given_up_and_can_be_queued_again(
    worker: EmbeddingWorker, graph: Any, provider: Any, clock: Any, draft: Draft, eventually: Eventually
) -> None:
    made = draft("poison")
    graph.create([made], pending=True)
    worker.start()
    for attempts in range(1, PACE.refusals + 1):
        eventually(lambda n=attempts: worker.stats().failures == n)  # type: ignore[misc]
        clock.forward(PACE.longest_retry)
        worker.notify()
    eventually(lambda: graph.pending_vector_count() == 0)
    assert graph.get_many([made.id])[made.id].vector_pending, "no vector is trusted"
    [failure] = graph.enrichment_failures("", 5)
    assert (failure.memory_id, failure.attempts) == (made.id, PACE.refusals)
    assert failure.error == "the provider refuses this text"
    assert graph.enrichment_counts(clock.now()).failed == 1
    assert graph.enrichment_counts(clock.now()).pending == 1, "enrichment goes on without"
    assert graph.retry_enrichment() == 1
    assert graph.pending_vector_count() == 1 and graph.enrichment_failures("", 5) == []


def test_a_provider_that_refuses_everything_makes_nothing_be_given_up(
    worker: EmbeddingWorker, graph: Any, provider: Any, clock: Any, draft: Draft, eventually: Eventually
) -> None:
    graph.create([draft("poison")], pending=True)
    provider.refuses_all = True
    worker.start()
    for attempts in range(1, PACE.refusals + 3):
        eventually(lambda n=attempts: worker.stats().failures >= n)  # type: ignore[misc]
        clock.forward(PACE.longest_retry)
        worker.notify()
    assert graph.pending_vector_count() == 1 and graph.enrichment_failures("", 5) == []


def test_waits_double_up_to_a_limit() -> None:
    pace = Pace(first_retry=1.0, longest_retry=60.0, longest_outage=10.0)
    assert [pace.retry(n) for n in (0, 1, 2, 5, 6, 10_000)] == [1, 2, 4, 32, 60, 60]
    assert [pace.outage(n) for n in (1, 2, 4, 5, 10_000)] == [1, 2, 8, 10, 10]


def test_an_outage_of_the_provider_costs_few_attempts_and_nothing_is_lost(
    worker: EmbeddingWorker,
    graph: Any,
    vectors: Any,
    provider: Any,
    draft: Draft,
    clock: Any,
    eventually: Eventually,
) -> None:
    provider.down = True
    drafts = [draft(f"memory {n}", number=n) for n in range(9)]
    graph.create(drafts, pending=True)
    worker.start()
    eventually(lambda: worker.stats().outage_rounds >= 2)
    assert worker.failing
    assert vectors.count([]) == 0
    assert graph.pending_vector_count() == 9
    provider.down = False
    eventually(lambda: vectors.count([]) > 0)
    clock.forward(PACE.longest_retry)
    eventually(lambda: graph.pending_vector_count() == 0)
    assert set(vectors.vectors(ids(drafts))) == set(ids(drafts))
    eventually(lambda: not worker.failing)


@pytest.mark.parametrize("broken", ["graph", "vectors"])
def test_a_store_that_is_away_is_waited_for(
    broken: str,
    worker: EmbeddingWorker,
    graph: Any,
    vectors: Any,
    draft: Draft,
    clock: Any,
    eventually: Eventually,
) -> None:
    made = draft("hello")
    graph.create([made], pending=True)
    store = {"graph": graph, "vectors": vectors}[broken]
    store.down = True
    worker.start()
    eventually(lambda: worker.stats().last_error == "the store is down")
    store.down = False
    clock.forward(PACE.longest_retry)
    eventually(lambda: graph.pending_vector_count() == 0)
    assert list(vectors.vectors([made.id])) == [made.id]


def test_a_given_vector_is_stored_as_it_was_given(
    worker: EmbeddingWorker, graph: Any, vectors: Any, provider: Any, draft: Draft, eventually: Eventually
) -> None:
    given = [0.6, 0.8, 0, 0, 0, 0, 0, 0]
    made = draft("hello", embedding=given)
    graph.create([made], pending=True)
    worker.start()
    eventually(lambda: graph.pending_vector_count() == 0)
    assert vectors.vectors([made.id])[made.id] == pytest.approx(given, abs=1e-6)
    assert provider.calls == []


def test_a_new_text_gets_a_new_vector(
    worker: EmbeddingWorker, graph: Any, vectors: Any, provider: Any, draft: Draft, eventually: Eventually
) -> None:
    made = draft("old", embedding=[1.0] + [0.0] * 7)
    graph.create([made], pending=True)
    worker.start()
    eventually(lambda: graph.pending_vector_count() == 0)
    assert graph.update(made.id, {"content": "new"}, graph.get_many([made.id])[made.id].revision)
    worker.notify()
    eventually(lambda: graph.pending_vector_count() == 0)
    assert np.allclose(vectors.vectors([made.id])[made.id], provider.embed_query("new"), atol=1e-5)


def test_a_changed_payload_is_written_without_embedding_anew(
    worker: EmbeddingWorker, graph: Any, vectors: Any, provider: Any, draft: Draft, eventually: Eventually
) -> None:
    made = draft("hello")
    graph.create([made], pending=True)
    worker.start()
    eventually(lambda: graph.pending_vector_count() == 0)
    assert graph.update(made.id, {"importance": 0.9}, graph.get_many([made.id])[made.id].revision)
    assert not graph.get_many([made.id])[made.id].vector_pending
    worker.notify()
    eventually(lambda: graph.pending_vector_count() == 0)
    [found] = vectors.search(provider.embed_query("hello").tolist(), EVERYTHING, 5)
    assert found.memory.importance == 0.9
    assert provider.calls == [["hello"]]


def test_vectors_of_deleted_memories_are_removed_when_the_store_is_back(
    worker: EmbeddingWorker, graph: Any, vectors: Any, draft: Draft, eventually: Eventually
) -> None:
    made = draft("hello")
    graph.create([made], pending=True)
    worker.start()
    eventually(lambda: vectors.count([]) == 1)
    vectors.down = True
    graph.delete([made.id])
    assert graph.tombstones(10) == [made.id]
    vectors.down = False
    worker.notify()
    eventually(lambda: graph.tombstones(10) == [])
    assert vectors.count([]) == 0


def test_an_unexpected_fault_does_not_end_the_worker(
    worker: EmbeddingWorker, graph: Any, provider: Any, draft: Draft, eventually: Eventually
) -> None:
    provider.dimension = "eight"
    graph.create([draft("hello")], pending=True)
    provider.embed_batch = lambda texts: 1 / 0
    worker.start()
    eventually(lambda: "ZeroDivisionError" in (worker.stats().last_error or ""))
    del provider.embed_batch
    provider.dimension = 8
    eventually(lambda: graph.pending_vector_count() == 0)


def test_expired_answers_are_forgotten_from_time_to_time(
    worker: EmbeddingWorker, graph: Any, clock: Any, draft: Draft, eventually: Eventually
) -> None:
    now = clock.now().timestamp()
    receipts = [
        Receipt("old", "f", "{}", now - 1),
        Receipt("new", "f", "{}", now + 60),
        Receipt("id:x", "f", "{}"),
    ]
    graph.create([draft("hello")], pending=False, receipts=receipts)
    worker.start()
    eventually(lambda: set(graph.receipts(["old", "new", "id:x"])) == {"new", "id:x"})
    clock.forward(3600)
    eventually(lambda: set(graph.receipts(["old", "new", "id:x"])) == {"id:x"})


def test_stopping_a_worker_that_never_ran_does_no_harm(
    graph: Any, vectors: Any, provider: Any, clock: Any
) -> None:
    worker = EmbeddingWorker(graph, vectors, provider, clock)
    worker.stop()
    worker.stop()
    assert not worker.running
