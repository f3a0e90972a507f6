"""Everything of the settings that a recall needs, fixed at start."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from automem.search.runtime_recall_helpers import PoolSizes
from automem.utils.scoring import COMPONENTS, RecencyCurve, ScoreRules, Weights

if TYPE_CHECKING:
    from automem.config import Settings

KEYWORD_POOL = 100
"""Candidates of the keyword arm; measured: 20 vector and 100 keyword candidates lose nothing."""
WIDEST_POOL = 1_000


@dataclass(frozen=True, slots=True)
class RecallRules:
    """Weights, pools and limits (recall.md 13)."""

    weights: Weights
    recency: RecencyCurve
    gate: float
    tag_cap: int
    temporal_weight: float
    excluded_types: tuple[str, ...]
    overfetch: int
    fetch_cap: int
    max_limit: int
    relation_limit: int
    metadata_enabled: bool
    spread: bool

    @classmethod
    def of(cls, settings: Settings) -> RecallRules:
        """Read the rules from the settings."""
        return cls(
            weights=Weights(**{name: getattr(settings, f"search_weight_{name}") for name in COMPONENTS}),
            recency=RecencyCurve(settings.search_recency_window_days, settings.search_recency_curve),
            gate=settings.recall_relevance_gate,
            tag_cap=settings.search_tag_score_token_cap,
            temporal_weight=settings.search_weight_temporal,
            excluded_types=tuple(settings.recall_excluded_types),
            overfetch=settings.recall_vector_overfetch,
            fetch_cap=settings.recall_vector_fetch_cap,
            max_limit=settings.recall_max_limit,
            relation_limit=settings.recall_relation_limit,
            metadata_enabled=settings.recall_metadata_search_enabled,
            spread=settings.recall_spread_evidence,
        )

    def score_rules(self, now: datetime) -> ScoreRules:
        """Give the arithmetic for one request."""
        return ScoreRules(now=now, weights=self.weights, recency=self.recency, gate=self.gate)

    def pools(self, limit: int, focused: bool) -> PoolSizes:
        """Give the first pools of a run; ``focused`` says that tags cut or draw (recall.md 3.2)."""
        wanted = min(limit * self.overfetch, self.fetch_cap)
        if focused:
            wanted = max(wanted, min(max(wanted, self.max_limit), self.fetch_cap))
        size = max(limit, wanted)
        return PoolSizes(vector=size, keyword=max(size, KEYWORD_POOL), metadata=min(10, limit))
