"""GET /startup-recall and GET /analyze on a service of their own: they look at everything stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from automem.app import create_app
from automem.errors import GraphUnavailable
from automem.services import Services
from tests.support.breakable import Breakable
from tests.support.recalls import RawGraph, ids, recall, store, store_many
from tests.support.service import RunningService


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    running = RunningService(tmp_path_factory.mktemp("insights"))
    running.start()
    yield running
    running.close()


@pytest.fixture
def graph(own: RunningService) -> Iterator[RawGraph]:
    """The graph of that service, emptied."""
    raw = RawGraph(own.data_dir)
    raw.run("MATCH (n) WHERE n:Memory OR n:Pattern DETACH DELETE n")
    yield raw
    raw.close()


@pytest.fixture
def client(own: RunningService, graph: RawGraph) -> httpx.Client:
    """A client of that service, emptied."""
    return own.client


def get(client: httpx.Client, path: str) -> dict[str, Any]:
    reply = client.get(path)
    assert reply.status_code == 200, reply.text
    body: dict[str, Any] = reply.json()
    return body


def lessons(client: httpx.Client) -> list[str]:
    return [row["id"] for row in get(client, "/startup-recall")["critical_lessons"]]


def test_a_briefing_of_nothing(client: httpx.Client) -> None:
    assert get(client, "/startup-recall") == {
        "status": "success",
        "critical_lessons": [],
        "system_rules": [],
        "lesson_count": 0,
        "has_critical": False,
        "summary": "Recalled 0 lesson(s) and 0 system rule(s)",
    }


def test_lessons_and_rules_by_importance(own: RunningService, client: httpx.Client) -> None:
    low = store(client, "Check the disk first", "lesson", importance=0.2)
    high = store(
        client, "Never drop a table", "Critical", importance=0.9, metadata={"by": "Ann"}, type="Style"
    )
    rule = store(client, "Recall before answering", "memory-recall", "x")
    store(client, "No lesson", "lessons", "my:lesson", "lesson:python", "systems")
    own.wait_settled()
    body = get(client, "/startup-recall")
    assert [row["id"] for row in body["critical_lessons"]] == [high, low]
    assert body["critical_lessons"][0]["metadata"].pop("enrichment"), "beside the client's"
    assert body["critical_lessons"][0] == {
        "id": high,
        "content": "Never drop a table",
        "tags": ["Critical"],
        "importance": 0.9,
        "type": "Style",
        "metadata": {"by": "Ann"},
    }
    assert body["system_rules"] == [
        {"id": rule, "content": "Recall before answering", "tags": ["memory-recall", "x"]}
    ]
    assert (body["lesson_count"], body["has_critical"]) == (2, True)
    assert body["summary"] == "Recalled 2 lesson(s) and 1 system rule(s)"


def test_at_most_ten_lessons_and_five_rules(client: httpx.Client) -> None:
    store_many(client, (f"lesson {n}" for n in range(12)), "ai-assistant", importance=0.4)
    best = store(client, "the lesson", "lesson", importance=0.8)
    store_many(client, (f"rule {n}" for n in range(7)), "system")
    body = get(client, "/startup-recall")
    assert (body["lesson_count"], len(body["system_rules"])) == (10, 5)
    assert body["critical_lessons"][0]["id"] == best
    assert body["has_critical"] is False


def test_only_current_lessons_steer_an_agent(client: httpx.Client, graph: RawGraph) -> None:
    """A dozen outdated ones of more importance do not push the current one out either."""
    store_many(
        client,
        (f"expired {n}" for n in range(12)),
        "lesson",
        importance=1.0,
        t_valid="2020-01-01",
        t_invalid="2021-01-01",
    )
    store(client, "not yet", "lesson", t_valid="2999-01-01")
    graph.change(store(client, "archived", "lesson"), archived=True)
    old, new, kept = (store(client, text, "lesson") for text in ("replaced", "new", "kept"))
    gone = store(client, "gone", "other")
    graph.change(gone, archived=True)
    for source, target in ((old, new), (kept, gone)):
        graph.link(source, "INVALIDATED_BY", target, strength=0.9)
    assert set(lessons(client)) == {new, kept}


def test_odd_memories_of_others_are_no_failure(client: httpx.Client, graph: RawGraph) -> None:
    odd = store(client, "odd one", "lesson")
    unrated, plain = store(client, "unrated", "lesson"), store(client, "plain", "lesson", importance=0.1)
    graph.change(odd, metadata="{not json", importance="high", type=None, confidence=[1], timestamp=7)
    graph.change(unrated, metadata='["a list"]', importance=None, type=5, tags=["lesson"])
    body = get(client, "/startup-recall")
    rows = {row["id"]: row for row in body["critical_lessons"]}
    assert body["critical_lessons"][0]["id"] == plain
    for memory_id in (odd, unrated):
        row = rows[memory_id]
        assert (row["importance"], row["type"], row["metadata"]) == (0.5, "Context", {})


def test_analyze_counts(client: httpx.Client, graph: RawGraph) -> None:
    store_many(
        client, ("a", "b"), type="Decision", confidence=0.9, timestamp="2025-01-01T09:30:00Z", importance=0.2
    )
    store(client, "c", type="Decision", confidence=0.3, timestamp="2025-01-02T09:59:00Z", importance=0.8)
    store(client, "d", type="Habit", confidence=0.5, timestamp="2025-01-03T23:00:00+02:00")
    body = get(client, "/analyze")
    assert body["status"] == "success"
    assert body["elapsed_ms"] > 0
    found = body["analytics"]
    assert found["memory_types"] == {
        "Decision": {"count": 3, "average_confidence": 0.7},
        "Habit": {"count": 1, "average_confidence": 0.5},
    }
    assert found["temporal_insights"] == {
        "hour_09": {"count": 3, "avg_importance": 0.4},
        "hour_21": {"count": 1, "avg_importance": 0.5},
    }
    assert found["confidence_distribution"] == {"low": 1, "medium": 1, "high": 2}
    assert found["patterns"] == found["preferences"] == []
    assert found["entity_frequency"] == {}


def test_analyze_names_entities_patterns_and_preferences(client: httpx.Client, graph: RawGraph) -> None:
    store(
        client,
        "a",
        metadata={"entities": {"people": ["Sarah"], "tools": ["Kafka", "Go"]}, "topics": ["kafka"]},
    )
    store(client, "b", metadata={"keywords": ["KAFKA", " sarah "], "other": ["unseen"]})
    coffee, tea = store(client, "coffee"), store(client, "tea")
    for number in range(12):
        one = store(client, f"choice {number}")
        graph.link(one, "PREFERS_OVER", tea, strength=number / 20)
    graph.link(coffee, "PREFERS_OVER", tea, strength=0.95, context="mornings")
    for kind, confidence in (("Habit", 0.9), ("Style", 0.6), ("Insight", 0.7)):
        graph.run(
            "CREATE (:Pattern {id: $t, type: $t, content: 'of ' + $t, confidence: $c, observations: 4})",
            t=kind,
            c=confidence,
        )
    found = get(client, "/analyze")["analytics"]
    assert list(found["entity_frequency"].items()) == [("kafka", 3), ("sarah", 2)]
    assert len(found["preferences"]) == 10
    assert found["preferences"][0] == {
        "prefers": "coffee",
        "over": "tea",
        "context": "mornings",
        "strength": 0.95,
    }
    assert [row["strength"] for row in found["preferences"][1:3]] == [0.55, 0.5]
    assert found["patterns"] == [
        {"type": "Habit", "description": "of Habit", "confidence": 0.9, "observations": 4},
        {"type": "Insight", "description": "of Insight", "confidence": 0.7, "observations": 4},
    ]


def test_analyze_reads_bounded_samples_of_the_newest(client: httpx.Client) -> None:
    store_many(
        client,
        (f"old {n}" for n in range(450)),
        timestamp="2020-01-01T03:00:00Z",
        metadata={"topics": ["old"]},
    )
    store_many(
        client,
        (f"new {n}" for n in range(150)),
        timestamp="2025-01-01T04:00:00Z",
        metadata={"topics": ["new"]},
    )
    found = get(client, "/analyze")["analytics"]
    assert sum(row["count"] for row in found["memory_types"].values()) == 600
    assert {hour: row["count"] for hour, row in found["temporal_insights"].items()} == {"hour_04": 100}
    assert found["entity_frequency"] == {"new": 150, "old": 50}
    assert sum(found["confidence_distribution"].values()) == 500


def test_odd_data_does_not_stop_the_analysis(client: httpx.Client, graph: RawGraph) -> None:
    odd, good = store(client, "odd"), store(client, "good", type="Habit", confidence=0.8)
    graph.change(
        odd, type=["a", "b"], confidence="sure", importance=True, metadata='{"topics": [2024, null, {}]}'
    )
    unknown = store(client, "broken", timestamp="2025-01-01T05:00:00Z")
    graph.change(unknown, type=None, confidence=None, metadata="{", timestamp="yesterday", _ts=None)
    graph.link(odd, "PREFERS_OVER", good, strength="much")
    graph.run("CREATE (:Pattern {id: 'p', confidence: 'high'}) CREATE (:Pattern {id: 'q', confidence: 0.8})")
    found = get(client, "/analyze")["analytics"]
    assert found["memory_types"] == {
        "Context": {"count": 2, "average_confidence": 0.0},
        "Habit": {"count": 1, "average_confidence": 0.8},
    }
    assert found["entity_frequency"] == {"2024": 1}
    assert found["preferences"] == [{"prefers": "odd", "over": "good", "strength": 0.0}]
    assert found["patterns"] == [{"confidence": 0.8}]
    assert "hour_05" not in found["temporal_insights"]
    assert ids(recall(client, query="good"))[0] == good


@pytest.mark.parametrize("path", ["/startup-recall", "/analyze"])
def test_without_the_graph_it_is_503(services: Services, path: str) -> None:
    graph: Any = Breakable(services.graph, GraphUnavailable)
    graph.down = True
    client = create_app(services.settings, dataclasses.replace(services, graph=graph)).test_client()
    reply = client.get(path)
    assert reply.status_code == 503
    assert int(reply.headers["Retry-After"]) > 0
    assert reply.get_json()["status"] == "error"


@pytest.mark.parametrize("path", ["/startup-recall", "/analyze"])
def test_parameters_are_ignored_and_named(client: httpx.Client, path: str) -> None:
    assert [row["parameter"] for row in client.get(path, params={"limit": 3}).json()["warnings"]] == ["limit"]
    assert client.post(path).status_code == 405
