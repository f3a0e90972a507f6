"""The memory for questions, around a provider that counts and can be held back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest

from automem.embedding.base import Vectors
from automem.embedding.cached import CachedProvider
from automem.embedding.placeholder import PlaceholderProvider
from automem.errors import EmbeddingUnavailable


class Counting:
    """A true provider with a counter in front, that fails or waits when told."""

    name = "counting"
    dimension = 8

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.failing = False
        self.go = Event()
        self.go.set()
        self.entered = Event()
        self.closed = False
        self._inner = PlaceholderProvider(8)

    def embed_query(self, text: str) -> Vectors:
        self.asked[text] += 1
        self.entered.set()
        assert self.go.wait(10)
        if self.failing:
            raise EmbeddingUnavailable("down")
        return self._inner.embed_query(text)

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        self.asked.update(texts)
        return self._inner.embed_batch(texts)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def counting() -> Counting:
    return Counting()


def test_the_same_question_is_embedded_once(counting: Counting) -> None:
    cached = CachedProvider(counting)
    first, again = cached.embed_query("a"), cached.embed_query("a")
    assert np.array_equal(first, again)
    assert counting.asked == {"a": 1}
    assert (cached.name, cached.dimension) == ("counting", 8)


def test_nobody_can_spoil_a_remembered_vector(counting: Counting) -> None:
    with pytest.raises(ValueError, match="read-only"):
        CachedProvider(counting).embed_query("a")[0] = 5


def test_the_question_unused_for_longest_is_forgotten(counting: Counting) -> None:
    cached = CachedProvider(counting, size=2)
    for text in ["a", "b", "a", "c", "a", "b"]:
        cached.embed_query(text)
    assert counting.asked == {"a": 1, "b": 2, "c": 1}


def test_a_failure_is_not_remembered(counting: Counting) -> None:
    cached = CachedProvider(counting)
    counting.failing = True
    with pytest.raises(EmbeddingUnavailable):
        cached.embed_query("a")
    counting.failing = False
    assert cached.embed_query("a").shape == (8,)


@pytest.mark.parametrize("failing", [False, True])
def test_threads_with_the_same_question_share_one_call_and_its_outcome(
    counting: Counting, failing: bool
) -> None:
    cached = CachedProvider(counting)
    counting.go.clear()
    counting.failing = failing
    with ThreadPoolExecutor(4) as executor:
        first = executor.submit(cached.embed_query, "a")
        assert counting.entered.wait(10)
        others = [executor.submit(cached.embed_query, "a") for _ in range(3)]
        while not all(other.running() for other in others):
            assert not first.done()
        counting.go.set()
        outcomes = [call.exception(10) is not None for call in (first, *others)]
    if failing:
        assert outcomes[0]
    else:
        assert outcomes == [False] * 4
        assert counting.asked == {"a": 1}


def test_documents_pass_through_and_close_reaches_the_provider(counting: Counting) -> None:
    cached = CachedProvider(counting)
    cached.embed_batch(["a"])
    cached.embed_batch(["a"])
    cached.close()
    assert counting.asked == {"a": 2}
    assert counting.closed
