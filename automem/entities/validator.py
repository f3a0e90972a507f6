"""Which names are entities (background.md 3.2): each candidate is accepted, or rejected for a reason.

Pure. The first rule that matches gives the reason; the word lists are in ``words.py``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from automem.entities import words
from automem.entities.names import AMBIGUOUS_NAMES, GIVEN_NAMES
from automem.utils.tags import slugify

CATEGORIES = ("people", "organizations", "tools", "projects", "concepts", "events", "opportunities")
INVALID_TAG = "invalid_entity_tag"

_ALIASES = {
    **{category: category for category in CATEGORIES},
    "person": "people",
    "persons": "people",
    "org": "organizations",
    "orgs": "organizations",
    "organization": "organizations",
    "tool": "tools",
    "project": "projects",
    "concept": "concepts",
    "event": "events",
    "opportunity": "opportunities",
}
_CONFIDENCE, _LONE_NAME, _CANONICALISED = 0.95, 0.6, 0.85
_SHORTEST = 3
_PHRASED = frozenset(("organizations", "tools", "projects", "concepts"))
_SUFFIXES = ("acy", "ment", "ness")

_UNIT = "ms|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|years?"
_DURATION = re.compile(rf"\d+-?(?:{_UNIT})|\d+[a-z]?|\d{{1,2}}-\d\d.*|\d+(?:-[a-z]+)+")
_ESCAPE = re.compile(r"u[0-9a-f]{4,6}")
_ESCAPE_LIKE = re.compile(r"u?[0-9a-f]{4,6}")
_HEX = re.compile(r"(?=.*\d)[0-9a-f]{6,}|[0-9a-f]{8,}")
_SERIAL = re.compile(r"[a-z]\d[a-z0-9]{5,}")
_NUMBERED = re.compile(r"[a-z]+\d+")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_FAMILY_PREFIX = re.compile(rf"\b(?:{'|'.join(words.NAME_PREFIXES)})['’]?(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a candidate. ``reason`` is None for an accepted one; only then the rest counts."""

    category: str
    slug: str
    name: str
    confidence: float = 0.0
    reason: str | None = None

    @property
    def accepted(self) -> bool:
        return self.reason is None

    @property
    def id(self) -> str:
        """The id of its Entity node, which is its tag too."""
        return f"entity:{self.category}:{self.slug}"


@dataclass(frozen=True, slots=True)
class _Candidate:
    category: str
    value: str
    slug: str
    hinted: bool

    @property
    def parts(self) -> list[str]:
        return self.slug.split("-")

    @property
    def is_person(self) -> bool:
        return self.category == "people"


def validate(category: str, value: str, hinted: bool = False) -> Verdict:
    """Judge a name, or a slug, of a category; ``hinted`` says that ``has_hints`` holds for its text.

    Accepted: confidence 0.95; 0.6 for people's names of one word; at least 0.85 when the slug was mended.
    """
    known = category_named(category)
    given = slugify(value)
    if known is None:
        return Verdict(category, given, value, reason="unknown_category")
    slug = _canonical(known, given)
    candidate = _Candidate(known, value.strip(), slug, hinted)
    if reason := _fault(candidate):
        return Verdict(known, slug, value, reason=reason)
    confidence = _LONE_NAME if candidate.is_person and "-" not in slug else _CONFIDENCE
    if slug != given:
        confidence = max(confidence, _CANONICALISED)
    return Verdict(known, slug, _display(candidate), confidence)


def validate_tag(tag: str) -> Verdict:
    """Judge a tag ``entity:<category>:<slug>``; one of another form is an ``invalid_entity_tag``."""
    segments = tag.strip().split(":")
    if len(segments) != 3 or segments[0].lower() != "entity" or not all(segments):
        return Verdict("", "", tag, reason=INVALID_TAG)
    return validate(segments[1], segments[2])


def has_hints(text: str) -> bool:
    """Tell whether a text is about technology or business: a lone unknown name in it may be a product's."""
    return not words.BUSINESS_HINTS.isdisjoint(_WORD.findall(text.lower()))


def category_named(name: str) -> str | None:
    """Find a category by its name or an alias, in any case; None for another word."""
    return _ALIASES.get(name.strip().lower())


def is_given_name(word: str) -> bool:
    """Tell whether a word, or each half of it, is a common given name, with or without its accents."""
    return all(part in GIVEN_NAMES or _unaccented(part) in GIVEN_NAMES for part in word.lower().split("-"))


def _unaccented(word: str) -> str:
    return unicodedata.normalize("NFKD", word.replace("ł", "l")).encode("ascii", "ignore").decode()


def _canonical(category: str, slug: str) -> str:
    """Drop what a possessive left behind a full name."""
    parts = slug.split("-")
    if category == "people" and len(parts) >= 3 and parts[-1] in ("s", "a"):
        return "-".join(parts[:-1])
    return slug


def _display(candidate: _Candidate) -> str:
    if slugify(candidate.value) == candidate.slug:
        return candidate.value
    return candidate.slug.replace("-", " ").title()


def _fault(candidate: _Candidate) -> str | None:
    if len(candidate.slug) < _SHORTEST:
        return "too_short"
    return next((reason for rule in _RULES if (reason := rule(candidate))), None)


def _escapes(candidate: _Candidate) -> str | None:
    parts = candidate.parts
    digits = any(sign.isdigit() for sign in candidate.slug)
    looks_so = digits and all(map(_ESCAPE_LIKE.fullmatch, parts))
    return "unicode_escape_slug" if looks_so or any(map(_ESCAPE.fullmatch, parts)) else None


