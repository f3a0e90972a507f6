"""Kill the service with -9 at random moments of a mixed load, again and again, and look what is lost.

``python benchmarks/crash.py --rounds 200 --seed 1``. Each round writes with three writers, kills, starts
again, and checks every acknowledged write of that round: contents, tags, deletions and edges, and that each
memory was enriched; then that every memory has its vector and no vector is without a memory. Ends with 1 at
the first fault.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import httpx

if __name__ == "__main__":
    # Run as a script, only this directory is on the path, not the one that holds the package.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.load import Ledger, Version, Writer
from benchmarks.service import OwnService

ADMIN = "crash-admin"
WRITERS = 3
_SETTLE_SECONDS = 120.0
_LONGEST_LOAD = 2.0


def crash(directory: Path, rounds: int, seed: int) -> int:
    """Run the rounds on one directory; gives the number of acknowledged writes.

    :raises AssertionError: when a write was lost or a vector has no memory.
    """
    chance = random.Random(seed)
    service = OwnService(directory, {"ADMIN_API_TOKEN": ADMIN})
    acknowledged = 0
    for number in range(1, rounds + 1):
        with service:
            names = [f"r{number}w{place}" for place in range(WRITERS)]
            ledgers = load_and_kill(service, names, f"{seed}", chance.uniform(0.05, _LONGEST_LOAD))
        with service, httpx.Client(base_url=service.url, timeout=60.0) as client:
            wait_until_settled(client)
            for ledger in ledgers:
                check_memories(client, ledger)
                check_edges(client, ledger)
                acknowledged += ledger.acknowledged
            check_vectors(client)
        print(f"round {number}: {sum(ledger.acknowledged for ledger in ledgers)} writes, nothing lost")
    return acknowledged


def load_and_kill(service: OwnService, names: Sequence[str], seed: str, seconds: float) -> list[Ledger]:
    """Write with several writers, kill the service after so many seconds, give their ledgers."""
    writers = [Writer(name, service.url, f"{seed}-{name}") for name in names]
    threads = [Thread(target=writer.run) for writer in writers]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    service.kill()
    for thread, writer in zip(threads, writers, strict=True):
        thread.join()
        writer.close()
    return [writer.ledger for writer in writers]


def wait_until_settled(client: httpx.Client) -> None:
    """Wait until no memory owes a vector or waits for enrichment."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    while client.get("/health").json()["enrichment"]["pending"]:
        assert time.monotonic() < deadline, "work stays pending"
        time.sleep(0.05)


def check_memories(client: httpx.Client, ledger: Ledger) -> None:
    """Compare every memory that the writer touched with what it may be; it must have been enriched."""
    for memory_id in ledger.touched:
        reply = client.get(f"/memory/{memory_id}")
        found = _seen(reply.json()["memory"]) if reply.status_code == 200 else Version(None)
        assert reply.status_code in (200, 404), reply.text
        assert reply.status_code == 404 or reply.json()["memory"]["processed"] is True, reply.text
        possible = ledger.versions[memory_id]
        assert found in possible, f"{memory_id}: {found} is none of {possible}"
        ledger.versions[memory_id] = {found}


def _seen(memory: dict[str, Any]) -> Version:
    own = (tag for tag in memory["tags"] if not tag.startswith("entity:"))
    return Version(memory["content"], tuple(own))


def check_edges(client: httpx.Client, ledger: Ledger) -> None:
    """Look for every acknowledged edge between memories that are still there."""
    for first, second in ledger.edges:
        ends = [ledger.versions[end] for end in (first, second)]
        if any(Version(None) in versions for versions in ends):
            continue
        reply = client.get(
            f"/memory/{first}/associations", params={"type": "RELATES_TO", "direction": "outgoing"}
        )
        assert reply.status_code == 200, reply.text
        found = {row["memory"]["id"] for row in reply.json()["associations"]}
        assert second in found, f"the edge {first} to {second} is lost"


def check_vectors(client: httpx.Client) -> None:
    """After a sync, each memory has its vector and each vector its memory."""
    headers = {"X-Admin-Token": ADMIN}
    repaired = client.post("/admin/sync", json={}, headers=headers)
    assert repaired.status_code == 200, repaired.text
    wait_until_settled(client)
    told = client.post("/admin/sync", json={"dry_run": True}, headers=headers).json()
    assert (told["missing_count"], told["orphaned_count"]) == (0, 0), told
    assert told["falkordb_count"] == told["qdrant_count"], told


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and run; gives the exit code."""
    parser = argparse.ArgumentParser(description="Kill the service at random moments and look for losses.")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args(arguments)
    print(f"seed {wanted.seed}")
    with tempfile.TemporaryDirectory() as directory:
        try:
            total = crash(Path(directory), wanted.rounds, wanted.seed)
        except AssertionError as fault:
            print(f"LOST: {fault}")
            return 1
    print(f"{wanted.rounds} kills, {total} acknowledged writes, nothing lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
