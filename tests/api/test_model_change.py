"""A change of the embedding model: refused at the start, made by `automem reembed` (D30, issue 4.5)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from automem.stores.falkordb_connection import ServerAddress
from tests.support.falkordb_server import free_port, tcp_server
from tests.support.openai_server import AiServer, Late, Status
from tests.support.service import RunningService, clean_environment, wait_until

Make = Callable[..., RunningService]
OLD = {"EMBEDDING_PROVIDER": "placeholder", "VECTOR_SIZE": "8"}
NEW = {"EMBEDDING_PROVIDER": "local", "VECTOR_SIZE": ""}


def reembed(service: RunningService, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "automem", "reembed", *arguments],
        env=clean_environment(service.directory, **service.variables),
        cwd=service.directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def done(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def fill(service: RunningService, count: int) -> list[str]:
    rows = [{"content": f"note {n} about a cat", "type": "Context", "tags": [f"n{n}"]} for n in range(count)]
    stored = service.client.post("/memory/batch", json={"memories": rows}).json()["memory_ids"]
    service.wait_settled()
    return list(stored)


def health(service: RunningService) -> Any:
    return service.client.get("/health").json()


def remote(server: AiServer, model: str = "m") -> dict[str, str]:
    return {
        "EMBEDDING_PROVIDER": "openai",
        "OPENAI_API_KEY": "key",
        "OPENAI_BASE_URL": server.openai_url,
        "EMBEDDING_MODEL": model,
        "VECTOR_SIZE": str(server.dimension),
    }


def test_another_model_is_refused_until_all_is_embedded_anew(make_service: Make) -> None:
    service = make_service(**OLD)
    service.start()
    ids = fill(service, 5)
    service.client.post("/memory", json={"content": "The dog barks at night", "type": "Context"})
    service.wait_settled()
    assert service.stop() == 0

    service.variables |= NEW
    refused = service.launch()
    assert refused.wait(60) == 1
    assert "run `automem reembed`" in service.log

    out = done(reembed(service, "--batch-size", "2"))
    assert out == "6 memories are embedded with local:all-MiniLM-L6-v2.\n"
    service.start()
    assert health(service)["vector_dimensions"]["collection"] == 384
    assert health(service)["sync_status"] == "synced"
    best = service.client.get("/recall", params={"query": "a hound making noise", "limit": 1}).json()
    assert best["results"][0]["memory"]["content"] == "The dog barks at night"
    assert best["results"][0]["score_components"]["vector"] > 0.3
    found = service.client.get(f"/memory/{ids[0]}").json()["memory"]
    assert found["tags"] == ["n0"]
    assert [path.name.split("-")[0] for path in service.data_dir.glob("qdrant*")] == ["qdrant"]
    assert service.stop() == 0
    service.variables |= OLD
    assert service.launch().wait(60) == 1


def test_an_interrupted_change_leaves_the_old_one_serving_and_goes_on(make_service: Make) -> None:
    with AiServer(dimension=16) as server:
        service = make_service(**OLD)
        service.start()
        fill(service, 420)
        service.stop()
        old = dict(service.variables)
        service.variables |= remote(server)
        first = reembed(service, "--batch-size", "10")
        wait_until(lambda: len(embedded(server)) >= 200)
        first.kill()
        first.communicate(timeout=60)

        service.variables = old
        service.start()
        assert health(service)["vector_dimensions"]["collection"] == 8
        changed = service.client.get("/recall", params={"tags": "n0"}).json()["results"][0]["id"]
        service.client.patch(f"/memory/{changed}", json={"content": "changed between"})
        gone = service.client.get("/recall", params={"tags": "n1", "tag_match": "exact"}).json()
        service.client.delete(f"/memory/{gone['results'][0]['id']}")
        service.wait_settled()
        service.stop()

        before = len(embedded(server))
        service.variables |= remote(server)
        done(reembed(service, "--batch-size", "10"))
        again = embedded(server)[before:]
        assert "changed between" in again
        assert len(again) < 300, "most of what was embedded counts"
        service.start()
        now = health(service)
        assert (now["memory_count"], now["vector_count"]) == (419, 419)
        assert now["vector_dimensions"]["collection"] == 16


def embedded(server: AiServer) -> list[str]:
    texts: list[str] = []
    for request in server.received:
        given = request.body.get("input", [])
        texts += [given] if isinstance(given, str) else given
    return texts


def test_a_change_needs_the_model_and_says_so(make_service: Make) -> None:
    with AiServer(dimension=16) as server:
        service = make_service(**OLD)
        service.start()
        fill(service, 3)
        service.stop()
        service.variables |= remote(server)
        server.always(Status(401))
        failed = reembed(service)
        _, err = failed.communicate(timeout=120)
        assert failed.returncode == 1
        assert "AutoMem cannot re-embed: " in err
        assert "Traceback" not in err
        service.variables |= OLD
        service.start()
        assert health(service)["vector_count"] == 3


def test_a_running_service_is_not_disturbed(make_service: Make) -> None:
    service = make_service(**OLD)
    service.start()
    refused = reembed(service)
    _, err = refused.communicate(timeout=60)
    assert refused.returncode == 1
    assert "in use by another service" in err


def test_the_same_model_embeds_in_place(make_service: Make) -> None:
    with AiServer(dimension=16) as server:
        service = make_service(**remote(server))
        service.start()
        fill(service, 12)
        service.stop()
        before = len(embedded(server))
        assert done(reembed(service)).startswith("12 memories")
        assert len(embedded(server)) - before == 12
        service.start()
        assert health(service)["vector_count"] == 12


ADMIN = {"X-Admin-Token": "root"}
TO_REMOTE = {"embedding_provider": "openai", "embedding_model": "other", "vector_size": 16}


def online(server: AiServer) -> dict[str, str]:
    keys = {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": server.openai_url}
    return {**OLD, **keys, "ADMIN_API_TOKEN": "root", "EMBEDDING_BATCH_SIZE": "10"}


def change(service: RunningService, status: int = 202, **model: object) -> Any:
    reply = service.client.post("/admin/reembed", json={"model": model or TO_REMOTE}, headers=ADMIN)
    assert reply.status_code == status, reply.text
    return reply.json()


def progress(service: RunningService) -> Any:
    return service.client.get("/admin/reembed", headers=ADMIN).json()


def dimension(service: RunningService) -> int:
    return int(health(service)["vector_dimensions"]["collection"])


def test_a_running_service_changes_its_model_and_serves_all_the_time(make_service: Make) -> None:
    with AiServer(dimension=16) as server:
        service = make_service(**online(server))
        service.start()
        ids = fill(service, 300)
        assert progress(service) == {"status": "idle", "processed": 0, "total": 0}
        server.next(*[Late(0.1)] * 40)
        begun = change(service)
        assert (begun["status"], begun["dimension"], begun["total"]) == ("running", 16, 300)
        assert change(service, 409)["status"] == "error"
        answers = 0
        while progress(service)["status"] == "running":
            number = answers % 300
            if answers % 3 == 0:
                service.client.patch(f"/memory/{ids[number]}", json={"content": f"changed {number} dog"})
            found = service.client.get("/recall", params={"query": f"note {number} cat"})
            assert found.status_code == 200
            assert "degraded" not in found.json()
            assert found.json()["count"] > 0
            answers += 1
        assert answers > 3
        assert progress(service)["status"] == "idle"
        service.wait_settled()
        assert dimension(service) == 16
        now = health(service)
        assert (now["memory_count"], now["vector_count"]) == (300, 300)
        looked = service.client.post("/admin/sync", json={"dry_run": True}, headers=ADMIN).json()
        assert (looked["missing_count"], looked["orphaned_count"], looked["stale_count"]) == (0, 0, 0)
        assert len(list(service.data_dir.glob("qdrant*"))) == 1
        fresh = service.client.post("/memory", json={"content": "stored after", "type": "Context"})
        assert fresh.status_code == 201
        service.wait_settled()
        assert health(service)["vector_count"] == 301
        service.stop()
        service.variables |= remote(server, "other")
        service.start()
        assert health(service)["vector_count"] == 301


def test_a_change_goes_on_after_a_kill(make_service: Make) -> None:
    with AiServer(dimension=16) as server:
        service = make_service(**online(server))
        service.start()
        fill(service, 420)
        server.always(Late(0.1))
        change(service)
        wait_until(lambda: progress(service)["processed"] >= 200)
        service.kill()
        server.always(None)
        service.start()
        wait_until(lambda: dimension(service) == 16)
        wait_until(lambda: progress(service)["status"] == "idle")
        assert health(service)["vector_count"] == 420
        texts = embedded(server)
        assert len(texts) < 2 * 420, "what was embedded before the kill counts"


def test_a_model_that_is_away_leaves_the_old_one_serving(make_service: Make) -> None:
    with AiServer(dimension=16) as server:
        service = make_service(**online(server))
        service.start()
        fill(service, 30)
        server.next(Late(0.0))
        server.always(Status(500))
        change(service)
        wait_until(lambda: progress(service)["status"] == "waiting")
        assert progress(service)["error"]
        assert dimension(service) == 8
        found = service.client.get("/recall", params={"query": "note 1 cat"}).json()
        assert found["count"] > 0 and "degraded" not in found
        server.always(None)
        wait_until(lambda: dimension(service) == 16)


@pytest.mark.parametrize(
    "model",
    [
        {"embedding_provider": "nothing"},
        {"openai_base_url": "http://127.0.0.1:1"},
        {"embedding_provider": "voyage"},
        {"embedding_provider": ["local"]},
        {"embedding_provider": "local", "vector_size": 7},
        {"embedding_provider": "placeholder", "vector_size": 8},
    ],
)
def test_a_model_that_cannot_be_used_is_refused(shared: RunningService, model: dict[str, Any]) -> None:
    assert change(shared, 400, **model)["field"] == "model"
    assert progress(shared)["status"] == "idle"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    running = RunningService(tmp_path_factory.mktemp("models"), **OLD, ADMIN_API_TOKEN="root")
    running.start()
    running.client.post("/memory", json={"content": "one", "type": "Context"})
    yield running
    running.close()


def test_the_progress_needs_the_admin_token(shared: RunningService) -> None:
    assert shared.client.get("/admin/reembed").status_code == 401


def test_other_processes_end_when_the_model_is_changed(make_service: Make, tmp_path: Path) -> None:
    """Here each has vectors of its own; what they share is the graph, which tells the model."""
    address = ServerAddress("127.0.0.1", free_port(), "pw")
    named = {"FALKORDB_HOST": "127.0.0.1", "FALKORDB_PORT": str(address.port), "FALKORDB_PASSWORD": "pw"}
    with AiServer(dimension=16) as server, tcp_server(address, tmp_path):
        one, other = make_service(**online(server), **named), make_service(**OLD, **named)
        one.start()
        process = other.launch()
        wait_until(lambda: is_up(other))
        fill(one, 5)
        change(one)
        assert process.wait(40) == 1
        assert "were embedded with openai-compatible:other" in other.log
        assert (progress(one)["status"], dimension(one)) == ("idle", 16)
        one.client.post("/memory", json={"content": "stored after", "type": "Context"})
        one.wait_settled()
        assert health(one)["vector_count"] == 6
        one.close()


def is_up(service: RunningService) -> bool:
    try:
        return service.client.get("/health/ready").status_code == 200
    except httpx.TransportError:
        return False
