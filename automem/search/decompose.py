"""Splitting one question into several (recall.md 1.4). Pure; order is that of first appearance."""

from __future__ import annotations

import re

_ENTITY_STOP_TEXT = """
According African American Answer April Are Asian August Based Because Been Being Can Could December Did
Do Does European February Friday Had Has Have How Is January July June Likely March May Monday National No
November October Saturday September Should Since Sunday The Thursday Tuesday Was Wednesday Were What When
Where Which Who Whose Why Will Would Yes
"""
_ENTITY_STOPLIST = frozenset(_ENTITY_STOP_TEXT.split())
_TOPIC_SKIP_TEXT = """
a about all an and any are as at be been being but by can considered could did does ever for had has have
he her him his how if in interested is it its like likely may might more most of on only or possibly prefer
probably pursue she should some still that the their them these they this those to want was were what when
where which who whom whose why will with would
"""
_TOPIC_SKIPLIST = frozenset(_TOPIC_SKIP_TEXT.split())
_CAREER_TOPICS = frozenset({"career", "work"})
_MAX_ENTITIES = 2
_MAX_TOPICS = 5
_TOPICS_PER_ENTITY = 3

_POSSESSIVE = re.compile(r"\b([A-Z][a-z]+)['’]s\b")
_TOPIC = re.compile(r"\b[a-z]{4,}\b", re.ASCII)
_NON_WORD = re.compile(r"\W")


def query_entities(query: str) -> list[str]:
    """Give the names in a question: capitalised words inside a sentence, and possessives anywhere."""
    words = query.split()
    inside = [
        _NON_WORD.sub("", word)
        for before, word in zip(words, words[1:], strict=False)
        if not before.endswith((".", "?", "!")) and "'s" not in word and "’s" not in word
    ]
    names = [word for word in inside if _is_name(word)]
    names += [name for name in _POSSESSIVE.findall(query) if name not in _ENTITY_STOPLIST]
    return list(dict.fromkeys(names))


def _is_name(word: str) -> bool:
    named = len(word) >= 2 and word[0].isupper() and word[1:].islower()
    return named and word not in _ENTITY_STOPLIST


def query_topics(query: str, entities: list[str]) -> list[str]:
    """Give up to five telling words of four letters or more that name none of the entities."""
    names = {entity.lower() for entity in entities}
    words = dict.fromkeys(_TOPIC.findall(query.lower()))
    return [word for word in words if word not in _TOPIC_SKIPLIST and word not in names][:_MAX_TOPICS]


def decompose(query: str) -> list[str]:
    """Give the further questions to run beside ``query``; empty when it has no names and no topics."""
    entities = query_entities(query)
    topics = query_topics(query, entities)
    if not entities:
        return topics[:_TOPICS_PER_ENTITY]
    parts: list[str] = []
    for entity in entities[:_MAX_ENTITIES]:
        parts += [entity, *(f"{entity} {topic}" for topic in topics[:_TOPICS_PER_ENTITY])]
        if _CAREER_TOPICS & set(topics):
            parts.append(f"{entity} interests goals plans")
    return parts
