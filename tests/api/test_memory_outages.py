"""Stores that fail before, during and after a write: never a 5xx for what is stored (D39)."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from automem.app import create_app
from automem.config import Settings
from automem.embedding.breaker import MonotonicStopwatch
from automem.errors import GraphUnavailable, VectorsUnavailable
from automem.memory.answers import Timer
from automem.memory.batch import store_batch
from automem.memory.drafts import Limits, read_batch
from automem.memory.idempotency import read_request
from automem.services import Services, build_services
from automem.workers.embedding import EmbeddingWorker, Pace
from tests.support.breakable import Breakable
from tests.support.openai_server import AiServer, Late
from tests.support.service import wait_until

VECTOR = [1.0] + [0.0] * 383


@dataclass
class Stage:
    """An application whose stores can be broken."""

    client: Any
    graph: Any
    vectors: Any
    embedder: EmbeddingWorker

    def well(self) -> None:
        self.graph.down = self.vectors.down = False
        self.graph.broken.clear()
        self.graph.lost.clear()
        self.vectors.broken.clear()

    def store(self, **fields: Any) -> Any:
        return self.client.post("/memory", json={"content": "hello", "type": "T", **fields})

    def settled(self) -> None:
        self.embedder.notify()
        wait_until(lambda: self.graph.pending_vector_count() == 0)


@pytest.fixture
def stage(services: Services) -> Iterator[Stage]:
    graph: Any = Breakable(services.graph, GraphUnavailable)
    vectors: Any = Breakable(services.vectors, VectorsUnavailable)
    pace = Pace(first_retry=0.01, longest_retry=0.05, longest_outage=0.05, idle=0.05)
    embedder = EmbeddingWorker(graph, vectors, services.provider, services.clock, pace)
    broken = dataclasses.replace(services, graph=graph, vectors=vectors, embedder=embedder)
    made = Stage(create_app(services.settings, broken).test_client(), graph, vectors, embedder)
    embedder.start()
    yield made
    made.well()
    embedder.stop()


def test_without_the_graph_nothing_is_accepted(stage: Stage) -> None:
    memory_id = stage.store().get_json()["memory_id"]
    stage.graph.down = True
    for method, path, body in [
        ("POST", "/memory", {"content": "a"}),
        ("POST", "/memory/batch", {"memories": [{"content": "a"}]}),
        ("GET", f"/memory/{memory_id}", None),
        ("PATCH", f"/memory/{memory_id}", {"importance": 1}),
        ("DELETE", f"/memory/{memory_id}", None),
    ]:
        reply = stage.client.open(path, method=method, json=body)
        assert reply.status_code == 503, (method, path)
        assert reply.get_json()["status"] == "error"
        assert int(reply.headers["Retry-After"]) > 0


def test_without_the_vector_store_writes_are_accepted_and_made_good(stage: Stage, services: Services) -> None:
    stage.vectors.down = True
    plain = stage.store().get_json()
    given = stage.store(embedding=VECTOR).get_json()
    assert plain["qdrant"] == "queued"
    assert (given["qdrant"], given["embedding_status"]) == ("failed", "provided")
    rows = [{"content": "a", "type": "T"}, {"content": "b", "type": "T"}]
    batch = stage.client.post("/memory/batch", json={"memories": rows})
    assert (batch.status_code, batch.get_json()["qdrant"]) == (201, "queued")
    changed = stage.client.patch(f"/memory/{plain['memory_id']}", json={"tags": ["new"]})
    assert changed.status_code == 200
    stage.vectors.down = False
    stage.settled()
    ids = [plain["memory_id"], given["memory_id"], *batch.get_json()["memory_ids"]]
    stored = services.vectors.vectors(ids)
    assert set(stored) == set(ids)
    assert list(stored[given["memory_id"]]) == pytest.approx(VECTOR, abs=1e-6)


def test_a_delete_without_the_vector_store_leaves_no_orphan(stage: Stage, services: Services) -> None:
    memory_id = stage.store(embedding=VECTOR).get_json()["memory_id"]
    stage.vectors.down = True
    assert stage.client.delete(f"/memory/{memory_id}").status_code == 200
    assert stage.client.get(f"/memory/{memory_id}").status_code == 404
    stage.vectors.down = False
    wait_until(lambda: services.graph.tombstones(10) == [])
    assert services.vectors.vectors([memory_id]) == {}


@pytest.mark.parametrize("method", ["vector_done", "amend_receipt"])
def test_a_graph_that_fails_after_the_write_is_no_failure_of_it(stage: Stage, method: str) -> None:
    stage.graph.broken.add(method)
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    body = {"content": "a", "type": "T", "embedding": VECTOR}
    first = stage.client.post("/memory", json=body, headers=headers)
    assert first.status_code == 201
    stage.well()
    again = stage.client.post("/memory", json=body, headers=headers)
    assert (again.status_code, again.get_json()["memory_id"]) == (201, first.get_json()["memory_id"])
    stage.settled()


def test_a_write_whose_confirmation_was_lost_is_looked_for(stage: Stage) -> None:
    stage.graph.lost.add("create")
    reply = stage.store()
    assert reply.status_code == 201
    assert stage.client.get(f"/memory/{reply.get_json()['memory_id']}").status_code == 200


def test_a_read_does_not_fail_with_the_recording_of_it(stage: Stage) -> None:
    memory_id = stage.store().get_json()["memory_id"]
    stage.graph.broken.add("touch")
    assert stage.client.get(f"/memory/{memory_id}").status_code == 200


def test_a_batch_waits_for_its_vectors_only_so_long(tmp_path: Path) -> None:
    with AiServer(dimension=1536) as server:
        settings = Settings.model_validate(
            {
                "automem_data_dir": tmp_path,
                "embedding_provider": "openai",
                "openai_api_key": "key",
                "openai_base_url": server.openai_url,
                "embedding_batch_size": 2,
            }
        )
        services = build_services(settings)
        services.start()
        server.next(Late(0.0), Late(0.0), Late(60.0))
        body = {"memories": [{"content": f"note {n}", "type": "T"} for n in range(8)]}
        rows = read_batch(body, Limits(100, 1536), services.clock.now().isoformat())
        request = read_request("/memory/batch", body, None, Timer(MonotonicStopwatch()))
        answer = store_batch(services, rows, request, patience=1.5)
        assert answer["qdrant"] == "stored (4), queued (4)"
        assert answer["stored"] == len(answer["memory_ids"]) == 8
    services.close()
