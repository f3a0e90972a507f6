"""A conversation is linked the same in whatever order it is stored (D42), over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx

from tests.support.recalls import store, store_many

START = datetime(2026, 2, 1, 9, tzinfo=UTC)


def at(minute: int) -> str:
    return (START + timedelta(minutes=minute)).isoformat()


def before(api: httpx.Client, memory_id: str) -> list[str]:
    """Give who stands before a memory, the latest first."""
    params = {"type": "PRECEDED_BY", "direction": "outgoing"}
    reply = api.get(f"/memory/{memory_id}/associations", params=params)
    assert reply.status_code == 200, reply.text
    others = [row["memory"] for row in reply.json()["associations"]]
    return [row["id"] for row in sorted(others, key=lambda row: row["timestamp"], reverse=True)]


def test_turns_that_are_imported_backwards_are_linked_forwards(api: httpx.Client, tag: str) -> None:
    ids = {minute: store(api, f"turn {minute}", tag, timestamp=at(minute)) for minute in reversed(range(7))}
    assert before(api, ids[6]) == [ids[minute] for minute in (5, 4, 3, 2, 1)]
    assert before(api, ids[2]) == [ids[1], ids[0]]
    assert before(api, ids[0]) == []


def test_a_batch_that_is_imported_late_stands_between(api: httpx.Client, tag: str) -> None:
    first, *_, last = [store(api, f"turn {minute}", tag, timestamp=at(minute)) for minute in range(0, 12, 2)]
    late = store_many(api, ["between", "between too"], tag, timestamp=at(1))
    assert set(before(api, late[1])) == {late[0], first}
    assert before(api, late[0]) == [first]
    assert first not in before(api, last)
    assert len(before(api, last)) == 5
