"""Tools, projects, organizations and concepts in a text (background.md 3.1 c, d). Pure, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from automem.entities import words
from automem.entities.reading import (
    NAME,
    Candidate,
    Reading,
    Word,
    admits,
    is_everyday,
    is_known_tool,
    looks_like_name,
)
from automem.entities.technology import (
    ALWAYS_TOOLS,
    CAPITALISED_TOOLS,
    CONCEPTS,
    ORGANIZATION_SUFFIXES,
    ORGANIZATIONS,
    PHRASE_BEGINNINGS,
    TOOL_PHRASES,
)
from automem.entities.validator import is_given_name

_TOOL_AFTER = re.compile(
    r"\b((?i:us(?:e|es|ed|ing)|deploy(?:s|ed|ing)?|via|(?:buil[dt]|building|deployed|deploy|integrat(?:e|es|ed|"
    r"ing)|written|implemented|made|runs?|running|works?|served|monitored|tested|packaged) with)) +"
    r"`?([\w-]{2,60})"
)
_TOOL_BEFORE = re.compile(r"(?<![\w-])([\w-]{2,60})[ ]+(?i:vs\.?|versus|over|instead of)[ ]+([\w-]{2,60})")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2,}[a-rt-z]")
_FAMILY_CAMEL = re.compile(rf"(?:{'|'.join(words.NAME_PREFIXES)})[A-Z][a-z]+")
_CODE_SIGNS = frozenset("<>(){}[]=_/\\@$`;\"'#")
_SHORTEST_PRODUCT = 4

_BACKTICKS = re.compile(r"`([^`\n]{1,80})`")
_MOST_SPANS = 3
"""A text with more backticks than this many pairs is about code, and what they hold is no project."""
_CODE_NOUN = re.compile(
    r" ?(?:>|(?:attribute|class|column|command|component|constructor|decorator|directive|element|endpoint|"
    r"enum|error|event|exception|field|file|flag|function|header|hook|import|instance|interface|keyword|method|"
    r"middleware|model|module|object|option|parameter|property|route|table|tag|type|value|variable)s?\b)"
)
_QUOTED_PROJECT = re.compile(
    r"(?i:\b(?:project|repository|repo)(?: (?:is )?(?:called|named))?) +[\"“]([^\"”\n]{1,80})[\"”]"
)
_NAMED_PROJECT = re.compile(r"(?<![Tt]he )(?<!\bA )(?<![Yy]our )\bProject +([^\W\d_a-z][\w-]{1,60})")
_PROJECT_COLON = re.compile(r"(?i:\bproject): *([A-Za-z0-9-]{2,60})")

_EMPLOYER = re.compile(
    r"\b(?:(?:[Ww]orks?|[Ww]orked|[Ww]orking|job|position|role|intern(?:s|ed|ing)?|engineer|nurse|developer|"
    r"designer|analyst|scientist|consultant|producer|director|researcher|professor|student) (?:at|for)|"
    r"(?:[Hh]ired|[Ee]mployed) (?:at|by)|[Jj]oined|[Jj]oins|CEO of|CTO of|offer from|"
    r"arbeite[tn]? (?:bei|für)|travaill\w{1,5} (?:chez|pour)|trabaj(?:a|o|an) (?:en|para)) "
    rf"({NAME}(?:[ ]{NAME}){{0,3}})(?!['’\w])"
)
_OF = re.compile(rf" of (?:the )?{NAME}(?: (?:and )?{NAME}){{0,2}}")
_LONGEST_PHRASE = 3
_WINDOW = 80


def tools(reading: Reading) -> Iterator[Candidate]:
    """Find tools by the words around them, by name, and by the capitals inside."""
    for match in _TOOL_AFTER.finditer(reading.text):
        name = match.group(2)
        if admits(name) and (is_known_tool(name) or _is_used(reading, match)):
            yield "tools", name
    for match in _TOOL_BEFORE.finditer(reading.text):
        name, other = match.groups()
        compared = is_known_tool(name) or is_known_tool(other) or bool(_CAMEL.search(other))
        if compared and admits(name) and (is_known_tool(name) or looks_like_name(reading, name)):
            yield "tools", name
    yield from _named_tools(reading)


def projects(reading: Reading) -> Iterator[Candidate]:
    """Find projects by how they are written or announced."""
    for match in _spans(reading):
        if admits(match.group(1), most_words=4) and _is_titled_name(reading, match):
            yield "projects", match.group(1).strip()
    for match in _QUOTED_PROJECT.finditer(reading.text):
        if admits(match.group(1), most_words=4):
            yield "projects", match.group(1).strip()
    for match in _NAMED_PROJECT.finditer(reading.text):
        if admits(match.group(1)) and not reading.is_ordinary(match.group(1)):
            yield "projects", match.group(1)
    for match in _PROJECT_COLON.finditer(reading.text):
        if admits(match.group(1), lower_case=True) and not is_everyday(match.group(1)):
            yield "projects", match.group(1)


def organizations(reading: Reading) -> Iterator[Candidate]:
    """Find organizations by their last word, and employers by what is said of them."""
    for index, word in enumerate(reading.words):
        if _ends_organization(word) and (end := _organization_end(reading, index)):
            first = _run_begin(reading, index)
            if first < index or end > word.plain_end:
                yield "organizations", reading.text[reading.words[first].start : end]
        elif _is_known_organization(reading, index):
            yield "organizations", word.plain
    for match in _EMPLOYER.finditer(reading.text):
        if name := _employer(reading, match.group(1)):
            yield "organizations", name


def concepts(reading: Reading) -> Iterator[Candidate]:
    """Find well-known concepts, whatever their case."""
    for index, word in enumerate(reading.words):
        if length := _phrase_length(reading, index, CONCEPTS):
            end = reading.words[index + length - 1].plain_end
            yield "concepts", reading.text[word.start : end].replace("-", " ").lower()


def _named_tools(reading: Reading) -> Iterator[Candidate]:
    """Find tools by name: of several words, then of one that is no part of those."""
    taken = 0
    for index, word in enumerate(reading.words):
        if index < taken:
            continue
        if word.capital and (length := _phrase_length(reading, index, TOOL_PHRASES)):
            taken = index + length
            yield "tools", reading.text[word.start : reading.words[taken - 1].plain_end]
        elif _is_listed(word) or (word.capital and _is_product(reading, word)):
            yield "tools", word.plain


def _phrase_length(reading: Reading, index: int, phrases: frozenset[str]) -> int:
    """Give how many words from here are the longest known phrase, 0 for none."""
    start = reading.words[index].start
    if reading.words[index].text.lower().partition("-")[0] not in PHRASE_BEGINNINGS:
        return 0
    for length in range(min(_LONGEST_PHRASE, len(reading.words) - index), 0, -1):
        phrase = reading.text[start : reading.words[index + length - 1].plain_end]
        if phrase.lower().replace("-", " ") in phrases:
            return length
    return 0


def _is_used(reading: Reading, match: re.Match[str]) -> bool:
    """Tell whether the word behind a verb of use is a name, and no part of one or of a title."""
    name = match.group(2)
    behind = reading.text[match.end() : match.end() + 2]
    owns = behind[:1] in ("'", "’")
    goes_on = (behind[:1] == " " and behind[1:].isupper()) or (behind[:1] == "." and behind[1:].isalnum())
    if owns or goes_on:
        return False
    return looks_like_name(reading, name) and not _in_title(reading, match.start(), match.end())


def _in_title(reading: Reading, start: int, end: int) -> bool:
    """Tell whether the line, near this place, has capitals as titles have."""
    before = reading.text[max(0, start - _WINDOW) : start].rsplit("\n", 1)[-1]
    behind = reading.text[end : end + _WINDOW].split("\n", 1)[0]
    around = [word for word in f"{before} {behind}".split() if word[0].isalpha() and len(word) > 3]
    return bool(around) and sum(word[0].isupper() for word in around) > len(around) / 2


def _is_listed(word: Word) -> bool:
    known = word.plain.lower().replace(".", "-")
    return known in ALWAYS_TOOLS or (known in CAPITALISED_TOOLS and word.capital and not word.begins)


def _is_product(reading: Reading, word: Word) -> bool:
    """Tell whether a word has capitals inside as names of products have, and is no part of code."""
    name = word.plain
    if len(name) < _SHORTEST_PRODUCT or name.isupper() or not _CAMEL.search(name) or not admits(name):
        return False
    if _FAMILY_CAMEL.fullmatch(name) or "." in name or is_everyday(name):
        return False
    text = reading.text
    before, behind = text[max(0, word.start - 1) : word.start], text[word.end : word.end + 2]
    glued = before in (".", ":") or (behind[:1] in (".", ":") and behind[1:].strip() != "")
    return not glued and _CODE_SIGNS.isdisjoint(before + behind[:1])


def _spans(reading: Reading) -> list[re.Match[str]]:
    """Give what stands in backticks, unless the text is about code."""
    if reading.has_code:
        return []
    spans = list(_BACKTICKS.finditer(reading.text))
    return spans if len(spans) <= _MOST_SPANS else []


def _is_titled_name(reading: Reading, match: re.Match[str]) -> bool:
    """Tell a project's name in backticks from a piece of code, a menu or a tool."""
    parts = match.group(1).split()
    if not all(part.replace("-", "").replace("_", "").isalnum() for part in parts):
        return False
    in_menu = reading.text.endswith("> ", 0, match.start())
    if in_menu or _CODE_NOUN.match(reading.text, match.end()) or is_known_tool(match.group(1)):
        return False
    return any(looks_like_name(reading, part) for part in parts)


