"""What type a memory is: by phrases of the text, else by the chat model (memory-api.md 0.6).

Neither a slow nor a failing model keeps or fails a write: the answer is then ``Memory`` with
confidence 0.3, for the time being, and the reason is counted. A model that once came too late is asked
in the background only, until it comes in time there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock

from automem.embedding.breaker import MonotonicStopwatch, Stopwatch
from automem.enrichment.chat import UNUSABLE, ChatModel
from automem.models import as_number
from automem.utils.clock import Clock

TYPES = ("Decision", "Pattern", "Preference", "Style", "Habit", "Insight", "Context")

# In the order of precedence; plain searches, so "favorite" hits "favou?rite" and "favou?r" (0.6).
_PHRASES: Mapping[str, Sequence[str]] = {
    "Decision": (
        r"decided (?:to|on|against)",
        r"chose \S+ over",
        r"going with",
        r"picked",
        r"selected",
        r"will use",
        r"choosing",
        r"opted (?:for|to)",
        r"settled on",
    ),
    "Pattern": (
        r"usually",
        r"typically",
        r"tends? to",
        r"pattern i(?:'ve)? noticed",
        r"often",
        r"frequently",
        r"regularly",
        r"consistently",
        r"most of the time",
    ),
    "Preference": (
        r"prefer",
        r"like.*better",
        r"favou?rite",
        r"always use",
        r"rather than",
        r"instead of",
        r"favou?r",
    ),
    "Style": (
        r"wrote.*in.*style",
        r"communicated",
        r"responded to",
        r"formatted as",
        r"using.*tone",
        r"expressed as",
        r"writing style",
    ),
    "Habit": (
        r"\balways\b(?!\s+use)",
        r"every (?:single )?time",
        r"habitually",
        r"routine",
        r"daily",
        r"weekly",
        r"monthly",
        r"every (?:morning|evening|night)",
    ),
    "Insight": (
        r"reali[sz]ed",
        r"discovered",
        r"learn(?:ed|t) that",
        r"understood",
        r"figured out",
        r"insight",
        r"revelation",
        r"turns? out",
    ),
    "Context": (
        r"during",
        r"while working on",
        r"in the context of",
        r"when",
        r"at (?:the|that) time",
        r"situation was",
    ),
}
_RULES = {kind: tuple(re.compile(phrase) for phrase in phrases) for kind, phrases in _PHRASES.items()}

_ALIASES = {
    **{kind.lower(): kind for kind in TYPES},
    **dict.fromkeys(
        (
            "",
            "memory",
            "milestone",
            "document",
            "meeting_notes",
            "project",
            "timeline",
            "organization",
            "person",
            "personal_situation",
            "practical_info",
        ),
        "Context",
    ),
    **dict.fromkeys(("analysis", "observation", "issue", "legal_analysis"), "Insight"),
    "template": "Pattern",
    **dict.fromkeys(
        ("interests", "personality", "emotional_patterns", "relationship_dynamics", "communication"),
        "Preference",
    ),
    "health_habits": "Habit",
}

_PROMPT = (
    "You sort the notes of a long-term memory. Choose the one type that fits the note best: "
    "Decision (a choice that was made), Pattern (something that recurs), Preference (what someone likes "
    "or favours), Style (how someone writes or behaves), Habit (what someone does routinely), "
    "Insight (something learned or understood), Context (circumstances and facts). "
    'Answer with JSON only: {"type": "<type>", "confidence": <0.0 to 1.0>}'
)
_SHOWN_CHARACTERS = 1000
_ANSWER_TOKENS = 50
_MODEL_CONFIDENCE = 0.7
LEFT_TO_BACKGROUND = "the model was too slow or failed; it is asked in the background"


@dataclass(frozen=True, slots=True)
class Classification:
    """A type and how sure it is, 0 to 1.

    ``provisional``: neither a phrase nor the model said so; ``Classifier.upgrade`` may find better.
    """

    type: str
    confidence: float
    provisional: bool = False


FALLBACK = Classification("Memory", 0.3, provisional=True)
_UNMAPPABLE = Classification("Context", 0.5)


@dataclass(frozen=True, slots=True)
class ClassificationStats:
    """Counters for ``/enrichment/status``."""

    llm_attempts: int = 0
    llm_successes: int = 0
    fallbacks: int = 0
    pattern_classifications: int = 0
    last_error: str | None = None
    last_error_at: datetime | None = None


def classify_by_phrases(content: str) -> Classification | None:
    """Give the first type of which a phrase stands in the text; more phrases make it surer."""
    text = content.lower()
    for kind, rules in _RULES.items():
        hits = sum(1 for rule in rules if rule.search(text))
        if hits:
            return Classification(kind, 0.6 if hits == 1 else min(0.95, round(0.6 + 0.1 * hits, 2)))
    return None


def read_reply(reply: Mapping[str, object]) -> Classification:
    """Read the chat model's answer through the alias table."""
    given = reply.get("type")
    name = given.strip().lower().replace(" ", "_") if isinstance(given, str) else ""
    kind = _ALIASES.get(name)
    if kind is None:
        return _UNMAPPABLE
    confidence = as_number(reply.get("confidence", _MODEL_CONFIDENCE))
    return Classification(kind, _MODEL_CONFIDENCE if confidence is None else max(0.0, min(confidence, 1.0)))


