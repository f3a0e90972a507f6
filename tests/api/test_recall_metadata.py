"""GET /recall: memories found by the values of their metadata (recall.md 5; issue 3, 5)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from automem.app import create_app
from automem.services import Services
from tests.support.recalls import ids, recall, row_of, store, store_many
from tests.support.service import wait_until

Settled = Callable[[], None]


def metadata_of(body: dict[str, Any], memory_id: str) -> float:
    return float(row_of(body, memory_id)["score_components"]["metadata"])


@pytest.fixture
def crowd(api: httpx.Client, tag: str) -> list[str]:
    """Two hundred memories that fill the other arms' pools: nearer in meaning and in words."""
    return store_many(api, (f"Who reviewed the payments gateway, round {n}?" for n in range(200)), tag)


@pytest.mark.parametrize(
    ("query", "metadata"),
    [
        ("who reviewed the payments gateway for repo kestrel-api", {"repo": "kestrel-api"}),
        ("who reviewed the payments gateway with the tool semgrep", {"tool": "semgrep"}),
        ("who reviewed the payments gateway, source agent codex", {"source_agents": ["claude", "codex"]}),
        ("who reviewed the payments gateway that applies to checkout", {"applies_to": ["checkout"]}),
    ],
)
def test_admitted_beside_a_crowd(
    api: httpx.Client, settled: Settled, tag: str, crowd: list[str], query: str, metadata: dict[str, Any]
) -> None:
    wanted = store(api, "Lunch was moved to noon", tag, metadata=metadata, timestamp="2024-01-01")
    other = {name: "other" for name in metadata}
    unlike = store(api, "Dinner was moved to nine", tag, metadata=other, timestamp="2023-01-01")
    settled()
    told = recall(api, query=query, tags=tag, explain_id=wanted)["explained"]
    assert told["code"] == "beyond_limit"
    assert told["explain"]["arms"].keys() == {"metadata"}
    values = {part["name"]: part["value"] for part in told["explain"]["components"]}
    assert values["metadata"] > 0.3
    assert recall(api, query=query, tags=tag, explain_id=unlike)["explained"]["code"] == "not_a_candidate"


def test_the_sidecar_is_bounded(api: httpx.Client, settled: Settled, tag: str) -> None:
    """However many memories carry the value, about as many as asked for come in by it."""
    store_many(
        api, (f"Errand {n} of the day" for n in range(60)), tag, metadata={"project": "nightjar relaunch"}
    )
    store_many(api, (f"The nightjar was relaunched {n}" for n in range(30)), tag)
    settled()
    body = recall(api, query="project nightjar relaunch", tags=tag, limit=5, explain="true")
    assert body["count"] == 5
    ranks = [
        row["explain"]["arms"]["metadata"]["rank"]
        for row in recall(api, query="project nightjar relaunch", tags=tag, limit=100, explain="true")[
            "results"
        ]
        if "metadata" in row["explain"]["arms"]
    ]
    assert 0 < len(ranks) <= 10
    assert sorted(ranks) == list(range(1, len(ranks) + 1))


@pytest.mark.parametrize(
    ("query", "metadata"),
    [
        ("OPS-4711", {"trigger": "OPS-4711"}),
        ("trigger ops-4711", {"trigger": ["OPS-4711"]}),
        ("model 20931", {"model": 20931}),
        ("tool 20931", {"tool": ["x", 20931]}),
        ("provider zürich-3", {"provider": "Zürich-3"}),
        ("provider zurich-3", {"provider": "Zürich-3"}),
    ],
)
def test_identifiers_and_numbers(
    api: httpx.Client, settled: Settled, tag: str, query: str, metadata: dict[str, Any]
) -> None:
    wanted = store(api, "Something happened", tag, metadata=metadata)
    other = store(
        api, "Something else happened", tag, metadata={"trigger": "DEV-1209", "model": 31, "tool": 2}
    )
    settled()
    body = recall(api, query=query, tags=tag)
    assert ids(body)[0] == wanted
    assert metadata_of(body, wanted) > 0.3
    assert "metadata" in row_of(body, wanted)["match_types"]
    assert metadata_of(body, other) == 0
    assert "metadata" not in row_of(body, other)["match_types"]


