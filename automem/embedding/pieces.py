"""Long texts in pieces, and the pieces' vectors pooled into one (D40). Pure functions.

Every provider cuts with one of the two cutters and pools with ``pool``: change it here, and it
changes for all of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from automem.embedding.base import Vectors
from automem.errors import EmbeddingUnavailable

# WordPiece makes one "unknown" of any word longer than 100 characters: keys, hashes, Thai sentences.
_ENDLESS_WORD = re.compile(r"\w{64}(?=\w)")


def clean(text: str) -> str:
    """Give the text without what no tokenizer or JSON body can carry: lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def break_endless_words(text: str) -> str:
    """Give the text with a blank after every 64 word characters in a row."""
    return _ENDLESS_WORD.sub(r"\g<0> ", text)


def windows(count: int, size: int, overlap: int) -> list[slice]:
    """Cut ``count`` tokens into the fewest windows of at most ``size``, evenly long.

    Neighbours share at least ``overlap`` tokens, so that no sentence is only seen cut in two. At
    least one window is given, an empty one for no tokens.
    """
    if count <= size:
        return [slice(0, count)]
    number = math.ceil((count - overlap) / (size - overlap))
    length = math.ceil((count + (number - 1) * overlap) / number)
    step = (count - length) / (number - 1)
    starts = [round(index * step) for index in range(number)]
    return [slice(start, start + length) for start in starts]


def cut_text(text: str, max_bytes: int) -> list[str]:
    """Cut a text into pieces of about equal length, none above ``max_bytes`` of UTF-8, at blanks if it can.

    No model makes more tokens than a text has bytes, so that the bound holds whatever the language.
    """
    data = text.encode("utf-8")
    target = math.ceil(len(data) / max(1, math.ceil(len(data) / max_bytes)))
    room = min(max_bytes, target + 32)
    pieces = [piece for piece in _byte_pieces(data, room) if piece.strip()]
    return pieces or [text[:max_bytes]]


def _byte_pieces(data: bytes, room: int) -> Iterator[str]:
    start = 0
    while start < len(data):
        end = _cut_before(data, start, start + room)
        yield data[start:end].decode("utf-8")
        start = end


def _cut_before(data: bytes, start: int, end: int) -> int:
    if end >= len(data):
        return len(data)
    blank = data.rfind(b" ", start + (end - start) * 3 // 4, end)
    if blank > 0:
        return blank + 1
    while data[end] & 0xC0 == 0x80:  # inside a character
        end -= 1
    return end


def unit_rows(vectors: NDArray[np.floating]) -> Vectors:
    """Scale each row to length 1; raises ``EmbeddingUnavailable`` for a row without a direction."""
    rows = vectors.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise EmbeddingUnavailable("the embedding model gave a vector that is not a direction")
    units: Vectors = (rows / lengths).astype(np.float32)
    return units


def pool(vectors: Vectors, weights: Sequence[float]) -> Vectors:
    """Make one unit vector of a text's pieces, each counting by its length.

    :param vectors: unit rows, one a piece, in the order of the text; at least one.
    :param weights: the length of each piece, in whatever unit.
    """
    first: Vectors = vectors[0]
    if len(vectors) == 1:
        return first
    mean = np.average(vectors.astype(np.float64), axis=0, weights=np.maximum(weights, 1e-6))
    length = float(np.linalg.norm(mean))
    if length < 1e-9:  # pieces that cancel each other out: the beginning stands for the text
        return first
    pooled: Vectors = (mean / length).astype(np.float32)
    return pooled


def pool_texts(vectors: Vectors, owners: Sequence[int], weights: Sequence[float]) -> Vectors:
    """Pool the pieces of several texts: ``owners[i]`` is the text of piece i, ascending from 0, no gaps."""
    bounds = np.flatnonzero(np.diff(np.asarray(owners), prepend=-1))
    edges = [*bounds.tolist(), len(owners)]
    return np.stack(
        [
            pool(vectors[start:end], weights[start:end])
            for start, end in zip(edges[:-1], edges[1:], strict=True)
        ]
    )
