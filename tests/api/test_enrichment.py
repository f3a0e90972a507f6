"""Enrichment over HTTP: what is added, and that nothing of clients is lost (background.md 2, D37)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.support.events import listening
from tests.support.openai_server import AiServer, Status
from tests.support.recalls import ids, recall, store, store_many
from tests.support.service import RunningService, wait_until

ADMIN = "enrichment-admin"
HEADERS = {"X-Admin-Token": ADMIN}

Make = Callable[..., RunningService]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    running = RunningService(tmp_path_factory.mktemp("enrichment"), ADMIN_API_TOKEN=ADMIN)
    running.start()
    yield running
    running.close()


@pytest.fixture
def api(own: RunningService) -> httpx.Client:
    return own.client


@pytest.fixture
def settled(own: RunningService) -> Callable[[], None]:
    return own.wait_settled


def memory(api: httpx.Client, memory_id: str) -> dict[str, Any]:
    reply = api.get(f"/memory/{memory_id}")
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()["memory"]
    return found


def patch(api: httpx.Client, memory_id: str, **changes: Any) -> None:
    reply = api.patch(f"/memory/{memory_id}", json=changes)
    assert reply.status_code == 200, reply.text


def similar(api: httpx.Client, memory_id: str) -> dict[str, float]:
    reply = api.get(f"/memory/{memory_id}/associations", params={"type": "SIMILAR_TO"})
    assert reply.status_code == 200, reply.text
    return {
        f"{row['direction']} {row['memory']['id']}": row["strength"] for row in reply.json()["associations"]
    }


# what is added


def test_a_memory_grows_entities_a_summary_and_a_report(
    api: httpx.Client, settled: Callable[[], None], tag: str
) -> None:
    text = "We deployed Postgres with Alice Johnson. The old MySQL instance was retired afterwards."
    reply = api.post("/memory", json={"content": text, "tags": [tag, "Keep/Case"], "metadata": {"mine": [1]}})
    assert reply.json()["enrichment"] == "queued"
    memory_id = reply.json()["memory_id"]
    settled()
    found = memory(api, memory_id)
    assert found["tags"][:2] == [tag, "Keep/Case"]
    assert {"entity:people:alice-johnson", "entity:tools:postgres"} <= set(found["tags"])
    assert found["tags"][2:] == sorted(found["tags"][2:])
    assert {"keep", "keep:case", "entity", "entity:people", "entity:people:alice-johnson"} <= set(
        found["tag_prefixes"]
    )
    assert found["metadata"]["mine"] == [1]
    assert "Alice Johnson" in found["metadata"]["entities"]["people"]
    assert "Postgres" in found["metadata"]["entities"]["tools"]
    assert found["summary"] == "We deployed Postgres with Alice Johnson."
    assert (found["processed"], found["enriched"]) == (True, True)
    report = found["metadata"]["enrichment"]
    assert (report["forced"], report["patterns_detected"]) == (False, [])
    assert found["enriched_at"] == report["last_run"]
    assert found["updated_at"] == found["timestamp"], "no client has changed it"


def test_what_is_sarahs_sisters_job(api: httpx.Client, settled: Callable[[], None], tag: str) -> None:
    store(api, "Sarah's sister is Rachel.", tag)
    job = store(api, "Rachel works as a pediatric nurse at Mercy Hospital.", tag)
    others = ["The bakery opens at six.", "Our printer is out of toner.", "Bus 12 was late again on Monday."]
    store_many(api, others, tag)
    settled()
    asked = "What is Sarah's sister's job?"
    body = recall(api, query=asked, tags=tag, limit=1, expand_entities="true")
    assert job in ids(body)
    assert memory(api, job)["tags"] != [tag]


def test_an_entity_of_a_clients_tag_stays_the_clients(
    api: httpx.Client, settled: Callable[[], None], tag: str
) -> None:
    memory_id = store(api, "Met with Maria today.", tag, "Entity:People:Maria")
    settled()
    assert memory(api, memory_id)["tags"] == [tag, "Entity:People:Maria"]
    patch(api, memory_id, content="Nobody was there.")
    settled()
    assert memory(api, memory_id)["tags"] == [tag, "Entity:People:Maria"]


def test_metadata_of_clients_is_not_touched(api: httpx.Client, settled: Callable[[], None], tag: str) -> None:
    mine = {"entities": {"people": ["whoever"]}, "enrichment": "mine", "n": 1.5}
    memory_id = store(api, "Met with Maria Lopez at noon.", tag, metadata=mine)
    settled()
    found = memory(api, memory_id)
    assert found["metadata"] == mine
    assert "entity:people:maria-lopez" in found["tags"]


def test_similar_memories_are_linked_both_ways_on_the_first_pass(
    api: httpx.Client, settled: Callable[[], None], tag: str
) -> None:
    first = store(api, "The quarterly report is due on Friday at noon.", tag)
    second = store(api, "The quarterly report is due on Friday at 12 o'clock noon.", tag)
    other = store(api, "Penguins eat fish.", tag)
    settled()
    assert {f"incoming {second}", f"outgoing {second}"} <= set(similar(api, first))
    assert all(0.8 <= score <= 1.0 for score in similar(api, first).values())
    assert not any(other in edge for edge in similar(api, first))
    near = memory(api, second)["metadata"]["enrichment"]["semantic_neighbors"]
    assert first in [row["id"] for row in near]


def test_decisions_become_a_pattern(api: httpx.Client, settled: Callable[[], None], tag: str) -> None:
    texts = [f"We decided to use the walnut ledger for invoice {number}." for number in range(8)]
    stored = store_many(api, texts, tag)
    settled()
    found = [memory(api, memory_id)["metadata"]["enrichment"]["patterns_detected"] for memory_id in stored]
    assert any(rows and rows[0]["type"] == "Decision" and rows[0]["similar_memories"] >= 3 for rows in found)
    patterns = api.get("/analyze").json()["analytics"]["patterns"]
    assert any(row["type"] == "Decision" for row in patterns)


# changes of clients


def test_changes_right_after_the_write_survive(
    api: httpx.Client, settled: Callable[[], None], tag: str
) -> None:
    stored = [store(api, f"Talked to Bob Miller about topic {number}.", tag) for number in range(12)]
    for number, memory_id in enumerate(stored):
        patch(api, memory_id, tags=[tag, f"mine{number}"], metadata={"number": number})
    settled()
    for number, memory_id in enumerate(stored):
        found = memory(api, memory_id)
        assert found["tags"] == [tag, f"mine{number}", "entity:people:bob-miller"]
        assert found["metadata"]["number"] == number
        assert found["metadata"]["entities"]["people"] == ["Bob Miller"]


def test_later_changes_keep_what_was_added(api: httpx.Client, settled: Callable[[], None], tag: str) -> None:
    memory_id = store(api, "Talked to Bob Miller.", tag, metadata={"old": 1})
    settled()
    patch(api, memory_id, tags=[tag, "new"], metadata={"new": 2})
    found = memory(api, memory_id)
    assert found["tags"] == [tag, "new", "entity:people:bob-miller"]
    assert found["metadata"]["new"] == 2 and "old" not in found["metadata"]
    assert found["metadata"]["entities"] == {"people": ["Bob Miller"]}
    patch(api, memory_id, tags=found["tags"][:2] + ["entity:people:bob-miller", "third"])
    assert memory(api, memory_id)["tags"] == [tag, "new", "entity:people:bob-miller", "third"]


def test_a_new_text_is_enriched_anew(api: httpx.Client, settled: Callable[[], None], tag: str) -> None:
    memory_id = store(api, "Talked to Bob Miller.", tag)
    twin = store(api, "Talked to Bob Miller!", tag)
    settled()
    assert f"outgoing {twin}" in similar(api, memory_id)
    patch(api, memory_id, content="Spoke with Eve Adams. It rained.")
    assert memory(api, memory_id)["processed"] is False
    settled()
    found = memory(api, memory_id)
    assert found["tags"] == [tag, "entity:people:eve-adams"]
    assert found["metadata"]["entities"] == {"people": ["Eve Adams"]}
    assert (found["summary"], found["processed"]) == ("Spoke with Eve Adams.", True)
    assert not any(twin in edge for edge in similar(api, memory_id))


# durability


def test_enrichment_survives_kill_9(make_service: Make) -> None:
    service = make_service()
    service.start()
    stored = store_many(service.client, [f"Met with Carol Stone, visit {n}." for n in range(60)], "visit")
    service.kill()
    service.start()
    service.wait_settled()
    for memory_id in stored:
        found = memory(service.client, memory_id)
        assert "entity:people:carol-stone" in found["tags"] and found["processed"] is True


def test_without_vectors_all_the_rest_is_done_ahead(make_service: Make) -> None:
    with AiServer(dimension=1536) as provider:
        provider.always(Status(500))
        service = make_service(
            EMBEDDING_PROVIDER="openai", OPENAI_API_KEY="key", OPENAI_BASE_URL=provider.openai_url
        )
        service.start()
        pair = [store(service.client, f"Met with Carol Stone{end}", type="Context") for end in ".!"]
        wait_until(lambda: "entity:people:carol-stone" in memory(service.client, pair[1])["tags"])
        assert memory(service.client, pair[1])["processed"] is False
        assert service.client.get("/health").json()["enrichment"]["pending"] == 2
        provider.always(None)
        # After many failures the next try may be two minutes away.
        wait_until(lambda: memory(service.client, pair[0])["processed"] is True, seconds=180)
        wait_until(lambda: memory(service.client, pair[1])["processed"] is True, seconds=180)
        assert memory(service.client, pair[1])["processed"] is True
        assert f"outgoing {pair[1]}" in similar(service.client, pair[0])


# status, events, doing it again


def test_the_status_counts(api: httpx.Client, settled: Callable[[], None], tag: str) -> None:
    before = api.get("/enrichment/status").json()
    memory_id = store(api, "We prefer tea.", tag)
    settled()
    after = api.get("/enrichment/status").json()
    assert (after["status"], after["max_attempts"], after["given_up"]) == ("running", 3, 0)
    assert (after["queue_size"], after["pending"], after["inflight"]) == (0, 0, 0)
    stats = after["stats"]
    assert stats["successes"] == before["stats"]["successes"] + 1 == stats["processed_total"]
    assert stats["last_success_id"] == memory_id and stats["failures"] == 0
    hits = "pattern_classifications"
    assert after["classification"][hits] == before["classification"][hits] + 1
    health = api.get("/health").json()["enrichment"]
    assert health == {
        "status": "running",
        "queue_depth": 0,
        "pending": 0,
        "inflight": 0,
        "processed": stats["successes"],
        "failed": 0,
    }


def test_events_tell_of_the_start_and_the_end(own: RunningService, tag: str) -> None:
    with listening(own.url) as listener:
        memory_id = store(own.client, "A plain note.", tag)
        begun = listener.next("enrichment.start", about=memory_id)
        assert begun.data == {"memory_id": memory_id, "attempt": 1}
        done = listener.next("enrichment.complete", about=memory_id)
        assert done.data.pop("elapsed_ms") >= 0
        assert done.data == {"memory_id": memory_id, "success": True, "skipped": False}


def test_memories_can_be_enriched_again(api: httpx.Client, settled: Callable[[], None], tag: str) -> None:
    first, second = store(api, "Spoke with Eve Adams.", tag), store(api, "Another note.", tag)
    settled()
    before = memory(api, first)
    unknown = "00000000-0000-4000-8000-000000000000"
    reply = api.post("/enrichment/reprocess", json={"ids": [second, first, unknown, " "]}, headers=HEADERS)
    assert reply.status_code == 202
    body = reply.json()
    assert (body["status"], body["count"], body["ids"]) == ("queued", 2, sorted([first, second]))
    assert [row["code"] for row in body["warnings"]] == ["unknown_ids"]
    settled()
    after = memory(api, first)
    assert after["metadata"]["enrichment"]["forced"] is True
    assert after["enriched_at"] > before["enriched_at"]
    assert after["tags"] == before["tags"]


@pytest.mark.parametrize("sent", [{"params": {"ids": "{},{}"}}, {"json": {"ids": "{}, {}"}}])
def test_ids_may_be_one_text(api: httpx.Client, tag: str, sent: dict[str, dict[str, str]]) -> None:
    stored = [store(api, f"Note {number}", tag) for number in range(2)]
    filled = {how: {"ids": value["ids"].format(*stored)} for how, value in sent.items()}
    reply = api.post("/enrichment/reprocess", headers=HEADERS, **filled)
    assert (reply.status_code, reply.json()["ids"]) == (202, sorted(stored))


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "ids"),
        ({"ids": []}, "ids"),
        ({"ids": [1]}, "ids"),
        ({"ids": {}}, "ids"),
        ({"failed": 1}, "failed"),
    ],
)
def test_bad_wishes_are_named(api: httpx.Client, body: dict[str, Any], field: str) -> None:
    reply = api.post("/enrichment/reprocess", json=body, headers=HEADERS)
    assert (reply.status_code, reply.json()["field"]) == (400, field)


def test_too_many_ids(api: httpx.Client) -> None:
    reply = api.post("/enrichment/reprocess", json={"ids": [f"i{n}" for n in range(1001)]}, headers=HEADERS)
    assert reply.status_code == 400 and "1000" in reply.json()["message"]


def test_a_body_that_is_no_object(api: httpx.Client) -> None:
    assert api.post("/enrichment/reprocess", json=["a"], headers=HEADERS).status_code == 400


def test_doing_it_again_is_for_the_admin(api: httpx.Client) -> None:
    assert api.post("/enrichment/reprocess", json={"ids": ["a"]}).status_code == 401
    wrong = api.post("/enrichment/reprocess", json={"ids": ["a"]}, headers={"X-Admin-Token": "no"})
    assert wrong.status_code == 401
