"""Analysis of text into tokens of the full-text index (D10): ours to decide, the index only matches.

A memory's ``lexemes`` are one line of space-separated tokens in sections parted by ``SECTION``:
words in order, stems in order, parts (camel-case parts, joined identifiers, CJK pairs), tag words,
metadata words, tag filters. The first letter of a token names its kind, so that a word never meets
a tag. Order is kept in the first two sections: neighbours in the text are neighbours in the line,
which makes a phrase or an identifier (``kx-ams-07b``) a plain substring test.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import Stemmer

from automem.utils.tags import canonical_tag, tag_prefixes

ANALYSIS_VERSION = 1
"""Grows when the tokens change, so that a start sees that stored lexemes are old."""

WORD, STEM, PART, TAG_WORD, META_WORD, TAG_PREFIX, TAG_EXACT = "w", "s", "p", "g", "m", "t", "x"
LONGEST_CODE = 125
"""Characters of an encoded word: the index keeps 128 bytes of a token and drops the rest."""
SECTION = " z "
GAP = "y"
"""Stands between tags and between metadata values, so that a phrase does not span two."""

_SKIPPED_METADATA = frozenset({"original_content", "enrichment", "semantic_neighbors", "patterns_detected"})
_METADATA_VALUES = 200
_METADATA_TEXT = 256

# Scripts written without blanks between words: matched by pairs of characters (D10).
_GRAM = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003134f"
)
# Signs inside words of which Python's ``\w`` knows nothing: accents that no letter has in one piece,
# points of Hebrew and Arabic, and the vowel signs of the scripts of India.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u096f\u0971-\u0dff"
)
# What folding takes off a decomposed text. Marks that make another letter stay: Cyrillic short i,
# short u and yi, kana with a voice mark, vowel signs.
_ACCENTS = re.compile(
    "(?<![\u0438\u0443])\u0306|(?<!\u0456)\u0308|[\u0300-\u0305\u0307\u0309-\u036f\u0483-\u0487\u0591-\u05bd\u05bf"
    "\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
_WORD_SIGN = rf"(?:(?![{_GRAM}])[^\W_]|[{_MARKS}])"
_TOKEN = re.compile(
    r"(?<![^\W_])(?P<sharp>[A-Za-z]{1,2}(?:\+\+|\#))(?![^\W_])"
    r"|(?<![\w.])(?P<dotted>\.[A-Za-z][A-Za-z0-9]+)"
    rf"|(?P<grams>[{_GRAM}]+)"
    rf"|(?P<word>{_WORD_SIGN}+(?:['’]{_WORD_SIGN}+)*)"
    r"|(?P<symbol>[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff])"
)
_POSSESSIVE = re.compile(r"['’]s?$|['’](?=\w)")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_SKIN_TONES = range(0x1F3FB, 0x1F400)


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a text: ``text`` is folded, ``parts`` are the pieces of a camel-case word."""

    text: str
    start: int
    end: int
    gram: bool = False
    parts: tuple[str, ...] = ()


def fold(text: str) -> str:
    """Normalise for comparison: NFKC, case-folded, accents off (``Zürich`` is ``zurich``)."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", unicodedata.normalize("NFD", folded)))


def tokens(text: str) -> Iterator[Token]:
    """Give the words of a text in order, with their places in its NFKC form.

    A run of a script without blanks is one token with ``gram`` set; ``C#``, ``C++``, ``.NET`` and
    each pictograph are tokens of their own.
    """
    for match in _TOKEN.finditer(_compose(text)):
        yield from _match_tokens(match)


def _compose(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _match_tokens(match: re.Match[str]) -> Iterator[Token]:
    raw, start, end = match.group(), match.start(), match.end()
    if match.lastgroup == "word":
        raw = _POSSESSIVE.sub("", raw)
        if word := fold(raw):
            yield Token(word, start, end, parts=_camel_parts(raw))
    elif match.lastgroup == "grams":
        # Thai and Hangul marks survive: folding would take vowels away.
        yield Token(raw.casefold(), start, end, gram=True)
    elif match.lastgroup == "dotted":
        yield Token(raw.lower(), start, end, parts=(raw[1:].lower(),))
    elif match.lastgroup == "sharp" or ord(raw) not in _SKIN_TONES:
        yield Token(raw.lower(), start, end)


def _camel_parts(raw: str) -> tuple[str, ...]:
    if raw.islower() or raw.isupper() or not raw.isascii() or len(raw) < 4:
        return ()
    parts = _CAMEL.findall(raw)
    return tuple(part.lower() for part in parts) if len(parts) > 1 else ()


_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def encode(word: str) -> str:
    """Write a word in ASCII letters and digits only; a prefix of a word stays a prefix of its code.

    Only as many characters count as fit into ``LONGEST_CODE``, 25 of a script other than Latin.
    """
    if word.isascii() and word.isalnum() and "q" not in word:
        return word[:LONGEST_CODE]
    code = ""
    for character in word:
        piece = _encode_character(character)
        if len(code) + len(piece) > LONGEST_CODE:
            break
        code += piece
    return code


def _encode_character(character: str) -> str:
    """Give a letter or digit as it is, ``q`` as ``qq``, all else as ``q`` and four digits to the base 36."""
    if character.isascii() and character.isalnum():
        return character if character != "q" else "qq"
    high, low = divmod(ord(character), 1296)  # the first digit is at most "n", so never "q"
    return f"q{_DIGITS[high // 36]}{_DIGITS[high % 36]}{_DIGITS[low // 36]}{_DIGITS[low % 36]}"


def pairs(run: str) -> list[str]:
    """Give the overlapping pairs of a run of characters; a single character is its own pair."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


