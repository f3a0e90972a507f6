"""POST /admin/sync and /admin/reembed (service.md 9): what they say is what was done (D41)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from automem.app import create_app
from automem.config import Settings
from automem.services import Services, build_services
from automem.stores.base import VectorPoint
from automem.workers.sync import BUSY, RUN
from tests.support.recalls import RawGraph
from tests.support.service import RunningService, wait_until

ADMIN = {"X-Admin-Token": "root"}
Make = Callable[..., RunningService]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """A service of this file's own, which does not repair by itself."""
    settings = Settings.model_validate(
        {
            "automem_data_dir": tmp_path_factory.mktemp("admin"),
            "admin_api_token": "root",
            "sync_auto_repair": "off",
            "recall_excluded_types": "MetaPattern",
        }
    )
    services = build_services(settings)
    services.start()
    yield services
    services.close()


@pytest.fixture
def client(own: Services) -> FlaskClient:
    made = create_app(own.settings, own).test_client()
    assert post(made, "/admin/sync")["orphaned_count"] >= 0
    return made


def post(client: FlaskClient, path: str, body: Any = None, status: int = 200) -> Any:
    reply = client.post(path, json={} if body is None else body, headers=ADMIN)
    assert reply.status_code == status, reply.get_json()
    return reply.get_json()


def store(client: FlaskClient, own: Services, count: int = 1, **fields: Any) -> list[str]:
    """Store memories and wait for their vectors."""
    rows = [{"content": f"note {n}", "type": "Context", **fields} for n in range(count)]
    stored = client.post("/memory/batch", json={"memories": rows}).get_json()["memory_ids"]
    wait_until(lambda: own.graph.unsettled_count() == 0)
    return list(stored)


def orphan(own: Services, count: int) -> list[str]:
    """Leave vectors without memories, as a crash of an older service would."""
    memory = next(iter(own.graph.get_many(own.graph.ids("", 1, ())).values()))
    vector = [1.0] + [0.0] * (own.vectors.dimension - 1)
    names = sorted(str(uuid.uuid4()) for _ in range(count))
    own.vectors.upsert([VectorPoint(name, vector, memory) for name in names])
    return names


@pytest.mark.parametrize("path", ["/admin/sync", "/admin/reembed"])
def test_the_admin_token_is_needed(client: FlaskClient, make_app: Callable[..., Any], path: str) -> None:
    assert client.post(path).status_code == 401
    assert client.post(path, headers={"X-Admin-Token": "other"}).status_code == 401
    assert make_app().test_client().post(path, headers=ADMIN).status_code == 403


@pytest.mark.parametrize("path", ["/admin/sync", "/admin/reembed"])
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"batch_size": "many"}, "batch_size"),
        ({"batch_size": 1.5}, "batch_size"),
        ({"batch_size": True}, "batch_size"),
        ({"force": "yes"}, "force"),
    ],
)
def test_a_malformed_body_is_refused(client: FlaskClient, path: str, body: Any, field: str) -> None:
    assert post(client, path, body, 400)["field"] == field


@pytest.mark.parametrize("limit", [-1, "all", 2.5, True])
def test_a_malformed_limit_is_refused(client: FlaskClient, limit: Any) -> None:
    assert post(client, "/admin/reembed", {"limit": limit}, 400)["field"] == "limit"


def test_unknown_fields_are_named(client: FlaskClient) -> None:
    assert post(client, "/admin/sync", {"dryrun": True})["warnings"][0]["code"] == "unknown_field"


def test_nothing_to_do(client: FlaskClient, own: Services) -> None:
    store(client, own)
    found = post(client, "/admin/sync")
    assert found["status"] == "already_synced"
    assert found["falkordb_count"] == found["qdrant_count"] == own.graph.count(["MetaPattern"])
    assert (found["synced"], found["orphaned_count"], found["stale_count"]) == (0, 0, 0)


def test_a_body_is_optional(client: FlaskClient) -> None:
    assert client.post("/admin/sync", headers=ADMIN).get_json()["status"] == "already_synced"


