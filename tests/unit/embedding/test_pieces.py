"""Cutting and pooling: no text is lost, and every piece counts by its length."""

from __future__ import annotations

import numpy as np
import pytest

from automem.embedding.pieces import (
    break_endless_words,
    clean,
    cut_text,
    pool,
    pool_texts,
    unit_rows,
    windows,
)
from automem.errors import EmbeddingUnavailable


@pytest.mark.parametrize("count", [0, 1, 254])
def test_a_text_within_the_window_is_one_piece(count: int) -> None:
    assert windows(count, 254, 32) == [slice(0, count)]


@pytest.mark.parametrize("count", [255, 300, 476, 477, 1000, 9000])
def test_windows_cover_everything_overlap_and_are_even(count: int) -> None:
    cut = windows(count, 254, 32)
    assert cut[0].start == 0
    assert cut[-1].stop == count
    assert {window.stop - window.start for window in cut} == {cut[0].stop}
    assert cut[0].stop <= 254
    for before, after in zip(cut, cut[1:], strict=False):
        assert before.stop - after.start >= 31  # 32, less one for rounding


def test_two_windows_suffice_while_they_can() -> None:
    assert len(windows(476, 254, 32)) == 2
    assert len(windows(477, 254, 32)) == 3


def test_a_short_text_stays_whole() -> None:
    assert cut_text("a short text", 1500) == ["a short text"]


def test_pieces_of_a_long_text_join_to_the_text_and_end_at_blanks() -> None:
    text = "words in a row " * 700
    pieces = cut_text(text, 1500)
    assert "".join(pieces) == text
    assert max(len(piece) for piece in pieces) <= 1500
    assert all(piece.endswith(" ") for piece in pieces)


@pytest.mark.parametrize("letter", ["x", "é", "語", "😀"])
def test_text_without_blanks_is_cut_between_characters(letter: str) -> None:
    pieces = cut_text(letter * 5000, 1500)
    assert "".join(pieces) == letter * 5000
    assert max(len(piece.encode()) for piece in pieces) <= 1500


def test_blank_pieces_are_dropped_and_blank_texts_kept() -> None:
    assert all(piece.strip() for piece in cut_text("a" + " " * 9000 + "b", 1500))
    assert len(cut_text(" " * 9000, 1500)) == 1


def test_what_no_encoder_can_carry_is_replaced() -> None:
    assert clean("a\0b\ud800c") == "a b?c"


def test_endless_words_are_broken_and_others_left() -> None:
    assert max(map(len, break_endless_words("x" * 1000).split())) == 64
    assert break_endless_words("supercalifragilistic " + "y" * 64) == "supercalifragilistic " + "y" * 64


def test_a_longer_piece_counts_more() -> None:
    axes = np.eye(2, dtype=np.float32)
    pooled = pool(axes, [3, 4])
    assert pooled.tolist() == pytest.approx([0.6, 0.8])


def test_pieces_that_cancel_out_give_the_first() -> None:
    opposite = np.array([[1, 0], [-1, 0]], dtype=np.float32)
    assert pool(opposite, [5, 5]).tolist() == [1, 0]


def test_pieces_are_pooled_with_those_of_the_same_text() -> None:
    axes = np.eye(3, dtype=np.float32)
    pooled = pool_texts(axes, [0, 1, 1], [9, 5, 5])
    assert pooled[0].tolist() == [1, 0, 0]
    assert pooled[1].tolist() == pytest.approx([0, 0.5**0.5, 0.5**0.5])


@pytest.mark.parametrize("bad", [0.0, float("nan"), float("inf")])
def test_a_vector_without_a_direction_is_no_vector(bad: float) -> None:
    with pytest.raises(EmbeddingUnavailable):
        unit_rows(np.full((1, 4), bad))