def _employer(reading: Reading, name: str) -> str | None:
    """Give the capitalised words that may name an employer; a person or a day is none."""
    parts = name.split()
    if is_everyday(parts[0]) or (len(parts) < 3 and is_given_name(parts[0])):
        return None
    if len(parts) == 1 and reading.is_word(name):
        return None
    return name


def _ends_organization(word: Word) -> bool:
    return word.capital and word.plain.lower() in ORGANIZATION_SUFFIXES


def _is_known_organization(reading: Reading, index: int) -> bool:
    """Tell a company's name, unless a tool's begins with it, as in Google Docs."""
    word = reading.words[index]
    known = word.capital and word.plain.lower() in ORGANIZATIONS
    return known and not _phrase_length(reading, index, TOOL_PHRASES)


def _organization_end(reading: Reading, index: int) -> int | None:
    """Give where a name ends: here or, as in Bank of England, further on; None inside of another name."""
    word = reading.words[index]
    if more := _OF.match(reading.text, word.end):
        return more.end()
    following = reading.words[index + 1 : index + 2]
    inside = (
        bool(following) and following[0].capital and reading.gap(index) == " " and word.text == word.plain
    )
    return None if inside and not is_everyday(following[0].plain) else word.plain_end


def _run_begin(reading: Reading, index: int) -> int:
    """Give the first of the capitalised words that stand directly before one, four at most."""
    first = index
    while first and first > index - 4:
        before = reading.words[first - 1]
        if not before.capital or reading.gap(first - 1) not in (" ", " & "):
            break
        if before.begins and is_everyday(before.plain):
            break
        first -= 1
    return first
