"""What can be shown of fastembed models without a network: how their texts are cut."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer

from automem.embedding.fastembed_local import TextCutter
from automem.embedding.local import LocalConfig, bundled_model

WINDOW = 64


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(LocalConfig(bundled_model()).tokenizer_file))


def test_a_text_that_fits_is_left_alone(tokenizer: Tokenizer) -> None:
    assert TextCutter(tokenizer, WINDOW).cut("  A short Text. ") == ["  A short Text. "]


def test_pieces_fit_the_window_and_lose_no_word(tokenizer: Tokenizer) -> None:
    words = [f"Straße{number} naïve" for number in range(200)]
    text = " ".join(words)
    pieces = TextCutter(tokenizer, WINDOW).cut(text)
    plain = Tokenizer.from_str(tokenizer.to_str())
    plain.no_truncation()
    plain.no_padding()
    assert max(len(plain.encode(piece).ids) for piece in pieces) <= WINDOW
    assert all(any(word in piece for piece in pieces) for word in words)
    assert pieces[0].startswith(words[0])
    assert pieces[-1].endswith(words[-1])


def test_the_models_own_tokenizer_is_not_changed(tokenizer: Tokenizer) -> None:
    before = tokenizer.to_str()
    TextCutter(tokenizer, WINDOW).cut("text " * 500)
    assert tokenizer.to_str() == before
