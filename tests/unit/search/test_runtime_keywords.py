"""Reading a question, and what its keywords are worth in a memory (D9, D10)."""

from __future__ import annotations

import random
import re

import pytest

from automem.search.runtime_keywords import (
    MAX_GRAMS,
    MAX_KEYWORDS,
    MAX_PARTS,
    Keywords,
    Rarity,
    any_of,
    equal_rarity,
    extract_keywords,
    keyword_score,
    surprise,
    word_count,
)
from automem.utils.text import document_lexemes

SAFE = re.compile(r'[a-z0-9 |()*"]*')


def echo(query: str) -> list[str]:
    return extract_keywords(query).echo


def hits(query: str, content: str, *tags: str) -> list[str]:
    """Give the keywords, whole ones and parts, that a memory is credited with."""
    lexemes = document_lexemes(content, tags, {})
    return [
        keyword.text
        for keyword in extract_keywords(query).items
        if keyword_score(Keywords((keyword,)), Rarity(100, (1,), ()), lexemes) > 0
    ]


class TestReading:
    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("", []),
            ("?!*", []),
            ("When did the deployment fail", ["deployment", "fail"]),
            ("The Who", ["the", "who"]),
            ("AI in Go", ["ai", "go"]),
            ("deploy deployed Deployment", ["deploy"]),
            ("kx-ams-07b lost", ["kx-ams-07b", "lost"]),
            ("snake_case", ["snake_case"]),
            ("OPS-4711: fixed?", ["ops-4711", "fixed"]),
            ("db.example.com", ["db.example.com"]),
            ("project/core team:ops", ["project/core", "team:ops"]),
            ("C# and C++ on .NET", ["c#", "c++", ".net"]),
            ("東京タワー 高い", ["東京タワー", "高い"]),
            ("Zürich", ["zurich"]),
            ("🚀 launch", ["🚀", "launch"]),
            ("CamelCase", ["camelcase"]),
        ],
    )
    def test_echo(self, query: str, expected: list[str]) -> None:
        assert echo(query) == expected

    def test_parts_of_identifiers_are_keywords_too(self) -> None:
        assert [(k.text, k.whole) for k in extract_keywords("kx-a-07b").items] == [
            ("kx-a-07b", True),
            ("kx", False),
            ("07b", False),
        ]

    def test_pairs_of_characters_are_keywords_too(self) -> None:
        assert [(k.text, k.whole) for k in extract_keywords("東京都").items] == [
            ("東京都", True),
            ("東京", False),
            ("京都", False),
        ]
        assert [k.text for k in extract_keywords("東京").items] == ["東京"]

    @pytest.mark.parametrize(
        ("query", "phrases"),
        [
            ("web shop", [" sweb sshop "]),
            ("web and shop", []),
            ("red web shop", [" sred sweb ", " sweb sshop "]),
            ("node kx-7", [" snode skx s7 "]),
            ("alone", []),
        ],
    )
    def test_neighbours_make_pairs(self, query: str, phrases: list[str]) -> None:
        assert [pair.phrase for pair in extract_keywords(query).pairs] == phrases

    def test_a_pair_is_a_quoted_phrase_for_the_index(self) -> None:
        [pair] = extract_keywords("web shops").pairs
        assert pair.index_query == '"sweb sshop"'


