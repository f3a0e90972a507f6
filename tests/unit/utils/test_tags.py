"""Tags: lists, bodies, canonical form, prefixes, matching, entity tags, slugs."""

import pytest

from automem.utils.tags import (
    TagMatch,
    TagMode,
    canonical_tag,
    clean_tags,
    parse_entity_tag,
    slugify,
    split_list,
    tag_matches,
    tag_prefixes,
    tags_excluded,
    tags_match,
)


class TestSplitList:
    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            ([], []),
            (["a"], ["a"]),
            (["a,b"], ["a", "b"]),
            (["a", "b"], ["a", "b"]),
            (["a,b", "c"], ["a", "b", "c"]),
            ([" a , b ", "\tc\n"], ["a", "b", "c"]),
            (["", "  ", ",", ",,a,,"], ["a"]),
            (["b,a", "a,b", "b"], ["b", "a"]),
            (["Go,go"], ["Go", "go"]),
            (["two words,x"], ["two words", "x"]),
        ],
    )
    def test_repeated_and_comma_forms(self, values: list[str], expected: list[str]) -> None:
        assert split_list(values) == expected

    def test_any_iterable_and_a_single_string(self) -> None:
        assert split_list(text for text in ("a,b", "c")) == ["a", "b", "c"]
        assert split_list("abc,d") == ["abc", "d"]


class TestCleanTags:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (None, []),
            ("", []),
            (" , ", []),
            ("one", ["one"]),
            ("one, Two ,one", ["one", "Two"]),
            ([], []),
            (["One", "one", "One"], ["One", "one"]),
            ([" a ", "", "  ", "b"], ["a", "b"]),
            (["a,b", "c"], ["a", "b", "c"]),
            (["z", "a"], ["z", "a"]),
            (["Project/Foo"], ["Project/Foo"]),
        ],
    )
    def test_accepted(self, value: object, expected: list[str]) -> None:
        assert clean_tags(value) == expected

    @pytest.mark.parametrize(
        "value",
        [5, 0, 1.5, True, False, {}, {"a": 1}, [1], ["a", None], ["a", ["b"]], b"a"],
    )
    def test_refused(self, value: object) -> None:
        with pytest.raises(ValueError) as caught:
            clean_tags(value)
        assert str(caught.value) == "'tags' must be a list of strings or a single string"

    def test_leaves_its_argument_alone(self) -> None:
        body = [" a ", "a"]
        clean_tags(body)
        assert body == [" a ", "a"]


class TestCanonicalTag:
    @pytest.mark.parametrize(
        ("tag", "expected"),
        [
            ("Slack", "slack"),
            ("  Slack  ", "slack"),
            ("slack:", "slack"),
            (":slack", "slack"),
            ("Project/Foo", "project:foo"),
            ("a//b::c:/d", "a:b:c:d"),
            ("a : b", "a:b"),
            ("a: :b", "a:b"),
            ("two words", "two words"),
            ("v1.2-rc_3", "v1.2-rc_3"),
            ("", ""),
            (":/:", ""),
            ("STRASSE", "strasse"),
            ("Straße", "strasse"),
            ("ÉCOLE", "école"),
            ("e\u0301cole", "\u00e9cole"),
            ("\uff33\uff2c\uff21\uff23\uff2b\uff1a\uff35\uff11", "slack:u1"),
            ("\ufb01le", "file"),
            ("東京", "東京"),
        ],
    )
    def test_form(self, tag: str, expected: str) -> None:
        assert canonical_tag(tag) == expected

    @pytest.mark.parametrize("tag", ["A//b:", "\u1e9e\u0345", "\u00b4x", "İ/ǰ"])
    def test_is_stable(self, tag: str) -> None:
        once = canonical_tag(tag)
        assert canonical_tag(once) == once


class TestTagPrefixes:
    @pytest.mark.parametrize(
        ("tags", "expected"),
        [
            ([], []),
            (["plain"], ["plain"]),
            (["One:Two/Three"], ["one", "one:two", "one:two:three"]),
            (["Project/Foo"], ["project", "project:foo"]),
            (
                ["entity:people:sarah"],
                ["entity", "entity:people", "entity:people:sarah"],
            ),
            (["a:b", "A:c", "a"], ["a", "a:b", "a:c"]),
            (["b", "a"], ["b", "a"]),
            (["::x//y:"], ["x", "x:y"]),
            (["", ":", "  "], []),
            (["v1.2-a_b"], ["v1.2-a_b"]),
        ],
    )
    def test_growing_joins(self, tags: list[str], expected: list[str]) -> None:
        assert tag_prefixes(tags) == expected