class Analyzer:
    """Stems words. Not for use from two threads at once: make one where it is needed."""

    def __init__(self) -> None:
        self._english = Stemmer.Stemmer("english")
        self._russian = Stemmer.Stemmer("russian")

    def stem(self, word: str) -> str:
        """Give the stem of a folded word; identifiers with digits stay as they are."""
        if word.isascii():
            return self._english.stemWord(word) if word.isalpha() else word
        return self._russian.stemWord(word) if _CYRILLIC.search(word) else word

    def word_codes(self, text: str) -> tuple[list[str], list[str], list[str]]:
        """Give the word, stem and part tokens of a text; the first two run side by side."""
        words: list[str] = []
        stems: list[str] = []
        parts: list[str] = []
        for token in tokens(text):
            if token.gram:
                words.extend(WORD + encode(c) for c in token.text)
                stems.extend(STEM + encode(c) for c in token.text)
                parts.extend(PART + encode(pair) for pair in pairs(token.text))
            else:
                words.append(WORD + encode(token.text))
                stems.append(STEM + encode(self.stem(token.text)))
                parts.extend(PART + encode(self.stem(part)) for part in token.parts)
        return words, stems, parts

    def stem_codes(self, text: str, kind: str) -> list[str]:
        """Give the stems of a text as tokens of one kind, characters and pairs for gram scripts."""
        stems: list[str] = []
        parts: list[str] = []
        for token in tokens(text):
            stems.extend([*token.text, *pairs(token.text)] if token.gram else [self.stem(token.text)])
            parts.extend(self.stem(part) for part in token.parts)
        return [kind + encode(code) for code in (*stems, *parts)]


def storable_form(text: str) -> str:
    """Give a text of others without what the graph refuses: NUL characters and halves of surrogate pairs."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def document_lexemes(
    content: str, tags: Sequence[str], metadata: Mapping[str, Any], added_tags: Sequence[str] = ()
) -> str:
    """Analyse a memory for the full-text index; the layout is told at the top of this module.

    :param added_tags: those of the tags that only repeat the content: scopes find them, words do not.
    """
    analyzer = Analyzer()
    words, stems, parts = analyzer.word_codes(content)
    parts.extend(_joined_identifiers(content))
    sections = (
        words,
        stems,
        sorted(set(parts)),
        _gapped(analyzer.stem_codes(tag, TAG_WORD) for tag in tags if tag not in added_tags),
        _gapped(analyzer.stem_codes(value, META_WORD) for value in metadata_values(metadata)),
        tag_filters(tags),
    )
    return f" {SECTION.join(' '.join(section) for section in sections)} "


def _gapped(groups: Iterable[list[str]]) -> list[str]:
    return [code for group in groups for code in (*group, GAP)]


# Possessive, and only from the beginning of a word: a long run of letters costs its length once.
_IDENTIFIER = re.compile(r"(?<![^\W_])[^\W_]++(?:[-_.][^\W_]++){1,3}")


def _joined_identifiers(content: str) -> Iterator[str]:
    """Let ``e-mail`` be found as ``email`` and ``snake_case`` as ``snakecase``."""
    for match in _IDENTIFIER.finditer(_compose(content)):
        yield PART + encode(fold(re.sub(r"[-_.]", "", match.group())))


def metadata_values(metadata: Mapping[str, Any]) -> list[str]:
    """Give the searchable values of metadata as texts: short strings and numbers, lists and nested
    objects walked, bounded in number. Keys and what enrichment notes for itself are left out."""
    values: list[str] = []
    stack: list[Any] = [value for key, value in metadata.items() if key not in _SKIPPED_METADATA]
    while stack and len(values) < _METADATA_VALUES:
        value = stack.pop(0)
        if isinstance(value, Mapping):
            stack.extend(inner for key, inner in value.items() if key not in _SKIPPED_METADATA)
        elif isinstance(value, list | tuple):
            stack.extend(value[:_METADATA_VALUES])
        elif isinstance(value, str) and 0 < len(value.strip()) <= _METADATA_TEXT:
            values.append(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            values.append(str(value))
    return values


def tag_filters(tags: Sequence[str]) -> list[str]:
    """Give the tokens by which a tag scope is cut inside the index (D7)."""
    prefixes = [tag_token(prefix) for prefix in tag_prefixes(tags)]
    return prefixes + [exact_tag_token(tag) for tag in tags if canonical_tag(tag)]


def tag_token(prefix: str) -> str:
    """Give the token of a tag prefix; any spelling of it gives the same token."""
    return TAG_PREFIX + _digest(canonical_tag(prefix))


def exact_tag_token(tag: str) -> str:
    """Give the token of a whole tag; any spelling of it gives the same token."""
    return TAG_EXACT + _digest(canonical_tag(tag))


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
