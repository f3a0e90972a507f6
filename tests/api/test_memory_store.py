"""POST /memory and GET /memory/{id} over HTTP: what is answered is stored, and found again."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.support.service import wait_until

UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


def get(api: Any, memory_id: str) -> dict[str, Any]:
    reply = api.get(f"/memory/{memory_id}")
    assert reply.status_code == 200, reply.text
    memory: dict[str, Any] = reply.json()["memory"]
    return memory


def test_a_full_memory_is_stored_and_given_back(api: Any) -> None:
    body = {
        "content": "  We decided to move to Bern.\n\nIn June. ",
        "tags": ["Project:Move", "home, Project:Move", " "],
        "importance": "0.8",
        "metadata": {"source-id": 7, "nested": {"a b": [1, None, 2.5]}},
        "type": "My own type",
        "confidence": 0.4,
        "timestamp": "2024-03-01T10:00:00+02:00",
        "updated_at": "2024-03-02",
        "last_accessed": "2024-03-03T00:00:00Z",
        "t_valid": "2024-01-01",
        "t_invalid": "2030-01-01",
    }
    reply = api.post("/memory", json=body)
    assert reply.status_code == 201
    answer = reply.json()
    memory_id = answer.pop("memory_id")
    assert str(uuid.UUID(memory_id)) == memory_id
    assert answer.pop("query_time_ms") >= 0
    assert answer == {
        "status": "success",
        "stored_at": "2024-03-01T08:00:00+00:00",
        "type": "My own type",
        "confidence": 0.4,
        "qdrant": "queued",
        "embedding_status": "queued",
        "enrichment": "queued",
        "metadata": body["metadata"],
        "timestamp": "2024-03-01T08:00:00+00:00",
        "updated_at": "2024-03-02T00:00:00+00:00",
        "last_accessed": "2024-03-03T00:00:00+00:00",
    }
    assert get(api, memory_id) == {
        "id": memory_id,
        "content": "We decided to move to Bern.\n\nIn June.",
        "tags": ["Project:Move", "home"],
        "tag_prefixes": ["project", "project:move", "home"],
        "importance": 0.8,
        "metadata": body["metadata"],
        "type": "My own type",
        "confidence": 0.4,
        "timestamp": "2024-03-01T08:00:00+00:00",
        "updated_at": "2024-03-02T00:00:00+00:00",
        "last_accessed": "2024-03-03T00:00:00+00:00",
        "t_valid": "2024-01-01T00:00:00+00:00",
        "t_invalid": "2030-01-01T00:00:00+00:00",
        "processed": False,
    }


def test_defaults_are_shown_and_what_is_not_set_is_absent(api: Any) -> None:
    answer = api.post("/memory", json={"content": "The sky over Oslo is blue"}).json()
    assert (answer["type"], answer["confidence"], answer["metadata"]) == ("Memory", 0.3, {})
    assert answer["stored_at"] == answer["timestamp"] == answer["updated_at"] == answer["last_accessed"]
    memory = get(api, answer["memory_id"])
    assert (memory["importance"], memory["tags"], memory["metadata"]) == (0.5, [], {})
    assert memory["t_valid"] == memory["timestamp"]
    assert "t_invalid" not in memory
    assert None not in memory.values()
    assert not [name for name in memory if name.startswith("_")]


def test_the_text_decides_the_type_where_none_is_given(api: Any) -> None:
    answer = api.post("/memory", json={"content": "We decided to go", "confidence": 0.1}).json()
    assert (answer["type"], answer["confidence"]) == ("Decision", 0.6)


def test_content_is_stored_whole_up_to_the_limit(api: Any) -> None:
    content = "ä" * 32_768
    answer = api.post("/memory", json={"content": content})
    assert answer.status_code == 201
    assert get(api, answer.json()["memory_id"])["content"] == content
    refused = api.post("/memory", json={"content": content + "x"})
    assert refused.status_code == 400
    assert refused.json()["message"].startswith(
        "Content exceeds maximum length of 32768 characters (32769 provided)"
    )


@pytest.mark.parametrize("as_text", [False, True])
def test_a_given_vector_is_stored_at_once(api: Any, as_text: bool) -> None:
    vector: Any = [0.0] * 383 + [2.0]
    if as_text:
        vector = ", ".join(map(str, vector))
    answer = api.post("/memory", json={"content": "a vector of my own", "embedding": vector}).json()
    assert (answer["qdrant"], answer["embedding_status"]) == ("stored", "provided")


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({}, "content", "'content' is required"),
        ({"content": "  "}, "content", "'content' is required"),
        ({"content": 5}, "content", "'content' must be a string, not a number"),
        ({"content": ["a"]}, "content", "'content' must be a string, not a list"),
        ({"content": "a\x00b"}, "content", "NUL"),
        ({"content": "a", "tags": 5}, "tags", "'tags' must be a list of strings or a single string"),
        ({"content": "a", "tags": ["a", 5]}, "tags", "'tags' must be a list of strings or a single string"),
        ({"content": "a", "tags": ["a\x00"]}, "tags[0]", "NUL"),
        ({"content": "a", "importance": "high"}, "importance", "'importance' must be a number"),
        ({"content": "a", "importance": 1.1}, "importance", "'importance' must be between 0 and 1"),
        ({"content": "a", "importance": []}, "importance", "'importance' must be a number"),
        ({"content": "a", "metadata": []}, "metadata", "'metadata' must be an object"),
        ({"content": "a", "metadata": "x"}, "metadata", "'metadata' must be an object"),
        ({"content": "a", "metadata": {"k": {"a": "\x00"}}}, "metadata.k.a", "NUL"),
        ({"content": "a", "type": 5}, "type", "'type' must be a non-empty string"),
        ({"content": "a", "type": {"a": 1}}, "type", "'type' must be a non-empty string"),
        ({"content": "a", "type": "x" * 101}, "type", "at most 100 characters"),
        (
            {"content": "a", "type": "T", "confidence": -1},
            "confidence",
            "'confidence' must be between 0 and 1",
        ),
        ({"content": "a", "timestamp": "soon"}, "timestamp", "Invalid ISO timestamp"),
        ({"content": "a", "timestamp": 5}, "timestamp", "Timestamp must be a non-empty ISO formatted string"),
        ({"content": "a", "timestamp": "0001-01-01T00:00:00+05:00"}, "timestamp", "Invalid ISO timestamp"),
        ({"content": "a", "t_valid": "x"}, "t_valid", "Invalid t_valid: Invalid ISO timestamp"),
        ({"content": "a", "t_invalid": "x"}, "t_invalid", "Invalid t_invalid: Invalid ISO timestamp"),
        ({"content": "a", "updated_at": "x"}, "updated_at", "Invalid updated_at: Invalid ISO timestamp"),
        ({"content": "a", "last_accessed": 1}, "last_accessed", "Invalid last_accessed: Timestamp must be"),
        ({"content": "a", "embedding": [1, 2]}, "embedding", "Embedding must contain exactly 384 values"),
        ({"content": "a", "embedding": {}}, "embedding", "Embedding must be a list of floats"),
        ({"content": "a", "embedding": [None] * 384}, "embedding", "Embedding must contain numeric values"),
        ({"content": "a", "embedding": [True] * 384}, "embedding", "Embedding must contain numeric values"),
        ({"content": "a", "embedding": [0] * 384}, "embedding", "Embedding must not be all zeros"),
    ],
)
def test_bad_input_is_named(api: Any, body: dict[str, Any], field: str, message: str) -> None:
    reply = api.post("/memory", json=body)
    assert reply.status_code == 400, reply.text
    fault = reply.json()
    assert (fault["status"], fault["code"], fault["field"]) == ("error", 400, field)
    assert message in fault["message"]


@pytest.mark.parametrize(
    "raw",
    [
        '{"content": "a", "importance": NaN}',
        '{"content": "a", "metadata": {"x": Infinity}}',
        '{"content": "a", "metadata": {"x": 1e999}}',
        '{"content": "a", "metadata": {"x": 99999999999999999999999999}}',
        '{"content": "a\\ud800b"}',
        '{"content": "a", "metadata": {"\\ud800": 1}}',
        '{"content": "a", "metadata": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"content": "a"',
        '["content"]',
        '"content"',
        "null",
        "",
    ],
)
def test_what_is_no_good_json_is_refused(api: Any, raw: str) -> None:
    headers = {"Content-Type": "application/json"}
    for method, path in [("POST", "/memory"), ("POST", "/memory/batch"), ("PATCH", f"/memory/{UUID}")]:
        reply = api.request(method, path, content=raw, headers=headers)
        assert reply.status_code == 400, (method, path, reply.text)
        assert reply.json()["status"] == "error"


def test_a_body_that_is_not_sent_as_json_is_no_body(api: Any) -> None:
    for content_type in ("text/plain", "application/x-www-form-urlencoded"):
        reply = api.post("/memory", content='{"content": "a"}', headers={"Content-Type": content_type})
        assert reply.status_code == 400
        assert reply.json()["message"].startswith("JSON body is required")


def test_nulls_and_unknown_fields_are_no_faults(api: Any) -> None:
    optional = ["embedding", "type", "confidence", "id", "importance", "tags", "metadata", "timestamp"]
    optional += ["t_valid", "t_invalid", "updated_at", "last_accessed"]
    body = {"content": "a", "bank": "main", "supersedes_memory_id": None, **dict.fromkeys(optional)}
    reply = api.post("/memory", params={"rerank": "true"}, json=body)
    assert reply.status_code == 201
    named = [(warning["code"], warning["parameter"]) for warning in reply.json()["warnings"]]
    assert named == [
        ("unknown_parameter", "rerank"),
        ("unknown_field", "bank"),
        ("unknown_field", "supersedes_memory_id"),
    ]


@pytest.mark.parametrize("value", ["abc", 5, "0f8fad5b", ["x"]])
def test_an_id_that_is_no_uuid_is_ignored_with_a_warning(api: Any, value: object) -> None:
    reply = api.post("/memory", json={"content": "a", "id": value})
    assert reply.status_code == 201
    [warning] = reply.json()["warnings"]
    assert (warning["code"], warning["parameter"]) == ("id_ignored", "id")
    assert get(api, reply.json()["memory_id"])["content"] == "a"


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    "memory_id", ["abc", "batch", "by-tagg", UUID[:-1], "1_345678901234567890123456789012"]
)
def test_an_id_in_the_path_must_be_a_uuid(api: Any, method: str, memory_id: str) -> None:
    reply = api.request(method, f"/memory/{memory_id}", json={} if method == "PATCH" else None)
    assert reply.status_code == 400
    assert reply.json()["message"] == "memory_id must be a valid UUID"
    assert reply.json()["field"] == "memory_id"


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_an_unknown_memory_is_not_found(api: Any, method: str) -> None:
    reply = api.request(
        method, f"/memory/{uuid.uuid4()}", json={"importance": 1} if method == "PATCH" else None
    )
    assert reply.status_code == 404
    assert reply.json()["message"] == "Memory not found"


def test_every_spelling_of_an_id_finds_the_memory(api: Any) -> None:
    memory_id = api.post("/memory", json={"content": "a"}).json()["memory_id"]
    for spelled in (
        memory_id.upper(),
        memory_id.replace("-", ""),
        "{" + memory_id + "}",
        f"urn:uuid:{memory_id}",
    ):
        assert get(api, spelled)["id"] == memory_id


def test_reading_is_recorded_later_and_shown_the_next_time(api: Any) -> None:
    body = {"content": "a", "last_accessed": "2020-01-01"}
    memory_id = api.post("/memory", json=body).json()["memory_id"]
    assert get(api, memory_id)["last_accessed"] == "2020-01-01T00:00:00+00:00"
    wait_until(lambda: get(api, memory_id)["last_accessed"] > "2025")


def test_hostile_text_is_only_text(api: Any) -> None:
    hostile = "'}) DETACH DELETE n // \" \\ $x {y} `z` \u2028 \U0001f600 \u202e"
    body = {"content": hostile, "tags": ["a'b\"c\\"], "metadata": {"k'`": hostile}, "type": "T'\"\\"}
    memory = get(api, api.post("/memory", json=body).json()["memory_id"])
    assert (memory["content"], memory["tags"]) == (hostile, ["a'b\"c\\"])
    assert (memory["metadata"], memory["type"]) == ({"k'`": hostile}, "T'\"\\")


def test_other_methods_are_told_what_is_allowed(api: Any) -> None:
    reply = api.put("/memory", json={})
    assert reply.status_code == 405
    assert "POST" in reply.headers["Allow"]


def test_the_routes_are_described(api: Any) -> None:
    paths = api.get("/openapi.json").json()["paths"]
    assert set(paths["/memory"]) == {"post"}
    assert set(paths["/memory/batch"]) == {"post"}
    assert {"get", "patch", "delete"} <= set(paths["/memory/{memory_id}"])
