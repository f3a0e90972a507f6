"""Writes that are sent again (D25)."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest


@pytest.fixture
def key() -> dict[str, str]:
    return {"Idempotency-Key": f"key {uuid.uuid4()}"}


def memory_count(api: Any) -> int:
    return int(api.get("/health").json()["memory_count"])


def test_the_same_key_and_body_give_the_same_answer(api: Any, key: dict[str, str]) -> None:
    body = {"content": "once", "metadata": {"b": 1, "a": 2}, "bank": "x"}
    first = api.post("/memory", json=body, headers=key)
    before = memory_count(api)
    again = api.post("/memory", json=dict(reversed(body.items())), headers=key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert memory_count(api) == before


def test_the_same_key_with_another_body_is_a_conflict(api: Any, key: dict[str, str]) -> None:
    assert api.post("/memory", json={"content": "once"}, headers=key).status_code == 201
    for path, body in [
        ("/memory", {"content": "other"}),
        ("/memory", {"content": "once", "importance": 1}),
        ("/memory/batch", {"memories": [{"content": "once"}]}),
    ]:
        reply = api.post(path, json=body, headers=key)
        assert reply.status_code == 409, reply.text
        assert reply.json()["message"] == "The Idempotency-Key was used before with another body"


def test_an_answer_is_repeated_even_after_the_memory_is_gone(api: Any, key: dict[str, str]) -> None:
    first = api.post("/memory", json={"content": "once"}, headers=key).json()
    api.delete(f"/memory/{first['memory_id']}")
    assert api.post("/memory", json={"content": "once"}, headers=key).json() == first


def test_a_batch_is_repeated_as_a_whole(api: Any, key: dict[str, str]) -> None:
    body = {"memories": [{"content": f"row {n}"} for n in range(5)]}
    first = api.post("/memory/batch", json=body, headers=key)
    assert first.json()["qdrant"] == "stored (5)"
    again = api.post("/memory/batch", json=body, headers=key)
    assert (again.status_code, again.json()) == (201, first.json())


def test_a_refused_write_does_not_use_up_its_key(api: Any, key: dict[str, str]) -> None:
    assert api.post("/memory", json={"content": ""}, headers=key).status_code == 400
    assert api.post("/memory", json={"content": "a"}, headers=key).status_code == 201


@pytest.mark.parametrize("value", ["", "x" * 256])
def test_a_bad_key_is_named(api: Any, value: str) -> None:
    reply = api.post("/memory", json={"content": "a"}, headers={"Idempotency-Key": value})
    assert reply.status_code == 400
    assert reply.json()["field"] == "Idempotency-Key"


def test_the_same_id_and_content_give_the_first_answer(api: Any) -> None:
    body = {"content": "once", "id": str(uuid.uuid4()).upper(), "embedding": [1.0] + [0.0] * 383}
    first = api.post("/memory", json=body)
    assert first.json()["memory_id"] == body["id"].lower()
    api.patch(f"/memory/{body['id']}", json={"importance": 1, "metadata": {"changed": True}})
    again = api.post("/memory", json=body)
    assert (again.status_code, again.json()) == (201, first.json())
    assert api.get(f"/memory/{body['id']}").json()["memory"]["importance"] == 1


def test_the_same_id_with_other_content_is_a_conflict(api: Any) -> None:
    own = str(uuid.uuid4())
    api.post("/memory", json={"content": "once", "id": own})
    reply = api.post("/memory", json={"content": "other", "id": own})
    assert reply.status_code == 409
    assert reply.json()["message"] == "A memory with this id exists already with other content"
    assert api.get(f"/memory/{own}").json()["memory"]["content"] == "once"


def test_the_id_of_a_memory_that_the_service_named_counts_too(api: Any) -> None:
    made = api.post("/memory", json={"content": "once", "type": "T"}).json()
    again = api.post("/memory", json={"content": "once", "id": made["memory_id"]})
    assert again.status_code == 201
    for name in ("memory_id", "stored_at", "type", "confidence", "metadata", "timestamp"):
        assert again.json()[name] == made[name]


@pytest.mark.parametrize("named_by", ["key", "id"])
def test_twins_at_the_same_time_store_once(api: Any, key: dict[str, str], named_by: str) -> None:
    own = {"id": str(uuid.uuid4())} if named_by == "id" else {}
    headers = key if named_by == "key" else {}
    before = memory_count(api)

    def send(_: int) -> Any:
        return api.post("/memory", json={"content": "once", **own}, headers=headers)

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(send, range(8)))
    assert {reply.status_code for reply in replies} == {201}
    assert len({reply.json()["memory_id"] for reply in replies}) == 1
    assert memory_count(api) == before + 1


def test_twins_with_different_content_store_one_of_them(api: Any) -> None:
    own = str(uuid.uuid4())

    def send(number: int) -> int:
        body = {"content": f"version {number}", "id": own}
        return int(api.post("/memory", json=body).status_code)

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(send, range(8))) == [201] + [409] * 7


def test_twin_batches_store_once(api: Any, key: dict[str, str]) -> None:
    before = memory_count(api)
    body = {"memories": [{"content": f"row {n}"} for n in range(10)]}
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda _: api.post("/memory/batch", json=body, headers=key), range(4)))
    assert {reply.status_code for reply in replies} == {201}
    assert len({tuple(reply.json()["memory_ids"]) for reply in replies}) == 1
    assert memory_count(api) == before + 10