def _counts(candidate: _Candidate) -> str | None:
    return "duration_or_count_slug" if _DURATION.fullmatch(candidate.slug) else None


def _lone_words(candidate: _Candidate) -> str | None:
    """Reject single words that tell a state or a quality."""
    word = candidate.slug
    if "-" in word or (candidate.is_person and is_given_name(word)):
        return None
    quality = len(word) >= 6 and word.endswith(_SUFFIXES)
    return _generic(candidate) if quality or _is_form_of(word, words.STATUS_VERBS) else None


def _fragments(candidate: _Candidate) -> str | None:
    found = any(_HEX.fullmatch(part) or _SERIAL.fullmatch(part) for part in candidate.parts)
    return "generated_fragment_slug" if found else None


def _code(candidate: _Candidate) -> str | None:
    parts = candidate.parts
    if len(parts) < 2:
        return None
    weak = sum(part in words.WEAK_CODE or bool(_NUMBERED.fullmatch(part)) for part in parts)
    strong = any(part in words.STRONG_CODE for part in parts)
    return "markdown_or_code_fragment" if strong or weak >= 2 else None


def _phrases(candidate: _Candidate) -> str | None:
    parts = candidate.parts
    if candidate.category not in _PHRASED:
        return None
    dated = any(part in words.MONTHS for part in parts) and any(map(str.isdigit, parts))
    cycle = len(parts) >= 2 and parts[0] in words.CYCLES
    reported = len(parts) >= 3 and any(part in words.REPORT_WORDS for part in parts)
    return "generated_phrase_slug" if len(parts) >= 6 or dated or cycle or reported else None


def _generics(candidate: _Candidate) -> str | None:
    parts = candidate.parts
    if parts[0] in words.ARTICLES or all(_is_generic(part) for part in parts):
        return _generic(candidate)
    if candidate.is_person:
        return None
    acts = parts[0] in words.ACTION_VERBS or (len(parts) > 1 and _is_past(parts[0]))
    return _generic(candidate) if acts else None


def _not_letters(candidate: _Candidate) -> str | None:
    if not candidate.is_person or all(map(_is_letters, candidate.parts)):
        return None
    return "non_name_people_slug"


def _not_names(candidate: _Candidate) -> str | None:
    if not candidate.is_person:
        return None
    parts = candidate.parts
    named = parts[1:] if parts[0] in AMBIGUOUS_NAMES and len(parts) > 1 else parts
    return _generic(candidate) if any(map(_is_no_name, named)) else None


def _not_name_shaped(candidate: _Candidate) -> str | None:
    if not candidate.is_person:
        return None
    match candidate.parts:
        case [_]:
            shaped = True
        case [first, last]:
            shaped = first != last
        case [first, middle, last]:
            linked = len(middle) == 1 or middle in words.PARTICLES or is_given_name(middle)
            shaped = linked and first != last
        case _:
            shaped = False
    return None if shaped else "non_name_people_slug"


def _products(candidate: _Candidate) -> str | None:
    if not candidate.is_person:
        return None
    parts = candidate.parts
    named = candidate.hinted and len(parts) == 1 and not is_given_name(candidate.slug)
    suffixed = _has_product_suffix(parts[-1])
    if _is_camel(candidate.value) or suffixed or named:
        return "tool_or_organization_looking_people"
    return None


_RULES: Sequence[Callable[[_Candidate], str | None]] = (
    _escapes,
    _counts,
    _lone_words,
    _fragments,
    _code,
    _phrases,
    _generics,
    _not_letters,
    _not_names,
    _not_name_shaped,
    _products,
)


def _generic(candidate: _Candidate) -> str:
    return "low_signal_people_slug" if candidate.is_person else "generic_entity_slug"


def _is_generic(part: str) -> bool:
    return part in words.GENERIC or (part.endswith("s") and part[:-1] in words.GENERIC)


def _is_no_name(part: str) -> bool:
    if is_given_name(part):
        return False
    lists = (words.ACTION_VERBS, words.REPORT_WORDS, words.STRONG_CODE, words.TECH_NOUNS, words.EVERYDAY)
    weak = len(part) > 1 and part in words.WEAK_CODE
    return weak or _is_generic(part) or _is_past(part) or any(part in listed for listed in lists)


def _is_past(word: str) -> bool:
    return word.endswith(("ed", "ing")) and _is_form_of(word, words.ACTION_VERBS)


def _is_form_of(word: str, verbs: frozenset[str]) -> bool:
    """Tell whether a word is a verb's base, -s, -ed, -d, -ing or -ied form."""
    stems = {word}
    for ending, repairs in (("s", ("",)), ("es", ("",)), ("ed", ("", "e")), ("ing", ("", "e"))):
        if word.endswith(ending):
            stem = word[: -len(ending)]
            stems |= {stem + repair for repair in repairs}
            stems |= {stem[:-1]} if len(stem) > 2 and stem[-1] == stem[-2] else set()
    if word.endswith("ied"):
        stems.add(f"{word[:-3]}y")
    return bool(stems & verbs)


def _is_letters(part: str) -> bool:
    return not any(sign.isdigit() for sign in part)


def _is_camel(value: str) -> bool:
    return bool(_CAMEL.search(_FAMILY_PREFIX.sub("", value)))


def _has_product_suffix(part: str) -> bool:
    if is_given_name(part):
        return False
    return any(
        part == suffix or (len(suffix) > 2 and part.endswith(suffix)) for suffix in words.PRODUCT_SUFFIXES
    )