class TestHolds:
    @pytest.mark.parametrize(
        ("query", "content"),
        [
            ("deploy", "the deployment failed"),
            ("deployments", "we deployed it"),
            ("dep", "the deployment failed"),
            ("k8", "our k8s cluster"),
            ("AI", "the ai course"),
            ("go", "written in Go."),
            ("C#", "a parser in C#"),
            (".net", "uses .NET"),
            ("zurich", "in Zürich"),
            ("Zürich", "in zurich"),
            ("東京", "東京タワーへ"),
            ("北京", "我们在北京大学"),
            ("한국", "한국어를"),
            ("ไทย", "ภาษาไทยยาก"),
            ("новый", "новая машина"),
            ("🚀", "launch 🚀🚀"),
            ("names", "call getUserNames"),
            ("gitignore", "see .gitignore"),
            ("email", "an e-mail came"),
            ("caroline", "Caroline's garden"),
        ],
    )
    def test_a_word_is_found(self, query: str, content: str) -> None:
        assert hits(query, content) != []

    @pytest.mark.parametrize(
        ("query", "content"),
        [
            ("error", "a terror film"),
            ("C", "a parser in C#"),
            ("C", "a game in C++"),
            ("C#", "a driver in C"),
            ("go", "a good year in django"),
            ("AI", "aircraft and mail"),
            ("k8", "k9 unit"),
            ("net", "a planet"),
            ("京都", "東京タワー"),
            ("か", "がく"),
            ("deploying", "a ploy"),
            ("t", "tag words are no words"),
        ],
    )
    def test_a_word_is_not_found(self, query: str, content: str) -> None:
        assert hits(query, content) == []

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ("node kx-ams-07b is down", ["kx-ams-07b", "kx", "ams", "07b"]),
            ("node KX_AMS_07B is down", ["kx-ams-07b", "kx", "ams", "07b"]),
            ("node kxams07b is down", ["kx-ams-07b"]),
            ("the 07b of ams and kx", ["kx", "ams", "07b"]),
            ("the kx series", ["kx"]),
        ],
    )
    def test_an_identifier_in_whole_and_in_parts(self, content: str, expected: list[str]) -> None:
        assert hits("kx-ams-07b", content) == expected

    def test_tags_are_found_by_words_stems_and_beginnings(self) -> None:
        assert hits("deployments", "x", "Ops/Deployment") == ["deployments"]
        assert hits("dep", "x", "deploys") == ["dep"]
        assert hits("大阪城", "x", "大阪城公園") == ["大阪城", "大阪", "阪城"]
        assert hits("FooBar-baz", "x", "FooBar-baz") == ["foobar-baz", "foobar", "baz"]
        assert hits("ops", "x", "shops") == []

    def test_words_of_two_tags_are_no_identifier(self) -> None:
        assert hits("team-ops", "x", "team", "ops") == ["team", "ops"]


class TestSurprise:
    @pytest.mark.parametrize(
        ("count", "total", "length", "expected"),
        [
            (1, 10, 0, 2.3521684610440903),  # -ln(1 - e^-0.1)
            (1, 4, 50, 1.5086915494460322),  # -ln(1 - e^-0.25): up to 50 words plain rarity
            (9, 10, 0, 0.5218354429087223),  # -ln(1 - e^-0.9)
            (1, 10, 100, 1.7077718009705196),  # -ln(1 - e^-0.2): twice as long, twice as likely
            (1, 1_000, 0, 6.908255237315501),  # -ln(1 - e^-0.001)
        ],
    )
    def test_by_hand(self, count: int, total: int, length: int, expected: float) -> None:
        assert surprise(count, total, length) == pytest.approx(expected)

    @pytest.mark.parametrize(("count", "total"), [(0, 0), (0, 10), (10, 0), (5, 5)])
    def test_odd_counts_give_a_positive_number(self, count: int, total: int) -> None:
        assert 0 < surprise(count, total) < 10


class TestScore:
    ASKED = extract_keywords("alpha beta")  # two keywords, one pair
    COUNTS = Rarity(10, (1, 9), (1,))
    # Worth: alpha 2.352168, beta 0.521835; the pair half of their mean: (2.352168 + 0.521835) / 4 = 0.718501.
    # Most: 2.352168 + 0.521835 + 0.718501 = 3.592505

    @pytest.mark.parametrize(
        ("content", "tags", "expected"),
        [
            ("alpha beta", (), 1.0),
            ("beta alpha", (), 0.8),  # 2.874004 / 3.592505
            ("alpha", (), 0.654743),  # 2.352168 / 3.592505
            ("beta", (), 0.145257),  # 0.521835 / 3.592505
            ("gamma", (), 0.0),
            ("gamma", ("alpha",), 0.327372),  # half of 2.352168
            ("beta", ("alpha",), 0.472629),  # (0.521835 + 1.176084) / 3.592505
            ("alpha", ("alpha",), 0.654743),  # content and tag count once
        ],
    )
    def test_by_hand(self, content: str, tags: tuple[str, ...], expected: float) -> None:
        lexemes = document_lexemes(content, tags, {})
        assert keyword_score(self.ASKED, self.COUNTS, lexemes) == pytest.approx(expected, abs=1e-6)

    def test_in_long_texts_a_word_is_worth_less(self) -> None:
        lexemes = document_lexemes("alpha " + "gamma " * 99, (), {})
        # 100 words: alpha is worth 1.707772 of 3.592505
        assert keyword_score(self.ASKED, self.COUNTS, lexemes) == pytest.approx(0.475371, abs=1e-6)

    def test_words_of_no_memory_do_not_count_against_any(self) -> None:
        asked = extract_keywords("alpha and zeta")
        lexemes = document_lexemes("alpha", (), {})
        assert keyword_score(asked, Rarity(10, (1, 0), ()), lexemes) == 1.0

    def test_nothing_asked_or_nothing_known_is_zero(self) -> None:
        assert keyword_score(Keywords(), Rarity(10, (), ()), document_lexemes("x", (), {})) == 0.0
        assert keyword_score(self.ASKED, Rarity(10, (0, 0), (0,)), document_lexemes("alpha", (), {})) == 0.0

    def test_without_counts_all_words_are_equal(self) -> None:
        # one of two words; the pair weighs half a word: 1 / 2.5
        rarity = equal_rarity(self.ASKED)
        assert keyword_score(self.ASKED, rarity, document_lexemes("beta", (), {})) == pytest.approx(0.4)

    def test_never_outside_0_to_1(self) -> None:
        dice = random.Random(3)
        words = ["alpha", "beta", "kx-ams-07b", "東京都", "the", "C#", "deploy", "deployment"]
        for _ in range(300):
            asked = extract_keywords(" ".join(dice.choices(words, k=5)))
            text = " ".join(dice.choices(words, k=dice.randint(0, 200)))
            total = dice.randint(0, 20)
            counts = Rarity(
                total,
                tuple(dice.randint(0, 25) for _ in asked.items),
                tuple(dice.randint(0, 25) for _ in asked.pairs),
            )
            assert 0.0 <= keyword_score(asked, counts, document_lexemes(text, ("kx",), {})) <= 1.0