class Classifier:
    """Sorts texts, one or many, within a bounded time. Safe for many threads."""

    def __init__(
        self,
        chat: ChatModel,
        clock: Clock,
        patience: float = 1.0,
        workers: int = 8,
        stopwatch: Stopwatch | None = None,
    ) -> None:
        """:param patience: seconds that one call waits for the model, however many texts it has; an
        answer that takes longer comes too late."""
        self._chat = chat
        self._clock = clock
        self._patience = patience
        self._pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="classify")
        self._stopwatch = stopwatch or MonotonicStopwatch()
        self._lock = Lock()
        self._stats = ClassificationStats()
        self._slow = False

    @property
    def slow(self) -> bool:
        """Say whether the model's last answer came too late or not at all: writes do not ask it then."""
        with self._lock:
            return self._slow

    def stats(self) -> ClassificationStats:
        """Give the counters since the start, those of the chat model included."""
        asked = self._chat.stats
        with self._lock:
            return replace(self._stats, llm_attempts=asked.llm_attempts, llm_successes=asked.llm_successes)

    def classify(self, contents: Sequence[str]) -> list[Classification]:
        """Give the classification of each text, in order. Never raises for trouble with the model, and
        waits for it once only, until ``upgrade`` or a question on its way finds it in time again."""
        by_rule = [classify_by_phrases(content) for content in contents]
        with self._lock:
            hits = self._stats.pattern_classifications + sum(found is not None for found in by_rule)
            self._stats = replace(self._stats, pattern_classifications=hits)
        open_texts = [content for content, found in zip(contents, by_rule, strict=True) if found is None]
        asked = iter(self._ask(open_texts))
        return [found if found is not None else next(asked) for found in by_rule]

    def upgrade(self, content: str) -> Classification | None:
        """Find a better type than a provisional one; None when the model did not answer.

        Waits as long as the model's own time limits allow: for the background.
        """
        found = classify_by_phrases(content)
        if found is not None or self._chat.name is None:
            return found
        answer = self._ask_one(content)
        if answer is None:
            self._note(0, self._chat.stats.last_error or UNUSABLE)
        return answer

    def close(self) -> None:
        """Let no more questions be asked; those on their way are not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ask(self, contents: Sequence[str]) -> list[Classification]:
        if not contents:
            return []
        if self._chat.name is None or self.slow:
            self._note(len(contents), UNUSABLE if self._chat.name is None else LEFT_TO_BACKGROUND)
            return [FALLBACK] * len(contents)
        questions = [self._pool.submit(self._ask_one, content) for content in contents]
        answered, late = wait(questions, self._patience)
        # One that waits for its turn says nothing about the model, but one that was asked does.
        asked = [question for question in late if not question.cancel()]
        if asked and not answered:
            self._judge(in_time=False)
        found = [_answer_of(question) for question in questions]
        self._note_fallbacks(sum(answer is FALLBACK for answer in found), len(late))
        return found

    def _ask_one(self, content: str) -> Classification | None:
        began = self._stopwatch.seconds()
        reply = self._chat.complete_json(_PROMPT, content[:_SHOWN_CHARACTERS], _ANSWER_TOKENS)
        in_time = self._stopwatch.seconds() - began <= self._patience
        self._judge(in_time=reply is not None and in_time)
        return None if reply is None else read_reply(reply)

    def _judge(self, in_time: bool) -> None:
        with self._lock:
            self._slow = not in_time

    def _note_fallbacks(self, count: int, late: int) -> None:
        if late:
            self._note(count, f"the model did not answer within {self._patience:g} seconds")
        elif count:
            self._note(count, self._chat.stats.last_error or UNUSABLE)

    def _note(self, count: int, reason: str) -> None:
        with self._lock:
            fallbacks, now = self._stats.fallbacks + count, self._clock.now()
            self._stats = replace(self._stats, fallbacks=fallbacks, last_error=reason, last_error_at=now)


def _answer_of(question: Future[Classification | None]) -> Classification:
    """Give a finished question's answer, the fallback for a late or failed one."""
    if question.cancelled() or not question.done():
        return FALLBACK
    return question.result() or FALLBACK