class TestTagMatches:
    @pytest.mark.parametrize(
        ("tag", "wanted", "by_prefix", "exactly"),
        [
            ("slack", "slack", True, True),
            ("Slack", "sLACK", True, True),
            ("slack:U123", "slack", True, False),
            ("slack:U123:x", "slack:u123", True, False),
            ("slack:U123", "slack:", True, False),
            ("slack", "slack:", True, True),
            ("slack/U123", "SLACK:u123", True, True),
            ("slack:U123", "slack/u123", True, True),
            ("slack-ops", "slack", False, False),
            ("slack", "sla", False, False),
            ("slack:U123", "slack:U12", False, False),
            ("slack", "slack:U123", False, False),
            ("django", "go", False, False),
            ("team:slack", "slack", False, False),
            ("slack", "", False, False),
            ("slack", ":", False, False),
            ("", "", False, False),
            ("", "slack", False, False),
        ],
    )
    def test_whole_segments(self, tag: str, wanted: str, by_prefix: bool, exactly: bool) -> None:
        assert tag_matches(tag, wanted, "prefix") is by_prefix
        assert tag_matches(tag, wanted, "exact") is exactly


class TestTagsMatch:
    @pytest.mark.parametrize(
        ("tags", "wanted", "mode", "match", "expected"),
        [
            (["a:x", "b"], ["a", "c"], "any", "prefix", True),
            (["a:x", "b"], ["a", "c"], "all", "prefix", False),
            (["a:x", "b"], ["a", "B"], "all", "prefix", True),
            (["a:x", "b"], ["a", "c"], "any", "exact", False),
            (["a:x", "b"], ["a", "b"], "any", "exact", True),
            (["a:x", "b"], ["a", "b"], "all", "exact", False),
            (["A/X", "b"], ["a:x", "B"], "all", "exact", True),
            (["a:x"], ["a", "a:x"], "all", "prefix", True),
            (["Project", "decision"], ["project", "decision"], "all", "exact", True),
            ([], ["a"], "any", "prefix", False),
            ([], ["a"], "all", "exact", False),
            ([], [], "any", "prefix", True),
            (["a"], [], "all", "exact", True),
            (["a"], [":"], "any", "prefix", False),
        ],
    )
    def test_filter(
        self,
        tags: list[str],
        wanted: list[str],
        mode: TagMode,
        match: TagMatch,
        expected: bool,
    ) -> None:
        assert tags_match(tags, wanted, mode, match) is expected

    def test_reads_iterators_once(self) -> None:
        assert tags_match(iter(["x", "y"]), iter(["y", "x"]), "all", "exact")


class TestTagsExcluded:
    @pytest.mark.parametrize(
        ("tags", "excluded", "match", "expected"),
        [
            (["drop:me"], ["drop"], "prefix", True),
            (["drop:me"], ["drop"], "exact", False),
            (["keep", "Drop"], ["x", "drop"], "exact", True),
            (["drop"], ["dr"], "prefix", False),
            (["drop/me"], ["DROP:"], "prefix", True),
            (["keep"], [], "prefix", False),
            ([], ["drop"], "prefix", False),
            (["keep"], [":", ""], "prefix", False),
        ],
    )
    def test_exclusion(self, tags: list[str], excluded: list[str], match: TagMatch, expected: bool) -> None:
        assert tags_excluded(tags, excluded, match) is expected

    def test_reads_iterators_once(self) -> None:
        assert tags_excluded(iter(["x", "y"]), iter(["z", "y"]), "exact")


class TestParseEntityTag:
    @pytest.mark.parametrize(
        ("tag", "expected"),
        [
            ("entity:people:sarah", ("people", "sarah")),
            ("Entity:People:Sarah-Connor", ("people", "sarah-connor")),
            ("entity/tools/kubernetes", ("tools", "kubernetes")),
            (" entity::projects:automem: ", ("projects", "automem")),
            ("entity:people", None),
            ("entity:people:", None),
            ("entity", None),
            ("entity:people:a:b", None),
            ("people:sarah", None),
            ("identity:people:sarah", None),
            ("", None),
        ],
    )
    def test_form(self, tag: str, expected: tuple[str, str] | None) -> None:
        assert parse_entity_tag(tag) == expected


class TestSlugify:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("Sarah", "sarah"),
            ("Sarah Connor", "sarah-connor"),
            ("  Sarah -- Connor! ", "sarah-connor"),
            ("O'Brien", "o-brien"),
            ("snake_case", "snake-case"),
            ("Node.js", "node-js"),
            ("kx-ams-07b", "kx-ams-07b"),
            ("C++", "c"),
            ("José García", "josé-garcía"),
            ("Jose\u0301", "jos\u00e9"),
            ("東京 タワー", "東京-タワー"),
            ("हिन्दी", "हिन्दी"),
            ("Rocket \U0001f680\ufe0f", "rocket"),
            ("", ""),
            ("!!!", ""),
        ],
    )
    def test_form(self, name: str, expected: str) -> None:
        assert slugify(name) == expected
