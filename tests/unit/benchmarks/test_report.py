"""Tables and JSON."""

from __future__ import annotations

import json

from benchmarks.client import Ingest, batches
from benchmarks.data import Conversation, DataSet, Question, Turn
from benchmarks.measures import Outcome
from benchmarks.report import Report, Run, as_json, written

DATA = DataSet(
    "locomo", (Conversation("c", (Turn("1", "secret words"),), (Question("secret?", "temporal", ("1",)),)),)
)
OURS = Run("AutoMem", (Outcome("temporal", (2,), 1),), seconds=(0.0125,))
THEIRS = Run("BM25", (Outcome("temporal", (), 1),))


def test_the_tables_hold_every_system_category_and_time() -> None:
    text = written(Report(DATA, (OURS, THEIRS), Ingest(1, 0.5, 2.0), cut=1))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert (
        lines[0] == "locomo: 1 conversations, 1 turns, 1 questions; 1 turns cut to the length that is taken"
    )
    assert "AutoMem 1 0.0 100.0 100.0 100.0 50.0 100.0" in lines
    assert "BM25 1 0.0 0.0 0.0 0.0 0.0 0.0" in lines
    assert "temporal 1 0.0 100.0 100.0 100.0 50.0 100.0" in lines
    assert "AutoMem 12.5 12.5 12.5" in lines
    assert "AutoMem over BM25: @5 +100.0 ± 0.0, @10 +100.0 ± 0.0" in lines
    assert lines[-1].endswith("(2 a second), all vectors after 2.0 s (0 a second)")


def test_without_a_service_there_is_no_word_of_times() -> None:
    text = written(Report(DATA, (THEIRS,)))
    assert "latency" not in text
    assert "ingest" not in text


def test_json_holds_the_figures_and_no_text_of_the_data() -> None:
    answer = json.loads(json.dumps(as_json(Report(DATA, (OURS, THEIRS), Ingest(1, 0.5, 2.0)))))
    assert answer["runs"][0]["overall"]["recall"] == {"1": 0, "5": 1, "10": 1, "20": 1}
    assert answer["runs"][0]["latency_ms"]["p90"] == 12.5
    assert answer["runs"][0]["places"] == [[2]]
    assert answer["runs"][1]["latency_ms"] is None
    assert "secret" not in json.dumps(answer)


def test_batches_keep_the_order_and_stay_small() -> None:
    turns = [Turn(str(number), "x" * (1_500_000 if number == 120 else 1)) for number in range(230)]
    parted = list(batches(turns))
    assert [turn for batch in parted for turn in batch] == turns
    assert max(len(batch) for batch in parted) <= 100
    long = Turn("long", "x" * 1_500_000)
    assert [len(batch) for batch in batches([long, long, long])] == [1, 1, 1]
    assert list(batches([])) == []