@pytest.mark.parametrize("batch_size", [-5, 0, 1, 7, 1000])
def test_missing_vectors_are_made_whatever_the_batch_size(
    client: FlaskClient, own: Services, batch_size: int
) -> None:
    ids = store(client, own, 5)
    before = own.vectors.vectors(ids)
    own.vectors.delete(ids[1:])
    looked = post(client, "/admin/sync", {"dry_run": True})
    assert looked["status"] == "dry_run"
    assert (looked["missing_count"], set(looked["missing_sample"])) == (4, set(ids[1:]))
    assert looked["falkordb_count"] - looked["qdrant_count"] == 4
    assert set(own.vectors.vectors(ids)) == {ids[0]}, "a dry run writes nothing"
    assert own.graph.pending_vector_count() == 0
    done = post(client, "/admin/sync", {"batch_size": batch_size})
    assert (done["status"], done["synced"], done["failed"]) == ("complete", 4, 0)
    assert done["qdrant_count"] == done["falkordb_count"]
    assert "failed_ids" not in done
    for memory_id, vector in own.vectors.vectors(ids).items():
        assert list(vector) == pytest.approx(list(before[memory_id]), abs=1e-5)


def test_orphans_are_removed_and_living_points_stay(client: FlaskClient, own: Services) -> None:
    ids, orphans = store(client, own, 2), orphan(own, 12)
    looked = post(client, "/admin/sync", {"dry_run": True})
    assert (looked["orphaned_count"], looked["orphaned_sample"]) == (12, orphans[:10])
    assert len(own.vectors.vectors(orphans)) == 12
    done = post(client, "/admin/sync")
    assert (done["status"], done["orphaned_count"], done["orphaned_removed"]) == ("already_synced", 12, 12)
    assert own.vectors.vectors(orphans) == {}
    assert len(own.vectors.vectors(ids)) == 2


def test_so_many_orphans_are_kept_until_forced(client: FlaskClient, own: Services) -> None:
    store(client, own)
    orphans = orphan(own, own.vectors.count(()) + 120)
    kept = post(client, "/admin/sync")
    assert (kept["orphaned_count"], kept["orphaned_removed"]) == (len(orphans), 0)
    assert kept["warnings"][0]["code"] == "orphans_kept"
    done = post(client, "/admin/sync", {"force": True})
    assert done["orphaned_removed"] == len(orphans)
    assert own.vectors.vectors(orphans) == {}


def test_stale_points_are_refreshed(client: FlaskClient, own: Services) -> None:
    """Others write into the graph past this service: one text, and one tag."""
    text, tagged = store(client, own, 2)
    raw: Any = own.graph
    raw._write("MATCH (m:Memory {id: $id}) SET m.content = 'the cat sat on the mat'", id=text)
    raw._write("MATCH (m:Memory {id: $id}) SET m.tags = ['added']", id=tagged)
    vectors = own.vectors.vectors([text, tagged])
    looked = post(client, "/admin/sync", {"dry_run": True})
    assert (looked["stale_count"], set(looked["stale_sample"])) == (2, {text, tagged})
    done = post(client, "/admin/sync")
    assert (done["status"], done["synced"], done["refreshed"]) == ("complete", 1, 1)
    after = own.vectors.vectors([text, tagged])
    assert list(after[tagged]) == list(vectors[tagged])
    wanted = own.provider.embed_query("the cat sat on the mat")
    assert own.vectors.similarities(wanted.tolist(), [text])[text] > 0.99
    assert post(client, "/admin/sync")["status"] == "already_synced"


def test_a_read_makes_no_point_stale(client: FlaskClient, own: Services) -> None:
    memory_id = store(client, own)[0]
    before = own.graph.get_many([memory_id])[memory_id].properties["last_accessed"]
    client.get(f"/memory/{memory_id}")
    wait_until(lambda: own.graph.get_many([memory_id])[memory_id].properties["last_accessed"] != before)
    assert post(client, "/admin/sync", {"dry_run": True})["stale_count"] == 0


