"""The embedded engine: nothing acknowledged is lost, and its directory always opens or says why not."""

from __future__ import annotations

import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
import qdrant_edge as edge

from automem.errors import StartupError
from automem.models import Memory, Scope
from automem.stores.base import VectorPoint
from automem.stores.open_vectors import open_embedded
from automem.stores.qdrant_edge import FLUSH_EVERY, EdgeVectors
from automem.stores.qdrant_filter import PAYLOAD_INDEXES
from automem.stores.vector_values import check_dimension

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)
NAMES = [str(uuid.UUID(int=number)) for number in range(1, 4000)]


def point(name: str, *vector: float, tag: str = "t") -> VectorPoint:
    return VectorPoint(name, vector, Memory(properties={"id": name, "content": name, "tags": [tag]}))


WRITER = """
import sys, uuid
from pathlib import Path
from automem.models import Memory
from automem.stores.base import VectorPoint
from automem.stores.qdrant_edge import EdgeVectors

store = EdgeVectors.open(Path(sys.argv[1]), 4)
for number in range(1, 10 ** 6):
    name = str(uuid.UUID(int=number))
    memory = Memory(properties={"id": name, "content": name, "tags": ["first"]})
    store.upsert([VectorPoint(name, [1.0, float(number), 0.0, 0.0], memory)])
    if number % 3 == 0:
        store.update_payload(Memory(properties={"id": name, "content": name, "tags": ["second"]}))
    if number % 7 == 0:
        store.delete([name])
    print(number, flush=True)
"""


@pytest.mark.parametrize("acknowledged", [3, FLUSH_EVERY + 500])
def test_everything_acknowledged_survives_kill_9(tmp_path: Path, acknowledged: int) -> None:
    path = tmp_path / "shard"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) == acknowledged:
                writer.kill()
                break
        # What it still said before it died counts as well.
        last = max([acknowledged, *(int(line) for line in writer.stdout if line.endswith("\n"))])

    store = EdgeVectors.open(path, 4)
    kept = [number for number in range(1, last + 1) if number % 7]
    found = store.vectors([str(uuid.UUID(int=number)) for number in range(1, last + 1)])
    second = store.scroll(Scope(at=NOW, tags=("second",)), last + 1)

    assert set(found) == {str(uuid.UUID(int=number)) for number in kept}
    expected = {str(uuid.UUID(int=number)) for number in kept if number % 3 == 0}
    assert {memory.id for memory in second if memory.id in found} == expected
    store.close()


def test_many_threads_search_and_write_at_once(tmp_path: Path) -> None:
    store = EdgeVectors.open(tmp_path / "shard", 4)
    store.upsert([point(name, 1, 0, 0, 0, tag="ground") for name in NAMES[:50]])

    def work(worker: int) -> int:
        mine = NAMES[100 + worker * 100 : 200 + worker * 100]
        seen = 0
        for number, name in enumerate(mine):
            store.upsert([point(name, 1, worker, number, 0, tag=f"w{worker}")])
            hits = store.search([1, worker, number, 0], Scope(at=NOW, tags=(f"w{worker}",)), 200)
            assert len(hits) == number + 1 and len({hit.memory.id for hit in hits}) == number + 1
            assert len(store.search([1, 0, 0, 0], Scope(at=NOW, tags=("ground",)), 200)) == 50
            assert store.similarities([1, worker, number, 0], [name])[name] == pytest.approx(1, abs=1e-5)
            seen += len(hits)
        store.delete(mine[:10])
        return seen

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(work, range(8))) == 8 * 5050
    assert store.count([]) == 50 + 8 * 90
    store.close()


def test_a_closed_shard_opens_again_with_all_it_held(tmp_path: Path) -> None:
    store = EdgeVectors.open(tmp_path / "deep" / "shard", 4)
    store.upsert([point(NAMES[0], 1, 0, 0, 0), point(NAMES[1], 0, 1, 0, 0)])
    store.close()

    again = EdgeVectors.open(tmp_path / "deep" / "shard", 4)

    assert list(again.ids("", 9)) == NAMES[:2]
    again.close()


def test_an_existing_shard_keeps_its_dimension(tmp_path: Path) -> None:
    EdgeVectors.open(tmp_path / "shard", 4).close()

    store = EdgeVectors.open(tmp_path / "shard", 8)

    assert store.dimension == 4
    check_dimension(store.dimension, 4)
    with pytest.raises(StartupError, match="re-embed"):
        check_dimension(store.dimension, 8)
    store.close()


def test_what_a_crash_left_half_made_is_made_anew(tmp_path: Path) -> None:
    for half in ("shard.new/segments/broken", "shard"):
        (tmp_path / half).mkdir(parents=True)
    (tmp_path / "shard.new" / "edge_config.json").write_text("{")

    store = EdgeVectors.open(tmp_path / "shard", 4)

    store.upsert([point(NAMES[0], 1, 0, 0, 0)])
    store.close()
    assert [child.name for child in tmp_path.iterdir()] == ["shard"]


def test_a_lost_configuration_is_found_in_the_data(tmp_path: Path) -> None:
    store = EdgeVectors.open(tmp_path / "shard", 4)
    store.upsert([point(NAMES[0], 1, 0, 0, 0)])
    store.close()
    (tmp_path / "shard" / "edge_config.json").unlink()

    again = EdgeVectors.open(tmp_path / "shard", 8)

    assert (again.dimension, again.count([])) == (4, 1)
    again.close()


def test_missing_indexes_are_added_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "shard"
    params = edge.EdgeVectorParams(size=4, distance=edge.Distance.Cosine)
    edge.EdgeShard.create(str(path), edge.EdgeConfig(vectors=params)).close()

    EdgeVectors.open(path, 4).close()

    shard = edge.EdgeShard.load(str(path))
    assert set(shard.info().payload_schema) == {field for field, _ in PAYLOAD_INDEXES}
    shard.close()


def test_a_directory_in_use_is_refused(tmp_path: Path) -> None:
    store = EdgeVectors.open(tmp_path / "shard", 4)

    with pytest.raises(StartupError, match="in use by another process"):
        EdgeVectors.open(tmp_path / "shard", 4)

    store.close()


def test_a_directory_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "shard").mkdir()
    (tmp_path / "shard" / "letter.txt").write_text("dear")

    with pytest.raises(StartupError, match="Cannot use the vector directory"):
        EdgeVectors.open(tmp_path / "shard", 4)

    assert (tmp_path / "shard" / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize("damaged", ["segments/*/segment.json", "edge_config.json"])
def test_a_damaged_shard_says_how_to_mend_it(tmp_path: Path, damaged: str) -> None:
    EdgeVectors.open(tmp_path / "shard", 4).close()
    for file in (tmp_path / "shard").glob(damaged):
        file.write_text("{")

    with pytest.raises(StartupError, match="Move it away"):
        EdgeVectors.open(tmp_path / "shard", 4)


def test_a_missing_package_is_named() -> None:
    """Seen in a fresh interpreter in which the package cannot be imported."""
    script = (
        "import sys; sys.modules['qdrant_edge'] = None\n"
        "from pathlib import Path\n"
        "from automem.errors import StartupError\n"
        "from automem.stores.open_vectors import open_embedded\n"
        "try: open_embedded(Path('unused'), 4)\n"
        "except StartupError as error: print(error.message)\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert "pip install qdrant-edge-py" in said


def test_open_embedded_gives_a_store(tmp_path: Path) -> None:
    store = open_embedded(tmp_path / "shard", 4)
    store.ping()
    store.close()
