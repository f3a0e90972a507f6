"""The question sets that retrieval is measured with: LoCoMo, BEAM and HotpotQA, in one form.

The data are other people's work under licences of their own (docs/retrieval.md); they are read from
a path and never stored in this repository.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""LoCoMo's categories of questions."""

_LOCOMO_DATE = "%I:%M %p on %d %B, %Y"
_BEAM_DATE = "%B-%d-%Y"
_SESSION = re.compile(r"session_(\d+)")
# Several ids may be glued in one cell, numbers may be padded with zeros: "D8:6; D9:07".
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


class UnknownFormat(ValueError):
    """The file is none of the known sets."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One text that becomes one memory. ``when`` is its session's date in UTC, where the set has one."""

    id: str
    text: str
    when: datetime | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns that answer it: ids of turns of its conversation, at least one."""

    text: str
    category: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in their order, and the questions asked about them."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class DataSet:
    """One file of one set."""

    name: str
    conversations: tuple[Conversation, ...]

    @property
    def turns(self) -> int:
        return sum(len(conversation.turns) for conversation in self.conversations)

    @property
    def questions(self) -> int:
        return sum(len(conversation.questions) for conversation in self.conversations)


def load(path: Path) -> DataSet:
    """Read a file, whichever of the three sets it is.

    Questions without evidence are left out, and evidence that names no turn. Raises
    ``UnknownFormat``, or ``OSError`` when the file cannot be read.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnknownFormat(f"{path.name} is not JSON: {error}") from error
    return read(rows, path.name)


def read(rows: Any, name: str = "the data") -> DataSet:
    """Tell the sets apart by their fields; raises ``UnknownFormat``."""
    first = rows[0] if isinstance(rows, list) and rows else None
    if not isinstance(first, Mapping):
        raise UnknownFormat(f"{name} is not a list of objects")
    if "conversation" in first and "qa" in first:
        return DataSet("locomo", tuple(map(_locomo, rows)))
    if "messages" in first and "questions" in first:
        return DataSet("beam", tuple(map(_beam, rows)))
    if "supporting_facts" in first and "context" in first:
        return DataSet("hotpotqa", (_hotpotqa(rows),))
    raise UnknownFormat(f"{name} is neither LoCoMo nor BEAM nor HotpotQA: its fields are {', '.join(first)}")


def limited(data: DataSet, questions: int) -> DataSet:
    """Keep the first questions only, and the conversations that they are about, whole."""
    kept: list[Conversation] = []
    for conversation in data.conversations:
        if questions > 0:
            kept.append(replace(conversation, questions=conversation.questions[:questions]))
            questions -= len(kept[-1].questions)
    return replace(data, conversations=tuple(kept))


def shortened(data: DataSet, characters: int) -> tuple[DataSet, int]:
    """Cut longer turns, as the service refuses them; also gives how many were cut."""
    cut = sum(len(turn.text) > characters for one in data.conversations for turn in one.turns)
    conversations = (
        replace(one, turns=tuple(replace(turn, text=turn.text[:characters]) for turn in one.turns))
        for one in data.conversations
    )
    return replace(data, conversations=tuple(conversations)), cut


def _locomo(row: Mapping[str, Any]) -> Conversation:
    turns = tuple(_locomo_turns(row["conversation"]))
    questions = (
        Question(
            str(qa["question"]),
            CATEGORIES.get(qa["category"], str(qa["category"])),
            tuple(_locomo_evidence(qa.get("evidence") or ())),
        )
        for qa in row["qa"]
    )
    return Conversation(str(row["sample_id"]), turns, answerable(questions, turns))


def _locomo_turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    for number in numbers:
        when = _date(conversation.get(f"session_{number}_date_time"), _LOCOMO_DATE)
        for turn in conversation[f"session_{number}"] or ():
            yield Turn(_turn_id(turn["dia_id"]), f"{turn['speaker']}: {turn['text']}", when)


def _locomo_evidence(cells: Iterable[str]) -> Iterator[str]:
    for cell in cells:
        for session, turn in _EVIDENCE.findall(cell):
            yield f"D{int(session)}:{int(turn)}"


def _turn_id(written: str) -> str:
    return next(_locomo_evidence([written]), written)


def _beam(row: Mapping[str, Any]) -> Conversation:
    turns = tuple(
        Turn(str(message["id"]), message["text"], _date(message.get("when"), _BEAM_DATE))
        for message in row["messages"]
    )
    questions = (
        Question(str(asked["question"]), str(asked["kind"]), tuple(map(str, asked.get("evidence") or ())))
        for asked in row["questions"]
    )
    return Conversation(str(row["chat"]), turns, answerable(questions, turns))


def _hotpotqa(rows: Sequence[Mapping[str, Any]]) -> Conversation:
    """Put the paragraphs of all questions in one store: ten alone would leave nothing to find."""
    paragraphs: dict[str, Turn] = {}
    questions: list[Question] = []
    for row in rows:
        titles = {title for title, _ in row["supporting_facts"]}
        own = [
            Turn(f"{title}: {''.join(lines)}", f"{title}: {''.join(lines)}")
            for title, lines in row["context"]
        ]
        paragraphs.update((turn.id, turn) for turn in own)
        evidence = (turn.id for turn, (title, _) in zip(own, row["context"], strict=True) if title in titles)
        questions.append(Question(str(row["question"]), str(row["type"]), tuple(evidence)))
    turns = tuple(paragraphs.values())
    return Conversation("paragraphs", turns, answerable(questions, turns))


def answerable(questions: Iterable[Question], turns: Iterable[Turn]) -> tuple[Question, ...]:
    """Keep evidence that names a turn, once, and the questions that have any."""
    known = {turn.id for turn in turns}
    found = (
        replace(asked, evidence=tuple(dict.fromkeys(one for one in asked.evidence if one in known)))
        for asked in questions
    )
    return tuple(asked for asked in found if asked.evidence)


def _date(written: str | None, form: str) -> datetime | None:
    return datetime.strptime(written.strip(), form).replace(tzinfo=UTC) if written else None
