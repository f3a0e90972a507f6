"""GET /recall: several questions, smaller answers, and why a memory was or was not returned."""

from __future__ import annotations

import json
import uuid
from typing import Any

from tests.support.recalls import ids, recall, store


def test_several_questions_are_answered_together(api: Any, settled: Any, tag: str) -> None:
    bread = store(api, "Rye bread needs sourdough", tag)
    boat = store(api, "The sailing boat leaks at the stern", tag)
    store(api, "Taxes are due in May", tag)
    settled()
    body = recall(api, queries=["sourdough, rye", "leaking boat"], tags=tag, per_query_limit=1)
    assert set(ids(body)) == {bread, boat}
    assert body["queries"] == ["sourdough, rye", "leaking boat"]
    assert {row["_query"] for row in body["results"]} == set(body["queries"])
    assert "keywords" not in body
    one = recall(api, queries="sourdough,leaking boat", tags=tag)
    assert one["queries"] == ["sourdough", "leaking boat"]
    assert one["dedup_removed"] == 3


def test_a_question_is_decomposed(api: Any, settled: Any, tag: str) -> None:
    store(api, "Caroline loves writing short stories", tag)
    settled()
    question = "Would Caroline pursue writing as a career in Paris?"
    body = recall(api, query=question, auto_decompose="true", tags=tag)
    assert body["queries"] == [
        question,
        "Caroline",
        "Caroline writing",
        "Caroline career",
        "Caroline interests goals plans",
        "Paris",
        "Paris writing",
        "Paris career",
        "Paris interests goals plans",
    ]


def test_too_many_questions_are_refused(api: Any) -> None:
    reply = api.get("/recall", params={"queries": [f"question {n}" for n in range(21)]})
    assert reply.status_code == 400
    assert reply.json()["field"] == "queries"


def test_fields_are_chosen(api: Any, settled: Any, tag: str) -> None:
    store(api, "Tulips bloom in April", tag)
    settled()
    body = recall(api, query="tulips", tags=tag, fields="score,memory.content")
    assert [row.keys() for row in body["results"]] == [{"id", "score", "memory"}]
    assert body["results"][0]["memory"] == {"content": "Tulips bloom in April"}
    reply = api.get("/recall", params={"query": "tulips", "fields": "scor"})
    assert reply.status_code == 400
    assert reply.json()["field"] == "fields"


def test_token_budget_keeps_whole_results(api: Any, settled: Any, tag: str) -> None:
    for number in range(8):
        store(api, f"Observation {number}: " + "the comet was visible over the ridge " * 8, tag)
    settled()
    whole = recall(api, query="comet over the ridge", tags=tag, limit=8)
    assert whole["count"] == 8
    assert "truncated" not in whole
    cut = recall(api, query="comet over the ridge", tags=tag, limit=8, token_budget=1500)
    assert cut["truncated"] is True
    assert 0 < cut["count"] < 8
    assert ids(cut) == ids(whole)[: cut["count"]]
    assert len(json.dumps(cut, ensure_ascii=False)) <= 1500 * 4 * 1.1


def test_explains_one_memory(api: Any, settled: Any, tag: str) -> None:
    found = store(api, "Otters sleep holding hands", tag)
    other = store(api, "Otters eat sea urchins", tag)
    expired = store(
        api, "Otters live in the zoo", tag, t_invalid="2024-01-01T00:00:00Z", timestamp="2023-01-01"
    )
    elsewhere = store(api, "Otters are listed elsewhere", f"{tag}x")
    settled()

    def told(memory_id: str, **params: Any) -> dict[str, Any]:
        params = {"query": "otters holding hands", "tags": tag, "explain_id": memory_id, **params}
        explained: dict[str, Any] = recall(api, **params)["explained"]
        return explained

    shown = told(found)
    assert (shown["returned"], shown["code"], shown["rank"]) == (True, "returned", 1)
    assert shown["explain"]["components"]
    assert told(other, limit=1)["code"] == "beyond_limit"
    assert told(other, min_score=1)["code"] == "below_min_score"
    assert told(expired)["code"] == "expired"
    assert told(elsewhere)["code"] == "tag_filter"
    assert tag in told(elsewhere)["reason"]
    assert told(found, exclude_tags=tag)["code"] == "excluded_tag"
    assert told(found, time_query="before 2020-01-01")["code"] == "time_window"
    assert told(str(uuid.uuid4()))["code"] == "not_found"
    reply = api.get("/recall", params={"query": "x", "explain_id": "nonsense"})
    assert reply.status_code == 400


def test_scope_fallback_fills_from_outside(api: Any, settled: Any, tag: str) -> None:
    inside = store(api, "The vault combination is in the safe", tag)
    outside = store(api, f"The vault combination was changed {tag}", f"{tag}-other")
    settled()
    params = {"query": f"vault combination {tag}", "tags": tag, "limit": 3}
    assert ids(recall(api, **params)) == [inside]
    body = recall(api, **params, scope_fallback="true")
    assert ids(body)[0] == inside
    assert outside in ids(body)
    assert body["scope_fallback"] is True
    flags = {row["id"]: row.get("outside_tag_scope") for row in body["results"]}
    assert flags[inside] is None
    assert flags[outside] is True


def test_the_answer_to_a_question_is_lifted_by_its_neighbour(api: Any, settled: Any, tag: str) -> None:
    """The words stand in one turn, the answer in the next; other memories are as far from the words."""
    rows = [
        "Which colour did the committee choose for the lighthouse?",
        "They went for vermilion in the end.",
        *(f"They went for walk number {n} in the end." for n in range(12)),
    ]
    start = {"tags": [tag]}
    memories = [
        {"content": text, "timestamp": f"2025-02-01T10:{minute:02}:00Z", **start}
        for minute, text in enumerate(rows)
    ]
    reply = api.post("/memory/batch", json={"memories": memories})
    assert reply.status_code == 201
    stored = reply.json()["memory_ids"]
    settled()
    body = recall(api, query="colour chosen by the committee for the lighthouse", tags=tag, limit=5)
    assert ids(body)[:2] == stored[:2]
    assert body["results"][1]["score_components"]["relation"] > 0.2
