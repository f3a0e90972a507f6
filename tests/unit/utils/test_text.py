"""Text analysis: words, folding, stems, the layout of lexemes, and codes that are safe for the index."""

from __future__ import annotations

import random
import re

import pytest

from automem.utils.text import (
    SECTION,
    Analyzer,
    document_lexemes,
    encode,
    exact_tag_token,
    fold,
    metadata_values,
    pairs,
    tag_filters,
    tag_token,
    tokens,
)


def sections(content: str, tags: tuple[str, ...] = (), **metadata: object) -> list[list[str]]:
    """Give the words, stems, parts, tag words, metadata words and tag filters."""
    return [part.split() for part in document_lexemes(content, tags, metadata).split(SECTION)]


class TestFold:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Zürich", "zurich"),
            ("Zu\u0308rich", "zurich"),
            ("ZURICH", "zurich"),
            ("Straße", "strasse"),
            ("İstanbul", "istanbul"),
            ("ｋ８ｓ", "k8s"),
            ("ﬁne", "fine"),
            ("Ёлка", "елка"),
            ("за\u0301мок", "замок"),
            ("ΆΛΦΑ", "αλφα"),
            ("مُحَمَّد", "محمد"),
            ("שָׁלוֹם", "שלום"),
        ],
    )
    def test_case_width_and_accents_go(self, text: str, expected: str) -> None:
        assert fold(text) == expected

    @pytest.mark.parametrize("text", ["новый", "київ", "ўжо", "が", "हिन्दी", "ไทย", "한국"])
    def test_marks_that_make_another_letter_stay(self, text: str) -> None:
        assert fold(text) == text


class TestTokens:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", []),
            (" \n\t", []),
            ("AI and Go", ["ai", "and", "go"]),
            ("C# is not C", ["c#", "is", "not", "c"]),
            ("C++, F#", ["c++", "f#"]),
            ("on .NET 8", ["on", ".net", "8"]),
            ("ASP.NET", ["asp", "net"]),
            ("kx-ams-07b", ["kx", "ams", "07b"]),
            ("OPS-4711", ["ops", "4711"]),
            ("snake_case", ["snake", "case"]),
            ("CamelCase", ["camelcase"]),
            ("db.example.com", ["db", "example", "com"]),
            ("Caroline's don't O’Brien", ["caroline", "dont", "obrien"]),
            ("the dogs' bowl", ["the", "dogs", "bowl"]),
            ("हिन्दी बोलता", ["हिन्दी", "बोलता"]),
            ("東京タワーへ", ["東京タワーへ"]),
            ("v2東京x", ["v2", "東京", "x"]),
            ("🚀🚀 up", ["🚀", "🚀", "up"]),
            ("👍🏽", ["👍"]),
            ("❤\ufe0f", ["❤"]),
            ('"a" | (b) * -c @d %e \\f', ["a", "b", "c", "d", "e", "f"]),
        ],
    )
    def test_words_in_order(self, text: str, expected: list[str]) -> None:
        assert [token.text for token in tokens(text)] == expected

    def test_places_are_those_of_the_composed_text(self) -> None:
        [first, second] = tokens("Zu\u0308rich fair")  # composed: Z ü r i c h _ f a i r
        assert (first.start, first.end) == (0, 6)
        assert (second.start, second.end) == (7, 11)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("CamelCase", ("camel", "case")),
            ("getUserNames", ("get", "user", "names")),
            ("HTTPServer2", ("http", "server", "2")),
            (".gitignore", ("gitignore",)),
            ("plain", ()),
            ("UPPER", ()),
            ("iOS", ()),
        ],
    )
    def test_parts_of_a_word(self, text: str, expected: tuple[str, ...]) -> None:
        [token] = tokens(text)
        assert token.parts == expected


class TestEncode:
    @pytest.mark.parametrize(
        ("word", "code"),
        [
            ("plain7", "plain7"),
            ("q", "qq"),
            ("iraq", "iraqq"),
            # "#" is 35: base 36 gives 000z.
            ("c#", "cq000z"),
            # "я" is 1103 = 30 * 36 + 23: digits 0, 0, u (30), n (23).
            ("я", "q00un"),
        ],
    )
    def test_codes(self, word: str, code: str) -> None:
        assert encode(word) == code

    def test_different_words_have_different_codes(self) -> None:
        words = ["q", "qq", "q0", "c#", "cq", "é", "e", "я", "\U0010ffff", "qnvnj", "ü", "u"]
        assert len({encode(word) for word in words}) == len(words)

    @pytest.mark.parametrize("word", ["iraqi", "предприятие", "naïveté", "a" * 300, "ж" * 300, "q" * 300])
    def test_the_code_of_a_beginning_is_the_beginning_of_the_code(self, word: str) -> None:
        for end in range(len(word)):
            assert encode(word).startswith(encode(word[:end]))

    @pytest.mark.parametrize("word", ["a" * 5_000, "ж" * 5_000, "q" * 5_000, "aж" * 5_000])
    def test_a_token_fits_into_what_the_index_keeps(self, word: str) -> None:
        assert len("w" + encode(word)) <= 128
        assert len(encode(word)) > 115

    def test_a_cyrillic_word_counts_to_its_twenty_fifth_letter(self) -> None:
        assert encode("ж" * 24 + "а") != encode("ж" * 24 + "б")
        assert encode("ж" * 25 + "а") == encode("ж" * 25 + "б")


