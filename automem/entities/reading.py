"""A text cut into words, and what may be a name at all (background.md 3.1, 3.4). Pure, in linear time."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from automem.entities import words
from automem.entities.technology import ALWAYS_TOOLS, CAPITALISED_TOOLS
from automem.entities.validator import is_given_name
from automem.utils.tags import slugify

Candidate = tuple[str, str]
"""A category and a name as it was written."""

NAME = r"(?<!\w)[^\W\d_a-z](?:['’][^\W\d_a-z])?[^\W\d_]{1,30}(?:-[^\W\d_a-z][^\W\d_]{1,30})?"
"""A word that begins with a capital, as a part of a pattern: Rivera, O'Neal, Smith-Jones."""

_TOKEN = re.compile(r"[^\W_](?:[\w'’.+#-]{0,62}[\w'’+#])?")
_SENTENCE_END = re.compile(r"[.!?:;\n]|^\s*[-*#>]")
_FENCED = re.compile(r"(?s)```.*?(?:```|\Z)")
_POSSESSIVE = re.compile(r"(?:['’]s?|(?<=s)['’])$")
_COMMON_ENDING = re.compile(
    r"(?:ing|ed|ive|al|able|ible|ment|ness|tions?|ful|ent|ant|ity|ly|ers|ors|ics?|ous|ize|ology|ean|ian|"
    r"[^aious]s)$"
)
_VERB_ENDING = re.compile(r"(?:ing|ed|ive|able|ible|ment|ness|tions?|ful|ity|ology|ize|ous|ics)$")


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its place; ``begins`` says that it begins a sentence, so that its capital tells nothing."""

    text: str
    start: int
    end: int
    begins: bool

    @property
    def plain(self) -> str:
        """The word without a possessive ending."""
        return without_possessive(self.text)

    @property
    def plain_end(self) -> int:
        return self.start + len(self.plain)

    @property
    def capital(self) -> bool:
        return self.text[:1].isupper()


@dataclass(frozen=True, slots=True)
class Reading:
    """A text without its fenced code. ``ordinary`` are the words that stand in it in lower case."""

    text: str
    words: tuple[Word, ...]
    ordinary: frozenset[str]
    has_code: bool

    def is_ordinary(self, word: str) -> bool:
        """Tell whether a word is rather a word of the language, or of this text, than a name."""
        low = word.lower()
        return is_everyday(low) or low in self.ordinary or bool(_COMMON_ENDING.search(low))

    def is_word(self, word: str) -> bool:
        """Tell whether a word is no name of a person; family names have more endings than tools."""
        low = word.lower()
        return is_everyday(low) or low in self.ordinary or bool(_VERB_ENDING.search(low))

    def gap(self, index: int) -> str:
        """Give what stands between a word and the next."""
        return self.text[self.words[index].end : self.words[index + 1].start]


def read(text: str) -> Reading:
    """Cut a text into words. Names in fenced code mean nothing to its reader."""
    fenced = "```" in text
    shown = unicodedata.normalize("NFC", _FENCED.sub("\n", text) if fenced else text)
    found = tuple(_split(shown))
    lower = frozenset(word.text for word in found if word.text.islower())
    return Reading(shown, found, lower, fenced)


def without_possessive(name: str) -> str:
    return _POSSESSIVE.sub("", name) if name[-1:] in "'’" or name[-2:-1] in "'’" else name


def admits(name: str, most_words: int = 6, lower_case: bool = False) -> bool:
    """Tell whether a name may be one at all (background.md 3.1, pre-filter)."""
    name = name.strip()
    lowered = name.lower()
    if len(name) < 3 or not any(map(str.isalpha, name)) or len(name.split()) > most_words:
        return False
    if lowered in words.STOPS or lowered in words.BLOCKED or lowered in words.LITERALS:
        return False
    if (name[0].islower() and not lower_case) or name[0] in "-*#>|[]{}()_'\"" or name.endswith(":"):
        return False
    return not name.endswith(words.CODE_SUFFIXES) and not (name.isupper() and "_" in name)


def is_everyday(word: str) -> bool:
    low = word.lower()
    return low in words.EVERYDAY or low in words.COMMON or low in words.MONTHS or low in words.GENERIC


def is_known_tool(name: str) -> bool:
    low = slugify(name)
    return low in ALWAYS_TOOLS or low in CAPITALISED_TOOLS


def looks_like_name(reading: Reading, word: str) -> bool:
    """Tell a name that no list has from an ordinary word that only begins with a capital."""
    return not (word.isupper() or is_given_name(word) or reading.is_ordinary(word))


def _split(text: str) -> list[Word]:
    found: list[Word] = []
    last = 0
    for match in _TOKEN.finditer(text):
        gap = text[last : match.start()]
        begins = not found or bool(_SENTENCE_END.search(gap)) or found[-1].text.endswith(".")
        found.append(Word(match.group().rstrip("."), match.start(), match.end(), begins))
        last = match.end()
    return found