def test_excluded_types_need_no_vector_but_theirs_is_no_orphan(client: FlaskClient, own: Services) -> None:
    with_vector, without = store(client, own, 2, type="MetaPattern")
    own.vectors.delete([without])
    found = post(client, "/admin/sync")
    assert (found["status"], found["orphaned_count"]) == ("already_synced", 0)
    assert set(own.vectors.vectors([with_vector, without])) == {with_vector}


def test_reembedding_keeps_everything_but_the_vector(client: FlaskClient, own: Services) -> None:
    fields = {"metadata": {"a": [1]}, "importance": 0.9, "timestamp": "2030-01-01T00:00:00+00:00"}
    memory_id = store(client, own, tags=["Kept"], **fields)[0]
    vector = [1.0] + [0.0] * (own.vectors.dimension - 1)
    own.vectors.upsert([VectorPoint(memory_id, vector, own.graph.get_many([memory_id])[memory_id])])
    before = client.get(f"/memory/{memory_id}").get_json()["memory"]
    done = post(client, "/admin/reembed", {"limit": 1})
    assert done == {
        "status": "complete",
        "processed": 1,
        "failed": 0,
        "total": 1,
        "batch_size": 32,
        "metadata_preserved": True,
    }
    wanted = own.provider.embed_query("note 0").tolist()
    assert own.vectors.similarities(wanted, [memory_id])[memory_id] > 0.99
    after = client.get(f"/memory/{memory_id}").get_json()["memory"]
    assert {**after, "last_accessed": ""} == {**before, "last_accessed": ""}
    assert post(client, "/admin/sync", {"dry_run": True})["stale_count"] == 0


def test_the_newest_are_taken_first_and_excluded_types_too(client: FlaskClient, own: Services) -> None:
    store(client, own, timestamp="2031-01-01T00:00:00+00:00")
    newest = store(client, own, type="MetaPattern", timestamp="2032-01-01T00:00:00+00:00")
    own.vectors.delete(newest)
    assert post(client, "/admin/reembed", {"limit": 1, "batch_size": 500})["batch_size"] == 100
    assert set(own.vectors.vectors(newest)) == set(newest)
    everything = own.graph.count(())
    assert post(client, "/admin/reembed", {"limit": 0, "batch_size": 0})["total"] == everything
    assert post(client, "/admin/reembed", {"limit": None, "force": True})["processed"] == everything


def test_one_run_at_a_time(client: FlaskClient, own: Services) -> None:
    with own.maintenance.runs.run(RUN, BUSY):
        for path in ("/admin/sync", "/admin/reembed"):
            assert post(client, path, status=409)["message"] == BUSY
        assert post(client, "/admin/sync", {"dry_run": True})["status"] == "dry_run"
    assert post(client, "/admin/sync")["status"] == "already_synced"


def test_an_empty_store(tmp_path: Any) -> None:
    settings = Settings.model_validate({"automem_data_dir": tmp_path, "admin_api_token": "root"})
    services = build_services(settings)
    try:
        client = create_app(settings, services).test_client()
        assert post(client, "/admin/reembed") == {
            "status": "complete",
            "message": "No memories found to reembed",
            "processed": 0,
            "total": 0,
        }
        assert post(client, "/admin/sync")["falkordb_count"] == 0
    finally:
        services.close()


def test_a_running_service_repairs_by_itself(make_service: Make) -> None:
    service = make_service(SYNC_CHECK_INTERVAL_SECONDS="1", ADMIN_API_TOKEN="root")
    service.start()
    rows = [{"content": f"note {n}", "type": "Context"} for n in range(3)]
    gone, changed, _ = service.client.post("/memory/batch", json={"memories": rows}).json()["memory_ids"]
    service.wait_settled()
    raw = RawGraph(service.data_dir)
    raw.run("MATCH (m:Memory {id: $id}) DELETE m", id=gone)
    raw.change(changed, content="changed by others")
    raw.close()

    def looked() -> Any:
        return service.client.post("/admin/sync", json={"dry_run": True}, headers=ADMIN).json()

    wait_until(lambda: (looked()["orphaned_count"], looked()["stale_count"]) == (0, 0))
    assert looked()["qdrant_count"] == looked()["falkordb_count"] == 2
