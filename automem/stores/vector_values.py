"""Checks of vectors and of what a collection holds, shared by all vector stores. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np

from automem.errors import InvalidInput, StartupError


def unit_vector(vector: Sequence[float], dimension: int) -> list[float]:
    """Give the vector scaled to length 1, which is all that the cosine looks at.

    The engines scale in single precision and leave very short vectors as they are; scaling here, in
    double precision, makes every engine give the same cosine.

    :raises InvalidInput: for another number of values, one that is not finite, or only zeros.
    """
    if len(vector) != dimension:
        raise InvalidInput(f"Embedding must contain exactly {dimension} values", field="embedding")
    values = np.asarray(vector, dtype=np.float64)
    largest = float(np.max(np.abs(values), initial=0.0))
    if not np.isfinite(largest):
        raise InvalidInput("Embedding must contain finite numbers only", field="embedding")
    if largest == 0.0:
        raise InvalidInput("Embedding must not consist of zeros only", field="embedding")
    # Divided twice, so that the squares of huge or tiny values neither overflow nor vanish.
    values = values / largest
    unit: list[float] = (values / np.linalg.norm(values)).tolist()
    return unit


def plain_vector(vector: object) -> list[float]:
    """Give the one unnamed vector of a point as the drivers type it; [] for any other kind."""
    return [float(value) for value in vector] if isinstance(vector, list) else []


def check_dimension(found: int, expected: int) -> None:
    """Compare a collection's dimension with the embedding model's (D30).

    :raises StartupError: when they differ, saying how to mend it.
    """
    if found != expected:
        raise StartupError(
            f"The vector collection holds vectors of {found} values, the embedding model gives {expected}. "
            "Go back to the model that the data was made with, or run `automem reembed` with the new one, "
            "to re-embed all memories."
        )


def point_id(memory_id: str) -> str | None:
    """Give the id in its canonical form; None for one that is no UUID and so can name no point."""
    try:
        return str(UUID(memory_id))
    except ValueError:
        return None


def new_point_id(memory_id: str) -> str:
    """Give the canonical id of a point about to be written.

    :raises InvalidInput: for an id that is no UUID.
    """
    found = point_id(memory_id)
    if found is None:
        raise InvalidInput("Memory id must be a UUID", field="id")
    return found


def by_point_id(memory_ids: Sequence[str]) -> dict[str, str]:
    """Give the ids as asked for by their canonical form, in order; what names no point is left out."""
    named = {point_id(memory_id): memory_id for memory_id in memory_ids}
    return {found: asked for found, asked in named.items() if found is not None}


def first_after(memory_id: str) -> str | None:
    """Give the lowest UUID behind ``memory_id`` ('' is before all); None behind the last one.

    UUIDs order as numbers and as canonical text alike.

    :raises ValueError: for text that is no UUID.
    """
    following = UUID(memory_id).int + 1 if memory_id else 0
    return str(UUID(int=following)) if following < 1 << 128 else None