def test_pairs_overlap() -> None:
    assert pairs("京") == ["京"]
    assert pairs("東京") == ["東京"]
    assert pairs("東京都") == ["東京", "京都"]


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("deployment", "deploy"),
        ("deployed", "deploy"),
        ("terror", "terror"),
        ("k8s", "k8s"),
        ("c#", "c#"),
        ("новый", "нов"),
        ("новая", "нов"),
        ("русского", "русск"),
        ("русский", "русск"),
    ],
)
def test_stems(word: str, stem: str) -> None:
    assert Analyzer().stem(word) == stem


class TestDocument:
    def test_sections(self) -> None:
        words, stems, parts, tags, metadata, filters = sections(
            "Deployed CamelCase to kx-7b", ("Team/Ops",), repo="billing", n=7
        )
        assert words == ["wdeployed", "wcamelcase", "wto", "wkx", "w7b"]
        assert stems == ["sdeploy", "scamelcas", "sto", "skx", "s7b"]
        assert parts == ["pcamel", "pcase", "pkx7b"]
        assert tags == ["gteam", "gop", "y"]
        assert metadata == ["mbill", "y", "m7", "y"]
        assert filters == [tag_token("team"), tag_token("team:ops"), exact_tag_token("team:ops")]

    def test_a_run_without_blanks_is_kept_by_characters_and_pairs(self) -> None:
        words, stems, parts, *_ = sections("東京都")
        assert words == ["w" + encode(sign) for sign in "東京都"]
        assert stems == ["s" + encode(sign) for sign in "東京都"]
        assert parts == sorted(["p" + encode("東京"), "p" + encode("京都")])

    def test_parts_of_a_tag_do_not_part_its_words(self) -> None:
        tags = sections("x", ("FooBar-baz",))[3]
        assert tags == ["gfoobar", "gbaz", "gfoo", "gbar", "y"]

    @pytest.mark.parametrize(
        ("content", "part"),
        [
            ("e-mail", "pemail"),
            ("snake_case", "psnakecase"),
            ("OPS-4711", "pops4711"),
            ("a.b.c.d", "pabcd"),
            ("Zürich-7b", "pzurich7b"),
        ],
    )
    def test_identifiers_are_joined(self, content: str, part: str) -> None:
        assert part in sections(content)[2]

    def test_nothing_but_blanks(self) -> None:
        assert [len(part) for part in sections("")] == [0, 0, 0, 0, 0, 0]

    @pytest.mark.parametrize(
        "text", ["a" * 32_768, "a-" * 16_384, "東" * 32_768, "'" * 32_768, "x'" * 16_384]
    )
    def test_long_runs_of_one_kind_are_analysed(self, text: str) -> None:
        assert document_lexemes(text, (), {})

    def test_random_text_gives_safe_tokens_only(self) -> None:
        dice = random.Random(7)
        safe = re.compile(r"[a-z0-9 ]*")
        for _ in range(2_000):
            text = "".join(
                chr(dice.choice((dice.randrange(0x250), dice.randrange(0x110000)))) for _ in range(12)
            )
            line = document_lexemes(text, (text,), {"note": text})
            assert safe.fullmatch(line)
            assert line.count(SECTION) == 5
            assert max(map(len, line.split())) <= 128


class TestMetadataValues:
    def test_values_are_walked_and_keys_are_not(self) -> None:
        metadata = {"repo": " core ", "n": 3, "f": 2.5, "on": True, "none": None, "deep": {"a": ["x", ["y"]]}}
        assert sorted(metadata_values(metadata)) == ["2.5", "3", "core", "x", "y"]

    def test_what_enrichment_notes_is_left_out(self) -> None:
        metadata = {"enrichment": {"a": "x"}, "original_content": "y", "deep": {"patterns_detected": ["z"]}}
        assert metadata_values(metadata) == []

    def test_blank_and_long_values_are_left_out(self) -> None:
        assert metadata_values({"a": "  ", "b": "x" * 257, "c": "x" * 256}) == ["x" * 256]

    def test_the_number_of_values_is_bounded(self) -> None:
        assert len(metadata_values({"a": list(range(150)), "b": list(range(150))})) == 200


class TestTagTokens:
    @pytest.mark.parametrize("spelling", ["team:ops", "Team/Ops", " TEAM : ops ", "team::ops:", "ｔeam:ops"])
    def test_any_spelling_gives_the_same_token(self, spelling: str) -> None:
        assert tag_token(spelling) == tag_token("team:ops")
        assert exact_tag_token(spelling) == exact_tag_token("team:ops")

    def test_prefix_and_whole_tag_and_other_tags_differ(self) -> None:
        found = {tag_token("a:b"), exact_tag_token("a:b"), tag_token("a"), tag_token("ab"), tag_token("b")}
        assert len(found) == 5

    def test_filters_of_a_memory(self) -> None:
        assert tag_filters(("a/b", "a:c", " ")) == [
            tag_token("a"),
            tag_token("a:b"),
            tag_token("a:c"),
            exact_tag_token("a:b"),
            exact_tag_token("a:c"),
        ]

    def test_half_a_surrogate_pair_is_a_tag_like_any(self) -> None:
        assert re.fullmatch("t[0-9a-f]{20}", tag_token("a\ud800"))
