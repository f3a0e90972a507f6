"""POST /memory/batch over HTTP: whole or not at all, in order, with vectors where time allows."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.service import RunningService

MakeService = Callable[..., RunningService]


def memory_count(api: Any) -> int:
    return int(api.get("/health").json()["memory_count"])


def test_a_batch_is_stored_in_order_with_its_vectors(api: Any) -> None:
    rows = [{"content": f"row {n} of a batch", "importance": n / 100} for n in range(60)]
    reply = api.post("/memory/batch", json={"memories": rows})
    assert reply.status_code == 201, reply.text
    answer = reply.json()
    memory_ids = answer.pop("memory_ids")
    assert answer.pop("query_time_ms") > 0
    assert answer == {"status": "success", "stored": 60, "qdrant": "stored (60)", "enrichment": "queued"}
    for number in (0, 31, 59):
        memory = api.get(f"/memory/{memory_ids[number]}").json()["memory"]
        assert (memory["content"], memory["importance"]) == (f"row {number} of a batch", number / 100)


def test_500_rows_are_a_batch(api: Any, settled: Callable[[], None]) -> None:
    reply = api.post("/memory/batch", json={"memories": [{"content": f"n{n}"} for n in range(500)]})
    assert reply.status_code == 201
    assert len(set(reply.json()["memory_ids"])) == 500
    assert reply.json()["qdrant"].startswith("stored (")
    settled()


def test_every_field_of_a_row_counts(api: Any) -> None:
    row = {
        "content": "a row",
        "tags": "a, B",
        "metadata": {"odd-key!": {"": 1}},
        "type": "T",
        "confidence": 0.2,
        "timestamp": "2024-01-01",
        "updated_at": "2024-01-02",
        "last_accessed": "2024-01-03",
        "t_valid": "2023-01-01",
        "t_invalid": "2030-01-01",
        "embedding": [1.0] + [0.0] * 383,
        "id": str(uuid.uuid4()),
    }
    answer = api.post("/memory/batch", json={"memories": [row]}).json()
    assert (answer["memory_ids"], answer["qdrant"]) == ([row["id"]], "stored (1)")
    memory = api.get(f"/memory/{row['id']}").json()["memory"]
    assert memory["tags"] == ["a", "B"]
    assert (memory["metadata"], memory["type"], memory["confidence"]) == (row["metadata"], "T", 0.2)
    assert [memory[name][:10] for name in ("timestamp", "updated_at", "last_accessed")] == [
        "2024-01-01",
        "2024-01-02",
        "2024-01-03",
    ]
    assert (memory["t_valid"][:10], memory["t_invalid"][:10]) == ("2023-01-01", "2030-01-01")


def test_one_bad_row_refuses_all_and_every_bad_row_is_listed(api: Any) -> None:
    before = memory_count(api)
    rows: list[Any] = [{"content": "fine"}, {"content": ""}, 5, {"content": "a", "timestamp": "soon"}]
    rows += [{"content": "a", "metadata": "text"}, {"content": "fine"}]
    reply = api.post("/memory/batch", json={"memories": rows})
    assert reply.status_code == 400
    fault = reply.json()
    assert fault["message"] == "Memory at index 1 missing 'content'"
    assert fault["errors"] == [
        {"index": 1, "field": "content", "message": "Memory at index 1 missing 'content'"},
        {"index": 2, "message": "Memory at index 2 must be an object"},
        {"index": 3, "field": "timestamp", "message": "Invalid ISO timestamp"},
        {"index": 4, "field": "metadata", "message": "'metadata' must be an object"},
    ]
    assert memory_count(api) == before


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "'memories' must be a non-empty array"),
        ({"memories": []}, "'memories' must be a non-empty array"),
        ({"memories": {"content": "a"}}, "'memories' must be a non-empty array"),
        ({"memories": [{"content": "a"}] * 501}, "Batch size limit is 500 memories per request"),
    ],
)
def test_a_batch_must_have_1_to_500_rows(api: Any, body: dict[str, Any], message: str) -> None:
    reply = api.post("/memory/batch", json=body)
    assert (reply.status_code, reply.json()["message"]) == (400, message)


def test_a_batch_needs_a_json_body(api: Any) -> None:
    reply = api.post("/memory/batch", content="x", headers={"Content-Type": "text/plain"})
    assert reply.status_code == 400
    assert reply.json()["message"].startswith("JSON body with 'memories' array required")


def test_a_faulty_text_in_a_row_is_listed_by_row(api: Any) -> None:
    rows = [{"content": "a"}, {"content": "b", "tags": ["x\x00"]}]
    reply = api.post("/memory/batch", json={"memories": rows})
    assert reply.status_code == 400
    assert [(row["index"], row["field"]) for row in reply.json()["errors"]] == [(1, "tags[0]")]


def test_unknown_fields_of_rows_are_named_once(api: Any) -> None:
    rows = [{"content": "a", "bank": 1}, {"content": "b", "bank": 2, "id": "mine"}]
    warnings = api.post("/memory/batch", json={"memories": rows}).json()["warnings"]
    assert [(warning["code"], warning["parameter"]) for warning in warnings] == [
        ("unknown_field", "bank"),
        ("id_ignored", "id"),
    ]


def test_rows_that_are_stored_already_keep_their_ids(api: Any) -> None:
    own = str(uuid.uuid4())
    first = api.post("/memory", json={"content": "once", "id": own})
    assert first.json()["memory_id"] == own
    rows = [{"content": "new"}, {"content": "once", "id": own.upper()}]
    answer = api.post("/memory/batch", json={"memories": rows}).json()
    assert answer["stored"] == 2
    assert answer["memory_ids"][1] == own
    again = api.post("/memory/batch", json={"memories": [{"content": "once", "id": own}]})
    assert (again.status_code, again.json()["memory_ids"]) == (201, [own])


def test_an_id_that_is_stored_with_other_content_refuses_all(api: Any) -> None:
    own = str(uuid.uuid4())
    api.post("/memory", json={"content": "once", "id": own})
    before = memory_count(api)
    reply = api.post(
        "/memory/batch", json={"memories": [{"content": "new"}, {"content": "other", "id": own}]}
    )
    assert reply.status_code == 409
    assert "index 1" in reply.json()["message"]
    assert memory_count(api) == before


def test_the_same_id_twice_in_a_batch_is_a_bad_row(api: Any) -> None:
    own = str(uuid.uuid4())
    rows = [{"content": "a", "id": own}, {"content": "a", "id": own}]
    reply = api.post("/memory/batch", json={"memories": rows})
    assert reply.status_code == 400
    assert [(row["index"], row["field"]) for row in reply.json()["errors"]] == [(1, "id")]
