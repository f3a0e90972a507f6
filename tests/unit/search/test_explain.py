"""Why a result stands where it stands (D19)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from automem.search.explain import explanation
from automem.search.types import Bonus
from automem.utils.scoring import COMPONENTS, Evidence, ScoreRules, Weights, _compute_metadata_score
from tests.support.rows import memory, row

NOW = datetime(2026, 7, 1, tzinfo=UTC)


def test_products_sum_to_the_final_score() -> None:
    found = memory(
        "m1", importance=0.6, confidence=0.9, timestamp="2026-06-13T00:00:00Z", relevance_score=0.7
    )
    weights = Weights(relevance=0.2, vector=0.5)
    evidence = Evidence(vector=0.62, keyword=0.4, metadata=0.3, relation=0.9, tag=0.25, exact=1.0)
    score = _compute_metadata_score(found, evidence, ScoreRules(NOW, weights), context=0.65, has_tokens=True)
    scored = replace(
        row("m1"),
        score=score,
        bonus={"temporal": Bonus(0.5, 0.1), "entity_expansion": Bonus(0.15)},
    )
    parts = explanation(scored, weights)["components"]
    assert [part["name"] for part in parts] == [*COMPONENTS, "context", "temporal", "entity_expansion"]
    assert sum(part["product"] for part in parts) == pytest.approx(scored.final, abs=1e-6)
    # 0.31 + 0.14 + 0.105 + 0.225 + 0.05 + 0.06 + 0.045 + 0.10 * (1 - 18/180) + 0.2 + 0.14
    # + 0.65 + 0.05 + 0.15
    assert scored.final == pytest.approx(2.215)


def test_each_part_has_value_weight_and_product() -> None:
    parts = explanation(row("m1", 0.4), Weights())["components"]
    assert len(parts) == 11
    assert parts[1] == {"name": "keyword", "value": 0.4, "weight": 0.35, "product": pytest.approx(0.14)}
    assert parts[-1] == {"name": "context", "value": 0.0, "weight": 1.0, "product": 0.0}


def test_gated_values_are_those_that_were_added() -> None:
    found = memory("m1", importance=0.8)
    score = _compute_metadata_score(found, Evidence(vector=0.1), ScoreRules(NOW, gate=0.4), has_tokens=True)
    parts = {
        part["name"]: part for part in explanation(replace(row("m1"), score=score), Weights())["components"]
    }
    # 0.8 * 0.1 / 0.4, times 0.10
    assert parts["importance"]["value"] == pytest.approx(0.2)
    assert parts["importance"]["product"] == pytest.approx(0.02)


def test_arms_with_rank_and_score() -> None:
    found = explanation(row("m1", arms={"vector": 0.62, "metadata": 0.95}), Weights())
    assert found["arms"] == {"vector": {"rank": 1, "score": 0.62}, "metadata": {"rank": 1, "score": 0.95}}
    assert explanation(row("m1"), Weights())["arms"] == {}
