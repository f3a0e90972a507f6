"""What memories of one type have in common (background.md 2 step 3)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from automem.entities.words import SEARCH_STOPS
from automem.stores.patterns import PatternStore, Sighting
from automem.utils.clock import IdSource

SIMILAR_LIMIT = 10
SIMILAR_NEEDED = 3
KEY_TERMS = 5

# Letters of every script with the marks that belong to them; longer runs are no words (of a script
# without blanks, or a code).
_WORD = re.compile(
    r"(?:[^\W\d_]|[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0971-\u0dff])+"
)
_WORD_LENGTHS = range(4, 41)


@dataclass(frozen=True, slots=True)
class Classified:
    """A memory with the type that its text has, and how sure that is, 0 to 1."""

    memory_id: str
    content: str
    type: str
    confidence: float


@dataclass(frozen=True, slots=True)
class PatternFound:
    """A pattern that a memory exemplifies, as ``metadata.enrichment`` tells it.

    :param similar_memories: how many others of the type were looked at.
    """

    type: str
    similar_memories: int
    key_terms: tuple[str, ...]


def detect(
    graph: PatternStore, memories: Sequence[Classified], ids: IdSource, at: str
) -> dict[str, PatternFound]:
    """Find which memories exemplify the pattern of their type, by id, and record it.

    That takes three others of the type with a confidence above 0.5. Doing it again for the same memories
    counts nothing twice; memories whose type has changed leave the pattern of the old one. Three or four
    queries, whatever the number of memories. Raises ``GraphUnavailable``.
    """
    graph.leave_patterns({memory.memory_id: memory.type for memory in memories})
    types = list(dict.fromkeys(memory.type for memory in memories if memory.type))
    typical = graph.typical(types, SIMILAR_LIMIT + 1)
    words = _Words()
    found: dict[str, PatternFound] = {}
    sightings: list[Sighting] = []
    for name, similar in typical.items():
        own = [memory for memory in memories if memory.type == name]
        seen = {memory.memory_id: _compare(memory, similar, words) for memory in own}
        there = {memory_id: pattern for memory_id, pattern in seen.items() if pattern is not None}
        found |= there
        sightings += _sightings(own, there, ids)
    graph.exemplify(sightings, at)
    return found


def key_terms(texts: Iterable[Mapping[str, int]]) -> tuple[str, ...]:
    """Give the most frequent words of several texts; at equal numbers the first to appear."""
    total: Counter[str] = Counter()
    for counts in texts:
        total.update(counts)
    return tuple(word for word, _ in total.most_common(KEY_TERMS))


def count_words(text: str) -> Counter[str]:
    """Count the words of at least four letters, lower-case, without stop words, as they appear."""
    words = _WORD.findall(unicodedata.normalize("NFC", text).lower())
    return Counter(word for word in words if len(word) in _WORD_LENGTHS and word not in SEARCH_STOPS)


class _Words:
    """Counts the words of each memory once, however many others look at it."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}

    def of(self, memory_id: str, text: str) -> Counter[str]:
        if memory_id not in self._counts:
            self._counts[memory_id] = count_words(text)
        return self._counts[memory_id]


def _compare(memory: Classified, similar: Sequence[tuple[str, str]], words: _Words) -> PatternFound | None:
    others = [pair for pair in similar if pair[0] != memory.memory_id][:SIMILAR_LIMIT]
    if len(others) < SIMILAR_NEEDED:
        return None
    texts = [(memory.memory_id, memory.content), *others]
    return PatternFound(memory.type, len(others), key_terms(words.of(*each) for each in texts))


def _sightings(own: Sequence[Classified], found: Mapping[str, PatternFound], ids: IdSource) -> list[Sighting]:
    """Give what to record of one type: the last memory's words stand on the pattern, as one by one."""
    members = {memory.memory_id: memory.confidence for memory in own if memory.memory_id in found}
    if not members:
        return []
    last = list(found.values())[-1]
    sighting_id = f"pattern-{last.type}-{ids.new_id()[:8]}"
    return [Sighting(last.type, sighting_id, _description(last), last.key_terms, members)]


def _description(pattern: PatternFound) -> str:
    text = f"Pattern across {pattern.similar_memories + 1} {pattern.type} memories"
    return f"{text} highlighting {', '.join(pattern.key_terms)}" if pattern.key_terms else text
