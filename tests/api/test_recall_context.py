"""GET /recall: what the caller's situation prefers (recall.md 6.3 to 6.5, D15, D21; issue 3, 3)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.support.recalls import RawGraph, ids, recall, row_of, store, store_many
from tests.support.service import RunningService

Settled = Callable[[], None]
TAG_HIT, TYPE_HIT, KEYWORD_HIT, PRIORITY = 0.45, 0.25, 0.20, 0.90


def context_of(body: dict[str, Any], memory_id: str) -> float:
    return float(row_of(body, memory_id)["score_components"]["context"])


@pytest.fixture(scope="module")
def shelf(service: RunningService) -> dict[str, str]:
    """One memory of each kind that a profile may prefer; the tag above them is ``shelf["scope"]``."""
    scope, api = f"t{uuid.uuid4().hex[:12]}", service.client
    tags = {
        "plain": [],
        "python": ["python"],
        "rust": ["Lang/Rust"],
        "go": ["go"],
        "django": ["django", "gopher", "ergo:nomic"],
        "style": ["team:coding-style"],
        "release": ["release"],
        "releases": ["releases:may"],
    }
    made = {
        name: store(api, f"note on {name} about the work", *(f"{scope}", *own), type="Context")
        for name, own in tags.items()
    }
    made["typed"] = store(api, "Note typed about the work", scope, type="Preference")
    made["worded"] = store(
        api, "Note worded about the work", scope, type="Context", metadata={"written_in": "Python"}
    )
    service.wait_settled()
    return {**made, "scope": scope}


def bonuses(api: httpx.Client, shelf: dict[str, str], **params: Any) -> dict[str, float]:
    """Give the bonus of each memory of the shelf that has one."""
    body = recall(api, **{"query": "note about the work", "tags": shelf["scope"], "limit": 20, **params})
    names = {memory_id: name for name, memory_id in shelf.items() if name != "scope"}
    assert set(ids(body)) == set(names)
    given = {names[row["id"]]: row["score_components"]["context"] for row in body["results"]}
    return {name: bonus for name, bonus in given.items() if bonus}


def test_without_a_context_there_is_no_bonus(api: httpx.Client, shelf: dict[str, str]) -> None:
    assert bonuses(api, shelf) == {}
    body = recall(api, query="note about the work", tags=shelf["scope"])
    assert "context_priority" not in body


def test_context_tags_match_whole_segments(api: httpx.Client, shelf: dict[str, str]) -> None:
    assert bonuses(api, shelf, context_tags="go") == {"go": TAG_HIT}
    assert bonuses(api, shelf, context_tags="RUST") == {"rust": TAG_HIT}
    assert bonuses(api, shelf, context_tags="lang:rust,release") == {"rust": TAG_HIT, "release": TAG_HIT}
    assert bonuses(api, shelf, context_tags=["lang:rust", "release"]) == {"rust": TAG_HIT, "release": TAG_HIT}
    assert bonuses(api, shelf, context_tags="relea,g,pyth,lang:ru") == {}


def test_context_types(api: httpx.Client, shelf: dict[str, str]) -> None:
    assert bonuses(api, shelf, context_types="preference") == {"typed": TYPE_HIT}
    assert bonuses(api, shelf, context_types="Habit") == {}


def test_priority_ids_are_lifted(api: httpx.Client, shelf: dict[str, str]) -> None:
    assert bonuses(api, shelf, priority_ids=shelf["plain"]) == {"plain": PRIORITY}
    assert bonuses(api, shelf, priority_ids=f"{uuid.uuid4()},no-id") == {}


def test_the_label_is_a_tag(api: httpx.Client, shelf: dict[str, str]) -> None:
    assert bonuses(api, shelf, context="Release") == {"release": TAG_HIT}
    assert bonuses(api, shelf, context="rele") == {}


PYTHON = {
    "python": TAG_HIT,
    "style": TAG_HIT,
    "typed": TYPE_HIT,
    "worded": KEYWORD_HIT,
}


@pytest.mark.parametrize(
    "params",
    [
        {"language": "Python"},
        {"lang": "py"},
        {"active_path": "src/app/main.py"},
        {"file_path": "C:\\src\\Main.PY"},
        {"focus_path": "main.py"},
        {"context": "python"},
        {"language": "klingon", "active_path": "a.py"},
        {"query": "note about the work in Python."},
        {"query": "note about the py module of the work"},
    ],
)
def test_a_language_is_understood(api: httpx.Client, shelf: dict[str, str], params: dict[str, str]) -> None:
    found = bonuses(api, shelf, **params)
    assert found == {name: pytest.approx(bonus) for name, bonus in PYTHON.items()}
    body = recall(api, **{"query": "work", "tags": shelf["scope"], **params})
    assert body["context_priority"]["language"] == "python"


@pytest.mark.parametrize(
    "params",
    [
        {"query": "note about the work: go to the shop"},
        {"query": "note about the work: rust on the bicycle"},
        {"query": "note about the work: a swift reply"},
        {"query": "note about the work: a trip to Java"},
        {"query": "note about the work: did she go to the pottery class"},
        {"query": "note about the work: ts, js and py"},
        {"query": "note about the work: the pythonesque sketch"},
        {"active_path": "notes.txt"},
        {"active_path": "python"},
        {"language": "klingon"},
    ],
)
def test_a_language_is_not_read_into_plain_words(
    api: httpx.Client, shelf: dict[str, str], params: dict[str, str]
) -> None:
    assert bonuses(api, shelf, **params) == {}
    body = recall(api, **{"query": "work", "tags": shelf["scope"], **params})
    assert "context_priority" not in body


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("how does the go compiler inline", "go"),
        ("a rust compiler error", "rust"),
        ("which error handling is usual in rust", "rust"),
        ("is the java class loader slow", "java"),
        ("a swift package for the app", "swift"),
        ("golang channels", "go"),
        ("delegates in C#", "csharp"),
        ("templates in C++", "cpp"),
        ("TypeScript unions", "typescript"),
    ],
)
def test_languages_by_words(api: httpx.Client, shelf: dict[str, str], query: str, language: str) -> None:
    body = recall(api, query=query, tags=shelf["scope"])
    assert body["context_priority"]["language"] == language


def test_style_words_prefer_style(api: httpx.Client, shelf: dict[str, str]) -> None:
    expected = {"style": TAG_HIT, "typed": TYPE_HIT}
    assert bonuses(api, shelf, query="note about the work: lint rules") == expected
    assert bonuses(api, shelf, context="style review") == expected
    assert bonuses(api, shelf, query="note about the work: stylish") == {}


def test_the_profile_is_echoed(api: httpx.Client, shelf: dict[str, str]) -> None:
    body = recall(
        api,
        query="note about the work",
        tags=shelf["scope"],
        context="Deploying",
        context_tags="Beta,alpha",
        context_types="habit",
        priority_ids=shelf["plain"],
    )
    assert body["context_priority"] == {
        "context": "deploying",
        "priority_tags": ["alpha", "beta", "deploying"],
        "priority_types": ["Habit"],
        "injected": False,
    }
    styled = recall(api, query="x", tags=shelf["scope"], language="go")["context_priority"]
    assert (styled["language"], styled["context"]) == ("go", "")
    assert styled["priority_tags"] == sorted(
        [
            "coding-style",
            "go",
            "go-style",
            "go:style",
            "preference:coding",
            "preferences",
            "style",
            "style-guide",
        ]
    )
    assert styled["priority_types"] == ["Preference", "Style"]


def test_context_tags_pull_in_memories_that_no_search_found(
    api: httpx.Client, settled: Settled, tag: str
) -> None:
    """Three hundred are nearer in meaning, more than any pool holds; the bonus must be able to speak
    before the cut."""
    store_many(api, (f"Origami birds: folding instructions, page {n}" for n in range(300)), tag)
    anchor = store(api, "Invoices are sent on Mondays", tag, "Alpha/desk", importance=0.9)
    settled()
    question = {"query": "how is a paper crane made", "tags": tag}
    assert anchor not in ids(recall(api, **question, limit=100))
    body = recall(api, **question, limit=5, context_tags="alpha")
    assert context_of(body, anchor) == TAG_HIT
    assert body["context_priority"]["injected"] is True
    assert body["count"] == 5
    outside = store(api, "Receipts are sent on Mondays", f"{tag}x", "beta/desk")
    settled()
    assert outside not in ids(recall(api, **question, limit=5, context_tags="beta"))


def test_priority_ids_come_first_in_their_order(api: httpx.Client, settled: Settled, tag: str) -> None:
    near = store_many(api, (f"Sailing lesson {n} on the lake" for n in range(20)), tag)
    first, second = store(api, "The tax office opens at ten", f"{tag}x"), near[7]
    settled()
    asked = {"query": "sailing lesson on the lake", "tags": tag, "priority_ids": f"{first},{second}"}
    for params in ({}, {"sort": "time_asc"}, {"queries": ["sailing lesson", "lake"]}, {"query": ""}):
        body = recall(api, **{**asked, **params}, limit=3)
        assert ids(body)[:2] == [first, second], params
        assert body["count"] == 3
    assert ids(recall(api, **asked, limit=1)) == [first]
    assert ids(recall(api, **asked, limit=2, min_score=1)) == [first, second]
    upper = recall(api, **{**asked, "priority_ids": first.upper()}, limit=3)
    assert ids(upper)[0] == first


def test_priority_ids_obey_current_state_and_nothing_else_hides_them(
    api: httpx.Client, settled: Settled, tag: str, raw_graph: RawGraph
) -> None:
    store_many(api, (f"Apple pie recipe {n}" for n in range(5)), tag)
    old = store(api, "The spare key is with Tom", "elsewhere", timestamp="2001-01-01T00:00:00Z")
    expired = store(api, "The alarm code is 1", "elsewhere", t_valid="2020-01-01", t_invalid="2021-01-01")
    archived = store(api, "The alarm code is 2", "elsewhere")
    raw_graph.change(archived, archived=True)
    settled()
    asked = {
        "query": "apple pie recipe",
        "tags": tag,
        "priority_ids": f"{old},{expired},{archived}",
        "limit": 4,
    }
    body = recall(api, **asked, state_debug="true")
    assert ids(body)[0] == old
    assert not {expired, archived} & set(ids(body))
    reasons = {row["id"]: row["reason"] for row in body["state_filter"]["suppressed"]}
    assert reasons == {expired: "expired", archived: "archived"}
    assert ids(recall(api, **asked, state_mode="history"))[:3] == [old, expired, archived]
    assert ids(recall(api, **asked, time_query="this year"))[0] == old