def test_people_are_never_matched(api: httpx.Client, settled: Settled, tag: str) -> None:
    people = store(api, "One", tag, metadata={"entities": {"people": ["Marigold Pettigrew"]}})
    tools = store(api, "Two", tag, metadata={"entities": {"tools": ["Marigold Pettigrew"]}})
    settled()
    asked = recall(api, query="entities marigold pettigrew", tags=tag)
    assert metadata_of(asked, people) == 0
    assert metadata_of(asked, tools) > 0.3
    unasked = recall(api, query="marigold pettigrew", tags=tag)
    assert metadata_of(unasked, people) == metadata_of(unasked, tools) == 0


def test_fields_that_are_not_searched(api: httpx.Client, settled: Settled, tag: str) -> None:
    hidden = store(api, "One", tag, metadata={"original_content": "project quillwort", "note": "quillwort"})
    shown = store(api, "Two", tag, metadata={"project": "quillwort"})
    settled()
    body = recall(api, query="project quillwort", tags=tag)
    assert metadata_of(body, hidden) == 0
    assert metadata_of(body, shown) > 0.3


def test_the_field_that_the_question_names_counts_most(api: httpx.Client, settled: Settled, tag: str) -> None:
    as_project = store(api, "One", tag, metadata={"project": "harrier console"})
    as_tool = store(api, "Two", tag, metadata={"tool": "harrier console"})
    settled()
    for field, first, second in (("project", as_project, as_tool), ("tool", as_tool, as_project)):
        body = recall(api, query=f"{field} harrier console", tags=tag)
        assert metadata_of(body, first) > metadata_of(body, second) > 0
        assert ids(body)[0] == first
    neither = recall(api, query="harrier console", tags=tag)
    assert metadata_of(neither, as_project) == pytest.approx(metadata_of(neither, as_tool))


def test_scope_rules_hold_for_the_sidecar(api: httpx.Client, settled: Settled, tag: str) -> None:
    fields = {"metadata": {"project": "sandpiper"}}
    old = store(api, "One", tag, timestamp="2020-01-01T00:00:00Z", **fields)
    barred = store(api, "Two", tag, "barred", **fields)
    expired = store(api, "Three", tag, t_valid="2020-01-01", t_invalid="2021-01-01", **fields)
    outside = store(api, "Four", f"{tag}x", **fields)
    wanted = store(api, "Five", tag, **fields)
    settled()
    query = {"query": "project sandpiper", "tags": tag}
    assert ids(recall(api, **query, exclude_tags="barred", start="2021-01-01T00:00:00Z")) == [wanted]
    history = ids(recall(api, **query, state_mode="history"))
    assert set(history) == {old, barred, expired, wanted}
    assert outside not in history


def test_the_sidecar_can_be_switched_off(services: Services, tag: str) -> None:
    settings = services.settings.model_copy(update={"recall_metadata_search_enabled": False})
    on = create_app(services.settings, services).test_client()
    off = create_app(settings, dataclasses.replace(services, settings=settings)).test_client()
    rows: list[dict[str, Any]] = [
        {"content": f"The lighthouse keeper of the cape, page {n}", "tags": [tag]} for n in range(40)
    ]
    rows.append({"content": "Nothing alike", "tags": [tag], "metadata": {"project": "ptarmigan"}})
    stored = on.post("/memory/batch", json={"memories": rows}).get_json()["memory_ids"]
    services.embedder.notify()
    wait_until(lambda: services.graph.unsettled_count() == 0)
    question = {"query": "lighthouse keeper of project ptarmigan", "tags": tag, "limit": 1}
    told = [
        client.get("/recall", query_string={**question, "explain_id": stored[-1]}).get_json()["explained"]
        for client in (on, off)
    ]
    admitted = ["metadata" in one["explain"]["arms"] for one in told]
    values = [
        {part["name"]: part["value"] for part in one["explain"]["components"]}["metadata"] for one in told
    ]
    assert admitted == [True, False]
    assert values[0] > 0.3
    assert values[1] == 0
