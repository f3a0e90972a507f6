"""Names that a text may mean as entities, found by rules (background.md 3.1). Pure, in linear time.

What is found here is judged by ``validator.py`` afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from automem.entities import words
from automem.entities.technology import ALWAYS_TOOLS, CAPITALISED_TOOLS, ORGANIZATION_SUFFIXES
from automem.entities.validator import is_given_name
from automem.utils.tags import slugify

Candidate = tuple[str, str]
"""A category and a name as it was written."""

_TOKEN = re.compile(r"[^\W_](?:[\w'’.+#-]{0,62}[\w'’+#])?")
_SENTENCE_END = re.compile(r"[.!?:;\n]|^\s*[-*#>]")

_NAME = r"[^\W\d_a-z][^\W\d_]{1,30}"
_PEOPLE_AFTER = re.compile(
    r"\b(?:[Ww]ith|[Tt]alk(?:ed|ing)? (?:to|with)|[Ss]p(?:oke|eak|eaking|oken) (?:to|with)|[Mm]et|[Mm]eeting|"
    r"[Cc]alled|[Ee]mailed|[Tt]old|[Aa]sked|[Vv]isited|[Ii]nterviewed|[Mm]arried|[Hh]ired) "
    rf"({_NAME}(?:[ ]{_NAME})?)"
)
_RELATIVE = (
    r"(?:sister|brother|mother|father|mom|mum|dad|wife|husband|son|daughter|cousin|aunt|uncle|niece|nephew|"
    r"grandmother|grandfather|grandma|grandpa|partner|fianc[ée]e?|girlfriend|boyfriend|friend|colleague|"
    r"co-?worker|boss|manager|neighbou?r|roommate|teacher|doctor|therapist|mentor|teammate)"
)
_RELATION = re.compile(
    rf"\b{_RELATIVE}s?(?:,? (?:is|was|are|named|called|name is|is called|is named|was called))?,? "
    rf"({_NAME}(?:[ ]{_NAME})?)"
)
_RELATION_OF = re.compile(rf"({_NAME}(?:[ ]{_NAME})?)['’]s (?:\w{{1,20}} )?{_RELATIVE}\b")
_IS_RELATION = re.compile(
    rf"({_NAME}(?:[ ]{_NAME})?),? (?:is|was) (?:my|our|his|her|their|{_NAME}['’]s) "
    rf"(?:\w{{1,20}} )?{_RELATIVE}\b"
)
_TITLED = re.compile(rf"\b(?:Dr|Mr|Mrs|Ms|Prof|Professor|Doctor)\.? ({_NAME}(?:[ ]{_NAME})?)")
_SPEAKER = re.compile(rf"(?m)^[ \t]*\[?({_NAME}(?:[ ]{_NAME})?)\]?: ")
_PERSON_VERB = re.compile(
    rf"({_NAME}(?:[ ]{_NAME})?) (?:said|says|told|asked|thinks|wants|likes|loves|prefers|works|lives|moved|"
    r"mentioned|suggested|joined|married|studies|studied|plays|enjoys|agreed|replied|believes|hates)\b"
)

_TOOL_AFTER = re.compile(r"(?i:\b(?:us(?:e|es|ed|ing)|deploy(?:s|ed|ing)?|with|via)) +`?([\w-]{2,60})")
_TOOL_BEFORE = re.compile(r"(?<![\w-])([\w-]{2,60})[ ]+(?i:vs\.?|versus|over|instead of)[ ]+(?=[^\W\d_a-z])")
_BACKTICKS = re.compile(r"`([^`\n]{1,80})`")
_QUOTED_PROJECT = re.compile(
    r"(?i:\b(?:project|repository|repo)(?: (?:called|named))?) +[\"“]([^\"”\n]{1,80})[\"”]"
)
_NAMED_PROJECT = re.compile(r"\bProject +([^\W\d_a-z][\w-]{1,60})")
_PROJECT_COLON = re.compile(r"(?i:\bproject): *([A-Za-z0-9-]{2,60})")

_EMPLOYER = re.compile(
    r"\b(?:works?|worked|working|job|position|intern(?:s|ed|ing)?|employed|engineer|nurse|manager) "
    rf"(?:at|for|by) ({_NAME}(?:[ ]{_NAME}){{0,3}})"
)
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2,}[a-z]")


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
        return re.sub(r"['’]s?$", "", self.text)

    @property
    def capital(self) -> bool:
        return self.text[:1].isupper()


def split_words(text: str) -> list[Word]:
    """Cut a text into words."""
    found: list[Word] = []
    last = 0
    for match in _TOKEN.finditer(text):
        gap = text[last : match.start()]
        begins = not found or bool(_SENTENCE_END.search(gap)) or found[-1].text.endswith(".")
        found.append(Word(match.group().rstrip("."), match.start(), match.end(), begins))
        last = match.end()
    return found


def people(text: str, found: list[Word]) -> Iterator[Candidate]:
    """Find people by the words around them, and by common given names."""
    for rule in (_PEOPLE_AFTER, _RELATION, _RELATION_OF, _IS_RELATION, _TITLED, _SPEAKER, _PERSON_VERB):
        for match in rule.finditer(text):
            yield from _person(match.group(1))
    for index, word in enumerate(found):
        if word.capital and not word.text.isupper() and is_given_name(word.plain):
            yield "people", _full_name(text, found, index)


def tools(text: str, found: list[Word]) -> Iterator[Candidate]:
    """Find tools by the words around them, by name, and by the capitals inside."""
    for rule in (_TOOL_AFTER, _TOOL_BEFORE):
        for match in rule.finditer(text):
            if admits(match.group(1)) and not _is_everyday(match.group(1)):
                yield "tools", match.group(1)
    for word in found:
        name = word.plain
        known = slugify(name)
        named = known in ALWAYS_TOOLS or (known in CAPITALISED_TOOLS and word.capital and not word.begins)
        if named or (_CAMEL.search(name) and word.capital and admits(name) and not name.isupper()):
            yield "tools", name


def projects(text: str) -> Iterator[Candidate]:
    """Find projects by how they are written or announced."""
    for rule in (_BACKTICKS, _QUOTED_PROJECT, _NAMED_PROJECT):
        for match in rule.finditer(text):
            if admits(match.group(1), most_words=4):
                yield "projects", match.group(1).strip()
    for match in _PROJECT_COLON.finditer(text):
        if admits(match.group(1), lower_case=True):
            yield "projects", match.group(1)


def organizations(text: str, found: list[Word]) -> Iterator[Candidate]:
    """Find organizations by their last word, and employers by what is said of them."""
    for index, word in enumerate(found):
        if index and word.capital and word.plain.lower() in ORGANIZATION_SUFFIXES:
            first = _run_begin(text, found, index)
            if first < index:
                yield "organizations", text[found[first].start : word.start + len(word.plain)]
    for match in _EMPLOYER.finditer(text):
        yield "organizations", match.group(1)


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


def _person(name: str) -> Iterator[Candidate]:
    """Give a name of one or two words without those that are no part of one."""
    kept = [part for part in name.split() if part.lower() not in words.EVERYDAY and not part.isupper()]
    if kept and name.startswith(kept[0]):
        yield "people", re.sub(r"['’]s?$", "", " ".join(kept))


def _full_name(text: str, found: list[Word], index: int) -> str:
    """Give a given name with the family name behind it, if one follows directly."""
    last = index
    while last + 1 < len(found) and last < index + 2 and _continues(text, found[last], found[last + 1]):
        last += 1
    if last > index and found[last].plain.lower() in words.PARTICLES:
        last = index
    return text[found[index].start : found[last].start + len(found[last].plain)]


def _continues(text: str, word: Word, following: Word) -> bool:
    """Tell whether the second word goes on with the name that the first is part of."""
    if text[word.end : following.start] not in (" ", ". ") or word.text != word.plain:
        return False
    low = following.plain.lower()
    if low in words.PARTICLES and not following.capital:
        return True
    shaped = following.plain.isalpha() and following.capital and not following.plain.isupper()
    return shaped and not _is_everyday(following.plain) and not is_given_name(low)


def _run_begin(text: str, found: list[Word], index: int) -> int:
    """Give the first of the capitalised words that stand directly before one, four at most."""
    first = index
    while first and first > index - 4:
        before = found[first - 1]
        if not before.capital or text[before.end : found[first].start] not in (" ", " & "):
            break
        if before.begins and _is_everyday(before.plain):
            break
        first -= 1
    return first


def _is_everyday(word: str) -> bool:
    low = word.lower()
    return low in words.EVERYDAY or low in words.MONTHS or low in words.GENERIC
