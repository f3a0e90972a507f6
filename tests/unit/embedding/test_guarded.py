"""The circuit breaker, alone and around a provider whose server is truly down."""

from __future__ import annotations

import pytest

from automem.embedding.breaker import BreakerConfig, CircuitBreaker
from automem.embedding.guarded import GuardedProvider
from automem.embedding.ollama import OllamaConfig, ollama_limits, ollama_provider
from automem.embedding.remote import Patience
from automem.errors import EmbeddingUnavailable
from tests.support.openai_server import AiServer, Status


class HandStopwatch:
    """Time that the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def seconds(self) -> float:
        return self.now


@pytest.fixture
def stopwatch() -> HandStopwatch:
    return HandStopwatch()


@pytest.fixture
def breaker(stopwatch: HandStopwatch) -> CircuitBreaker:
    return CircuitBreaker("test", BreakerConfig(failures=3, cooldown_seconds=30), stopwatch)


def fail(breaker: CircuitBreaker, times: int) -> None:
    for _ in range(times):
        assert breaker.admits()
        breaker.failed()


def test_it_opens_after_failures_in_a_row(breaker: CircuitBreaker) -> None:
    states = [breaker.is_open]
    for _ in range(3):
        fail(breaker, 1)
        states.append(breaker.is_open)
    assert states == [False, False, False, True]
    assert not breaker.admits()


def test_a_success_starts_the_count_again(breaker: CircuitBreaker) -> None:
    fail(breaker, 2)
    breaker.succeeded()
    fail(breaker, 2)
    assert breaker.admits()


def test_one_call_tries_after_the_cool_down_and_its_success_closes(
    breaker: CircuitBreaker, stopwatch: HandStopwatch
) -> None:
    fail(breaker, 3)
    stopwatch.now += 29.9
    assert not breaker.admits()
    stopwatch.now += 0.2
    assert [breaker.admits(), breaker.admits()] == [True, False]
    breaker.succeeded()
    assert [breaker.admits(), breaker.admits()] == [True, True]
    assert not breaker.is_open


def test_a_failed_trial_opens_it_for_another_cool_down(
    breaker: CircuitBreaker, stopwatch: HandStopwatch
) -> None:
    fail(breaker, 3)
    stopwatch.now += 31
    fail(breaker, 1)
    stopwatch.now += 29
    assert not breaker.admits()
    stopwatch.now += 2
    assert breaker.admits()


@pytest.fixture
def guarded(server: AiServer, breaker: CircuitBreaker) -> GuardedProvider:
    limits = ollama_limits(None, Patience(5, 0), 5.0)
    return GuardedProvider(ollama_provider(OllamaConfig(server.url), limits), breaker)


def test_a_dead_provider_is_left_alone_and_found_again(
    server: AiServer, guarded: GuardedProvider, stopwatch: HandStopwatch
) -> None:
    server.always(Status(500))
    for _ in range(5):
        with pytest.raises(EmbeddingUnavailable):
            guarded.embed_query("question")
    assert server.count() == 3
    server.always(None)
    with pytest.raises(EmbeddingUnavailable, match="tried again later"):
        guarded.embed_batch(["document"])
    stopwatch.now += 31
    assert guarded.embed_batch(["document"]).shape == (1, 16)
    assert guarded.embed_query("question").shape == (16,)
    guarded.close()


def test_refused_texts_do_not_count_as_a_dead_provider(server: AiServer, guarded: GuardedProvider) -> None:
    server.always(Status(400))
    for _ in range(5):
        with pytest.raises(EmbeddingUnavailable, match="status 400"):
            guarded.embed_query("question")
    assert server.count() == 5
    guarded.close()


def test_a_known_dimension_is_given_while_the_provider_is_down(
    server: AiServer, guarded: GuardedProvider, breaker: CircuitBreaker
) -> None:
    assert guarded.dimension == 16
    fail(breaker, 3)
    assert guarded.dimension == 16
    guarded.close()


def test_an_unknown_dimension_of_a_dead_provider_is_an_error(
    server: AiServer, guarded: GuardedProvider
) -> None:
    server.always(Status(500))
    with pytest.raises(EmbeddingUnavailable):
        _ = guarded.dimension
    guarded.close()
