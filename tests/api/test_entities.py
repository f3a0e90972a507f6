"""GET /entities and /entity/{slug}, filled by storing memories (service.md 13)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.support.openai_server import AiServer
from tests.support.recalls import Body, RawGraph, recall, store
from tests.support.service import RunningService, wait_until

Make = Callable[..., RunningService]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    running = RunningService(tmp_path_factory.mktemp("entities"))
    running.start()
    for text in (
        "Met with Maria Lopez about the garden.",
        "Maria Lopez prefers roses.",
        "Talked to Bob Miller and Maria Lopez.",
        "We deployed Postgres on Monday.",
    ):
        store(running.client, text, type="Context")
    store(running.client, "It was late.", "entity:person:Mara-Quinn", "entity:concepts:the-plan")
    running.wait_settled()
    yield running
    running.close()


@pytest.fixture
def api(own: RunningService) -> httpx.Client:
    return own.client


def entities(api: httpx.Client, **params: Any) -> list[Body]:
    reply = api.get("/entities", params=params)
    assert reply.status_code == 200, reply.text
    body = reply.json()
    assert body["count"] == len(body["entities"])
    return list(body["entities"])


def test_storing_makes_entities_those_of_most_memories_first(api: httpx.Client) -> None:
    found = entities(api)
    assert [(row["id"], row["reference_count"]) for row in found] == [
        ("entity:people:maria-lopez", 3),
        ("entity:people:bob-miller", 1),
        ("entity:people:mara-quinn", 1),
        ("entity:tools:postgres", 1),
    ], "a client's tag names one too, if it is a good name"
    first = found[0]
    assert (first["slug"], first["category"], first["name"]) == ("maria-lopez", "people", "Maria Lopez")
    assert (first["aliases"], first["identity_version"], first["identity_source_count"]) == ([], 0, 0)
    assert first["created_at"] <= first["last_referenced_at"]
    assert "identity" not in first


def test_of_a_category(api: httpx.Client) -> None:
    assert [row["slug"] for row in entities(api, category="tools")] == ["postgres"]
    assert [row["slug"] for row in entities(api, category="Tool")] == ["postgres"]
    assert entities(api, category="nothing") == []


def walk(api: httpx.Client, **params: Any) -> Iterator[Body]:
    cursor: str | None = ""
    while cursor is not None:
        reply = api.get("/entities", params={"limit": 1, "cursor": cursor, **params}).json()
        yield from reply["entities"]
        cursor = reply.get("next")


def test_pages(api: httpx.Client) -> None:
    assert list(walk(api)) == entities(api)


def test_a_walk_by_id_shows_all_once_while_memories_come_and_go(own: RunningService) -> None:
    before = sorted(row["id"] for row in entities(own.client))
    seen, stored = [], []
    for row in walk(own.client, sort="id"):
        seen.append(row["id"])
        stored.append(store(own.client, f"Day {len(seen)}.", "entity:tools:postgres"))
        own.wait_settled()
    assert seen == before
    for memory_id in stored:
        assert own.client.delete(f"/memory/{memory_id}").status_code == 200
    assert [row["reference_count"] for row in entities(own.client, category="tools")] == [1]


def test_an_entity_goes_with_its_last_memory(own: RunningService) -> None:
    stored = store(own.client, "Anything.", "entity:people:nadia-stone")
    own.wait_settled()
    assert own.client.get("/entity/nadia-stone").status_code == 200
    assert own.client.delete(f"/memory/{stored}").status_code == 200
    assert own.client.get("/entity/nadia-stone").status_code == 404


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"limit": "x"}, "Invalid limit parameter — must be an integer"),
        ({"limit": "1.5"}, "Invalid limit parameter — must be an integer"),
        ({"limit": "1_0"}, "Invalid limit parameter — must be an integer"),
        ({"sort": "name"}, "'sort' must be one of references, id, not 'name'"),
        ({"limit": "0"}, "Invalid limit parameter — must be between 1 and 500"),
        ({"limit": "501"}, "Invalid limit parameter — must be between 1 and 500"),
        ({"cursor": "x"}, "'cursor' must be the 'next' of an earlier answer of this list"),
    ],
)
def test_bad_pages(api: httpx.Client, params: dict[str, str], message: str) -> None:
    reply = api.get("/entities", params=params)
    assert (reply.status_code, reply.json()["message"]) == (400, message)


def test_one_by_slug(api: httpx.Client) -> None:
    body = api.get("/entity/maria-lopez").json()
    assert (body["status"], body["entity"]["reference_count"]) == ("success", 3)
    assert api.get("/entity/Maria%20Lopez").json()["entity"] == body["entity"]


def test_an_unknown_one(api: httpx.Client) -> None:
    reply = api.get("/entity/nobody")
    assert (reply.status_code, reply.json()["message"]) == (404, "Entity 'nobody' not found")


def test_aliases_and_merged_ones(own: RunningService, api: httpx.Client) -> None:
    graph = RawGraph(own.data_dir)
    graph.run(
        "CREATE (:Entity {id: 'entity:people:zed-old', slug: 'zed-old', category: 'people', name: 'Zed', "
        "aliases: ['zeddy']}), (:Entity {id: 'entity:people:zed', slug: 'zed', category: 'people', "
        "merged_into: 'entity:people:zed-old'})"
    )
    assert api.get("/entity/zeddy").json()["entity"]["slug"] == "zed-old"
    assert api.get("/entity/zed").status_code == 404
    store(api, "Anything.", "entity:people:zed")
    own.wait_settled()
    merged = api.get("/entity/zed").json()["entity"]
    assert (merged["slug"], merged["reference_count"], merged["aliases"]) == ("zed-old", 1, ["zeddy", "zed"])
    graph.run("MATCH (e:Entity) WHERE e.id STARTS WITH 'entity:people:zed' DETACH DELETE e")
    graph.close()


def test_an_identity_is_written_and_shown(make_service: Make) -> None:
    with AiServer() as model:
        model.text_reply = "Maria Lopez is a gardener who prefers roses."
        service = make_service(
            IDENTITY_SYNTHESIS_ENABLED="true",
            IDENTITY_SYNTHESIS_MODEL="big",
            EMBEDDING_PROVIDER="local",
            OPENAI_API_KEY="key",
            OPENAI_BASE_URL=model.openai_url,
        )
        service.start()
        store(service.client, "Maria Lopez prefers roses.", type="Preference")
        service.wait_settled()
        wait_until(lambda: "identity" in service.client.get("/entity/maria-lopez").json()["entity"])
        found = service.client.get("/entity/maria-lopez").json()["entity"]
        assert found["identity"] == model.text_reply
        assert (found["identity_version"], found["identity_source_count"]) == (1, 1)
        told = recall(service.client, query="What does Maria Lopez prefer?")
        assert [row["identity"] for row in told["entities"]] == [model.text_reply]
        assert {each.body["model"] for each in model.received} == {"big"}
