"""PATCH and DELETE /memory/{id} over HTTP (D24)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from automem.models import Scope
from automem.services import Services
from tests.support.service import wait_until


@pytest.fixture
def memory_id(api: Any, settled: Any) -> str:
    body = {
        "content": "old text",
        "tags": ["a", "b"],
        "importance": 0.2,
        "metadata": {"k": 1, "l": 2},
        "type": "T",
        "confidence": 0.5,
        "timestamp": "2024-01-01",
        "t_invalid": "2040-01-01",
    }
    made = str(api.post("/memory", json=body).json()["memory_id"])
    settled()
    return made


def metadata_of(memory: dict[str, Any]) -> dict[str, Any]:
    """The client's part of the metadata."""
    return {name: value for name, value in memory["metadata"].items() if name != "enrichment"}


def get(api: Any, memory_id: str) -> dict[str, Any]:
    memory: dict[str, Any] = api.get(f"/memory/{memory_id}").json()["memory"]
    return memory


def patch(api: Any, memory_id: str, **body: Any) -> dict[str, Any]:
    reply = api.patch(f"/memory/{memory_id}", json=body)
    assert reply.status_code == 200, reply.text
    answer: dict[str, Any] = reply.json()
    return answer


def test_only_the_fields_sent_change_and_the_change_is_dated(api: Any, memory_id: str) -> None:
    before = get(api, memory_id)
    assert patch(api, memory_id, importance="0.9", tags="X, y") == {
        "status": "success",
        "memory_id": memory_id,
    }
    after = get(api, memory_id)
    assert after["updated_at"] > before["updated_at"]
    assert (after["importance"], after["tags"], after["tag_prefixes"]) == (0.9, ["X", "y"], ["x", "y"])
    changed = {"importance", "tags", "tag_prefixes", "updated_at", "last_accessed"}
    assert {k: v for k, v in after.items() if k not in changed} == {
        k: v for k, v in before.items() if k not in changed
    }


def test_metadata_is_replaced_as_a_whole(api: Any, memory_id: str) -> None:
    patch(api, memory_id, metadata={"m": {"n": 1}})
    assert metadata_of(get(api, memory_id)) == {"m": {"n": 1}}


def test_null_removes_or_empties(api: Any, memory_id: str) -> None:
    patch(api, memory_id, tags=None, metadata=None, t_valid=None, t_invalid=None, importance=None, type=None)
    after = get(api, memory_id)
    assert (after["tags"], metadata_of(after)) == ([], {})
    assert not {"t_valid", "t_invalid"} & set(after)
    assert (after["importance"], after["type"]) == (0.2, "T")


def test_a_given_updated_at_is_kept(api: Any, memory_id: str) -> None:
    patch(api, memory_id, importance=1, updated_at="2024-05-05")
    assert get(api, memory_id)["updated_at"] == "2024-05-05T00:00:00+00:00"


def test_nothing_to_change_is_no_fault_and_no_change(api: Any, memory_id: str) -> None:
    before = get(api, memory_id)
    assert "warnings" not in patch(api, memory_id)
    [warning] = patch(api, memory_id, embedding=[1])["warnings"]
    assert (warning["code"], warning["parameter"]) == ("unknown_field", "embedding")
    assert get(api, memory_id)["updated_at"] == before["updated_at"]


@pytest.mark.parametrize(
    "fault",
    [
        {"content": None},
        {"content": " "},
        {"content": "x" * 32_769},
        {"importance": "high"},
        {"confidence": 2},
        {"type": 5},
        {"metadata": []},
        {"tags": 5},
        {"t_invalid": "soon"},
        {"updated_at": 5},
    ],
)
def test_a_bad_field_changes_nothing(api: Any, memory_id: str, fault: dict[str, Any]) -> None:
    before = get(api, memory_id)
    reply = api.patch(f"/memory/{memory_id}", json={"importance": 1, "tags": ["new"]} | fault)
    assert reply.status_code == 400
    assert reply.json()["field"] == next(iter(fault))
    after = get(api, memory_id)
    assert {k: v for k, v in after.items() if k != "last_accessed"} == {
        k: v for k, v in before.items() if k != "last_accessed"
    }


