"""Writing and reading memories in the graph (storage.md 2, D22, D24, D25)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from automem.errors import Conflict, InvalidInput
from automem.models import MemoryDraft
from automem.stores.base import Receipt, StoreIdentity
from automem.stores.falkordb import FalkorDBGraph

MakeDraft = Callable[..., MemoryDraft]

NASTY = [
    "quotes \" and ' and `backticks`",
    'back\\slash \\" \\u0041 \\n',
    "line\nfeed\r\ttab \x1b\x7f",
    "emoji 😀 and \u2028 and 漢字 and é",
    '"}) DETACH DELETE m //',
    "$id {x} CYPHER a=1 RETURN 1",
    "x" * 300_000,
]


def test_a_memory_is_read_as_it_was_written(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    draft = make_draft(
        "a",
        content="Invoices are retried",
        tags=("Billing", "Project/Foo"),
        importance=0.3,
        metadata={"ticket": "PAY-7", "n": [1, 2.5, None, {"deep": True}]},
        t_invalid="2027-01-01T00:00:00+00:00",
    )
    graph.create([draft], pending=False)
    memory = graph.get_many(["a"])["a"]
    assert memory.properties == {
        "id": "a",
        "content": "Invoices are retried",
        "tags": ["Billing", "Project/Foo"],
        "tag_prefixes": ["billing", "project", "project:foo"],
        "importance": 0.3,
        "confidence": 0.75,
        "type": "Context",
        "timestamp": "2026-03-01T12:00:00+00:00",
        "updated_at": "2026-03-01T12:00:00+00:00",
        "last_accessed": "2026-03-01T12:00:00+00:00",
        "t_valid": "2026-03-01T12:00:00+00:00",
        "t_invalid": "2027-01-01T00:00:00+00:00",
        "metadata": {"ticket": "PAY-7", "n": [1, 2.5, None, {"deep": True}]},
        "processed": False,
    }
    assert (memory.revision, memory.vector_pending, memory.replaced) == (0, False, False)
    assert "winvoices" in memory.lexemes


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_any_text_comes_back_and_none_is_syntax(
    graph: FalkorDBGraph, make_draft: MakeDraft, text: str
) -> None:
    graph.create([make_draft("bystander")], pending=False)
    memory_id = text[:200]
    draft = make_draft(memory_id, content=text, tags=(text,), type=text, metadata={text: [text]})
    graph.create([draft], pending=False)
    assert graph.update(memory_id, {"summary": text}, 0)
    stored = graph.get_many([memory_id])[memory_id].properties
    assert [stored[name] for name in ("content", "tags", "type", "metadata", "summary")] == [
        text,
        [text],
        text,
        {text: [text]},
        text,
    ]
    assert graph.count([]) == 2


def test_metadata_may_have_any_key(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    metadata = {"": 1, "a b": 2, "`x`": 3, "é-ü": 4, "nul\0": "\0", "half": "\ud800", "big": 2**80}
    graph.create([make_draft("a", metadata=metadata)], pending=False)
    assert graph.get_many(["a"])["a"].metadata == metadata


@pytest.mark.parametrize(
    "fields",
    [
        {"content": "nul \0 character"},
        {"content": "half \ud800 a pair"},
        {"tags": ("nul\0",)},
        {"importance": float("nan")},
        {"confidence": float("inf")},
        {"importance": 2**63},
        {"type": {"an": "object"}},
        {"metadata": {"x": float("nan")}},
        {"metadata": ["no object"]},
        {"id": "nul\0"},
    ],
)
def test_what_cannot_be_stored_is_refused(
    graph: FalkorDBGraph, make_draft: MakeDraft, fields: dict[str, Any]
) -> None:
    bad = make_draft("bad", **{name: value for name, value in fields.items() if name != "id"})
    if "id" in fields:
        bad = make_draft(fields["id"])
    with pytest.raises(InvalidInput) as raised:
        graph.create([make_draft("good"), bad], pending=False)
    assert raised.value.field == next(iter(fields))
    assert graph.count([]) == 0


def test_keys_that_would_crash_the_server_are_refused(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    with pytest.raises(InvalidInput):
        graph.create([make_draft("é" * 501)], pending=False)
    with pytest.raises(InvalidInput):
        graph.create([make_draft("a")], False, [Receipt("key:" + "x" * 5000, "p", "{}")])
    longest = "é" * 500
    graph.create([make_draft(longest)], pending=False)
    assert list(graph.get_many([longest, "x" * 50_000])) == [longest]
    assert graph.receipts(["x" * 50_000]) == {}


def test_metadata_nested_too_deep_is_refused(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidInput):
        graph.create([make_draft("a", metadata={"x": deep})], pending=False)


def test_text_that_cannot_be_asked_for_is_refused(graph: FalkorDBGraph) -> None:
    for odd in ("\0", "\ud800"):
        with pytest.raises(InvalidInput):
            graph.get_many([odd])


@pytest.mark.parametrize("changes", [{"id": "b"}, {"_lex": "x"}, {"a b": 1}, {"x`: 1}) //": 1}])
def test_only_public_properties_change(
    graph: FalkorDBGraph, make_draft: MakeDraft, changes: dict[str, Any]
) -> None:
    graph.create([make_draft("a")], pending=False)
    with pytest.raises(InvalidInput):
        graph.update("a", changes, 0)


def test_a_batch_is_whole_or_not_at_all(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    graph.create([make_draft("a")], pending=False)
    with pytest.raises(Conflict):
        graph.create([make_draft("b"), make_draft("a", content="other")], pending=False)
    with pytest.raises(Conflict):
        graph.create([make_draft("c"), make_draft("c")], pending=False)
    assert graph.ids("", 10, []) == ["a"]
    assert graph.get_many(["a"])["a"].content == "Content of a"


def test_an_empty_batch_writes_nothing(graph: FalkorDBGraph) -> None:
    graph.create([], pending=True)
    assert graph.count([]) == 0


def test_an_update_sets_removes_and_derives(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    graph.create([make_draft("a", tags=("Old",), t_invalid="2027-01-01T00:00:00+00:00")], pending=False)
    changes = {"tags": ["New/Tag"], "t_invalid": None, "metadata": {"k": 1}, "content": "zebra"}
    assert graph.update("a", changes, 0)
    memory = graph.get_many(["a"])["a"]
    assert memory.properties["tag_prefixes"] == ["new", "new:tag"]
    assert memory.properties["metadata"] == {"k": 1}
    assert "t_invalid" not in memory.properties
    assert memory.revision == 1
    assert (graph.frequencies(["wzebra"]), graph.frequencies(["wcontent"])) == ([1], [0])


def test_an_update_of_an_older_revision_changes_nothing(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    graph.create([make_draft("a")], pending=False)
    assert graph.update("a", {"importance": 0.9}, 0)
    assert not graph.update("a", {"importance": 0.1}, 0)
    assert not graph.update("unknown", {"importance": 0.1}, 0)
    assert graph.get_many(["a"])["a"].importance == 0.9


def test_concurrent_updates_all_take_effect(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    graph.create([make_draft("a")], pending=False)
    names = [f"field{index}" for index in range(8)]

    def write(name: str) -> None:
        for value in range(5):
            while not graph.update("a", {name: value}, graph.get_many(["a"])["a"].revision):
                pass

    threads = [threading.Thread(target=write, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory = graph.get_many(["a"])["a"]
    assert {name: memory.properties[name] for name in names} == dict.fromkeys(names, 4)
    assert memory.revision == 40


def test_delete_gives_what_existed_and_leaves_tombstones(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    graph.create([make_draft("a"), make_draft("b"), make_draft("c")], pending=False)
    assert graph.delete(["b", "unknown", "a", "b"]) == ["b", "a"]
    assert graph.ids("", 10, []) == ["c"]
    assert sorted(graph.tombstones(10)) == ["a", "b"]
    assert len(graph.tombstones(1)) == 1
    graph.bury(["a", "b"])
    assert graph.tombstones(10) == []
    assert graph.delete(["a"]) == [] == graph.delete([])
    assert graph.tombstones(10) == []


def test_a_memory_stored_again_has_no_tombstone(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    graph.create([make_draft("a")], pending=False)
    graph.delete(["a"])
    graph.create([make_draft("a")], pending=False)
    assert graph.tombstones(10) == []


def test_burying_a_memory_that_lives_again_owes_its_vector(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a")], pending=True)
    graph.bury(["a"])
    graph.vector_done({"a": 0})
    assert [pending.memory.id for pending in graph.pending_vectors(10, now)] == ["a"]


def test_touch_sets_the_access_alone(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    graph.create([make_draft("a"), make_draft("b")], pending=False)
    graph.touch(["a", "unknown"], "2026-05-05T00:00:00+00:00")
    graph.touch([], "2026-05-05T00:00:00+00:00")
    a, b = (graph.get_many(["a", "b"])[name] for name in "ab")
    assert a.properties["last_accessed"] == "2026-05-05T00:00:00+00:00"
    assert b.properties["last_accessed"] == "2026-03-01T12:00:00+00:00"
    assert a.revision == 0


def test_the_identity_is_recorded_once(graph: FalkorDBGraph) -> None:
    assert graph.identity() is None
    graph.record_identity(StoreIdentity("local:x", 384, 1))
    graph.record_identity(StoreIdentity("local:y", 768, 2))
    assert graph.identity() == StoreIdentity("local:y", 768, 2)
    assert graph.count([]) == 0


def test_counts_and_pages_leave_out_types(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    graph.create([make_draft(name) for name in "dbca"], pending=False)
    graph.create([make_draft("m", type="MetaPattern")], pending=False)
    assert (graph.count([]), graph.count(["MetaPattern", "Other"])) == (5, 4)
    assert graph.ids("", 3, ["MetaPattern"]) == ["a", "b", "c"]
    assert graph.ids("c", 3, ["MetaPattern"]) == ["d"]
    assert graph.ids("c", 3, []) == ["d", "m"]


# what the vector store is owed


def test_debts_are_listed_until_done(graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime) -> None:
    new = make_draft("new", timestamp="2026-03-02T00:00:00+00:00", embedding=[0.25, 1.0])
    old = make_draft("old", timestamp="2026-01-02T00:00:00+00:00")
    graph.create([new, old], pending=True)
    graph.create([make_draft("done")], pending=False)
    first, second = graph.pending_vectors(10, now)
    assert (first.memory.id, first.vector, first.attempts) == ("old", None, 0)
    assert (second.memory.id, second.vector) == ("new", [0.25, 1.0])
    assert first.memory.vector_pending
    assert graph.pending_vector_count() == 2
    assert len(graph.pending_vectors(1, now)) == 1
    graph.vector_done({"new": 0, "unknown": 0})
    assert [pending.memory.id for pending in graph.pending_vectors(10, now)] == ["old"]
    assert not graph.get_many(["new"])["new"].vector_pending


def test_a_debt_of_newer_text_is_not_cleared(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a", embedding=[1.0])], pending=True)
    assert graph.update("a", {"content": "newer"}, 0)
    graph.vector_done({"a": 0})
    (pending,) = graph.pending_vectors(10, now)
    assert (pending.memory.content, pending.vector) == ("newer", None)
    graph.vector_done({"a": 1})
    assert graph.pending_vector_count() == 0


def test_other_changes_owe_the_payload_and_keep_the_vector(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a")], pending=False)
    assert graph.update("a", {"tags": ["x"], "content": "Content of a"}, 0)
    (pending,) = graph.pending_vectors(10, now)
    assert (pending.memory.id, pending.memory.vector_pending) == ("a", False)


def test_another_change_does_not_forget_an_owed_vector(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a", embedding=[1.0, 2.0])], pending=True)
    assert graph.update("a", {"tags": ["x"]}, 0)
    (pending,) = graph.pending_vectors(10, now)
    assert (pending.memory.vector_pending, pending.vector) == (True, [1.0, 2.0])


def test_a_failed_debt_waits(graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime) -> None:
    graph.create([make_draft("a"), make_draft("b")], pending=True)
    graph.vector_failed(["a", "unknown"], now + timedelta(minutes=5))
    assert [pending.memory.id for pending in graph.pending_vectors(10, now)] == ["b"]
    later = {p.memory.id: p.attempts for p in graph.pending_vectors(10, now + timedelta(minutes=5))}
    assert later == {"a": 1, "b": 0}
    assert graph.pending_vector_count() == 2
    assert graph.update("a", {"content": "newer"}, 0)
    assert [p.attempts for p in graph.pending_vectors(10, now)] == [0, 0]


def test_a_failure_of_what_is_done_counts_nothing(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    graph.create([make_draft("a")], pending=False)
    graph.vector_failed(["a"], datetime(2030, 1, 1, tzinfo=UTC))
    assert graph.update("a", {"content": "newer"}, 0)
    assert graph.pending_vectors(10, datetime(2026, 1, 1, tzinfo=UTC))[0].attempts == 0


# answers to repeat


def test_receipts_are_written_with_the_memories(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    keyed = Receipt("key:k", "print", '{"a": "\\"b"}', 1000.5)
    bound = Receipt("id:a", "print", "{}")
    graph.create([make_draft("a")], False, [keyed, bound])
    assert graph.receipts(["key:k", "id:a", "unknown"]) == {"key:k": keyed, "id:a": bound}
    assert graph.receipts([]) == {}
    graph.amend_receipt("key:k", "amended")
    graph.amend_receipt("unknown", "amended")
    assert graph.receipts(["key:k", "unknown"]) == {"key:k": Receipt("key:k", "print", "amended", 1000.5)}


def test_a_receipt_that_exists_refuses_the_write(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    receipt = Receipt("key:k", "print", "first", 1000.0)
    graph.create([make_draft("a")], False, [receipt])
    with pytest.raises(Conflict):
        graph.create([make_draft("b")], False, [Receipt("key:k", "other", "second", 1000.0)])
    assert graph.ids("", 10, []) == ["a"]
    assert graph.receipts(["key:k"]) == {"key:k": receipt}


def test_receipts_end_with_the_memory_or_their_time(graph: FalkorDBGraph, make_draft: MakeDraft) -> None:
    kept = Receipt("key:k", "print", "{}", 2000.0)
    graph.create(
        [make_draft("a")], False, [Receipt("id:a", "p", "{}"), Receipt("key:j", "p", "{}", 999.0), kept]
    )
    graph.delete(["a"])
    assert set(graph.receipts(["id:a", "key:j", "key:k"])) == {"key:j", "key:k"}
    assert graph.forget_receipts(1000.0) == 1
    assert graph.receipts(["key:j", "key:k"]) == {"key:k": kept}


@pytest.mark.parametrize("removed", [4, 3, 2])
def test_removing_several_properties_leaves_the_others(
    graph: FalkorDBGraph, make_draft: MakeDraft, removed: int
) -> None:
    times = ("t_invalid", "last_accessed", "t_valid", "timestamp")[:removed]
    names = [f"{number}" for number in range(20)]
    graph.create([make_draft(name, t_invalid="2027-01-01T00:00:00+00:00") for name in names], pending=False)
    for name in names:
        assert graph.update(name, {**dict.fromkeys(times), "importance": 0.25}, 0)
    for name, memory in graph.get_many(names).items():
        assert not set(times) & set(memory.properties)
        assert (memory.content, memory.importance) == (f"Content of {name}", 0.25)
        assert {"id", "tags", "metadata", "type", "updated_at", "processed"} <= set(memory.properties)


def test_a_settled_debt_with_failures_takes_nothing_else_away(
    graph: FalkorDBGraph, make_draft: MakeDraft, now: datetime
) -> None:
    graph.create([make_draft("a", embedding=[1.0, 2.0])], pending=True)
    before = graph.get_many(["a"])["a"].properties
    graph.vector_failed(["a"], now)
    graph.vector_done({"a": 0})
    assert graph.get_many(["a"])["a"].properties == before
    assert graph.update("a", {"importance": 0.25}, 0)
    (owed,) = graph.pending_vectors(5, now)
    assert (owed.attempts, owed.vector, owed.memory.vector_pending) == (0, None, False)
