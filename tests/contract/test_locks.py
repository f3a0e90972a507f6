"""Locks of runs on the embedded server and on a server over TCP."""

from __future__ import annotations

import pytest

from automem.errors import Conflict, GraphUnavailable
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection, Limits, ServerAddress
from automem.stores.falkordb_locks import FalkorDBLocks
from automem.utils.clock import RandomIds
from automem.workers.exclusive import ExclusiveRuns, RunLost
from tests.support.falkordb_server import free_port
from tests.support.service import wait_until


@pytest.fixture
def locks(connection: Connection) -> FalkorDBLocks:
    return FalkorDBLocks(connection)


def test_a_lock_has_one_owner(locks: FalkorDBLocks) -> None:
    assert locks.take("run", "a", 60)
    assert not locks.take("run", "b", 60)
    assert locks.take("run", "a", 60), "the owner may keep it"
    assert locks.take("other run", "b", 60)
    locks.release("run", "b")
    assert not locks.take("run", "b", 60), "what is another's is not released"
    locks.release("run", "a")
    locks.release("run", "a")
    assert locks.take("run", "b", 60)


def test_a_lease_ends_by_itself(locks: FalkorDBLocks) -> None:
    assert locks.take("run", "a", 0.01)
    wait_until(lambda: locks.take("run", "b", 60))


def test_graphs_have_locks_of_their_own(graph: FalkorDBGraph, locks: FalkorDBLocks, address: object) -> None:
    other = Connection(address, f"{graph.beside().graph}-2", Limits())  # type: ignore[arg-type]
    assert locks.take("run", "a", 60)
    assert FalkorDBLocks(other).take("run", "b", 60)
    other.close()


def test_a_run_is_kept_for_as_long_as_it_takes(locks: FalkorDBLocks) -> None:
    runs = ExclusiveRuns(locks, RandomIds(), seconds=1.5)
    with runs.run("run", "busy") as lease:
        locks._connection.command("PEXPIRE", locks._key("run"), 1000)
        wait_until(lambda: locks._connection.command("PTTL", locks._key("run")) > 1000)
        with pytest.raises(Conflict, match="busy"), runs.run("run", "busy"):
            pass
        lease.check()
    with runs.run("run", "busy"):
        pass


def test_a_run_that_was_taken_over_hears_of_it(locks: FalkorDBLocks) -> None:
    runs = ExclusiveRuns(locks, RandomIds(), seconds=0.3)
    with runs.run("run", "busy") as lease:
        locks._connection.command("SET", locks._key("run"), "another")
        wait_until(lambda: lease.lost)
        with pytest.raises(RunLost):
            lease.check()
    assert not locks.take("run", "mine", 1), "the other's lock is left alone"


def test_a_run_that_fails_is_over(locks: FalkorDBLocks) -> None:
    runs = ExclusiveRuns(locks, RandomIds())
    with pytest.raises(ZeroDivisionError), runs.run("run", "busy"):
        raise ZeroDivisionError
    with runs.run("run", "busy"):
        pass


def test_without_the_server_nothing_runs() -> None:
    away = Connection(ServerAddress("127.0.0.1", free_port()), "g", Limits(connect=1.0))
    runs = ExclusiveRuns(FalkorDBLocks(away), RandomIds())
    with pytest.raises(GraphUnavailable), runs.run("run", "busy"):
        pass
