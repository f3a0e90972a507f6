"""Score arithmetic by hand-computed examples (seed, recall.md 6)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from automem.models import Memory
from automem.utils.scoring import (
    COMPONENTS,
    ContextProfile,
    Evidence,
    RecencyCurve,
    Score,
    ScoreRules,
    Weights,
    _compute_context_bonus,
    _compute_metadata_score,
    exact_score,
    metadata_terms,
    recency_score,
    tag_score,
    tags_hit,
)

NOW = datetime(2026, 7, 1, tzinfo=UTC)
PROFILE = ContextProfile(
    tags=("python",),
    types=("Style",),
    keywords=("python",),
    priority_ids=("m1",),
    tag_bonus=0.45,
    type_bonus=0.25,
    keyword_bonus=0.20,
    priority_bonus=0.90,
)


def memory(**properties: Any) -> Memory:
    return Memory({"id": "m1", "content": "Text", **properties})


def score(
    properties: dict[str, Any] | None = None,
    evidence: Evidence | None = None,
    gate: float = 0.0,
    has_tokens: bool = True,
    **weights: float,
) -> Score:
    rules = ScoreRules(now=NOW, weights=Weights(**weights), gate=gate)
    return _compute_metadata_score(
        memory(**properties or {}), evidence or Evidence(), rules, has_tokens=has_tokens
    )


def days_ago(days: float) -> str:
    return (NOW - timedelta(days=days)).isoformat()


class TestComponents:
    @pytest.mark.parametrize(
        ("properties", "evidence", "final"),
        [
            ({}, Evidence(), 0.0),
            ({}, Evidence(vector=0.62), 0.217),  # 0.35 * 0.62
            ({}, Evidence(keyword=0.5), 0.175),  # 0.35 * 0.5
            ({}, Evidence(metadata=0.8), 0.28),  # 0.35 * 0.8
            ({}, Evidence(relation=0.6), 0.15),  # 0.25 * 0.6
            ({}, Evidence(tag=0.5), 0.1),  # 0.20 * 0.5
            ({"importance": 0.9}, Evidence(), 0.09),  # 0.10 * 0.9
            ({"confidence": 0.6}, Evidence(), 0.03),  # 0.05 * 0.6
            ({"timestamp": days_ago(45)}, Evidence(), 0.075),  # 0.10 * (1 - 45/180) = 0.10 * 0.75
            ({}, Evidence(exact=1.0), 0.2),  # 0.20 * 1
            ({"relevance_score": 0.8}, Evidence(), 0.0),  # 0.0 * 0.8
        ],
    )
    def test_each_alone(self, properties: dict[str, Any], evidence: Evidence, final: float) -> None:
        assert score(properties, evidence).final == pytest.approx(final, abs=1e-12)

    def test_relevance_counts_with_a_weight(self) -> None:
        # 0.3 * 0.8
        assert score({"relevance_score": 0.8}, relevance=0.3).final == pytest.approx(0.24)

    def test_the_example_of_the_contract(self) -> None:
        found = score(
            {"importance": 0.6, "confidence": 0.9, "timestamp": days_ago(156)},
            Evidence(vector=0.62, keyword=2 / 3, tag=1 / 3),
        )
        # 0.217 + 0.233333 + 0.066667 + 0.06 + 0.045 + 0.10 * (1 - 156/180) = 0.622 + 0.013333
        assert found.final == pytest.approx(0.635333, abs=1e-6)

    def test_all_at_their_most_reach_the_sum_of_the_weights(self) -> None:
        full = {"importance": 1.0, "confidence": 1.0, "timestamp": days_ago(0), "relevance_score": 1.0}
        found = score(full, Evidence(1.0, 1.0, 1.0, 1.0, 1.0, 1.0))
        # 3 * 0.35 + 0.25 + 2 * 0.20 + 2 * 0.10 + 0.05 = 1.95: not normalised, above 1
        assert found.final == pytest.approx(1.95)
        assert found.components == {**dict.fromkeys(COMPONENTS, 1.0), "context": 0.0}

    def test_weights_may_be_changed_and_negative(self) -> None:
        # 2 * 0.5 - 1 * 0.25
        found = score({"importance": 0.25}, Evidence(vector=0.5), vector=2.0, importance=-1.0)
        assert found.final == pytest.approx(0.75)

    @pytest.mark.parametrize("odd", [None, "high", True, [0.5], {"a": 1}, float("nan"), float("inf")])
    def test_what_is_missing_or_no_number_counts_nothing(self, odd: object) -> None:
        found = score({"importance": odd, "confidence": odd, "relevance_score": odd}, relevance=1.0)
        assert found.final == 0.0
        assert found.components == {**dict.fromkeys(COMPONENTS, 0.0), "context": 0.0}

    def test_numbers_of_others_are_brought_into_the_range(self) -> None:
        # 0.10 * 1 + 0.05 * 0
        assert score({"importance": 7, "confidence": -3}).final == pytest.approx(0.1)

    def test_context_is_added_without_a_weight(self) -> None:
        found = _compute_metadata_score(memory(), Evidence(vector=1.0), ScoreRules(NOW), context=0.65)
        # 0.35 + 0.65
        assert found.final == pytest.approx(1.0)
        assert found.components["context"] == 0.65


class TestRecency:
    @pytest.mark.parametrize(
        ("age_days", "linear", "exponential"),
        [
            (0, 1.0, 1.0),
            (-30, 1.0, 1.0),
            (45, 0.75, 0.8408964152537145),  # 1 - 1/4; the fourth root of 1/2
            (90, 0.5, 0.7071067811865476),  # 1 - 1/2; the square root of 1/2
            (180, 0.0, 0.5),
            (360, 0.0, 0.25),
            (1800, 0.0, 0.0009765625),  # 1/1024
        ],
    )
    def test_both_curves(self, age_days: float, linear: float, exponential: float) -> None:
        at = NOW - timedelta(days=age_days)
        assert recency_score(at, NOW, RecencyCurve()) == pytest.approx(linear)
        assert recency_score(at, NOW, RecencyCurve(shape="exp")) == pytest.approx(exponential)

    @pytest.mark.parametrize("window", [0.0, -5.0])
    def test_a_window_that_is_not_positive_is_180_days(self, window: float) -> None:
        at = NOW - timedelta(days=45)
        assert recency_score(at, NOW, RecencyCurve(window)) == pytest.approx(0.75)
        assert recency_score(NOW - timedelta(days=180), NOW, RecencyCurve(window, "exp")) == pytest.approx(
            0.5
        )

    def test_another_window(self) -> None:
        assert recency_score(NOW - timedelta(days=3), NOW, RecencyCurve(30.0)) == pytest.approx(0.9)

    @pytest.mark.parametrize("odd", [None, "", "soon", "2026-13-45", True, [1], {}])
    def test_no_readable_timestamp_is_zero(self, odd: object) -> None:
        assert score({"timestamp": odd}).components["recency"] == 0.0

    def test_hours_count(self) -> None:
        # 12 hours are half a day: 1 - 0.5/10
        assert recency_score(NOW - timedelta(hours=12), NOW, RecencyCurve(10.0)) == pytest.approx(0.95)

    def test_unix_seconds_and_offsets_are_read(self) -> None:
        seconds = (NOW - timedelta(days=90)).timestamp()
        assert score({"timestamp": seconds}).components["recency"] == pytest.approx(0.5)
        # 02:00 at +02:00 is midnight in UTC, 91 days before the first of July
        assert score({"timestamp": "2026-04-01T02:00:00+02:00"}).components["recency"] == pytest.approx(
            89 / 180
        )


class TestGate:
    FIELDS = {"importance": 0.8, "confidence": 0.4, "timestamp": days_ago(0), "relevance_score": 0.6}

    def test_below_scales_what_does_not_depend_on_the_question(self) -> None:
        found = score(self.FIELDS, Evidence(vector=0.1, tag=0.5, relation=0.6), gate=0.4)
        assert found.gated
        # the factor is 0.1 / 0.4 = 0.25
        assert found.components == pytest.approx(
            {
                "vector": 0.1,
                "keyword": 0.0,
                "metadata": 0.0,
                "relation": 0.6,
                "tag": 0.125,
                "importance": 0.2,
                "confidence": 0.1,
                "recency": 0.25,
                "exact": 0.0,
                "relevance": 0.15,
                "context": 0.0,
            }
        )
        # 0.035 + 0.15 + 0.025 + 0.02 + 0.005 + 0.025
        assert found.final == pytest.approx(0.26)

    @pytest.mark.parametrize("shown", [0.4, 0.41, 1.0])
    def test_at_and_above_nothing_is_scaled(self, shown: float) -> None:
        found = score(self.FIELDS, Evidence(keyword=shown), gate=0.4)
        assert not found.gated
        assert found.components["importance"] == 0.8

    @pytest.mark.parametrize("kind", ["vector", "keyword", "metadata", "exact"])
    def test_any_evidence_opens_it(self, kind: str) -> None:
        assert not score(self.FIELDS, Evidence(**{kind: 0.4}), gate=0.4).gated

    @pytest.mark.parametrize("kind", ["tag", "relation"])
    def test_tags_and_relations_are_no_evidence(self, kind: str) -> None:
        assert score(self.FIELDS, Evidence(**{kind: 1.0}), gate=0.4).gated

    def test_without_words_and_when_off_nothing_is_gated(self) -> None:
        assert not score(self.FIELDS, gate=0.4, has_tokens=False).gated
        assert not score(self.FIELDS, gate=0.0).gated

    def test_context_is_never_gated(self) -> None:
        rules = ScoreRules(NOW, gate=0.4)
        found = _compute_metadata_score(memory(importance=1.0), Evidence(), rules, 0.9, has_tokens=True)
        assert found.gated
        assert found.final == pytest.approx(0.9)


class TestContextBonus:
    @pytest.mark.parametrize(
        ("properties", "bonus"),
        [
            ({"id": "x"}, 0.0),
            ({"id": "x", "tags": ["lang:python"]}, 0.45),
            ({"id": "x", "type": "Style"}, 0.25),
            ({"id": "x", "type": "STYLE"}, 0.25),
            ({"id": "x", "metadata": {"note": "uses Python here"}}, 0.20),
            ({"id": "m1"}, 0.90),
            # 0.45 + 0.25 + 0.20 + 0.90, each once though two tags and two values hit
            (
                {
                    "id": "m1",
                    "type": "Style",
                    "tags": ["python", "python:style"],
                    "metadata": {"a": "python", "b": "python"},
                },
                1.80,
            ),
        ],
    )
    def test_amounts(self, properties: dict[str, Any], bonus: float) -> None:
        assert _compute_context_bonus(Memory(properties), PROFILE) == pytest.approx(bonus)

    def test_no_profile_no_bonus(self) -> None:
        assert _compute_context_bonus(memory(tags=["python"]), None) == 0.0

    @pytest.mark.parametrize(
        ("tag", "wanted", "hit"),
        [
            ("go", "go", True),
            ("Go", "GO", True),
            ("lang/go", "go", True),
            ("team:coding-style", "coding-style", True),
            ("preference:coding:tabs", "preference/coding", True),
            ("django", "go", False),
            ("cargo:build", "go", False),
            ("go-style", "go", False),
            ("preference", "preference:coding", False),
            ("anything", "", False),
            ("anything", ":", False),
            ("Zürich", "zürich", True),
        ],
    )
    def test_tags_hit_by_whole_segments(self, tag: str, wanted: str, hit: bool) -> None:
        assert tags_hit([tag], [wanted]) is hit


class TestMetadataTerms:
    def test_whole_values_and_words_of_texts_only(self) -> None:
        metadata = {
            "Repo": "Billing-Core v2",
            "n": 42,
            "on": True,
            "list": ["x_y", {"deep": "Zürich"}],
            "no": None,
        }
        assert metadata_terms(metadata) == {"billing-core v2", "billing-core", "v2", "x_y", "zurich"}

    def test_entities_are_left_out_at_every_level(self) -> None:
        assert metadata_terms({"entities": {"people": ["Ann"]}, "a": {"entities": "Bob", "b": "Cy"}}) == {
            "cy"
        }

    def test_blank_and_long_texts_are_no_terms(self) -> None:
        assert metadata_terms({"a": " ", "b": "x" * 257}) == set()
        assert metadata_terms({"a": "x" * 256}) == {"x" * 256}


class TestTagScore:
    MEMORY = memory(tags=["Billing", "team:ops", "Café", "snake_case"], metadata={"ticket": "PAY-7"})

    @pytest.mark.parametrize(
        ("words", "cap", "share"),
        [
            ([], 0, 0.0),
            (["billing"], 0, 1.0),
            (["invoice", "billing", "retry"], 0, 1 / 3),
            (["ops", "team", "x", "y"], 0, 0.5),
            (["team:ops"], 0, 1.0),
            (["team/ops"], 0, 1.0),
            (["cafe"], 0, 1.0),
            (["snake_case", "pay-7"], 0, 1.0),
            (["bill"], 0, 0.0),
            # one hit, divided by min(4, 2)
            (["billing", "a", "b", "c"], 2, 0.5),
            # three hits, divided by min(4, 2), at most 1
            (["billing", "ops", "team", "c"], 2, 1.0),
            # a cap above the number of words changes nothing
            (["billing", "a"], 9, 0.5),
            (["billing", "a"], -1, 0.5),
        ],
    )
    def test_share_of_the_words(self, words: list[str], cap: int, share: float) -> None:
        assert tag_score(words, self.MEMORY, cap) == pytest.approx(share)


class TestExactScore:
    @pytest.mark.parametrize(
        ("query", "value", "expected"),
        [
            ("Billing Core", "billing core", 1.0),
            ("  core ", "billing core", 1.0),
            ("billing co", "billing core", 0.0),
            ("", "billing core", 0.0),
            ("Zurich", "ZÜRICH", 1.0),
            ("東京", "東京", 1.0),
        ],
    )
    def test_the_whole_question(self, query: str, value: str, expected: float) -> None:
        assert exact_score(query, memory(metadata={"a": value})) == expected

    def test_tags_and_content_are_not_looked_at(self) -> None:
        assert exact_score("text", memory(tags=["text"], content="text")) == 0.0
