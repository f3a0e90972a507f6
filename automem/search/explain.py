"""Why a result stands where it stands (D19)."""

from __future__ import annotations

from typing import Any

from automem.search.types import Scored
from automem.utils.scoring import COMPONENTS, Weights


def explanation(row: Scored, weights: Weights) -> dict[str, Any]:
    """Give every component with weight and product (they sum to the final score) and the arms' ranks."""
    parts = [_part(name, row.score.components[name], getattr(weights, name)) for name in COMPONENTS]
    parts.append(_part("context", row.score.components["context"], 1.0))
    parts += [_part(name, bonus.value, bonus.weight) for name, bonus in row.bonus.items()]
    arms = {name: {"rank": find.rank, "score": find.score} for name, find in row.candidate.arms.items()}
    return {"components": parts, "arms": arms}


def _part(name: str, value: float, weight: float) -> dict[str, Any]:
    return {"name": name, "value": value, "weight": weight, "product": value * weight}
