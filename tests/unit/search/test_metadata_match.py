"""The metadata sidecar by hand-computed examples (recall.md 5)."""

from __future__ import annotations

from typing import Any

import pytest

from automem.search.metadata_match import metadata_score, metadata_terms_query


class TestTerms:
    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("", ""),
            ("show me all memories about the repo", ""),
            ("billing repo", '"mbill"'),
            ("zeta alpha", '"mzeta"|"malpha"'),
            ("alpha alpha", '"malpha"'),
            ("a b ai", '"mai"'),
            ('core" | (x*) @y', '"mcore"'),
        ],
    )
    def test_telling_words_in_their_order(self, query: str, expected: str) -> None:
        assert metadata_terms_query(query) == expected

    def test_at_most_twelve_the_first(self) -> None:
        query = metadata_terms_query(" ".join(f"w{number}" for number in range(30)))
        assert query.split("|") == [f'"mw{number}"' for number in range(12)]

    def test_characters_are_asked_for_by_pairs(self) -> None:
        # 東 U+6771 = 26481 = 20 * 1296 + 15 * 36 + 21; 京 U+4EAC = 20140 = 15 * 1296 + 19 * 36 + 16
        # 都 U+90FD = 37117 = 28 * 1296 + 23 * 36 + 1
        assert metadata_terms_query("東京都") == '("mq0kflq0fjg" "mq0fjgq0sn1")'


class TestScore:
    @pytest.mark.parametrize(
        ("query", "metadata", "expected"),
        [
            # one word of one, one of one asked, exact, not asked for a field: 0.15 + 0.45 + 0.20 + 0.15
            ("billing", {"repo": "billing"}, 0.95),
            # the same of two words asked: 0.15 + 0.45 + 0.20/2 + 0.15
            ("billing retry", {"repo": "billing"}, 0.85),
            # and of three: 0.15 + 0.45 + 0.20/3 + 0.15
            ("billing retry policy", {"repo": "billing"}, 0.8166666666666667),
            # of four it is too weak: one hit counts among at most three words
            ("billing retry policy draft", {"repo": "billing"}, 0.0),
            # too short to count alone without a field
            ("core", {"repo": "core"}, 0.0),
            # with the field it counts: 0.15 + 0.45 + 0.20 + 0.15 + 0.20, at most 1
            ("core repo", {"repo": "core"}, 1.0),
            # two of three words, not exact: 0.15 + 0.45 * 2/3 + 0.20
            ("billing core", {"project": "billing core service"}, 0.65),
            # two of two among three asked, exact: 0.15 + 0.45 + 0.20 * 2/3 + 0.15
            ("old billing core", {"project": "billing core"}, 0.8833333333333333),
            # field asked, five letters, not exact: 0.15 + 0.45/2 + 0.20 + 0.20
            ("project billing", {"project": "billing core"}, 0.775),
            # field asked, four letters, not exact: too weak
            ("project core", {"project": "billing core"}, 0.0),
            # another field asked and only one hit: nothing
            ("tool billing", {"project": "billing"}, 0.0),
            # another field asked, two hits, exact: (0.15 + 0.45 + 0.20 + 0.15) * 0.6
            ("tool billing core", {"project": "billing core"}, 0.57),
            # the best value counts
            ("billing", {"repo": "billing", "project": "billing core"}, 0.95),
        ],
    )
    def test_by_hand(self, query: str, metadata: dict[str, Any], expected: float) -> None:
        assert metadata_score(query, metadata) == pytest.approx(expected)

    @pytest.mark.parametrize("field", ["source_agent", "source_agents"])
    def test_source_agent_and_agents_are_the_same(self, field: str) -> None:
        # 0.15 + 0.45 + 0.20 + 0.15 + 0.20, at most 1
        assert metadata_score("source agent codex", {field: "codex"}) == 1.0
        assert metadata_score("source agents codex", {field: ["codex"]}) == 1.0

    def test_source_alone_means_the_source(self) -> None:
        assert metadata_score("source slack", {"source": "slack"}) == 1.0
        assert metadata_score("source agent slack", {"source": "slack"}) == 0.0

    def test_a_repo_asked_for_must_not_lack_a_word(self) -> None:
        assert metadata_score("repo billing core", {"repo": "billing engine"}) == 0.0
        # exact, one of two words: 0.15 + 0.45 + 0.20/2 + 0.15 + 0.20, at most 1
        assert metadata_score("repo billing core", {"repo": "billing"}) == 1.0

    def test_entities_count_only_when_asked_for_and_people_never(self) -> None:
        metadata = {"entities": {"tools": ["docker"], "people": ["docker"]}}
        assert metadata_score("docker", metadata) == 0.0
        assert metadata_score("entity docker", metadata) == 1.0
        assert metadata_score("entity docker", {"entities": {"people": ["docker"]}}) == 0.0

    @pytest.mark.parametrize(
        "metadata",
        [
            {},
            {"note": "billing"},
            {"original_content": "billing"},
            {"repo": {"name": "billing"}},
            {"repo": ["billing"] * 13},
            {"repo": "billing " + "x" * 96},
            {"repo": None},
            {"repo": True},
        ],
    )
    def test_what_is_no_searchable_value(self, metadata: dict[str, Any]) -> None:
        assert metadata_score("billing", metadata) == 0.0

    def test_lists_and_numbers_are_values(self) -> None:
        assert metadata_score("billing", {"repo": ["x", ["billing"]]}) == pytest.approx(0.95)
        assert metadata_score("model 20250", {"model": 20250}) == 1.0

    def test_words_are_unicode(self) -> None:
        assert metadata_score("Zurich", {"project": "ZÜRICH"}) == pytest.approx(0.95)
        assert metadata_score("東京タワー", {"project": "東京タワー"}) == pytest.approx(0.95)

    @pytest.mark.parametrize("query", ["", "the repo", "ab", "?"])
    def test_a_question_without_telling_words(self, query: str) -> None:
        assert metadata_score(query, {"repo": "the repo ab"}) == 0.0
