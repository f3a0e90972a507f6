"""The whole benchmark on a small conversation of our own, against the real service."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.command import main

LINES = [
    ("Ida", "I moved to Bergen in spring and rent a small flat by the harbour."),
    ("Bo", "How do you like the rain there?"),
    ("Ida", "I do not mind, my new umbrella is bright yellow."),
    ("Bo", "My sister adopted a three-legged cat called Tripod."),
    ("Ida", "That is lovely. I am allergic to cats, sadly."),
    ("Bo", "I have started to bake sourdough every Sunday."),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    turns = [
        {"speaker": who, "dia_id": f"D1:{number}", "text": text}
        for number, (who, text) in enumerate(LINES, 1)
    ]
    conversation = {"session_1": turns, "session_1_date_time": "4:00 pm on 5 May, 2023"}
    questions = [
        {"question": "Which city did Ida move to?", "evidence": ["D1:1"], "category": 4},
        {"question": "What is the name of the cat of Bo's sister?", "evidence": ["D1:04"], "category": 1},
    ]
    file = tmp_path / "small.json"
    rows = [{"sample_id": "small", "conversation": conversation, "qa": questions}]
    file.write_text(json.dumps(rows), encoding="utf-8")
    return file


def test_everything_is_measured_in_one_call(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = tmp_path / "figures.json"
    variant = "no vectors:SEARCH_WEIGHT_VECTOR=0,limit=3"
    assert main([str(data), "--json", str(figures), "--variant", variant]) == 0
    assert "AutoMem over BM25, stemmed" in capsys.readouterr().out
    report = json.loads(figures.read_text(encoding="utf-8"))
    assert (report["turns"], report["questions"], report["ingest"]["turns"]) == (6, 2, 6)
    names = [run["name"] for run in report["runs"]]
    assert names == ["AutoMem", "no vectors", "BM25, stemmed", "vectors alone", "rank fusion of both"]
    assert all(run["overall"]["recall"]["5"] == 1 for run in report["runs"])


def test_a_service_that_is_not_there_is_said(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(data), "--url", "http://127.0.0.1:1", "--only", "automem"]) == 1
    assert "error: POST /memory/batch: ConnectError" in capsys.readouterr().err
