"""Keyword matching logic: what a query asks for, and what a memory holds of it (seed, D9, D10).

Candidates come from the full-text index by ``Keyword.index_query``. What a keyword is worth in a
memory is judged here on the memory's lexemes, the same for every arm that found it (D8).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from automem.utils.text import (
    PART,
    SECTION,
    STEM,
    TAG_WORD,
    WORD,
    Analyzer,
    Token,
    encode,
    fold,
    pairs,
    tokens,
)

MAX_KEYWORDS = 32
"""Longer queries are cut to their first words; a bound on the index query (documented)."""
MAX_PARTS = 8
"""Words of one identifier; a longer path is taken as several."""
MAX_GRAMS = 16
"""Pairs of a run of characters that choose candidates; the whole run is judged."""
PAIR_WEIGHT = 0.5
TAG_CREDIT = 0.5
REFERENCE_WORDS = 50
"""Texts up to this many words count as short. Measured flat from 40 to 80."""

# Function words of English: they match nearly everything and say nothing. Used only where the
# query has other words ("The Who" is still asked for by its words).
_STOPWORDS_TEXT = """
a about after all also am an and any are as at be because been before being but by can could did do
does doing done down during each else ever for from get gets getting got had has have having he her
hers him his how i if in into is it its itself just let like many may me might mine more most much
must my myself no nor not of off on once only or other our ours out over own please shall she should
so some such than that the their theirs them then there these they this those to too under until up
us very via was we were what when where whether which while who whom whose why will with would you
your yours
"""
STOPWORDS = frozenset(_STOPWORDS_TEXT.split())
# Between two words without a blank, these make one identifier of them: OPS-4711, snake_case, a.b.c.
_CONNECTOR = re.compile(r"[-_./:@\\&+#]{1,3}")


@dataclass(frozen=True, slots=True)
class Keyword:
    """One thing that a query asks for.

    ``text`` is how it is echoed. ``phrase`` is the run of stems that must stand in the lexemes,
    ``prefix`` the beginning of a word that also counts (empty where only whole words do), ``parts``
    the pieces and joined forms of identifiers that count too.
    ``whole`` is false for a part of an identifier or of a run of CJK characters.
    """

    text: str
    phrase: str
    prefix: str
    parts: tuple[str, ...]
    tag_phrase: str
    index_query: str
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Pair:
    """Two keywords that stand side by side in the query: the phrase part of the seed's table."""

    first: Keyword
    second: Keyword

    @property
    def phrase(self) -> str:
        return f"{self.first.phrase}{self.second.phrase[1:]}"

    @property
    def index_query(self) -> str:
        return f'"{self.phrase.strip()}"'


@dataclass(frozen=True, slots=True)
class Keywords:
    """All that a query asks for: its keywords and the pairs of neighbours among them."""

    items: tuple[Keyword, ...] = ()
    pairs: tuple[Pair, ...] = ()

    @property
    def echo(self) -> list[str]:
        """Give the keywords as the answer lists them (``keywords``, recall.md 2.1)."""
        return [keyword.text for keyword in self.items if keyword.whole]


@dataclass(frozen=True, slots=True)
class Rarity:
    """How common the keywords and pairs of a query are: memories that hold each, of ``total``."""

    total: int
    keywords: tuple[int, ...]
    pairs: tuple[int, ...]


def extract_keywords(query: str) -> Keywords:
    """Read a query: any punctuation is text, never syntax (D10)."""
    analyzer = Analyzer()
    text = query if query.isascii() else unicodedata.normalize("NFKC", query)
    groups = _identifiers(text, list(tokens(text)))
    telling = [index for index, group in enumerate(groups) if not _is_stopword(group)]
    read = {index: _group_keywords(groups[index], text, analyzer) for index in telling or range(len(groups))}
    found: dict[str, Keyword] = {}
    for keyword in (keyword for keywords in read.values() for keyword in keywords):
        found.setdefault(keyword.phrase, keyword)
    neighbours = [(read[i][0], read[i + 1][0]) for i in read if i + 1 in read]
    pairs_of = {pair.phrase: pair for pair in (Pair(*two) for two in neighbours)}
    return Keywords(tuple(found.values())[:MAX_KEYWORDS], tuple(pairs_of.values())[:MAX_KEYWORDS])


