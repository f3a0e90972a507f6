"""Summaries by rule, and by the chat model of a real local server (background.md 2 step 5, D40)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from automem.embedding.breaker import MonotonicStopwatch
from automem.enrichment.chat import ChatConfig, NoChat, OpenAIChat
from automem.enrichment.summary import ChatSummaries, first_sentence
from automem.utils.clock import SystemClock
from tests.support.openai_server import AiServer, CutOff, Fault, HangUp, Raw, Status

LONG = "The harbour office moved to Pier 9. " * 20
WORDS = "nine char " * 30


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("One thing. Another thing.", "One thing."),
        ("Really?! Yes.", "Really?!"),
        ("  No end here  ", "No end here"),
        ("Version 3.11 is out! Now", "Version 3.11 is out!"),
        ("First line.\nSecond line.", "First line."),
        ("Line one\nline two. Three", "Line one\nline two."),
        ("Ends with a point.", "Ends with a point."),
        (". then more", "."),
        ("", ""),
        (" \n ", ""),
        ("a" * 239 + ". b", "a" * 239 + "."),
        ("a" * 240 + ". b", "a" * 240),
        ("a" * 300, "a" * 240),
        ("ab " + "c" * 300, "ab"),
        ("a" * 239 + " b" + "c" * 100, "a" * 239),
        ("a" * 240 + " b", "a" * 240),
    ],
)
def test_the_first_sentence_is_the_summary(text: str, summary: str) -> None:
    assert first_sentence(text) == summary


def test_a_long_sentence_is_cut_between_words() -> None:
    assert first_sentence(WORDS, 24) == "nine char nine char"
    assert first_sentence(WORDS, 20) == "nine char nine char"
    assert first_sentence(WORDS, 19) == "nine char nine"


@pytest.mark.parametrize(
    "text", ["." * 200_000, ". " * 100_000, "a" * 200_000, " " * 200_000 + "a", "a " * 100_000]
)
def test_odd_texts_of_any_length_are_cut(text: str) -> None:
    assert len(first_sentence(text)) <= 240


@pytest.fixture
def server() -> Iterator[AiServer]:
    with AiServer() as running:
        yield running


@pytest.fixture
def summaries(server: AiServer) -> Iterator[Callable[..., ChatSummaries]]:
    config = ChatConfig("key", "gpt-4o-mini", server.openai_url, timeout_seconds=5.0, retries=0)
    chat = OpenAIChat(config, SystemClock(), MonotonicStopwatch())

    def make(soft_limit: int = 500, target_length: int = 300) -> ChatSummaries:
        return ChatSummaries(chat, soft_limit, target_length)

    yield make
    chat.close()


def test_only_what_is_longer_than_both_lengths_is_summarised(summaries: Callable[..., ChatSummaries]) -> None:
    asks = summaries(soft_limit=20, target_length=10)
    assert not asks.wanted("x" * 20)
    assert not asks.wanted("  " + "x" * 20 + "  ")
    assert asks.wanted("x" * 21)
    assert not summaries(soft_limit=10, target_length=20).wanted("x" * 20)


def test_the_model_is_told_the_length_and_shown_the_whole_text(
    server: AiServer, summaries: Callable[..., ChatSummaries]
) -> None:
    server.chat_reply = "  The office is at Pier 9 now.  "
    assert summaries(500, 200).write(f"  {LONG}") == "The office is at Pier 9 now."
    [request] = server.received
    system, user = (message["content"] for message in request.body["messages"])
    assert "200" in system
    assert user == LONG.strip()
    assert request.body["max_completion_tokens"] == 50
    assert "response_format" not in request.body


@pytest.mark.parametrize(("target", "tokens"), [(1000, 150), (400, 100), (2, 1)])
def test_the_answer_is_limited(
    server: AiServer, summaries: Callable[..., ChatSummaries], target: int, tokens: int
) -> None:
    summaries(500, target).write(LONG * 3)
    assert [request.body["max_completion_tokens"] for request in server.received] == [tokens]


@pytest.mark.parametrize("reply", [None, "", "   ", "\0", LONG.strip(), LONG + "and more"])
def test_what_is_empty_or_not_shorter_is_no_summary(
    server: AiServer, summaries: Callable[..., ChatSummaries], reply: str | None
) -> None:
    server.chat_reply = reply
    assert summaries().write(LONG) is None
    assert server.count() == 1


def test_a_summary_can_always_be_stored(server: AiServer, summaries: Callable[..., ChatSummaries]) -> None:
    server.chat_reply = "Pier\0 9 \ud83d now"
    assert summaries().write(LONG) == "Pier 9 ? now"


@pytest.mark.parametrize("fault", [Status(429), Status(500), Raw("not JSON"), CutOff(), HangUp()])
def test_trouble_with_the_model_is_no_summary(
    server: AiServer, summaries: Callable[..., ChatSummaries], fault: Fault
) -> None:
    server.always(fault)
    assert summaries().write(LONG) is None


def test_without_a_model_nothing_is_wanted() -> None:
    asks = ChatSummaries(NoChat(), 500, 300)
    assert not asks.wanted(LONG)
    assert asks.write(LONG) is None


def test_a_short_text_is_not_sent(server: AiServer, summaries: Callable[..., ChatSummaries]) -> None:
    assert summaries().write("Short") is None
    assert server.count() == 0
