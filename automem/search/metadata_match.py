"""The metadata sidecar: which fields of metadata a query asks for, and how well (recall.md 5). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from automem.search.runtime_keywords import MAX_GRAMS, exactly
from automem.utils.text import META_WORD, Analyzer, Token, encode, fold, pairs, tokens

_SEARCHABLE_TEXT = """
source source_agent source_agents repo project tool surface applies_to trigger provider model
entities
"""
_SEARCHABLE = frozenset(_SEARCHABLE_TEXT.split())
_FIELD_WORDS_TEXT = """
agent agents applies apply entities entity metadata model project provider repo repository source
surface tool trigger
"""
_FIELD_WORDS = frozenset(_FIELD_WORDS_TEXT.split())
_QUERY_STOPWORDS_TEXT = """
about all any by find for from in me memories memory of on please show that the to with
"""
_QUERY_STOPWORDS = frozenset(_QUERY_STOPWORDS_TEXT.split())
_PHRASE_ALIASES = (
    ("source agent", ("source_agent", "source_agents")),
    ("source agents", ("source_agent", "source_agents")),
    ("applies to", ("applies_to",)),
    ("apply to", ("applies_to",)),
)
_WORD_ALIASES = {
    "source": "source",
    "repo": "repo",
    "repository": "repo",
    "project": "project",
    "tool": "tool",
    "surface": "surface",
    "trigger": "trigger",
    "provider": "provider",
    "model": "model",
    "entity": "entities",
    "entities": "entities",
}
_AGENT_FIELDS = frozenset({"source_agent", "source_agents"})
_MAX_TERMS = 12
_MAX_VALUE = 96
_MAX_LIST = 12


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query as the sidecar reads it: its normal form, telling words and the fields it names."""

    normal: str
    words: frozenset[str]
    fields: frozenset[str]

    def requests(self, field: str) -> bool:
        base = field.partition(".")[0]
        return base in self.fields or (base in _AGENT_FIELDS and bool(self.fields & _AGENT_FIELDS))


def metadata_terms_query(query: str) -> str:
    """Write the index query for memories whose metadata holds a telling word; '' when none tells."""
    analyzer = Analyzer()
    telling = (token for token in tokens(query) if _tells(token.text, shortest=2))
    terms = dict.fromkeys(_term(token, analyzer) for token in telling)
    return "|".join(list(terms)[:_MAX_TERMS])


def _term(token: Token, analyzer: Analyzer) -> str:
    if not token.gram:
        return exactly(META_WORD + encode(analyzer.stem(token.text)))
    codes = [exactly(META_WORD + encode(pair)) for pair in pairs(token.text)[:MAX_GRAMS]]
    return f"({' '.join(codes)})"


def metadata_score(query: str, metadata: Mapping[str, Any]) -> float:
    """Give the best score of any searchable value, 0..1; 0 where the evidence is too weak."""
    if not metadata:
        return 0.0
    normal = _normal(query)
    words = frozenset(word for word in normal.split() if _tells(word, shortest=3))
    if not words:
        return 0.0
    asked = _Asked(normal, words, _asked_fields(normal))
    return max((_value_score(field, value, asked) for field, value in _values(metadata)), default=0.0)


def _tells(word: str, shortest: int) -> bool:
    return len(word) >= shortest and word not in _FIELD_WORDS and word not in _QUERY_STOPWORDS


def _normal(text: str) -> str:
    """Give the words of a text in one line, folded, parted by single blanks."""
    return " ".join(re.findall(r"[^\W_]+", fold(text)))


def _asked_fields(normal: str) -> frozenset[str]:
    framed = f" {normal} "
    fields = {field for phrase, named in _PHRASE_ALIASES if f" {phrase} " in framed for field in named}
    words = set(normal.split())
    if fields & _AGENT_FIELDS:
        words.discard("source")
    return frozenset(fields | {_WORD_ALIASES[word] for word in words if word in _WORD_ALIASES})


def _values(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Walk the searchable values as (field, text); people among the entities are left out."""
    for field in sorted(_SEARCHABLE & metadata.keys()):
        value = metadata[field]
        if field == "entities" and isinstance(value, Mapping):
            for category, names in value.items():
                if category != "people":
                    yield from ((f"entities.{category}", text) for text in _texts(names))
        else:
            yield from ((field, text) for text in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list) and len(value) <= _MAX_LIST:
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        text = str(value).strip()
        if 0 < len(text) <= _MAX_VALUE:
            yield text


def _value_score(field: str, value: str, asked: _Asked) -> float:
    normal = _normal(value)
    words = frozenset(normal.split())
    hits = asked.words & words
    if not hits:
        return 0.0
    exact = f" {normal} " in f" {asked.normal} "
    requested = bool(asked.fields) and asked.requests(field)
    if _is_refused(field, words, hits, exact, asked):
        return 0.0
    score = 0.15 + 0.45 * len(hits) / len(words) + 0.20 * len(hits) / len(asked.words)
    score = min(1.0, score + (0.15 if exact else 0.0) + (0.20 if requested else 0.0))
    return score * 0.6 if asked.fields and not requested else score


def _is_refused(field: str, words: frozenset[str], hits: frozenset[str], exact: bool, asked: _Asked) -> bool:
    requested = asked.requests(field)
    if field.startswith("entities.") and "entities" not in asked.fields:
        return True
    if field == "repo" and requested and not exact and asked.words - words:
        return True
    if asked.fields and not requested and len(hits) < 2:
        return True
    return not _is_strong(words, hits, exact, requested, asked)


def _is_strong(
    words: frozenset[str], hits: frozenset[str], exact: bool, requested: bool, asked: _Asked
) -> bool:
    if len(hits) >= 2:
        return len(words) > 1
    length = len(next(iter(hits)))
    if requested:
        return exact or length >= 5
    return length >= 5 and exact and len(asked.words) <= 3
