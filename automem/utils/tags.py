"""Tags: reading, canonical form, prefixes and matching by whole segments.

Stored tags keep the client's case. All comparing is done on canonical tags.

Sources: contract README D5, D12 and D27, recall.md 8, memory-api.md 0.4.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Literal

TagMatch = Literal["prefix", "exact"]
TagMode = Literal["any", "all"]

INVALID_TAGS = "'tags' must be a list of strings or a single string"

_SEPARATORS = re.compile("[:/]")


def split_list(values: Iterable[str]) -> list[str]:
    """Read a list parameter: repeated and comma-separated forms mean the same (D5).

    Pieces are trimmed; blanks and exact duplicates are dropped; order is kept. A
    single string counts as one value.
    """
    texts = [values] if isinstance(values, str) else values
    pieces = (piece.strip() for text in texts for piece in text.split(","))
    return list(dict.fromkeys(piece for piece in pieces if piece))


def clean_tags(value: object) -> list[str]:
    """Read the `tags` of a request body in the client's case (D5, D27).

    None is an empty list. A string and the elements of a list are split as
    `split_list` does.

    :raises ValueError: for another type, or an element that is no string.
    """
    if value is None:
        return []
    if isinstance(value, str):
        return split_list([value])
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise ValueError(INVALID_TAGS)
    return split_list(value)


def canonical_tag(tag: str) -> str:
    """Give the form in which tags are compared: NFKC, case-folded, joined by `:`.

    `/` counts as `:`, segments are trimmed and empty ones dropped, so that `slack:`
    is `slack`. Text without any segment gives ''.
    """
    return ":".join(_segments(tag))


def tag_prefixes(tags: Iterable[str]) -> list[str]:
    """Give the growing joins of every tag's segments, each once, in order.

    `One:Two/Three` gives `one`, `one:two`, `one:two:three` (memory-api.md 0.4).
    """
    prefixes: dict[str, None] = {}
    for tag in tags:
        segments = _segments(tag)
        for end in range(1, len(segments) + 1):
            prefixes[":".join(segments[:end])] = None
    return list(prefixes)


def tag_matches(tag: str, wanted: str, match: TagMatch) -> bool:
    """Tell whether a stored tag is the wanted one or, by prefix, lies below it.

    Whole segments count: `sla` does not find `slack`. A wanted tag without any
    segment finds nothing.
    """
    have, want = canonical_tag(tag), canonical_tag(wanted)
    if not want:
        return False
    return have == want or (match == "prefix" and have.startswith(f"{want}:"))


def tags_match(tags: Iterable[str], wanted: Iterable[str], mode: TagMode, match: TagMatch) -> bool:
    """Tell whether tags pass a filter (recall.md 8.2); no wanted tag is no filter."""
    stored = list(tags)
    found = [any(tag_matches(tag, want, match) for tag in stored) for want in wanted]
    if not found:
        return True
    return all(found) if mode == "all" else any(found)


def tags_excluded(tags: Iterable[str], excluded: Iterable[str], match: TagMatch) -> bool:
    """Tell whether any tag matches any excluded one; nothing excluded is False (D5)."""
    unwanted = list(excluded)
    return any(tag_matches(tag, out, match) for tag in tags for out in unwanted)


def parse_entity_tag(tag: str) -> tuple[str, str] | None:
    """Read `entity:<type>:<slug>` as (type, slug), canonical; None for other tags."""
    match _segments(tag):
        case ["entity", kind, slug]:
            return kind, slug
        case _:
            return None


def slugify(name: str) -> str:
    """Give a name's slug: folded, every run of other signs one `-`, none outside.

    Letters, digits and their marks of every script are kept (D10); on ASCII this is
    the rule of background.md 1. A name without any gives ''.
    """
    kept = (sign if _is_word_sign(sign) else " " for sign in _fold(name))
    words = "".join(kept).split()
    return "-".join(word for word in words if any(map(str.isalnum, word)))


def _segments(tag: str) -> list[str]:
    pieces = (piece.strip() for piece in _SEPARATORS.split(_fold(tag)))
    return [piece for piece in pieces if piece]


def _fold(text: str) -> str:
    """Fold case and compatibility forms, stable when applied again."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", folded)


def _is_word_sign(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "LMN"
