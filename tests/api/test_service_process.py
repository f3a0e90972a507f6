"""The service as a process: starts that fail, graceful ends, kills, two on one directory (D29, D30, D33)."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.support.service import RunningService, clean_environment, wait_until

MakeService = Callable[..., RunningService]


def store(service: RunningService, content: str) -> str:
    reply = service.client.post("/memory", json={"content": content})
    assert reply.status_code == 201
    return str(reply.json()["memory_id"])


def failed_start(service: RunningService) -> str:
    """Start and expect an end at once; give what it said."""
    assert service.launch().wait(30) == 1
    return service.log


def descendants(pid: int) -> set[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    found = {int(child) for child in children}
    return found.union(*(descendants(child) for child in found))


def running(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def test_it_says_where_it_is(service: RunningService) -> None:
    for part in (f"127.0.0.1:{service.port}", str(service.data_dir), "all-MiniLM-L6-v2", "curl"):
        assert part in service.log
    assert "this machine only" in service.log


def test_a_graceful_end_keeps_everything_and_leaves_nothing(make_service: MakeService) -> None:
    service = make_service()
    service.start()
    processes = descendants(service.pid)
    kept = store(service, "The spare key hangs behind the water meter")
    assert service.stop() == 0
    assert not any(running(pid) for pid in processes)
    assert "Traceback" not in service.log and "terminate" not in service.log
    service.start()
    service.wait_settled()
    found = service.client.get("/recall", params={"query": "where is the extra key"}).json()
    assert [row["id"] for row in found["results"]] == [kept]


def test_ctrl_c_ends_it_gracefully_too(make_service: MakeService) -> None:
    service = make_service()
    service.start()
    os.kill(service.pid, signal.SIGINT)
    wait_until(lambda: not running(service.pid))
    assert "stopped" in service.log and "Traceback" not in service.log


def test_requests_in_flight_are_finished(make_service: MakeService) -> None:
    service = make_service()
    service.start()
    rows = [{"content": f"Crate {number} holds blue tiles"} for number in range(400)]
    with ThreadPoolExecutor(1) as pool:
        service.client.close()
        reply = pool.submit(httpx.post, f"{service.url}/memory/batch", json={"memories": rows}, timeout=60)
        wait_until(lambda: _accepted(service.port))
        service.stop()
    assert reply.result().status_code == 201
    service.start()
    assert httpx.get(f"{service.url}/health").json()["memory_count"] == 400


def _accepted(port: int) -> bool:
    """Say whether the server has accepted a connection: until then it has no inode."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[1].endswith(f":{port:04X}") and row[3] == "01" and row[9] != "0" for row in rows)


@pytest.mark.parametrize("whole_group", [False, True])
def test_what_was_answered_survives_a_kill(make_service: MakeService, whole_group: bool) -> None:
    service = make_service()
    service.start()
    ids = {store(service, f"Shelf {number} has the jars of batch {number * 7}") for number in range(20)}
    processes = descendants(service.pid)
    if whole_group:
        for pid in processes:
            os.kill(pid, signal.SIGKILL)
    service.kill()
    wait_until(lambda: not any(running(pid) for pid in processes))
    service.start()
    service.wait_settled()
    found = service.client.get("/recall", params={"query": "jars on a shelf", "limit": 50}).json()
    assert {row["id"] for row in found["results"]} == ids
    body = service.client.get("/health").json()
    assert body["memory_count"] == body["vector_count"] == 20


def test_a_killed_worker_is_replaced(make_service: MakeService) -> None:
    service = make_service()
    service.start()
    kept = store(service, "The piano tuner comes every second Tuesday")
    worker = int(Path(f"/proc/{service.pid}/task/{service.pid}/children").read_text().split()[0])
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: not running(worker))
    # A fresh connection: the old one ended with its worker.
    assert httpx.get(f"{service.url}/memory/{kept}", timeout=30).status_code == 200


def test_two_services_on_one_directory(service: RunningService, make_service: MakeService) -> None:
    second = make_service(AUTOMEM_DATA_DIR=str(service.data_dir))
    said = failed_start(second)
    assert "AutoMem cannot start" in said and "in use by another service" in said
    assert "Traceback" not in said
    assert service.client.get("/health/ready").status_code == 200


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"AUTOMEM_HOST": "0.0.0.0"}, "AUTOMEM_API_TOKEN is not set"),
        ({"RECALL_MAX_LIMIT": "lots"}, "RECALL_MAX_LIMIT"),
        ({"VECTOR_SIZE": "1024"}, "VECTOR_SIZE=1024"),
        ({"EMBEDDING_PROVIDER": "openai"}, "OPENAI_API_KEY"),
        ({"AUTOMEM_DATA_DIR": "/proc/automem"}, "AUTOMEM_DATA_DIR"),
    ],
)
def test_a_start_that_cannot_be(make_service: MakeService, variables: dict[str, str], message: str) -> None:
    said = failed_start(make_service(**variables))
    assert message in said and "Traceback" not in said


def test_a_port_in_use(make_service: MakeService) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        said = failed_start(make_service(PORT=str(other.getsockname()[1])))
    assert "cannot be used" in said and "PORT" in said


def test_another_model_is_refused_on_the_same_data(make_service: MakeService) -> None:
    service = make_service()
    service.start()
    service.stop()
    service.variables["EMBEDDING_PROVIDER"] = "placeholder"
    service.variables["VECTOR_SIZE"] = "384"
    assert service.launch().wait(30) == 1
    assert "all-MiniLM-L6-v2" in service.log and "re-embed" in service.log
    del service.variables["EMBEDDING_PROVIDER"]
    service.start()


def automem(service: RunningService, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "automem", *arguments],
        env=clean_environment(service.directory, **service.variables),
        cwd=service.directory,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_doctor_before_the_first_start(make_service: MakeService) -> None:
    service = make_service()
    told = automem(service, "doctor")
    assert told.returncode == 0, told.stdout + told.stderr
    assert "All is well." in told.stdout
    for name in ("settings", "data directory", "model", "graph", "vectors", "port"):
        assert f"ok    {name}" in told.stdout
    assert not service.data_dir.exists()


def test_doctor_beside_a_running_service(service: RunningService) -> None:
    told = automem(service, "doctor")
    assert told.returncode == 0, told.stdout + told.stderr
    assert "belongs to a running service" in told.stdout and "by the running service" in told.stdout


def test_doctor_says_how_to_mend(make_service: MakeService) -> None:
    service = make_service(
        AUTOMEM_HOST="0.0.0.0",
        FALKORDB_HOST="127.0.0.1",
        FALKORDB_PORT="1",
        QDRANT_URL="http://127.0.0.1:1",
        EMBEDDING_PROVIDER="voyage",
    )
    with socket.create_server(("0.0.0.0", service.port)):
        told = automem(service, "doctor")
    assert told.returncode == 1
    for part in ("AUTOMEM_API_TOKEN", "VOYAGE_API_KEY", "FALKORDB_HOST", "PORT"):
        assert part in told.stdout
    assert told.stdout.count("FAIL") == 5 and "5 to mend" in told.stdout


def test_doctor_with_wrong_settings(make_service: MakeService) -> None:
    told = automem(make_service(RECALL_MAX_LIMIT="x"), "doctor")
    assert told.returncode == 1 and "RECALL_MAX_LIMIT" in told.stderr


def test_version(make_service: MakeService) -> None:
    told = automem(make_service(), "version")
    assert told.returncode == 0 and told.stdout.strip().count(".") == 2