def _is_stopword(group: Sequence[Token]) -> bool:
    return len(group) == 1 and group[0].text in STOPWORDS


def _identifiers(text: str, words: Sequence[Token]) -> list[list[Token]]:
    """Group words that only connectors part: ``kx-ams-07b`` is one thing in three words."""
    groups: list[list[Token]] = []
    for word in words:
        gap = text[groups[-1][-1].end : word.start] if groups else " "
        open_group = groups and not groups[-1][-1].gram and len(groups[-1]) < MAX_PARTS
        if open_group and not word.gram and _CONNECTOR.fullmatch(gap):
            groups[-1].append(word)
        else:
            groups.append([word])
    return groups


def _group_keywords(group: Sequence[Token], text: str, analyzer: Analyzer) -> list[Keyword]:
    if len(group) == 1 and group[0].gram:
        return _gram_keywords(group[0].text)
    if len(group) == 1:
        return [_word_keyword(group[0], analyzer)]
    written = fold(text[group[0].start : group[-1].end])
    whole = _identifier_keyword(group, written, analyzer)
    parts = [replace(_word_keyword(word, analyzer), whole=False) for word in group if _worth_alone(word)]
    return [whole, *parts]


def _worth_alone(word: Token) -> bool:
    return len(word.text) > 1 and word.text not in STOPWORDS


def _word_keyword(word: Token, analyzer: Analyzer) -> Keyword:
    stem, code = encode(analyzer.stem(word.text)), encode(word.text)
    prefix = code if _has_prefix(word.text) else ""
    terms = [exactly(kind + stem) for kind in (STEM, PART, TAG_WORD)]
    if prefix:
        terms += [f"{WORD}{prefix}*", f"{TAG_WORD}{prefix}*"]
    if code != stem:
        terms.append(exactly(PART + code))
    return Keyword(
        text=word.text,
        phrase=_run(STEM, [stem]),
        prefix=f" {WORD}{prefix}" if prefix else "",
        parts=tuple(f" {PART}{piece} " for piece in dict.fromkeys((code, stem))),
        tag_phrase=f" {TAG_WORD}{stem} ",
        index_query=f"({'|'.join(terms)})",
    )


def _has_prefix(word: str) -> bool:
    """Say whether beginnings of words count: not ``go`` in ``good``, but ``k8`` in ``k8s``."""
    return word.isalnum() and (len(word) >= 3 or (len(word) == 2 and any(c.isdigit() for c in word)))


def _identifier_keyword(group: Sequence[Token], written: str, analyzer: Analyzer) -> Keyword:
    stems = [encode(analyzer.stem(word.text)) for word in group]
    joined = encode("".join(word.text for word in group))
    forms = (PART + joined, WORD + joined)
    every = " ".join(f"({exactly(STEM + stem)}|{exactly(TAG_WORD + stem)})" for stem in stems)
    return Keyword(
        text=written,
        phrase=_run(STEM, stems),
        prefix="",
        parts=tuple(f" {form} " for form in forms),
        tag_phrase=_run(TAG_WORD, stems),
        index_query=f"(({every})|{'|'.join(map(exactly, forms))})",
    )


def _gram_keywords(run: str) -> list[Keyword]:
    """Give the run as a whole and, of more than two characters, its pairs (found by substring)."""
    pieces = dict.fromkeys(pairs(run)) if len(run) > 2 else ()
    whole = _gram_keyword(run, whole=True)
    return [whole, *(_gram_keyword(piece, whole=False) for piece in pieces)]


