"""What the embedded FalkorDB writes to its log can be loaded again (D22)."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from pathlib import Path

from automem.models import MemoryDraft
from automem.stores.data_directory import DataDirectory
from automem.stores.embedded import EmbeddedFalkorDB
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.server_process import LONG_LOG
from tests.support.service import wait_until

MakeDraft = Callable[..., MemoryDraft]


def test_the_log_begins_with_a_snapshot_of_the_indexes(tmp_path: Path, make_draft: MakeDraft) -> None:
    """Behind an empty one, a replay makes the indexes anew and looks at every memory for each change."""
    directory = DataDirectory.open(tmp_path / "data")
    server = EmbeddedFalkorDB(directory, ready_timeout=30)
    server.start()
    graph = FalkorDBGraph.over_socket(server.socket_path, "memories")
    try:
        graph.prepare()
        assert server.settle_log()
        made = newest_snapshot(tmp_path)
        graph.create([make_draft("m1")], pending=True)
        assert server.settle_log()
        assert newest_snapshot(tmp_path) == made
    finally:
        graph.close()
        server.stop()
        directory.close()
    with_graph(tmp_path / "data", lambda again: graph_holds(again, "m1"))


def test_a_long_log_is_begun_anew(tmp_path: Path, make_draft: MakeDraft) -> None:
    """Else the start after a kill replays all of it."""
    directory = DataDirectory.open(tmp_path / "data")
    server = EmbeddedFalkorDB(directory, ready_timeout=30)
    server.start()
    graph = FalkorDBGraph.over_socket(server.socket_path, "memories")
    names = [f"m{number}" for number in range(32)]
    try:
        graph.prepare()
        assert server.settle_log()
        for name in names:
            graph.create([make_draft(name, content=noise())], pending=False)
        wait_until(lambda: newest_snapshot(tmp_path).stat().st_size > LONG_LOG)
        wait_until(lambda: logged(tmp_path) < LONG_LOG)
        for name in names:
            if logged(tmp_path) <= LONG_LOG:
                assert graph.update(name, {"content": noise()}, 0)
        assert logged(tmp_path) > LONG_LOG, "less than the snapshot, so that the server lets it be"
        assert server.settle_log()
        wait_until(lambda: logged(tmp_path) < LONG_LOG)
    finally:
        graph.close()
        server.stop()
        directory.close()
    with_graph(tmp_path / "data", lambda again: graph_holds(again, *names))


def noise() -> str:
    """A long text that cannot be compressed."""
    return " ".join(uuid.uuid4().hex for _ in range(6_000))


def logged(path: Path) -> int:
    return sum(part.stat().st_size for part in (path / "data").rglob("*.incr.aof"))


def newest_snapshot(path: Path) -> Path:
    """The one before it may be on its way out yet."""
    return max((path / "data").rglob("*.base.rdb"))


def graph_holds(graph: FalkorDBGraph, *memory_ids: str) -> None:
    assert set(graph.get_many(memory_ids)) == set(memory_ids)


def with_graph(path: Path, use: Callable[[FalkorDBGraph], None]) -> None:
    directory = DataDirectory.open(path)
    server = EmbeddedFalkorDB(directory, ready_timeout=30)
    server.start()
    graph = FalkorDBGraph.over_socket(server.socket_path, "memories")
    try:
        use(graph)
    finally:
        graph.close()
        server.stop()
        directory.close()


def test_slow_and_quick_changes_are_logged_as_queries(tmp_path: Path, make_draft: MakeDraft) -> None:
    """An effect in the log names internal numbers, which a replay may give otherwise: the load crashes."""
    chance = random.Random(7)
    alive: dict[str, str] = {}

    def write(graph: FalkorDBGraph) -> None:
        for number in range(12):
            new = {str(uuid.UUID(int=chance.getrandbits(128))): f"{number} " * 2_000 for _ in range(40)}
            graph.create([make_draft(i, content=text) for i, text in new.items()], pending=True)
            alive.update(new)
            gone = chance.sample(sorted(alive), 15)
            graph.delete(gone)
            for memory_id in gone:
                del alive[memory_id]

    def compare(graph: FalkorDBGraph) -> None:
        found = graph.get_many(list(alive))
        assert {memory_id: memory.content for memory_id, memory in found.items()} == alive
        assert graph.count(()) == len(alive)

    with_graph(tmp_path / "data", write)
    logs = list((tmp_path / "data").rglob("*.aof"))
    written = b"".join(log.read_bytes() for log in logs)
    assert b"GRAPH.QUERY" in written
    assert b"GRAPH.EFFECT" not in written
    with_graph(tmp_path / "data", compare)
