"""Types of memories, by phrases and by the chat model of a real local server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from automem.embedding.breaker import MonotonicStopwatch
from automem.enrichment.chat import ChatConfig, NoChat, OpenAIChat
from automem.memory.classification import Classification, Classifier, classify_by_phrases, read_reply
from automem.utils.clock import SystemClock
from tests.support.openai_server import AiServer, Late, Raw, Status

PLAIN = "The sky over Oslo is blue"


@pytest.mark.parametrize(
    ("text", "kind", "confidence"),
    [
        ("We decided to move", "Decision", 0.6),
        ("We CHOSE Redis over Memcached", "Decision", 0.6),
        ("We decided to move and picked Bern, going with trains", "Decision", 0.9),
        ("decided to; going with; picked; selected; will use", "Decision", 0.95),
        ("She usually calls first", "Pattern", 0.6),
        ("She usually, often calls first", "Pattern", 0.8),
        ("He prefers tea", "Preference", 0.6),
        ("His favorite is tea", "Preference", 0.8),
        ("I like tea a lot better", "Preference", 0.6),
        ("They always use tabs", "Preference", 0.6),
        ("They always walk", "Habit", 0.6),
        ("She communicated it well", "Style", 0.6),
        ("He wrote it in a dry style", "Style", 0.6),
        ("Standup is daily", "Habit", 0.6),
        ("I realised it was late", "Insight", 0.6),
        ("It rained during the walk", "Context", 0.6),
        ("We decided to walk when it rained", "Decision", 0.6),
    ],
)
def test_phrases_decide_in_the_order_of_the_types(text: str, kind: str, confidence: float) -> None:
    assert classify_by_phrases(text) == Classification(kind, pytest.approx(confidence))


@pytest.mark.parametrize("text", [PLAIN, "I like tea\nit is better", ""])
def test_a_text_without_such_phrases_is_open(text: str) -> None:
    assert classify_by_phrases(text) is None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"type": "Insight", "confidence": 0.8}, Classification("Insight", 0.8)),
        ({"type": "decision"}, Classification("Decision", 0.7)),
        ({"type": "Health Habits"}, Classification("Habit", 0.7)),
        ({"type": "meeting_notes", "confidence": "x"}, Classification("Context", 0.7)),
        ({"type": "template", "confidence": 7}, Classification("Pattern", 1.0)),
        ({"type": ""}, Classification("Context", 0.7)),
        ({"confidence": 0.9}, Classification("Context", 0.9)),
        ({"type": "recipe", "confidence": 0.9}, Classification("Context", 0.5)),
        ({"type": ["Decision"]}, Classification("Context", 0.7)),
    ],
)
def test_the_models_word_is_mapped_to_a_type(reply: dict[str, object], expected: Classification) -> None:
    assert read_reply(reply) == expected


def test_without_a_model_the_fallback_is_counted() -> None:
    classifier = Classifier(NoChat(), SystemClock())
    assert classifier.classify([PLAIN, "We decided to go", PLAIN]) == [
        Classification("Memory", 0.3),
        Classification("Decision", 0.6),
        Classification("Memory", 0.3),
    ]
    stats = classifier.stats()
    assert (stats.fallbacks, stats.pattern_classifications, stats.llm_attempts) == (2, 1, 0)
    assert stats.last_error and "missing client" in stats.last_error
    assert stats.last_error_at is not None
    classifier.close()


@pytest.fixture
def server() -> Iterator[AiServer]:
    with AiServer() as running:
        yield running


@pytest.fixture
def classifier(server: AiServer) -> Iterator[Classifier]:
    config = ChatConfig("key", "gpt-4o-mini", server.openai_url, timeout_seconds=5.0, retries=0)
    chat = OpenAIChat(config, SystemClock(), MonotonicStopwatch())
    made = Classifier(chat, SystemClock(), patience=0.5)
    yield made
    made.close()
    chat.close()


def test_the_model_is_asked_where_no_phrase_decides(server: AiServer, classifier: Classifier) -> None:
    server.chat_reply = '{"type": "observation", "confidence": 0.65}'
    assert classifier.classify(["We decided to go", PLAIN]) == [
        Classification("Decision", 0.6),
        Classification("Insight", 0.65),
    ]
    assert server.count("/v1/chat/completions") == 1
    stats = classifier.stats()
    assert (stats.llm_attempts, stats.llm_successes, stats.fallbacks) == (1, 1, 0)


def test_the_model_sees_the_first_thousand_characters(server: AiServer, classifier: Classifier) -> None:
    classifier.classify(["x" * 3000])
    assert server.received[0].body["messages"][1]["content"] == "x" * 1000


@pytest.mark.parametrize("fault", [Status(500), Raw("not JSON"), Late(30.0)])
def test_a_failing_or_slow_model_gives_the_fallback(
    server: AiServer, classifier: Classifier, fault: Status | Raw | Late
) -> None:
    server.always(fault)
    assert classifier.classify([PLAIN]) == [Classification("Memory", 0.3)]
    stats = classifier.stats()
    assert stats.fallbacks == 1
    assert stats.last_error


def test_an_answer_that_is_no_json_gives_the_fallback(server: AiServer, classifier: Classifier) -> None:
    server.chat_reply = "I think it is a Decision"
    assert classifier.classify([PLAIN]) == [Classification("Memory", 0.3)]