def _gram_keyword(run: str, whole: bool) -> Keyword:
    stems = [encode(c) for c in run]
    codes = [encode(pair) for pair in pairs(run)]
    kinds = (PART, TAG_WORD) if len(run) > 1 else (STEM, TAG_WORD)
    every = " ".join(f"({'|'.join(exactly(kind + code) for kind in kinds)})" for code in codes[:MAX_GRAMS])
    return Keyword(run, _run(STEM, stems), "", (), _run(TAG_WORD, codes), f"({every})", whole)


def exactly(token: str) -> str:
    """Write a token for the index; unquoted it would be stemmed again there."""
    return f'"{token}"'


def _run(kind: str, codes: Sequence[str]) -> str:
    return f" {' '.join(kind + code for code in codes)} "


def _holds_in_content(keyword: Keyword, lexemes: str) -> bool:
    """Say whether it stands there as a whole word, by its stem, or as the beginning of a word."""
    pieces = (keyword.phrase, keyword.prefix, *keyword.parts)
    return any(piece and piece in lexemes for piece in pieces)


def _holds_in_tags(keyword: Keyword, lexemes: str) -> bool:
    prefix = keyword.prefix.replace(f" {WORD}", f" {TAG_WORD}", 1)
    return any(piece and piece in lexemes for piece in (keyword.tag_phrase, prefix))


def keyword_score(keywords: Keywords, rarity: Rarity, lexemes: str) -> float:
    """Give the share of what the query asks for that a memory holds, weighted by rarity: 0..1 (D9).

    The seed's points, content +2 and tag +1, count as 1 and 1/2 here; pairs of neighbouring words
    stand for its phrase. Each is weighted by ``surprise``. Words that no memory holds do not count
    against any. docs/retrieval.md tells what was compared.
    """
    length = word_count(lexemes)
    held = most = 0.0
    for keyword, count in zip(keywords.items, rarity.keywords, strict=True):
        if count:
            most += surprise(count, rarity.total)
            held += _keyword_worth(keyword, lexemes, count, rarity.total, length)
    known = dict(zip((keyword.phrase for keyword in keywords.items), rarity.keywords, strict=True))
    for pair, count in zip(keywords.pairs, rarity.pairs, strict=True):
        if count:
            counts = [known.get(word.phrase, count) or count for word in (pair.first, pair.second)]
            most += PAIR_WEIGHT * _mean_surprise(counts, rarity.total, 0)
            if pair.phrase in lexemes:
                held += PAIR_WEIGHT * _mean_surprise(counts, rarity.total, length)
    return min(1.0, held / most) if most > 0 else 0.0


def equal_rarity(keywords: Keywords) -> Rarity:
    """Take all words as equally rare, for when the store cannot be asked (D4)."""
    return Rarity(1_000, (1,) * len(keywords.items), (1,) * len(keywords.pairs))


def surprise(count: int, total: int, length: int = 0) -> float:
    """Give minus the logarithm of the chance that a text of ``length`` words holds, by chance, a word
    which ``count`` of ``total`` memories hold. Up to ``REFERENCE_WORDS`` words this is plain rarity;
    in longer texts common words fade while rare ones keep most of their worth."""
    rate = max(count, 0.5) / max(total, count, 1) * max(1.0, length / REFERENCE_WORDS)
    return -math.log(-math.expm1(-rate))


def _mean_surprise(counts: Sequence[int], total: int, length: int) -> float:
    return sum(surprise(count, total, length) for count in counts) / len(counts)


def _keyword_worth(keyword: Keyword, lexemes: str, count: int, total: int, length: int) -> float:
    if _holds_in_content(keyword, lexemes):
        return surprise(count, total, length)
    return TAG_CREDIT * surprise(count, total) if _holds_in_tags(keyword, lexemes) else 0.0


def word_count(lexemes: str) -> int:
    """Give the number of words of the analysed text."""
    end = lexemes.find(SECTION)
    return lexemes.count(" ", 0, end) if end > 0 else 0


def any_of(keywords: Sequence[Keyword]) -> str:
    """Write the index query that finds a memory with any of the keywords."""
    return "|".join(keyword.index_query for keyword in keywords)
