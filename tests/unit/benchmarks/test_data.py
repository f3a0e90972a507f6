"""The three formats become one; the texts here are our own, not the sets'."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.data import UnknownFormat, limited, load, read, shortened

TWO_SESSIONS: dict[str, Any] = {
    "speaker_a": "Ida",
    "speaker_b": "Bo",
    "session_2": [{"speaker": "Ida", "dia_id": "D2:1", "text": "The boat is blue now."}],
    "session_2_date_time": "12:05 am on 3 March, 2024",
    "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "We sold it."}],
    "session_10_date_time": "1:30 pm on 9 April, 2024",
    "session_1": [
        {"speaker": "Ida", "dia_id": "D1:1", "text": "I paint the boat."},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "Which colour?", "img_url": ["x"]},
    ],
    "session_1_date_time": "11:59 pm on 2 March, 2024",
    "session_11_date_time": "1:30 pm on 10 April, 2024",
}


def locomo(*questions: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"sample_id": "boat", "conversation": TWO_SESSIONS, "qa": list(questions)}]


def asked(evidence: list[str], category: int = 4) -> dict[str, Any]:
    return {"question": "Which?", "answer": "blue", "evidence": evidence, "category": category}


def test_locomo_turns_come_in_the_order_of_their_sessions_with_speaker_and_date() -> None:
    (conversation,) = read(locomo()).conversations
    assert conversation.name == "boat"
    assert [turn.id for turn in conversation.turns] == ["D1:1", "D1:2", "D2:1", "D10:1"]
    assert conversation.turns[0].text == "Ida: I paint the boat."
    assert conversation.turns[0].when == datetime(2024, 3, 2, 23, 59, tzinfo=UTC)
    assert conversation.turns[1].when == conversation.turns[0].when
    assert conversation.turns[2].when == datetime(2024, 3, 3, 0, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cells", "evidence"),
    [
        (["D1:1", "D2:1"], ("D1:1", "D2:1")),
        (["D1:1; D2:1"], ("D1:1", "D2:1")),
        (["D1:1 D2:1"], ("D1:1", "D2:1")),
        (["D01:02", "D1:2"], ("D1:2",)),
        (["D:10:1"], ("D10:1",)),
        (["D", "D2:1", "D7:7"], ("D2:1",)),
    ],
    ids=["plain", "semicolon", "blank", "zeros and twice", "colon", "what is no turn"],
)
def test_locomo_evidence_is_read_as_it_is_written(cells: list[str], evidence: tuple[str, ...]) -> None:
    (question,) = read(locomo(asked(cells))).conversations[0].questions
    assert question.evidence == evidence


def test_questions_without_evidence_are_left_out() -> None:
    data = read(locomo(asked([]), asked(["D9:9"]), {"question": "?", "category": 1}, asked(["D1:1"], 2)))
    assert [(one.category, one.evidence) for one in data.conversations[0].questions] == [
        ("temporal", ("D1:1",))
    ]
    assert (data.turns, data.questions) == (4, 1)


def test_beam_chats() -> None:
    chat = {
        "chat": "7",
        "messages": [
            {"id": 0, "session": 1, "role": "user", "when": "March-05-2024", "text": "Plan a garden."},
            {"id": 1, "session": 1, "role": "assistant", "when": "March-05-2024", "text": "Start with beds."},
        ],
        "questions": [
            {"question": "What first?", "kind": "event_ordering", "evidence": [1, 0]},
            {"question": "What about cars?", "kind": "abstention", "evidence": []},
        ],
    }
    data = read([chat])
    (conversation,) = data.conversations
    assert (data.name, conversation.name) == ("beam", "7")
    assert [turn.text for turn in conversation.turns] == ["Plan a garden.", "Start with beds."]
    assert conversation.turns[1].when == datetime(2024, 3, 5, tzinfo=UTC)
    (question,) = conversation.questions
    assert (question.category, question.evidence) == ("event_ordering", ("1", "0"))


def test_hotpotqa_paragraphs_share_one_store_and_stand_there_once() -> None:
    river = ["River Oss", ["It flows north.", " It is short."]]
    town = ["Town of Oss", ["It lies on the river."]]
    rows = [
        {
            "question": "Where does the river of Oss flow?",
            "type": "bridge",
            "context": [town, ["Hill", ["It is high."]], river],
            "supporting_facts": [["River Oss", 0], ["Town of Oss", 0], ["River Oss", 1]],
        },
        {
            "question": "Which is short?",
            "type": "comparison",
            "context": [river, ["Lake", ["It is deep."]]],
            "supporting_facts": [["River Oss", 1]],
        },
    ]
    (conversation,) = read(rows).conversations
    texts = {turn.id: turn.text for turn in conversation.turns}
    assert sorted(texts.values()) == [
        "Hill: It is high.",
        "Lake: It is deep.",
        "River Oss: It flows north. It is short.",
        "Town of Oss: It lies on the river.",
    ]
    bridge, comparison = conversation.questions
    assert [texts[turn].split(":")[0] for turn in bridge.evidence] == ["Town of Oss", "River Oss"]
    assert [texts[turn].split(":")[0] for turn in comparison.evidence] == ["River Oss"]
    assert all(turn.when is None for turn in conversation.turns)


@pytest.mark.parametrize("rows", [[], {}, ["text"], [{"fields": 1}], [{"qa": []}]])
def test_other_data_are_refused(rows: object) -> None:
    with pytest.raises(UnknownFormat):
        read(rows)


def test_load_reads_a_file_and_refuses_what_is_no_json(tmp_path: Path) -> None:
    file = tmp_path / "data.json"
    file.write_text(json.dumps(locomo(asked(["D1:1"]))), encoding="utf-8")
    assert load(file).questions == 1
    file.write_text("no json", encoding="utf-8")
    with pytest.raises(UnknownFormat, match=r"data\.json"):
        load(file)


def test_limited_keeps_whole_conversations_that_have_questions_left() -> None:
    rows = [
        {"sample_id": name, "conversation": TWO_SESSIONS, "qa": [asked(["D1:1"]), asked(["D1:2"])]}
        for name in "abc"
    ]
    few = limited(read(rows), 3)
    assert [(one.name, len(one.questions), len(one.turns)) for one in few.conversations] == [
        ("a", 2, 4),
        ("b", 1, 4),
    ]


def test_shortened_cuts_long_turns_and_counts_them() -> None:
    data, cut = shortened(read(locomo()), 16)
    assert cut == 3
    assert [turn.text for turn in data.conversations[0].turns] == [
        "Ida: I paint the",
        "Bo: Which colour",
        "Ida: The boat is",
        "Bo: We sold it.",
    ]
