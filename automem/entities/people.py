"""People in a text, by the words around them and by common given names (background.md 3.1 b). Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from automem.entities import words
from automem.entities.names import AMBIGUOUS_NAMES
from automem.entities.reading import (
    NAME,
    Candidate,
    Reading,
    Word,
    is_everyday,
    is_known_tool,
    without_possessive,
)
from automem.entities.validator import is_given_name

_NO_FAMILY = ("tion", "tions", "ment", "ments", "ness", "ology")
_SENTENCE_END = re.compile(r"[.!?\n]")
_WINDOW = 200
_SHAPE = re.compile(NAME)
_TWO = rf"({NAME}(?:[ ]{NAME})?)"
_RELATIVE = (
    r"(?:sister|brother|mother|father|mom|mum|dad|wife|husband|son|daughter|cousin|aunt|uncle|niece|nephew|"
    r"grandmother|grandfather|grandma|grandpa|partner|fianc[ée]e?|girlfriend|boyfriend|friend|colleague|"
    r"co-?worker|boss|manager|neighbou?r|roommate|teacher|doctor|therapist|mentor|teammate|supervisor|tutor)"
)
_ASPECT = r"(?: (?:already|also|just|never|now|often|really|still))?"

_AFTER = re.compile(
    r"\b(?:[Mm]et(?: with)?|[Mm]eeting with|[Tt]alk(?:ed|ing)? (?:to|with)|"
    r"[Ss]p(?:oke|eak|eaking|oken) (?:to|with)|told|asked|emailed|interviewed|married|hired) " + _TWO
)
_WITH = re.compile(r"\b[Ww]ith " + _TWO)
_RELATION = re.compile(
    rf"\b{_RELATIVE}s?(?:,? (?:is|was|are|named|called|name is|is called|is named|was called))?,? {_TWO}"
)
_RELATION_OF = re.compile(rf"{_TWO}['’]s? (?:\w{{1,20}} )?{_RELATIVE}\b")
_IS_RELATION = re.compile(
    rf"{_TWO},? (?:is|was) (?:my|our|his|her|their|{NAME}['’]s) (?:\w{{1,20}} )?{_RELATIVE}\b"
)
_CALLED = re.compile(rf"\b(?:[Mm]y|[Hh]is|[Hh]er|[Tt]heir) name(?:['’]s| is| was) {_TWO}")
_TITLED = re.compile(
    rf"\b(?:Dr|Mr|Mrs|Ms|Prof|Professor|Doctor|Frau|Herrn?|Madame|Monsieur|Mme|[Ss]eñora?)\.? {_TWO}"
)
_I_AM = re.compile(rf"\bI(?:['’]m| am) (?:({NAME} {NAME})\b|({NAME})(?=, (?:an?|the|your|from)\b))")
_SPEAKER = re.compile(rf"(?m)^[ \t]*\[?{_TWO}\]?: ")
_GREETED = re.compile(rf"\b(?:[Hh]ey|Hi|Hello|Thanks|Thank you|Dear|Bye|Congrats),? ({NAME})(?=[!,.?\n])")
_VERB = re.compile(
    rf"{_TWO}{_ASPECT} (?:said|says|told|asked|thinks|wants|likes|loves|prefers|works|worked|lives|lived|"
    r"moved|mentioned|suggested|joined|married|studied|plays|enjoys|agreed|replied|believes|hates)\b"
)
_RULES: Sequence[re.Pattern[str]] = (
    _AFTER,
    _RELATION,
    _RELATION_OF,
    _IS_RELATION,
    _CALLED,
    _TITLED,
    _GREETED,
    _VERB,
)


def people(reading: Reading) -> Iterator[Candidate]:
    """Find people; the same one may come several times."""
    for match in _WITH.finditer(reading.text):
        if is_given_name(match.group(1).split()[0]):
            yield from _person(reading, match.group(1))
    for rule in _RULES:
        for match in rule.finditer(reading.text):
            yield from _person(reading, match.group(1))
    for match in _I_AM.finditer(reading.text):
        yield from _person(reading, match.group(1) or match.group(2))
    yield from _speakers(reading)
    yield from _by_given_name(reading)


def _speakers(reading: Reading) -> Iterator[Candidate]:
    """Find who speaks more than once, for a single label may as well be a heading."""
    counts = Counter(match.group(1) for match in _SPEAKER.finditer(reading.text))
    for name, count in counts.items():
        if count > 1:
            yield from _person(reading, name)


def _by_given_name(reading: Reading) -> Iterator[Candidate]:
    """Find capitalised given names, each with the family name behind it."""
    taken = 0
    for index, word in enumerate(reading.words):
        if index < taken or not _is_given(word) or _is_no_name_here(reading, index):
            continue
        last = _last_of_name(reading, index)
        if word.plain.lower() in AMBIGUOUS_NAMES and not _has_family_name(reading, index, last):
            continue
        taken = last + 1
        yield "people", reading.text[word.start : reading.words[last].plain_end]


def _is_given(word: Word) -> bool:
    if not word.capital or word.text.isupper():
        return False
    return is_given_name(word.plain) or word.plain.lower() in AMBIGUOUS_NAMES


def _person(reading: Reading, name: str) -> Iterator[Candidate]:
    """Give a name of one or two words without those that are no part of one."""
    parts = [part for part in name.split() if part.lower() not in words.TITLES]
    kept = [part for part in parts if _may_be_part(part)]
    if not kept or kept[0] != parts[0]:
        return
    if any(map(is_given_name, kept)) or not any(map(reading.is_word, kept)):
        yield "people", without_possessive(" ".join(kept))


def _may_be_part(word: str) -> bool:
    return word[0].isupper() and not word.isupper() and (is_given_name(word) or not is_everyday(word))


def _is_no_name_here(reading: Reading, index: int) -> bool:
    return _is_date(reading, index) or _is_part(reading, index) or _asks(reading, index)


def _asks(reading: Reading, index: int) -> bool:
    """Tell the verb of a question, like "Will Sarah come?", from a name."""
    word = reading.words[index]
    sentence_end = _SENTENCE_END.search(reading.text, word.end, word.end + _WINDOW)
    return word.begins and word.text == "Will" and sentence_end is not None and sentence_end.group() == "?"


def _is_date(reading: Reading, index: int) -> bool:
    """Tell a month, like Jan, from a name."""
    following = reading.words[index + 1 : index + 2]
    month = reading.words[index].plain.lower() in words.MONTHS
    return month and bool(following) and following[0].text[0].isdigit()


def _is_part(reading: Reading, index: int) -> bool:
    """Tell whether a given name goes on with another name, as in Times New Roman."""
    if not index or reading.words[index].begins or reading.gap(index - 1) != " ":
        return False
    before = reading.words[index - 1]
    if not before.capital or before.begins or before.text != before.plain:
        return False
    low = before.text.lower()
    return low not in words.EVERYDAY and low not in words.MONTHS and low not in words.TITLES


def _last_of_name(reading: Reading, index: int) -> int:
    """Give the place of the last word of a name of four words at most."""
    last = index
    while last + 1 < len(reading.words) and last < index + 3 and _continues(reading, last):
        last += 1
    if last > index and reading.words[last].plain.lower() in words.PARTICLES:
        return index
    return last


def _continues(reading: Reading, index: int) -> bool:
    """Tell whether the next word goes on with the name that this one is part of."""
    word, following = reading.words[index], reading.words[index + 1]
    initial = len(word.plain) == 1 and reading.gap(index) == ". "
    apart = reading.gap(index) != " " or word.text != word.plain or following.begins
    if apart and not initial:
        return False
    if following.plain.lower() in words.PARTICLES and not following.capital:
        return True
    return _is_surname(following)


def _has_family_name(reading: Reading, index: int, last: int) -> bool:
    name = reading.words[last].plain
    return last > index and (is_given_name(name) or not reading.is_word(name))


def _is_surname(word: Word) -> bool:
    name = word.plain
    initial = len(name) == 1 and name.isupper()
    if not initial and (not _SHAPE.fullmatch(name) or name.isupper() or not word.capital):
        return False
    if is_given_name(name):
        return True
    return not (is_everyday(name) or is_known_tool(name) or name.endswith(_NO_FAMILY))
