"""GET /recall while a store or the model is away (D4; issue 3).

"No match" and "could not look" are never the same answer.
"""

from __future__ import annotations

import dataclasses
import uuid
from dataclasses import dataclass
from typing import Any

import pytest

from automem.app import create_app
from automem.errors import EmbeddingUnavailable, GraphUnavailable, VectorsUnavailable
from automem.search.statistics import TermStatistics
from automem.services import Services
from tests.support.breakable import Breakable
from tests.support.service import wait_until

QUESTION = "where do the herons nest"


@dataclass
class Stage:
    """An application whose stores and model can be broken, with a few memories under ``tag``."""

    client: Any
    graph: Any
    vectors: Any
    provider: Any
    tag: str
    stored: dict[str, str]

    def ask(self, **params: Any) -> Any:
        return self.client.get("/recall", query_string={"query": QUESTION, "tags": self.tag, **params})

    def recall(self, **params: Any) -> dict[str, Any]:
        reply = self.ask(**params)
        assert reply.status_code == 200, reply.text
        body: dict[str, Any] = reply.get_json()
        return body


def codes(body: dict[str, Any]) -> list[str]:
    assert body.get("degraded") is (True if body.get("warnings") else None)
    return [warning["code"] for warning in body.get("warnings", [])]


def found(body: dict[str, Any]) -> set[str]:
    return {row["id"] for row in body["results"]}


@pytest.fixture(scope="module")
def memories(services: Services) -> tuple[str, dict[str, str]]:
    tag = f"t{uuid.uuid4().hex[:12]}"
    rows: dict[str, dict[str, Any]] = {
        "worded": {"content": "The herons nest in the alders", "tags": [tag]},
        "meant": {"content": "Tall grey wading birds breed by the river", "tags": [tag]},
        "named": {"content": "Ann counts them", "tags": [tag, "entity:people:ann"]},
        "expired": {
            "content": "The herons nest on the church",
            "tags": [tag],
            "t_valid": "2020-01-01",
            "t_invalid": "2021-01-01",
        },
        "outside": {"content": "The herons nest elsewhere", "tags": [f"{tag}x", "entity:people:ann"]},
    }
    client = create_app(services.settings, services).test_client()
    reply = client.post("/memory/batch", json={"memories": list(rows.values())})
    assert reply.status_code == 201
    services.embedder.notify()
    wait_until(lambda: services.graph.unsettled_count() == 0)
    return tag, dict(zip(rows, reply.get_json()["memory_ids"], strict=True))


@pytest.fixture
def stage(services: Services, memories: tuple[str, dict[str, str]]) -> Stage:
    graph: Any = Breakable(services.graph, GraphUnavailable)
    vectors: Any = Breakable(services.vectors, VectorsUnavailable)
    provider: Any = Breakable(services.provider, EmbeddingUnavailable)
    broken = dataclasses.replace(
        services, graph=graph, vectors=vectors, provider=provider, terms=TermStatistics(graph)
    )
    client = create_app(services.settings, broken).test_client()
    return Stage(client, graph, vectors, provider, *memories)


def test_when_all_is_well_nothing_is_said(stage: Stage) -> None:
    body = stage.recall()
    assert codes(body) == []
    assert found(body) == {stage.stored[name] for name in ("worded", "meant", "named")}
    nothing = stage.recall(tags=f"{stage.tag}-none")
    assert (nothing["count"], codes(nothing)) == (0, [])


def test_without_the_graph_vectors_answer(stage: Stage) -> None:
    stage.graph.down = True
    body = stage.recall()
    assert codes(body) == ["graph_unavailable"]
    assert found(body) == {stage.stored[name] for name in ("worded", "meant", "named")}
    row = body["results"][0]
    assert row["id"] == stage.stored["worded"]
    assert row["memory"]["content"] == "The herons nest in the alders"
    assert row["score_components"]["keyword"] > 0.3
    assert body["vector_search"]["matched"] is True
    nothing = stage.recall(tags=f"{stage.tag}-none")
    assert (nothing["count"], codes(nothing)) == (0, ["graph_unavailable"])


def test_without_the_graph_hidden_ones_stay_hidden(stage: Stage) -> None:
    stage.graph.down = True
    assert stage.stored["expired"] not in found(stage.recall(limit=50))
    assert stage.stored["expired"] in found(stage.recall(limit=50, state_mode="history"))