def test_words_are_counted_in_the_text_alone() -> None:
    assert word_count(document_lexemes("one two kx-07b", ("tag", "tags"), {"a": "b"})) == 4
    assert word_count("") == 0


class TestBounds:
    def test_long_questions_are_cut(self) -> None:
        keywords = extract_keywords(" ".join(f"word{number}x" for number in range(5_000)))
        assert len(keywords.items) == MAX_KEYWORDS
        assert len(keywords.pairs) == MAX_KEYWORDS
        assert keywords.items[0].text == "word0x"

    def test_long_identifiers_are_several(self) -> None:
        whole = [k for k in extract_keywords("/".join(f"seg{n}" for n in range(20))).items if k.whole]
        assert [k.text.count("seg") for k in whole] == [MAX_PARTS, MAX_PARTS, 20 - 2 * MAX_PARTS]

    def test_long_runs_choose_by_their_first_pairs(self) -> None:
        run = "".join(chr(0x4E00 + number) for number in range(3_000))
        whole = extract_keywords(run).items[0]
        assert whole.index_query.count("|") == MAX_GRAMS
        assert whole.text == run

    def test_an_index_query_of_any_question_is_short(self) -> None:
        for question in (
            "/".join(["ж" * 40] * 3_000),
            "東京都" * 9_000,
            " ".join("ж" * n for n in range(250)),
        ):
            assert len(any_of(extract_keywords(question).items)) < 100_000


class TestSafety:
    @pytest.mark.parametrize("sign", list("\"*(|)-%@\\{}[]:;'~$^=<>!?.,/+#&` \t\n\0"))
    def test_punctuation_is_text(self, sign: str) -> None:
        for question in (sign, f"a{sign}b", f"alpha{sign}beta gamma", f"{sign}{sign}alpha", f"alpha{sign}"):
            keywords = extract_keywords(question)
            for query in [k.index_query for k in keywords.items] + [p.index_query for p in keywords.pairs]:
                assert SAFE.fullmatch(query)
        assert "gamma" in echo(f"alpha{sign}beta gamma")

    def test_random_questions_never_raise_and_are_safe(self) -> None:
        dice = random.Random(11)
        ranges = (0x80, 0x250, 0x3000, 0xFFFF, 0x110000)
        for _ in range(2_000):
            signs = (chr(dice.randrange(dice.choice(ranges))) for _ in range(dice.randint(0, 24)))
            question = "".join(sign if dice.random() < 0.8 else " " for sign in signs)
            keywords = extract_keywords(question)
            queries = [k.index_query for k in keywords.items] + [p.index_query for p in keywords.pairs]
            assert all(SAFE.fullmatch(query) and query for query in queries)
            assert all(query.count("(") == query.count(")") and not query.count('"') % 2 for query in queries)
            score = keyword_score(keywords, equal_rarity(keywords), document_lexemes(question, (), {}))
            assert score == pytest.approx(1.0 if keywords.items else 0.0)
