"""Types of memories, by phrases and by the chat model of a real local server."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from automem.embedding.breaker import MonotonicStopwatch
from automem.enrichment.chat import ChatConfig, NoChat, OpenAIChat
from automem.memory.classification import Classification, Classifier, classify_by_phrases, read_reply
from automem.utils.clock import SystemClock
from tests.support.openai_server import AiServer, CutOff, Fault, HangUp, Late, Raw, Status

MakeClassifier = Callable[..., Classifier]

PATH = "/v1/chat/completions"
PLAIN = "The sky over Oslo is blue"
PROVISIONAL = Classification("Memory", 0.3, provisional=True)


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
        PROVISIONAL,
        Classification("Decision", 0.6),
        PROVISIONAL,
    ]
    stats = classifier.stats()
    assert (stats.fallbacks, stats.pattern_classifications, stats.llm_attempts) == (2, 1, 0)
    assert stats.last_error and "missing client" in stats.last_error
    assert stats.last_error_at is not None
    assert classifier.upgrade(PLAIN) is None
    assert not classifier.slow
    classifier.close()


@pytest.fixture
def server() -> Iterator[AiServer]:
    with AiServer() as running:
        yield running


@pytest.fixture
def make_classifier(server: AiServer) -> Iterator[MakeClassifier]:
    config = ChatConfig("key", "gpt-4o-mini", server.openai_url, timeout_seconds=5.0, retries=0)
    chat = OpenAIChat(config, SystemClock(), MonotonicStopwatch())
    made: list[Classifier] = []

    def make(patience: float = 3.0, workers: int = 8) -> Classifier:
        made.append(Classifier(chat, SystemClock(), patience, workers))
        return made[-1]

    yield make
    server.close()
    for classifier in made:
        classifier.close()
    chat.close()


def test_the_model_is_asked_where_no_phrase_decides(
    server: AiServer, make_classifier: MakeClassifier
) -> None:
    classifier = make_classifier()
    server.chat_reply = '{"type": "observation", "confidence": 0.65}'
    assert classifier.classify(["We decided to go", PLAIN]) == [
        Classification("Decision", 0.6),
        Classification("Insight", 0.65),
    ]
    assert server.count(PATH) == 1
    stats = classifier.stats()
    assert (stats.llm_attempts, stats.llm_successes, stats.fallbacks) == (1, 1, 0)


def test_the_model_sees_the_first_thousand_characters(
    server: AiServer, make_classifier: MakeClassifier
) -> None:
    make_classifier().classify(["x" * 3000])
    assert server.received[0].body["messages"][1]["content"] == "x" * 1000


@pytest.mark.parametrize(
    "fault", [Status(500), Status(429), Raw("not JSON"), CutOff(), HangUp(), Late(30.0)], ids=repr
)
def test_a_failing_or_slow_model_is_asked_once(
    server: AiServer, make_classifier: MakeClassifier, fault: Fault
) -> None:
    classifier = make_classifier(patience=0.3)
    server.always(fault)
    assert [classifier.classify([PLAIN]) for _ in range(4)] == [[PROVISIONAL]] * 4
    assert classifier.classify([PLAIN] * 3) == [PROVISIONAL] * 3
    assert server.count(PATH) == 1
    assert classifier.slow
    stats = classifier.stats()
    assert stats.fallbacks == 7
    assert stats.last_error and "background" in stats.last_error


@pytest.mark.parametrize("fault", [Status(500), Late(30.0)], ids=repr)
def test_why_the_model_said_nothing_is_told(
    server: AiServer, make_classifier: MakeClassifier, fault: Fault
) -> None:
    classifier = make_classifier(patience=0.3)
    server.always(fault)
    assert classifier.classify([PLAIN, PLAIN, PLAIN]) == [PROVISIONAL] * 3
    stats = classifier.stats()
    assert stats.fallbacks == 3
    assert stats.last_error
    assert ("500" if isinstance(fault, Status) else "0.3 seconds") in stats.last_error


def test_an_answer_that_is_no_json_gives_the_fallback(
    server: AiServer, make_classifier: MakeClassifier
) -> None:
    classifier = make_classifier()
    server.chat_reply = "I think it is a Decision"
    assert classifier.classify([PLAIN]) == [PROVISIONAL]
    assert classifier.slow


def test_phrases_decide_whatever_the_model_does(server: AiServer, make_classifier: MakeClassifier) -> None:
    classifier = make_classifier(patience=0.3)
    server.always(Late(30.0))
    assert classifier.classify([PLAIN, "We decided to go"]) == [PROVISIONAL, Classification("Decision", 0.6)]


def test_an_answer_in_time_in_the_background_brings_the_model_back(
    server: AiServer, make_classifier: MakeClassifier
) -> None:
    classifier = make_classifier()
    server.always(Status(500))
    classifier.classify([PLAIN])
    server.chat_reply = '{"type": "Habit", "confidence": 0.9}'
    assert classifier.upgrade(PLAIN) is None
    assert classifier.classify([PLAIN]) == [PROVISIONAL]
    server.always(None)
    assert classifier.upgrade(PLAIN) == Classification("Habit", 0.9)
    assert not classifier.slow
    assert classifier.classify([PLAIN]) == [Classification("Habit", 0.9)]


def test_a_late_answer_in_the_background_is_taken_but_writes_do_not_ask(
    server: AiServer, make_classifier: MakeClassifier
) -> None:
    classifier = make_classifier(patience=0.1)
    server.always(Late(0.4))
    assert classifier.upgrade(PLAIN) == Classification("Context", 0.7)
    assert classifier.slow
    assert classifier.classify([PLAIN]) == [PROVISIONAL]
    assert server.count(PATH) == 1


def test_the_background_looks_for_phrases_first(server: AiServer, make_classifier: MakeClassifier) -> None:
    assert make_classifier().upgrade("We decided to go") == Classification("Decision", 0.6)
    assert server.count(PATH) == 0


def test_waiting_for_a_turn_does_not_make_the_model_slow(
    server: AiServer, make_classifier: MakeClassifier
) -> None:
    classifier = make_classifier(patience=1.0, workers=1)
    server.always(Late(0.2))
    found = classifier.classify([PLAIN] * 20)
    answered = found.count(Classification("Context", 0.7))
    assert 0 < answered < 20
    assert found.count(PROVISIONAL) == 20 - answered == classifier.stats().fallbacks
    assert not classifier.slow
