"""The acceptance of the main road: a conversation is stored, asked about, and survives kill -9."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.service import RunningService

CONVERSATION = json.loads((Path(__file__).parent / "data" / "conversation.json").read_text(encoding="utf-8"))
TAG = "conversation"


def turns() -> list[dict[str, Any]]:
    return [
        {
            "content": f"{turn['speaker']}: {turn['text']}",
            "timestamp": turn["timestamp"],
            "tags": [TAG, f"speaker:{turn['speaker']}"],
        }
        for turn in CONVERSATION["turns"]
    ]


def first_five(client: httpx.Client, question: str) -> list[str]:
    reply = client.get("/recall", params={"query": question, "tags": TAG, "limit": 5})
    assert reply.status_code == 200, reply.text
    return [row["id"] for row in reply.json()["results"]]


@pytest.fixture(scope="module")
def stored(service: RunningService) -> list[str]:
    ids = []
    for turn in turns():
        reply = service.client.post("/memory", json=turn)
        assert reply.status_code == 201, reply.text
        ids.append(str(reply.json()["memory_id"]))
    service.wait_settled()
    return ids


def test_questions_find_their_evidence(service: RunningService, stored: list[str]) -> None:
    missed = [
        row["question"]
        for row in CONVERSATION["questions"]
        if not {stored[place] for place in row["evidence"]} & set(first_five(service.client, row["question"]))
    ]
    assert len(CONVERSATION["questions"]) == 20
    assert len(missed) <= 3, missed


def test_questions_in_the_same_words_find_all(service: RunningService, stored: list[str]) -> None:
    for row in CONVERSATION["questions"]:
        if row["words"] == "same":
            found = first_five(service.client, row["question"])
            assert {stored[place] for place in row["evidence"]} & set(found), row["question"]


def test_nothing_answered_is_lost_to_kill_9(make_service: Callable[..., RunningService]) -> None:
    running = make_service()
    running.start()
    acknowledged: dict[str, str] = {}
    seen = threading.Event()

    def write() -> None:
        with httpx.Client(base_url=running.url, timeout=30.0) as client:
            for number in range(10_000):
                rows = [
                    {"content": f"Parcel pq{number}x{place} went to harbour warehouse {place}", "tags": [TAG]}
                    for place in range(8)
                ]
                try:
                    reply = client.post("/memory/batch", json={"memories": rows})
                except httpx.TransportError:
                    return
                assert reply.status_code == 201, reply.text
                texts = [str(row["content"]) for row in rows]
                acknowledged.update(zip(reply.json()["memory_ids"], texts, strict=True))
                if len(acknowledged) >= 80:
                    seen.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert seen.wait(30.0)
    running.kill()
    writer.join(30.0)
    running.start()
    running.wait_settled()
    for memory_id, text in acknowledged.items():
        word = text.split()[1]
        params: dict[str, Any] = {"query": word, "tags": TAG, "limit": 1}
        row = running.client.get("/recall", params=params).json()["results"][0]
        assert row["id"] == memory_id
        assert row["score_components"]["keyword"] == pytest.approx(1.0)
    health = running.client.get("/health").json()
    assert health["vector_count"] == health["memory_count"] >= len(acknowledged)
    for memory_id, text in list(acknowledged.items())[-5:]:
        near = {"query": f"the delivery {text}", "tags": TAG, "limit": 1, "explain": "true"}
        row = running.client.get("/recall", params=near).json()["results"][0]
        assert row["id"] == memory_id
        assert row["explain"]["arms"]["vector"]["score"] > 0.5
