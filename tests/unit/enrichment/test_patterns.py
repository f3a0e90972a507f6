"""The words that memories have in common (background.md 2 step 3)."""

from __future__ import annotations

import pytest

from automem.enrichment.patterns import count_words, key_terms


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Chose the Redis cache over the disk", ["chose", "redis", "cache", "disk"]),
        ("then WITH about From after", []),
        ("abc abcd x2y4 ab12cdef", ["abcd", "cdef"]),
        ("Größe naïve Ёлка", ["größe", "naïve", "ёлка"]),
        ("nai\u0308vete", ["naïvete"]),
        ("snake_case camelCase", ["snake", "case", "camelcase"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("x" * 41 + " " + "y" * 40, ["y" * 40]),
        ("", []),
    ],
)
def test_words_have_four_letters_and_say_something(text: str, words: list[str]) -> None:
    assert list(count_words(text)) == words


def test_the_five_most_frequent_and_among_equals_the_first() -> None:
    texts = ["zebra apple apple mango", "mango mango kiwi grape", "lemon grape"]
    assert key_terms(map(count_words, texts)) == ("mango", "apple", "grape", "zebra", "kiwi")
    assert key_terms([]) == ()


def test_words_of_a_long_text_are_counted_all() -> None:
    assert count_words("often " * 50_000 + "a_" * 50_000) == {"often": 50_000}
