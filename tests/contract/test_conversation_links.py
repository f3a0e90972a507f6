"""Who is linked to whom in a conversation, whatever the order of storing (D42)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from automem.models import MemoryDraft
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection, Rows

MakeDraft = Callable[..., MemoryDraft]
Place = Callable[..., None]

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
AT = "2026-04-01T00:00:00+00:00"
LATER = "2026-05-01T00:00:00+00:00"
CHAT = ("chat", "chat:monday")


def minutes(number: float) -> str:
    return (START + timedelta(minutes=number)).isoformat()


def edges(connection: Connection) -> dict[str, list[str]]:
    """Give the memories before each one, in the order of the distances, which must run from 1."""
    rows = connection.read(
        "MATCH (m:Memory)-[r:PRECEDED_BY]->(p) RETURN m.id, p.id, r.distance ORDER BY m.id, r.distance",
        {},
    )
    found: dict[str, list[str]] = {}
    for memory_id, before, distance in rows:
        found.setdefault(memory_id, []).append(before)
        assert distance == len(found[memory_id]), rows
    return found


def noted(connection: Connection) -> Rows:
    return connection.read(
        "MATCH (m:Memory)-[r:PRECEDED_BY]->(p) RETURN m.id, p.id, r.count, r.updated_at ORDER BY m.id, p.id",
        {},
    )


@pytest.fixture
def place(graph: FalkorDBGraph, make_draft: MakeDraft) -> Place:
    """Store one memory and link it, as a POST does."""

    def store(memory_id: str, minute: float, tags: Sequence[str] = CHAT) -> None:
        graph.create([make_draft(memory_id, timestamp=minutes(minute), tags=tuple(tags))], pending=False)
        graph.link_conversation([memory_id], AT)

    return store


def test_a_memory_is_linked_to_the_five_before_it(
    graph: FalkorDBGraph, connection: Connection, place: Place
) -> None:
    for number in range(7):
        place(f"m{number}", number)
    assert edges(connection) == {
        "m1": ["m0"],
        "m2": ["m1", "m0"],
        "m3": ["m2", "m1", "m0"],
        "m4": ["m3", "m2", "m1", "m0"],
        "m5": ["m4", "m3", "m2", "m1", "m0"],
        "m6": ["m5", "m4", "m3", "m2", "m1"],
    }
    assert {tuple(row[2:]) for row in noted(connection)} == {(1, AT)}


def test_the_number_of_edges_of_each_is_given(graph: FalkorDBGraph, place: Place) -> None:
    for number in range(7):
        place(f"m{number}", number)
    place("alone", 3, ["other"])
    found = graph.link_conversation(["m0", "m2", "m6", "alone", "unknown", "m2"], AT)
    assert found == {"m0": 0, "m2": 2, "m6": 5, "alone": 0}
    assert graph.link_conversation([], AT) == {}
    assert graph.link_conversation(["unknown"], AT) == {}


def test_an_import_in_reverse_order_gives_the_same_links(connection: Connection, place: Place) -> None:
    for number in reversed(range(8)):
        place(f"m{number}", number)
    found = edges(connection)
    assert found["m7"] == ["m6", "m5", "m4", "m3", "m2"]
    assert found["m3"] == ["m2", "m1", "m0"]
    assert "m0" not in found


def test_one_that_is_imported_late_pushes_the_farthest_out(connection: Connection, place: Place) -> None:
    for number in range(7):
        place(f"m{number}", number)
    place("late", 4.5)
    found = edges(connection)
    assert found["late"] == ["m4", "m3", "m2", "m1", "m0"]
    assert found["m5"] == ["late", "m4", "m3", "m2", "m1"]
    assert found["m6"] == ["m5", "late", "m4", "m3", "m2"]
    assert found["m4"] == ["m3", "m2", "m1", "m0"]


def test_linking_again_writes_nothing(graph: FalkorDBGraph, connection: Connection, place: Place) -> None:
    for number in range(7):
        place(f"m{number}", number)
    before = noted(connection)
    graph.link_conversation([f"m{number}" for number in range(7)], LATER)
    assert noted(connection) == before
    place("late", 2.5)
    kept = [row for row in noted(connection) if "late" not in row[:2]]
    assert [row for row in kept if row not in before] == []


def test_seven_days_are_the_limit(connection: Connection, place: Place) -> None:
    week = 7 * 24 * 60
    place("old", 0)
    place("just", week)
    place("over", week + 0.001)
    assert edges(connection) == {"just": ["old"], "over": ["just"]}


def test_a_gap_of_hours_is_bridged(connection: Connection, place: Place) -> None:
    for number in range(6):
        place(f"m{number}", number)
    for number in range(6, 9):
        place(f"m{number}", number + 3 * 24 * 60)
    assert edges(connection)["m8"] == ["m7", "m6", "m5", "m4", "m3"]
    assert edges(connection)["m6"] == ["m5", "m4", "m3", "m2", "m1"]


def test_equal_times_go_by_the_order_of_storing(connection: Connection, place: Place) -> None:
    for memory_id in ("z", "m", "a"):
        place(memory_id, 0)
    place("b", 0.0001)
    assert edges(connection) == {"m": ["z"], "a": ["m", "z"], "b": ["a", "m", "z"]}


def test_equal_times_within_a_batch_go_by_its_order(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    ids = ["q", "c", "x", "d"]
    graph.create([make_draft(memory_id, tags=CHAT) for memory_id in ids], pending=False)
    graph.link_conversation(["d", "q", "x", "c"], AT)
    assert edges(connection) == {"c": ["q"], "x": ["c", "q"], "d": ["x", "c", "q"]}


def test_without_tags_all_memories_are_the_conversation(connection: Connection, place: Place) -> None:
    place("one", 1, ["a"])
    place("bare", 2, [])
    place("two", 3, ["b"])
    place("bare2", 4, [])
    assert edges(connection) == {"bare": ["one"], "bare2": ["two", "bare", "one"]}


def test_one_with_tags_imported_late_stands_before_those_without(
    connection: Connection, place: Place
) -> None:
    place("bare", 5, [])
    place("other", 6, ["b"])
    place("late", 4, ["a"])
    place("next", 7, ["a"])
    assert edges(connection) == {"bare": ["late"], "next": ["late"]}


def test_changed_tags_move_a_memory_to_another_conversation(
    graph: FalkorDBGraph, connection: Connection, place: Place
) -> None:
    for number in range(7):
        place(f"m{number}", number)
    place("n0", 2.5, ["notes"])
    place("n1", 4.5, ["notes"])
    assert graph.update("m3", {"tags": ["notes"]}, 0)
    assert graph.link_conversation(["m3"], AT) == {"m3": 1}
    found = edges(connection)
    assert found["m3"] == ["n0"]
    assert found["n1"] == ["m3", "n0"]
    assert found["m4"] == ["m2", "m1", "m0"]
    assert found["m6"] == ["m5", "m4", "m2", "m1", "m0"]


def test_a_changed_time_moves_a_memory_within_its_conversation(
    graph: FalkorDBGraph, connection: Connection, place: Place
) -> None:
    for number in range(4):
        place(f"m{number}", number)
    assert graph.update("m0", {"timestamp": minutes(2.5)}, 0)
    graph.link_conversation(["m0"], AT)
    assert edges(connection) == {"m2": ["m1"], "m0": ["m2", "m1"], "m3": ["m0", "m2", "m1"]}
    assert graph.update("m0", {"timestamp": None}, 1)
    assert graph.link_conversation(["m0"], AT) == {"m0": 0}
    assert edges(connection) == {"m2": ["m1"], "m3": ["m2", "m1"]}


def test_links_that_another_service_made_by_its_rules_are_put_right(
    graph: FalkorDBGraph, connection: Connection, place: Place
) -> None:
    for number in range(3):
        place(f"m{number}", number)
    place("far", 1.5, ["elsewhere"])
    connection.write(
        "MATCH (a:Memory {id: 'm2'}) MATCH (b:Memory {id: 'far'}) CREATE (a)-[:PRECEDED_BY {count: 4}]->(b)",
        {},
    )
    connection.write("MATCH (:Memory {id: 'm2'})-[r:PRECEDED_BY]->(:Memory {id: 'm1'}) SET r.count = 3", {})
    connection.write(
        "MATCH (a:Memory {id: 'm2'}) MATCH (b:Memory {id: 'm0'}) CREATE (a)-[:SIMILAR_TO]->(b)", {}
    )
    graph.link_conversation(["m2"], LATER)
    assert edges(connection) == {"m1": ["m0"], "m2": ["m1", "m0"]}
    assert ["m2", "m1", 3, AT] in noted(connection)
    assert connection.read("MATCH ()-[r:SIMILAR_TO]->() RETURN count(r)", {}) == [[1]]


@dataclass(frozen=True)
class Told:
    """A memory of the random import: where it belongs is said by the test, not by its tags."""

    id: str
    at: datetime
    talk: str | None

    def precedes(self, other: Told, stored: Sequence[str]) -> bool:
        """Say whether this one stands before the other in the other's conversation."""
        if other.talk is not None and other.talk != self.talk:
            return False
        if self.at == other.at:
            return stored.index(self.id) < stored.index(other.id)
        return self.at < other.at and other.at - self.at <= timedelta(days=7)


