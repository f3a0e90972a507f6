"""GET /recall over HTTP on the real engines: what is found, in what order, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.recalls import ids, recall, store

COMPONENTS = {
    "vector",
    "keyword",
    "metadata",
    "relation",
    "tag",
    "importance",
    "confidence",
    "recency",
    "exact",
    "relevance",
}


def test_finds_by_meaning_and_by_words(api: Any, settled: Any, tag: str) -> None:
    dog = store(api, "Our puppy chewed the leather sofa to pieces", tag)
    store(api, "The quarterly tax report is due on Friday", tag)
    settled()
    assert ids(recall(api, query="a young dog destroyed the couch", tags=tag))[0] == dog
    assert ids(recall(api, query="leather sofa", tags=tag))[0] == dog


def test_answer_has_the_fields_of_the_contract(api: Any, settled: Any, tag: str) -> None:
    store(api, "Invoice retry happens at most three times", tag, importance=0.6, metadata={"ticket": "PAY-7"})
    settled()
    body = recall(api, query="invoice retry policy", tags=tag)
    assert body["status"] == "success"
    assert body["query"] == "invoice retry policy"
    assert body["count"] == 1
    assert body["keywords"] == ["invoice", "retry", "policy"]
    assert body["sort"] == "score"
    assert body["tags"] == [tag]
    assert body["tag_mode"] == "any"
    assert body["tag_match"] == "prefix"
    assert body["state_mode"] == "current"
    assert body["dedup_removed"] == 0
    assert body["vector_search"] == {"enabled": True, "matched": True}
    assert body["state_filter"] == {"current_only": True, "suppressed_count": 0, "replacement_count": 0}
    assert body["tag_scope"]["filtered"] is True
    assert "warnings" not in body
    assert "degraded" not in body
    row = body["results"][0]
    assert row["score"] == row["final_score"]
    assert row["match_type"] in row["match_types"]
    assert row["_query"] == "invoice retry policy"
    assert row["memory"]["id"] == row["id"]
    assert row["memory"]["metadata"]["ticket"] == "PAY-7"
    assert not [name for name in row["memory"] if name.startswith("_")]
    assert COMPONENTS | {"context", "evidence", "relevance_gated"} <= row["score_components"].keys()


def test_a_memory_found_by_one_arm_is_scored_on_all(api: Any, settled: Any, tag: str) -> None:
    store(api, "The zyxwort valve was replaced", tag)
    settled()
    parts = recall(api, query="zyxwort valve", tags=tag)["results"][0]["score_components"]
    assert parts["vector"] > 0.3
    assert parts["keyword"] == pytest.approx(1.0)


def test_explain_sums_to_the_score(api: Any, settled: Any, tag: str) -> None:
    for number in range(4):
        store(api, f"Deployment number {number} of the billing service went well", tag)
    settled()
    body = recall(api, query="billing deployment", tags=tag, explain="true", recency_bias="on")
    for row in body["results"]:
        parts = row["explain"]["components"]
        assert COMPONENTS | {"context"} <= {part["name"] for part in parts}
        assert sum(part["product"] for part in parts) == pytest.approx(row["final_score"], abs=1e-6)
        assert row["explain"]["arms"].keys() & {"vector", "keyword"}


def test_tags_repeated_and_comma_separated_are_the_same(api: Any, settled: Any, tag: str) -> None:
    both = store(api, "Shared cabin booking", tag, "Trip/Norway", "plan")
    one = store(api, "Cabin cleaning rota", tag, "trip/norway")
    settled()
    expected = {both}
    for tags in (f"{tag},trip:norway,plan", [tag, "TRIP/Norway", "Plan"]):
        assert set(ids(recall(api, query="cabin", tags=tags, tag_mode="all"))) == expected
    assert set(ids(recall(api, query="cabin", tags=f"{tag},trip", tag_mode="all"))) == {both, one}
    assert ids(recall(api, query="cabin", tags=f"{tag},trip", tag_mode="all", tag_match="exact")) == []
    assert ids(recall(api, query="cabin", tags=f"{tag},tri", tag_mode="all")) == []
    assert set(ids(recall(api, query="cabin", tags=tag, exclude_tags="PLAN"))) == {one}


def test_trending_without_text_is_by_importance(api: Any, tag: str) -> None:
    low = store(api, "minor note", tag, importance=0.2)
    high = store(api, "major note", tag, importance=0.9)
    for query in ("", "*"):
        body = recall(api, query=query, tags=tag)
        assert ids(body) == [high, low]
        assert {row["match_type"] for row in body["results"]} == {"trending"}


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("time_asc", [0, 1, 2]),
        ("time_desc", [2, 1, 0]),
        ("updated_asc", [1, 2, 0]),
        ("updated_desc", [0, 2, 1]),
    ],
)
def test_sorts_by_time(api: Any, settled: Any, tag: str, sort: str, order: list[int]) -> None:
    updated = ["2025-06-03T00:00:00Z", "2025-06-01T00:00:00Z", "2025-06-02T00:00:00Z"]
    stored = [
        store(
            api,
            f"river gauge reading {n}",
            tag,
            timestamp=f"2025-0{n + 1}-01T00:00:00Z",
            updated_at=updated[n],
        )
        for n in range(3)
    ]
    settled()
    expected = [stored[n] for n in order]
    assert ids(recall(api, query="river gauge", tags=tag, sort=sort)) == expected
    assert ids(recall(api, tags=tag, sort=sort)) == expected


def test_time_windows_cut_inside_the_search(api: Any, settled: Any, tag: str) -> None:
    rows = [
        {"content": f"Old weather log entry {n}", "tags": [tag], "timestamp": "2024-01-01T00:00:00Z"}
        for n in range(300)
    ]
    assert api.post("/memory/batch", json={"memories": rows}).status_code == 201
    wanted = store(api, "A log of the weather", tag, timestamp="2025-03-05T12:00:00Z")
    settled()
    for window in (
        {"time_query": "between 2025-03-01 and 2025-03-31"},
        {"time_query": "after 2025-03-01"},
        {"time_query": "March 2025"},
        {"start": "2025-03-05T12:00:00Z", "end": "2025-03-05T12:00:00Z"},
    ):
        body = recall(api, query="old weather log entry", tags=tag, limit=3, **window)
        assert ids(body) == [wanted], window
        assert body["time_window"]["start"].startswith("2025-03-0")


def test_a_window_without_a_question_takes_the_newest(api: Any, tag: str) -> None:
    stored = [
        store(api, f"entry {n}", tag, timestamp=f"2025-04-{n + 1:02}T00:00:00Z", importance=0.9 - n / 10)
        for n in range(6)
    ]
    body = recall(api, tags=tag, time_query="April 2025", limit=2)
    assert body["sort"] == "time_desc"
    assert ids(body) == [stored[5], stored[4]]


def test_hidden_memories_do_not_take_places(api: Any, settled: Any, tag: str) -> None:
    rows = [
        {
            "content": f"The office door code is {n}",
            "tags": [tag],
            "t_invalid": "2024-06-01T00:00:00Z",
            "timestamp": "2024-01-01T00:00:00Z",
        }
        for n in range(130)
    ]
    assert api.post("/memory/batch", json={"memories": rows}).status_code == 201
    current = store(api, "The code for the office door changed to 4471 for good", tag)
    future = store(api, "The office door code will be 9", tag, t_valid="2999-01-01T00:00:00Z")
    settled()
    body = recall(api, query="office door code", tags=tag, state_debug="true")
    assert ids(body) == [current]
    reasons = {row["id"]: row["reason"] for row in body["state_filter"]["suppressed"]}
    assert body["state_filter"]["suppressed_count"] == len(reasons) > 100
    assert reasons.get(future, "not_yet_valid") == "not_yet_valid"
    history = recall(api, query="office door code", tags=tag, state_mode="history", limit=100)
    assert len(ids(history)) == 100
    assert "state_filter" not in history


def test_same_text_is_answered_once(api: Any, settled: Any, tag: str) -> None:
    first = store(api, "Caf\u00e9 opens at nine", tag)
    second = store(api, "Cafe\u0301 opens at nine", tag, importance=0.9)
    settled()
    body = recall(api, query="when does the cafe open", tags=tag)
    assert ids(body) == [second]
    assert body["results"][0]["deduped_from"] == sorted([first, second])


def test_many_duplicates_do_not_take_places(api: Any, settled: Any, tag: str) -> None:
    rows = [{"content": "The printer is out of toner", "tags": [tag]} for _ in range(200)]
    assert api.post("/memory/batch", json={"memories": rows}).status_code == 201
    other = store(api, "Toner for the printer is kept in the basement", tag)
    settled()
    assert other in ids(recall(api, query="printer toner", tags=tag, limit=5))


def test_min_score_is_counted(api: Any, settled: Any, tag: str) -> None:
    store(api, "Saffron harvest begins in October", tag)
    store(api, "Saffron is expensive", tag)
    settled()
    body = recall(api, query="saffron", tags=tag, min_score=1)
    assert body["count"] == 0
    assert body["score_filter"] == {"min_score": 1.0, "filtered_count": 2}


def test_context_bonus(api: Any, settled: Any, tag: str) -> None:
    plain = store(api, "Keep functions short and clear", tag)
    style = store(api, "Keep functions short and plain", tag, "coding-style", type="Style")
    settled()
    body = recall(api, query="short functions", tags=tag, language="python")
    assert ids(body) == [style, plain]
    assert body["results"][0]["score_components"]["context"] == pytest.approx(0.70)
    assert body["results"][1]["score_components"]["context"] == 0
    assert body["context_priority"]["language"] == "python"


def test_priority_ids_come_first_whatever_the_scope(api: Any, settled: Any, tag: str) -> None:
    store(api, "Recipe for rye bread", tag)
    elsewhere = store(api, "The spare key is under the pot", "another-scope")
    settled()
    body = recall(api, query="rye bread", tags=tag, priority_ids=elsewhere, limit=2)
    assert ids(body)[0] == elsewhere
    assert body["results"][0]["score_components"]["context"] == pytest.approx(0.9)


def test_own_embedding_is_searched(api: Any, settled: Any, tag: str) -> None:
    vector = [0.0] * 384
    vector[7] = 1.0
    wanted = store(api, "unrelated words entirely", tag, embedding=vector)
    store(api, "other words", tag)
    settled()
    body = recall(api, embedding=",".join(map(str, vector)), tags=tag)
    assert ids(body)[0] == wanted
    assert body["results"][0]["match_score"] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(
    ("params", "field", "says"),
    [
        ({"limit": "many"}, "limit", "whole number"),
        ({"limit": "5.0"}, "limit", "whole number"),
        ({"tag_mode": "al"}, "tag_mode", "any, all"),
        ({"tag_match": "glob"}, "tag_match", "prefix, exact"),
        ({"sort": "newest"}, "sort", "time_desc"),
        ({"state_mode": "past"}, "state_mode", "current"),
        ({"min_score": "nan"}, "min_score", "finite"),
        ({"time_query": "last blue moon"}, "time_query", "accepted"),
        ({"start": "yesterday-ish"}, "start", "Invalid start time: Invalid ISO timestamp"),
        ({"end": "2025-13-01"}, "end", "Invalid end time: Invalid ISO timestamp"),
        ({"embedding": "1,2,3"}, "embedding", "exactly 384 values"),
        ({"embedding": "[1,2]"}, "embedding", "numeric"),
        ({"query": "a\x00b"}, "query", "NUL"),
        ({"query": "x" * 40_000}, "query", "at most"),
    ],
)
def test_malformed_parameters_are_named(api: Any, params: dict[str, str], field: str, says: str) -> None:
    reply = api.get("/recall", params=params)
    body = reply.json()
    assert reply.status_code == 400, body
    assert body["field"] == field
    assert says in body["message"]


def test_numbers_outside_their_range_are_clamped(api: Any, tag: str) -> None:
    for number in range(3):
        store(api, f"clamped {number}", tag)
    assert recall(api, tags=tag, limit=0)["count"] == 1
    assert recall(api, tags=tag, limit=100_000)["count"] == 3


def test_unknown_parameters_are_ignored_and_named(api: Any, tag: str) -> None:
    body = recall(api, tags=tag, rerank="true")
    assert [row["parameter"] for row in body["warnings"]] == ["rerank"]


@pytest.mark.parametrize("query", ['"', "*(", "a|b", "-", "%", "@x", "\\", "(((", "~", "w*", "'", "$q", "{}"])
def test_punctuation_is_text(api: Any, tag: str, query: str) -> None:
    store(api, "plain text of a kind", tag)
    recall(api, query=query, tags=tag)


def test_wrong_method_has_the_envelope(api: Any) -> None:
    reply = api.post("/recall", json={})
    assert reply.status_code == 405
    assert reply.json()["status"] == "error"
    assert "GET" in reply.headers["Allow"]
