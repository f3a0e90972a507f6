"""The context profile: what a caller's situation prefers (recall.md 6.3 to 6.5, D15, D21)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from automem.search.types import ContextHints
from automem.utils.scoring import ContextProfile
from automem.utils.text import fold

_TAG_BONUS = 0.45
_TYPE_BONUS = 0.25
_KEYWORD_BONUS = 0.20
_PRIORITY_BONUS = 0.90

# Tested in this order. The second entry holds the names that mean nothing else; the third those
# that are also plain words and count only beside another coding word (D15).
_LANGUAGES: tuple[tuple[str, frozenset[str], frozenset[str]], ...] = (
    ("python", frozenset({"python", "python3"}), frozenset({"py"})),
    ("typescript", frozenset({"typescript"}), frozenset({"ts", "tsx"})),
    ("javascript", frozenset({"javascript"}), frozenset({"js", "jsx"})),
    ("go", frozenset({"golang"}), frozenset({"go"})),
    ("rust", frozenset({"rustlang"}), frozenset({"rust"})),
    ("java", frozenset({"openjdk"}), frozenset({"java"})),
    ("csharp", frozenset({"csharp", "c#"}), frozenset({"cs"})),
    ("cpp", frozenset({"c++", "cpp", "cxx"}), frozenset({"cc"})),
    ("swift", frozenset({"swiftui"}), frozenset({"swift"})),
)
_SUFFIXES = {
    ".py": "python",
    ".ts": "typescript",
    ".tsx": "typescript",
    ".js": "javascript",
    ".jsx": "javascript",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    ".cs": "csharp",
    ".cpp": "cpp",
    ".cc": "cpp",
    ".cxx": "cpp",
    ".swift": "swift",
}
_CODING_WORDS_TEXT = """
api app async backend bug build class cli code codebase coding compile compiler concurrency crate
debug dependency deploy developer docs error exception file formatter framework frontend function
generics goroutine gradle import interface lambda language lib library lint linter maven method
module mutex npm null package parser pattern patterns program programming project refactor regex
repo repository runtime script sdk server service snippet struct style syntax test tests testing
thread type types unit variable version
"""
_CODING_WORDS = frozenset(_CODING_WORDS_TEXT.split())
_STYLE_WORDS_TEXT = """
formatting guideline guidelines lint pep8 preference preferences style styles
"""
_STYLE_WORDS = frozenset(_STYLE_WORDS_TEXT.split())
_STYLE_TAGS = ("coding-style", "preference:coding", "preferences", "style", "style-guide")
_STYLE_TYPES = ("Style", "Preference")
_WORD = re.compile(r"[\w\-+#.]+")


def _build_context_profile(hints: ContextHints, query: str) -> ContextProfile | None:
    """Give the profile of a request, or None when nothing in it says anything of a context."""
    words = _words(query)
    language = _find_language(hints, words)
    style = language is not None or not _STYLE_WORDS.isdisjoint([*words, *_words(hints.label)])
    tags = [tag.casefold() for tag in hints.tags]
    if language:
        tags += [language, f"{language}-style", f"{language}:style"]
    if style:
        tags += _STYLE_TAGS
    elif hints.label:
        tags.append(hints.label.casefold())
    types = [kind.title() for kind in hints.types] + (list(_STYLE_TYPES) if style else [])
    if not (tags or types or hints.priority_ids or language):
        return None
    return ContextProfile(
        tags=tuple(dict.fromkeys(tags)),
        types=tuple(dict.fromkeys(types)),
        keywords=(language,) if language else (),
        priority_ids=tuple(dict.fromkeys(hints.priority_ids)),
        language=language,
        label=hints.label,
        tag_bonus=_TAG_BONUS,
        type_bonus=_TYPE_BONUS,
        keyword_bonus=_KEYWORD_BONUS,
        priority_bonus=_PRIORITY_BONUS,
    )


def _words(text: str) -> list[str]:
    return [word.rstrip(".") for word in _WORD.findall(fold(text))]


def _find_language(hints: ContextHints, words: Sequence[str]) -> str | None:
    """Ask the explicit language, the label, the path, then the words of the query, in this order."""
    return (
        _named_language(hints.language)
        or _named_language(hints.label)
        or _SUFFIXES.get(PurePosixPath(hints.active_path.lower().replace("\\", "/")).suffix)
        or _spoken_language(words)
    )


def _named_language(name: str) -> str | None:
    wanted = fold(name).strip()
    for language, plain, ambiguous in _LANGUAGES:
        if wanted == language or wanted in plain or wanted in ambiguous:
            return language
    return None


def _spoken_language(words: Sequence[str]) -> str | None:
    for language, plain, _ in _LANGUAGES:
        if not plain.isdisjoint(words):
            return language
    meant = _meant_as_languages(words)
    return next((language for language, _, ambiguous in _LANGUAGES if meant & ambiguous), None)


def _meant_as_languages(words: Sequence[str]) -> set[str]:
    """Give the words next to a coding word, or after "in" in a question with one (D15).

    "Did she go to the pottery class" asks for no language.
    """
    coding = [word in _CODING_WORDS for word in words]
    before, after = [False, *coding], [*coding[1:], False]
    spoken = ["", *words]
    return {
        word
        for index, word in enumerate(words)
        if before[index] or after[index] or (spoken[index] == "in" and any(coding))
    }


def context_echo(profile: ContextProfile, injected: bool) -> dict[str, object]:
    """Give the ``context_priority`` block of the answer (recall.md 6.5); no language is left out (D38)."""
    language = {"language": profile.language} if profile.language else {}
    return {
        **language,
        "context": profile.label,
        "priority_tags": sorted(profile.tags)[:10],
        "priority_types": sorted(profile.types),
        "injected": injected,
    }