def a_story(choice: random.Random) -> list[Told]:
    """Give memories of three conversations and of none: bursts, long silences, equal times."""
    story: list[Told] = []
    at = START
    for number in range(60):
        at += choice.choice(
            [
                timedelta(0),
                timedelta(microseconds=1),
                timedelta(seconds=20),
                timedelta(hours=1),
                timedelta(hours=3),
                timedelta(days=2),
            ]
        )
        story.append(Told(f"s{number:02}", at, choice.choice(["red", "blue", "green", None])))
    return story


def expected(story: Sequence[Told], stored: Sequence[str]) -> dict[str, list[str]]:
    """Compare each with each other."""
    answer: dict[str, list[str]] = {}
    for one in story:
        before = [other for other in story if other.id != one.id and other.precedes(one, stored)]
        before.sort(key=lambda other: (other.at, stored.index(other.id)), reverse=True)
        if before:
            answer[one.id] = [other.id for other in before[:5]]
    return answer


@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_storing_gives_what_comparing_all_gives(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft, seed: int
) -> None:
    choice = random.Random(seed)
    story = a_story(choice)
    arriving = choice.sample(story, len(story))
    while arriving:
        size = choice.choice([1, 1, 1, 8])
        batch, arriving = arriving[:size], arriving[size:]
        drafts = [
            make_draft(
                told.id,
                timestamp=told.at.isoformat(),
                tags=(f"talk:{told.talk}", "everything") if told.talk else (),
            )
            for told in batch
        ]
        graph.create(drafts, pending=False)
        graph.link_conversation([told.id for told in batch], AT)
    order = [row[0] for row in connection.read("MATCH (m:Memory) RETURN m.id ORDER BY m._seq", {})]
    assert edges(connection) == expected(story, order)
    counts = graph.link_conversation([told.id for told in story], LATER)
    assert edges(connection) == expected(story, order)
    assert counts == {told.id: len(expected(story, order).get(told.id, [])) for told in story}


def test_what_is_stored_at_the_same_time_is_right_when_it_is_linked_again(
    graph: FalkorDBGraph, connection: Connection, make_draft: MakeDraft
) -> None:
    """As enrichment does, after the write."""
    choice = random.Random(7)
    story = a_story(choice)

    def store(told: Told) -> None:
        tags = (f"talk:{told.talk}",) if told.talk else ()
        graph.create([make_draft(told.id, timestamp=told.at.isoformat(), tags=tags)], pending=False)
        graph.link_conversation([told.id], AT)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(store, choice.sample(story, len(story))))
    for begin in range(0, len(story), 20):
        graph.link_conversation([told.id for told in story[begin : begin + 20]], LATER)
    order = [row[0] for row in connection.read("MATCH (m:Memory) RETURN m.id ORDER BY m._seq, m.id", {})]
    assert edges(connection) == expected(story, order)