def test_concurrent_changes_of_different_fields_all_take_effect(api: Any, memory_id: str) -> None:
    bodies: list[dict[str, Any]] = [
        {"importance": 0.77},
        {"tags": ["c"]},
        {"type": "New"},
        {"confidence": 0.99},
        {"metadata": {"z": 1}},
        {"t_valid": "2023-01-01"},
        {"t_invalid": "2041-01-01"},
        {"content": "new text"},
        {"timestamp": "2023-02-02"},
    ]
    with ThreadPoolExecutor(len(bodies)) as pool:
        list(pool.map(lambda body: patch(api, memory_id, **body), bodies))
    after = get(api, memory_id)
    assert (after["importance"], after["tags"], after["type"]) == (0.77, ["c"], "New")
    assert (after["confidence"], metadata_of(after), after["content"]) == (0.99, {"z": 1}, "new text")
    assert after["t_valid"].startswith("2023-01-01")
    assert after["t_invalid"].startswith("2041-01-01")
    assert after["timestamp"].startswith("2023-02-02")


def test_concurrent_changes_of_one_field_leave_one_of_them(api: Any, memory_id: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: patch(api, memory_id, metadata={"writer": n}), range(24)))
    assert get(api, memory_id)["metadata"]["writer"] in range(24)


class TestInProcess:
    """The same routes on services that the test can look into."""

    @pytest.fixture
    def stored(self, app_client: Any, services: Services) -> str:
        body = {"content": "I grow tomatoes", "tags": ["garden"]}
        made = app_client.post("/memory/batch", json={"memories": [body]}).get_json()
        assert made["qdrant"] == "stored (1)"
        return str(made["memory_ids"][0])

    def similarity(self, services: Services, text: str, memory_id: str) -> float:
        vector = services.provider.embed_query(text).tolist()
        return services.vectors.similarities(vector, [memory_id])[memory_id]

    def test_a_new_text_has_its_vector_when_the_answer_comes(
        self, app_client: Any, services: Services, stored: str
    ) -> None:
        assert self.similarity(services, "I grow tomatoes", stored) > 0.99
        app_client.patch(f"/memory/{stored}", json={"content": "The printer is broken"})
        assert self.similarity(services, "The printer is broken", stored) > 0.99
        assert not services.graph.get_many([stored])[stored].vector_pending

    def test_a_change_reaches_the_payload(self, app_client: Any, services: Services, stored: str) -> None:
        tag = f"t{uuid.uuid4().hex}"
        app_client.patch(f"/memory/{stored}", json={"tags": [tag], "importance": 0.9, "metadata": {"a": 1}})
        [hit] = services.vectors.scroll(_scope(services, tag), 10)
        assert (hit.id, hit.importance, hit.metadata["a"]) == (stored, 0.9, 1)

    def test_deleting_removes_node_and_vector(self, app_client: Any, services: Services, stored: str) -> None:
        reply = app_client.delete(f"/memory/{stored}")
        assert (reply.status_code, reply.get_json()) == (200, {"status": "success", "memory_id": stored})
        assert services.graph.get_many([stored]) == {}
        assert services.vectors.vectors([stored]) == {}
        assert services.graph.tombstones(10) == []
        assert app_client.delete(f"/memory/{stored}").status_code == 404
        assert app_client.get(f"/memory/{stored}").status_code == 404

    def test_a_deleted_id_may_be_used_again(
        self, app_client: Any, services: Services, settle: Callable[[], None]
    ) -> None:
        own = str(uuid.uuid4())
        app_client.post("/memory", json={"content": "The printer is broken", "id": own})
        app_client.delete(f"/memory/{own}")
        reply = app_client.post("/memory", json={"content": "I grow tomatoes", "id": own})
        assert (reply.status_code, reply.get_json()["memory_id"]) == (201, own)
        settle()
        assert self.similarity(services, "I grow tomatoes", own) > 0.99

    @pytest.fixture
    def settle(self, services: Services) -> Callable[[], None]:
        return lambda: wait_until(lambda: services.graph.unsettled_count() == 0)


def _scope(services: Services, tag: str) -> Any:
    return Scope(at=services.clock.now(), tags=(tag,))
