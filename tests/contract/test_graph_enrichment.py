"""Pending enrichment in the graph: queued with the write, claimed by one, never lost (D22, D37)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from automem.models import Memory
from automem.stores.additions import Additions
from automem.stores.enrichment import Claim, Enriched, EnrichmentCounts, Lease, Similar
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection
from tests.contract.conftest import MakeDraft

MINUTE = timedelta(minutes=1)


def lease(now: datetime, owner: str = "me") -> Lease:
    return Lease(owner, now, now + MINUTE)


def claim(graph: FalkorDBGraph, now: datetime, owner: str = "me", ahead: bool = False) -> dict[str, Claim]:
    return {c.memory.id: c for c in graph.claim_enrichment(lease(now, owner), 10, ahead)}


def enriched(memory: Memory, complete: bool = True, chat: bool = False, **properties: Any) -> Enriched:
    tags = [*memory.properties["tags"], "entity:people:ann"]
    own: Mapping[str, Any] = {"tags": tags, "metadata": {**memory.metadata, "entities": {"people": ["Ann"]}}}
    done = {**own, "processed": complete, "enriched": True, **properties}
    return Enriched(memory, done, Additions(("entity:people:ann",), ("entities",)), complete, chat)


def finish(graph: FalkorDBGraph, now: datetime, **how: Any) -> set[str]:
    return graph.finish_enrichment("me", [enriched(c.memory, **how) for c in claim(graph, now).values()])


def test_a_new_memory_waits_for_its_vector(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a"), make_draft("b")], pending=True)
    assert claim(graph, now) == {}
    graph.vector_done({"a": 0})
    assert set(claim(graph, now)) == {"a"}
    assert set(claim(graph, now, ahead=True)) == {"b"}
    assert graph.enrichment_counts(now) == EnrichmentCounts(pending=2, inflight=2, failed=0)
    assert graph.unsettled_count() == 2


def test_what_is_claimed_is_given_to_nobody_else_until_the_claim_ends(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a")], pending=False)
    assert claim(graph, now, "one")["a"].attempt == 1
    assert claim(graph, now, "two") == {}
    later = now + MINUTE
    assert graph.enrichment_counts(later).inflight == 0
    held = claim(graph, later, "two")["a"]
    assert held.attempt == 1, "a dead worker is not the memory's fault"
    assert graph.finish_enrichment("one", [enriched(held.memory)]) == set()
    assert graph.finish_enrichment("two", [enriched(held.memory)]) == {"a"}


def test_a_new_process_may_take_all_claims(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a")], pending=False)
    assert claim(graph, now, "dead") and not claim(graph, now)
    graph.free_enrichment()
    assert claim(graph, now)


def test_a_finished_memory_has_its_additions_and_owes_its_payload(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a", tags=("x",), metadata={"mine": 1})], pending=False)
    assert finish(graph, now, summary="Short.") == {"a"}
    memory = graph.get_many(["a"])["a"]
    assert memory.properties["tags"] == ["x", "entity:people:ann"]
    assert memory.properties["tag_prefixes"] == ["x", "entity", "entity:people", "entity:people:ann"]
    assert memory.metadata == {"mine": 1, "entities": {"people": ["Ann"]}}
    assert (memory.summary, memory.properties["processed"]) == ("Short.", True)
    assert (memory.added_tags, memory.added_keys) == (("entity:people:ann",), ("entities",))
    assert not [name for name in memory.properties if name.startswith("_")]
    (debt,) = graph.pending_vectors(5, now)
    assert not debt.memory.vector_pending
    assert graph.enrichment_counts(now) == EnrichmentCounts(0, 0, 0) and claim(graph, now + MINUTE) == {}


def test_a_change_in_between_keeps_the_result_from_being_written(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a", tags=("x",))], pending=False)
    held = claim(graph, now)["a"]
    assert graph.update("a", {"tags": ["y"]}, 0)
    assert graph.finish_enrichment("me", [enriched(held.memory)]) == set()
    fresh = graph.get_many(["a"])["a"]
    assert graph.finish_enrichment("me", [enriched(fresh)]) == {"a"}, "the claim still holds"
    assert graph.get_many(["a"])["a"].tags == ("y", "entity:people:ann")


def test_a_new_text_is_enriched_anew_and_the_old_claim_is_void(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a")], pending=False)
    held = claim(graph, now)["a"]
    assert not held.changed
    assert graph.update("a", {"content": "newer"}, 0)
    fresh = graph.get_many(["a"])["a"]
    assert fresh.properties["processed"] is False
    assert graph.finish_enrichment("me", [enriched(held.memory)]) == set()
    assert graph.finish_enrichment("me", [enriched(fresh)]) == set()
    assert claim(graph, now) == {}
    graph.vector_done({"a": 1})
    assert claim(graph, now)["a"].changed


def test_what_was_done_without_the_vector_goes_on_with_it(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a")], pending=True)
    held = claim(graph, now, ahead=True)["a"]
    assert graph.finish_enrichment("me", [enriched(held.memory, complete=False)]) == {"a"}
    memory = graph.get_many(["a"])["a"]
    assert memory.vector_pending and memory.properties["processed"] is False
    assert claim(graph, now + MINUTE, ahead=True) == {}, "done as far as it can be"
    assert graph.unsettled_count() == 1
    graph.vector_done({"a": memory.revision})
    assert claim(graph, now)["a"].memory.tags == ("entity:people:ann",)


def test_a_vector_that_comes_meanwhile_is_not_overlooked(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a")], pending=True)
    held = claim(graph, now, ahead=True)["a"]
    graph.vector_done({"a": 0})
    assert graph.finish_enrichment("me", [enriched(held.memory, complete=False)]) == {"a"}
    assert set(claim(graph, now)) == {"a"}


def test_failures_wait_and_are_given_up_visibly(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a"), make_draft("b")], pending=False)
    claim(graph, now)
    graph.enrichment_failed("me", "a", "odd", now + MINUTE)
    graph.enrichment_failed("other", "b", "not mine", None)
    assert claim(graph, now) == {}
    assert claim(graph, now + MINUTE)["a"].attempt == 2
    graph.enrichment_failed("me", "a", "odd again", None)
    graph.enrichment_failed("me", "b", "gone\0wrong", None)
    assert graph.enrichment_counts(now) == EnrichmentCounts(0, 0, 2)
    first, second = graph.enrichment_failures("", 10)
    assert (first.memory_id, first.attempts, first.error) == ("a", 2, "odd again")
    assert graph.enrichment_failures("a", 10) == [second] and graph.enrichment_failures("", 1) == [first]
    assert graph.retry_enrichment() == 2 and graph.retry_enrichment() == 0
    assert {c.attempt for c in claim(graph, now).values()} == {1}


def test_a_refused_vector_keeps_enrichment_from_waiting(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a"), make_draft("b")], pending=True)
    graph.vector_refused("a", "too long\0")
    assert [debt.memory.id for debt in graph.pending_vectors(5, now)] == ["b"]
    assert (graph.pending_vector_count(), graph.unsettled_count()) == (1, 2)
    held = claim(graph, now)["a"]
    assert held.refused and held.memory.vector_pending
    assert graph.finish_enrichment("me", [enriched(held.memory)]) == {"a"}
    assert graph.unsettled_count() == 1
    [failure] = graph.enrichment_failures("", 5)
    assert (failure.memory_id, failure.attempts, failure.error) == ("a", 1, "too long")
    assert graph.enrichment_counts(now) == EnrichmentCounts(pending=1, inflight=0, failed=1)
    assert graph.update("a", {"tags": ["x"]}, 1)
    assert graph.pending_vector_count() == 1, "another tag makes its text no better"
    assert graph.request_enrichment(["a"]) == ["a"]
    assert graph.pending_vector_count() == 2 and graph.enrichment_failures("", 5) == []
    graph.vector_refused("a", "too long")
    assert graph.update("a", {"content": "short"}, 2)
    assert graph.pending_vector_count() == 2 and graph.enrichment_failures("", 5) == []


def test_a_claim_given_back_counts_no_attempt(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a")], pending=False)
    claim(graph, now)
    graph.release_enrichment("other", ["a"], now)
    assert claim(graph, now) == {}
    graph.release_enrichment("me", ["a"], now + MINUTE / 2)
    assert claim(graph, now) == {}
    assert claim(graph, now + MINUTE / 2)["a"].attempt == 1


def test_enrichment_can_be_asked_for_again(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a")], pending=False)
    finish(graph, now)
    assert graph.request_enrichment(["a", "unknown"]) == ["a"]
    held = claim(graph, now)["a"]
    assert held.forced and not held.changed
    assert graph.finish_enrichment("me", [enriched(held.memory)]) == {"a"}
    assert not graph.request_enrichment([])


@pytest.mark.parametrize("complete", [True, False])
def test_memories_of_others_are_taken_in(
    graph: FalkorDBGraph, connection: Connection, now: datetime, complete: bool
) -> None:
    graph.prepare()
    query = "CREATE (:Memory {id: 'theirs', content: 'text', processed: $processed, timestamp: '2026-01-01'})"
    connection.write(query, {"processed": complete})
    while graph.adopt(10):
        pass
    assert set(claim(graph, now)) == (set() if complete else {"theirs"})


def test_clients_changes_keep_what_enrichment_added(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a", tags=("x",), metadata={"mine": 1})], pending=False)
    finish(graph, now)
    assert graph.update("a", {"tags": ["y"], "metadata": {"new": 2}}, 1)
    memory = graph.get_many(["a"])["a"]
    assert memory.tags == ("y", "entity:people:ann")
    assert memory.metadata == {"new": 2, "entities": {"people": ["Ann"]}}
    assert graph.update("a", {"tags": None, "metadata": None}, 2)
    memory = graph.get_many(["a"])["a"]
    assert memory.tags == ("entity:people:ann",) and set(memory.metadata) == {"entities"}


def test_a_client_that_knows_the_additions_may_remove_them(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a")], pending=False)
    held = claim(graph, now)["a"].memory
    both = Additions(("entity:people:ann", "entity:tools:redis"), ("entities", "enrichment"))
    found = {"tags": list(both.tags), "metadata": {"entities": {"people": ["Ann"]}, "enrichment": {"n": 1}}}
    assert graph.finish_enrichment("me", [Enriched(held, found, both, True)]) == {"a"}
    assert graph.update("a", {"tags": ["entity:people:ann"], "metadata": {"entities": {}}}, 1)
    memory = graph.get_many(["a"])["a"]
    assert (memory.tags, memory.added_tags) == (("entity:people:ann",), ("entity:people:ann",))
    assert (memory.metadata, memory.added_keys) == ({"entities": {}}, ()), "now they are the client's"


def test_similar_memories_are_linked_both_ways_once(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    graph.create([make_draft(name) for name in "abc"], pending=False)
    for at in ("2026-01-01", "2026-01-02"):
        graph.link_similar([Similar("a", (("b", 0.9), ("gone", 0.9)))], at)
    edges = "MATCH (x)-[r:SIMILAR_TO]->(y) RETURN x.id, y.id, r.score, r.updated_at ORDER BY x.id, y.id"
    assert connection.read(edges, {}) == [["a", "b", 0.9, "2026-01-02"], ["b", "a", 0.9, "2026-01-02"]]
    graph.link_similar([Similar("a", (("c", 0.8),), fresh=True), Similar("b", ())], "2026-01-03")
    assert [row[:2] for row in connection.read(edges, {})] == [["a", "c"], ["c", "a"]]


# what the chat model may improve


def test_the_chat_model_is_owed_what_enrichment_says(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a", provisional=True), make_draft("b")], pending=False)
    held = claim(graph, now)
    assert (held["a"].provisional, held["b"].provisional) == (True, False)
    graph.finish_enrichment("me", [enriched(c.memory, chat=True) for c in held.values()])
    claims = {c.memory.id: c for c in graph.claim_chat(lease(now), 5)}
    assert {name: c.provisional for name, c in claims.items()} == {"a": True, "b": False}
    assert graph.claim_chat(lease(now, "other"), 5) == []
    better = {"type": "Insight", "confidence": 0.9, "summary": "By a model."}
    assert graph.finish_chat("me", claims["a"].memory, better)
    memory = graph.get_many(["a"])["a"]
    assert (memory.type, memory.confidence, memory.summary) == ("Insight", 0.9, "By a model.")
    graph.chat_failed("me", "b", now + MINUTE)
    assert graph.claim_chat(lease(now), 5) == []
    assert [(c.memory.id, c.attempt) for c in graph.claim_chat(lease(now + MINUTE), 5)] == [("b", 2)]
    graph.chat_failed("me", "b", None)
    assert graph.claim_chat(lease(now + 5 * MINUTE), 5) == []
    graph.request_enrichment(["a"])
    again = claim(graph, now)["a"]
    assert again.by_chat and not again.provisional


def test_a_changed_memory_takes_no_improvement_of_its_old_text(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a", provisional=True)], pending=False)
    graph.finish_enrichment("me", [enriched(claim(graph, now)["a"].memory, chat=True)])
    (held,) = graph.claim_chat(lease(now), 5)
    assert graph.update("a", {"type": "Decision", "content": "newer"}, held.memory.revision)
    assert not graph.finish_chat("me", held.memory, {"type": "Insight", "confidence": 0.9})
    graph.vector_done({"a": held.memory.revision + 1})
    assert not claim(graph, now)["a"].provisional, "the client has chosen a type"
