"""Every curl of the README runs, in order, against a new service, and finds what it says."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.service import RunningService

README = Path(__file__).parents[2] / "README.md"


def commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return [block for block in blocks if block.startswith("curl")]


def run(command: str, port: int) -> dict[str, Any]:
    strict = command.replace("curl -s ", "curl -sS --fail-with-body ").replace(
        "localhost:8001", f"localhost:{port}"
    )
    done = subprocess.run(["sh", "-c", strict], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    body: dict[str, Any] = json.loads(done.stdout)
    return body


def test_the_examples_run(tmp_path: Path) -> None:
    service = RunningService(tmp_path)
    try:
        service.start()
        first, second, asked, tagged, timed, health = commands()
        wanted = run(first, service.port)["memory_id"]
        run(second, service.port)
        service.wait_settled()
        assert run(asked, service.port)["results"][0]["id"] == wanted
        assert [row["id"] for row in run(tagged, service.port)["results"]] == [wanted]
        assert run(timed, service.port)["count"] == 2
        assert run(health, service.port)["status"] == "healthy"
    finally:
        service.close()


@pytest.mark.parametrize("word", ["make serve", "make doctor", "docker compose", "configuration.md"])
def test_the_first_things_are_there(word: str) -> None:
    assert word in README.read_text(encoding="utf-8")