@pytest.mark.parametrize(
    "params",
    [
        {"expand_relations": "true"},
        {"expand_entities": "true"},
        {"context_tags": "birds"},
        {"priority_ids": str(uuid.uuid4())},
        {"queries": ["herons", "river birds"]},
        {"explain_id": str(uuid.uuid4())},
        {"scope_fallback": "true"},
        {"sort": "time_desc"},
    ],
)
def test_without_the_graph_every_option_answers(stage: Stage, params: dict[str, Any]) -> None:
    stage.graph.down = True
    body = stage.recall(**params)
    assert set(codes(body)) == {"graph_unavailable"}
    assert stage.stored["worded"] in found(body)


def test_without_the_graph_entities_are_followed_by_the_vector_store(stage: Stage) -> None:
    stage.graph.down = True
    body = stage.recall(expand_entities="true")
    [row] = [row for row in body["results"] if row["match_type"] == "entity_expansion"]
    assert row["id"] == stage.stored["outside"]


def test_without_the_graph_tags_alone_are_answered(stage: Stage) -> None:
    stage.graph.down = True
    body = stage.recall(query="")
    assert codes(body) == ["graph_unavailable"]
    assert found(body) == {stage.stored[name] for name in ("worded", "meant", "named")}
    assert {(row["match_type"], row["source"]) for row in body["results"]} == {("tag", "qdrant")}


def test_without_the_vector_store_words_answer(stage: Stage) -> None:
    stage.vectors.down = True
    body = stage.recall()
    assert codes(body) == ["vector_unavailable"]
    row = next(row for row in body["results"] if row["id"] == stage.stored["worded"])
    assert row["match_types"] == ["keyword"]
    assert row["source"] == "graph"
    assert body["vector_search"]["matched"] is False
    nothing = stage.recall(query="xylophone")
    assert codes(nothing) == ["vector_unavailable"]


def test_without_the_model_words_answer(stage: Stage) -> None:
    stage.provider.down = True
    body = stage.recall()
    assert codes(body) == ["embedding_unavailable"]
    assert stage.stored["worded"] in found(body)
    assert all("vector" not in row["match_types"] for row in body["results"])
    several = stage.recall(queries=["herons", "river"])
    assert codes(several) == ["embedding_unavailable"]
    assert stage.stored["worded"] in found(several)


def test_an_own_embedding_needs_no_model(stage: Stage, services: Services) -> None:
    stage.provider.down = True
    vector = services.provider.embed_query(QUESTION).tolist()
    body = stage.recall(embedding=",".join(map(str, vector)))
    assert codes(body) == []
    assert stage.stored["meant"] in found(body)


def test_without_text_neither_model_nor_vectors_are_missed(stage: Stage) -> None:
    stage.provider.down = stage.vectors.down = True
    body = stage.recall(query="")
    assert codes(body) == []
    assert body["count"] == 3


@pytest.mark.parametrize("params", [{}, {"query": ""}, {"queries": ["herons", "birds"]}])
@pytest.mark.parametrize("away", [("graph", "vectors"), ("graph", "provider")])
def test_when_nobody_can_look_it_is_503(stage: Stage, away: tuple[str, str], params: dict[str, Any]) -> None:
    if away == ("graph", "provider") and params == {"query": ""}:
        away = ("graph", "vectors")
    for name in away:
        getattr(stage, name).down = True
    reply = stage.ask(**params)
    assert reply.status_code == 503
    assert int(reply.headers["Retry-After"]) > 0
    assert (reply.get_json()["status"], reply.get_json()["code"]) == ("error", 503)


@pytest.mark.parametrize(
    ("store", "method", "code"),
    [
        ("graph", "keyword_search", "graph_unavailable"),
        ("graph", "frequencies", "graph_unavailable"),
        ("graph", "count", "graph_unavailable"),
        ("graph", "get_many", "graph_unavailable"),
        ("graph", "links", "graph_unavailable"),
        ("graph", "replacements", "graph_unavailable"),
        ("graph", "relations", "graph_unavailable"),
        ("graph", "neighbours", "graph_unavailable"),
        ("graph", "entities", "graph_unavailable"),
        ("vectors", "search", "vector_unavailable"),
        ("vectors", "similarities", "vector_unavailable"),
    ],
)
def test_a_store_that_fails_on_the_way_is_said(stage: Stage, store: str, method: str, code: str) -> None:
    """Whatever step it is that fails, the others answer, and the answer does not pass for a whole one."""
    getattr(stage, store).broken.add(method)
    body = stage.recall(
        expand_relations="true", expand_entities="true", limit=50, priority_ids=stage.stored["outside"]
    )
    assert set(codes(body)) == {code}
    assert stage.stored["worded"] in found(body)
