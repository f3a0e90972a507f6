"""The context profile: languages, style words, tags, types and ids (recall.md 6.3 to 6.5, D15, D21)."""

from __future__ import annotations

import pytest

from automem.search.context import _build_context_profile, context_echo
from automem.search.types import ContextHints

STYLE_TAGS = {"coding-style", "preference:coding", "preferences", "style", "style-guide"}


def language(query: str = "", *, label: str = "", language: str = "", active_path: str = "") -> str | None:
    hints = ContextHints(label=label, language=language, active_path=active_path)
    profile = _build_context_profile(hints, query)
    return profile.language if profile else None


class TestSpokenLanguages:
    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("how do we name python modules", "python"),
            ("Do we use Python?", "python"),
            ("we wrote it in python.", "python"),
            ("golang", "go"),
            ("typescript or not", "typescript"),
            ("strict javascript", "javascript"),
            ("our C# rules", "csharp"),
            ("c++, of course", "cpp"),
            ("rust crate", "rust"),
            ("which go module is that", "go"),
            ("error handling in go", "go"),
            ("a java class", "java"),
            ("py script for the backup", "python"),
            ("the ts compiler", "typescript"),
            ("swift package", "swift"),
        ],
    )
    def test_named(self, query: str, expected: str) -> None:
        assert language(query) == expected

    @pytest.mark.parametrize(
        "query",
        [
            "",
            "go",
            "where did they go",
            "Did she go to the pottery class",
            "rust on the bike",
            "a swift answer",
            "coffee from java",
            "js",
            "ts and py",
            "django",
            "cargo",
            "the crate fell",
            "pythons at the zoo",
        ],
    )
    def test_not_named(self, query: str) -> None:
        assert language(query) is None

    def test_table_order_decides_between_two(self) -> None:
        assert language("rustlang or python") == "python"
        assert language("go code or rust code") == "go"


class TestHints:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("go", "go"),
            (" Rust ", "rust"),
            ("TS", "typescript"),
            ("cs", "csharp"),
            ("C++", "cpp"),
            ("cobol", None),
        ],
    )
    def test_an_explicit_language_may_be_ambiguous(self, name: str, expected: str | None) -> None:
        assert language(language=name) == expected

    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("src/App.TSX", "typescript"),
            ("C:\\work\\main.rs", "rust"),
            ("a/b.py", "python"),
            ("x.cc", "cpp"),
            ("Makefile", None),
            ("notes.md", None),
            (".py", None),
        ],
    )
    def test_a_path_tells_by_its_suffix(self, path: str, expected: str | None) -> None:
        assert language(active_path=path) == expected

    def test_the_first_source_that_knows_wins(self) -> None:
        assert language("python", language="go", label="rust", active_path="a.ts") == "go"
        assert language("python", language="cobol", label="rust", active_path="a.ts") == "rust"
        assert language("python", label="review", active_path="a.ts") == "typescript"
        assert language("python", label="review", active_path="a.md") == "python"


class TestProfile:
    def test_nothing_said_is_no_profile(self) -> None:
        assert _build_context_profile(ContextHints(), "where is the key") is None

    def test_a_language(self) -> None:
        profile = _build_context_profile(ContextHints(language="python"), "")
        assert profile is not None
        assert set(profile.tags) == STYLE_TAGS | {"python", "python-style", "python:style"}
        assert profile.types == ("Style", "Preference")
        assert profile.keywords == ("python",)
        amounts = (profile.tag_bonus, profile.type_bonus, profile.keyword_bonus, profile.priority_bonus)
        assert amounts == (0.45, 0.25, 0.20, 0.90)

    @pytest.mark.parametrize(
        "word",
        [
            "formatting",
            "guideline",
            "guidelines",
            "lint",
            "pep8",
            "preference",
            "preferences",
            "style",
            "styles",
        ],
    )
    def test_style_words(self, word: str) -> None:
        for hints, query in ((ContextHints(), f"our {word.title()}?"), (ContextHints(label=word), "")):
            profile = _build_context_profile(hints, query)
            assert profile is not None
            assert set(profile.tags) == STYLE_TAGS
            assert profile.keywords == ()

    def test_a_label_that_says_nothing_else_is_a_tag(self) -> None:
        profile = _build_context_profile(ContextHints(label="Code-Review"), "")
        assert profile is not None
        assert profile.tags == ("code-review",)
        assert profile.types == ()

    def test_tags_types_and_ids(self) -> None:
        hints = ContextHints(
            tags=("Project/X", "Zürich", "project/x"),
            types=("decision", "Decision"),
            priority_ids=("b", "a", "b"),
        )
        profile = _build_context_profile(hints, "")
        assert profile is not None
        assert profile.tags == ("project/x", "zürich")
        assert profile.types == ("Decision",)
        assert profile.priority_ids == ("b", "a")

    @pytest.mark.parametrize(
        "hints",
        [ContextHints(types=("insight",)), ContextHints(priority_ids=("a",)), ContextHints(tags=("a",))],
    )
    def test_each_alone_makes_a_profile(self, hints: ContextHints) -> None:
        assert _build_context_profile(hints, "") is not None


def test_echo() -> None:
    profile = _build_context_profile(
        ContextHints(label="rust", tags=tuple("hgfedcba"), types=("z", "a"), priority_ids=("id",)), ""
    )
    assert profile is not None
    assert context_echo(profile, injected=True) == {
        "language": "rust",
        "context": "rust",
        "priority_tags": ["a", "b", "c", "coding-style", "d", "e", "f", "g", "h", "preference:coding"],
        "priority_types": ["A", "Preference", "Style", "Z"],
        "injected": True,
    }
