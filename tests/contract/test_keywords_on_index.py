"""Words on the real full-text index: what it finds is what the pure judgement says, for any question.

Every question of the table names the memories that hold any of its keywords, in whole or in part.
"""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from automem.models import MemoryDraft, Scope
from automem.search.metadata_match import metadata_terms_query
from automem.search.runtime_keywords import Keywords, Rarity, any_of, extract_keywords, keyword_score
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection, Limits, SocketAddress
from automem.utils.text import document_lexemes, tag_token

AT = "2026-03-01T12:00:00+00:00"
ANY = Scope(at=datetime(2026, 4, 1, tzinfo=UTC))
SAFE = re.compile(r'[a-z0-9 |()*"]*')

TEXTS: dict[str, str] = {
    "deployment": "The deployment of the web shop failed at noon",
    "deployed": "We deployed the new release on Friday",
    "terror": "A film about terror at sea",
    "errors": "Three errors in the log of the payment service",
    "csharp": "The parser is written in C# by Olga",
    "c": "The driver is written in C by Ivo",
    "cpp": "A game engine in C++ with shaders",
    "dotnet": "The desktop client needs .NET on Windows",
    "network": "The network was slow all morning",
    "net": "She caught the fish in a net",
    "k8s": "The cluster runs k8s since March",
    "k9": "The k9 unit came with two dogs",
    "node": "Node kx-ams-07b lost its disk",
    "kx": "The kx series is out of stock",
    "ams": "Flights to AMS are cheap in May",
    "ticket": "Ticket OPS-4711 is still open",
    "number": "Room 4711 has a view of the lake",
    "joined": "The old name of that ticket was ops4711",
    "snake": "The flag max_retry_count is read at start",
    "camel": "Call getUserNames before dataProcessing begins",
    "host": "The mirror is db.example.com behind the proxy",
    "email": "Please send an email to the landlord",
    "zurich": "Der Zug nach Zürich hat Verspätung",
    "cafe": "We met in a café near the station",
    "tokyo": "東京タワーへ行きました",
    "osaka": "大阪城は人が多い",
    "peking": "我们在北京大学见面",
    "shanghai": "他住在上海",
    "korean": "한국어를 배우고 있어요",
    "hangul": "서울에서 회의가 있다",
    "russian": "Новая машина стоит у дома",
    "business": "Книга о предпринимательстве в России",
    "hindi": "मैं हिन्दी बोलता हूँ",
    "thai": "ภาษาไทยยากมาก",
    "rocket": "Launch day 🚀 at last",
    "heart": "I ❤ this place",
    "go": "The service is written in Go",
    "good": "It was a good year for apples",
    "ai": "The AI course starts in autumn",
    "quote": 'He said "never again" and left (at 5 %)',
    "queue": "The queue of requests is empty",
    "brien": "Mrs O'Brien's garden is Caroline's favourite",
}
TAGS = {"k9": ("Dogs/Police",), "good": ("fruit:Äpfel", "大阪城"), "go": ("coding-style",)}

QUESTIONS: dict[str, set[str]] = {
    "deploy": {"deployment", "deployed"},
    "deployments": {"deployment", "deployed"},
    "error": {"errors"},
    "terror": {"terror"},
    "C#": {"csharp"},
    "C": {"c"},
    "C++": {"cpp"},
    ".NET": {"dotnet"},
    "net": {"dotnet", "net", "network"},
    "k8": {"k8s"},
    "k8s": {"k8s"},
    "kx-ams-07b": {"node", "kx", "ams"},
    "KX_AMS_07B": {"node", "kx", "ams"},
    "07b": {"node"},
    "OPS-4711": {"ticket", "number", "joined"},
    "ops4711": {"ticket", "joined"},
    "4711": {"ticket", "number"},
    "max_retry_count": {"snake"},
    "maxretrycount": {"snake"},
    "retry": {"snake"},
    "getUserNames": {"camel"},
    "names": {"camel", "joined"},
    "processing": {"camel"},
    "db.example.com": {"host"},
    "example": {"host"},
    "e-mail": {"email"},
    "zurich": {"zurich"},
    "Zu\u0308rich": {"zurich"},
    "CAFE": {"cafe"},
    "東京": {"tokyo"},
    "京都": set(),
    "大阪城": {"osaka", "good"},
    "阪城": {"osaka", "good"},
    "北京": {"peking"},
    "大学": {"peking"},
    "海": {"shanghai"},
    "한국": {"korean"},
    "회의": {"hangul"},
    "новый": {"russian"},
    "машины": {"russian"},
    "предпринимательство": {"business"},
    "हिन्दी": {"hindi"},
    "ไทย": {"thai"},
    "🚀": {"rocket"},
    "❤\ufe0f": {"heart"},
    "go": {"go"},
    "AI": {"ai"},
    "apfel": {"good"},
    "police": {"k9"},
    "coding-style": {"go"},
    "queues": {"queue"},
    "obrien": {"brien"},
    "Caroline": {"brien"},
    '"never again"': {"quote"},
    "nev* | (left) -again @5 % \\": {"quote"},
    "the": {
        *("deployment", "deployed", "errors", "csharp", "c", "dotnet", "network", "net", "k8s", "k9", "kx"),
        *("number", "joined", "snake", "host", "email", "cafe", "go", "ai", "queue"),
    },
}


def lexemes(name: str) -> str:
    return document_lexemes(TEXTS[name], TAGS.get(name, ()), {})


def draft(name: str, content: str, tags: tuple[str, ...] = (), **metadata: Any) -> MemoryDraft:
    return MemoryDraft(name, content, tags, 0.5, metadata, "Context", 0.5, AT, AT, AT, AT)


@pytest.fixture(scope="module")
def index(socket_address: SocketAddress) -> Iterator[FalkorDBGraph]:
    store = FalkorDBGraph(Connection(socket_address, f"words-{uuid.uuid4()}", Limits()))
    store.create([draft(name, text, TAGS.get(name, ())) for name, text in TEXTS.items()], pending=False)
    yield store
    store.close()


def found(index: FalkorDBGraph, query: str) -> set[str]:
    return {hit.memory.id for hit in index.keyword_search(query, ANY, 100)}


def judged(keywords: Keywords) -> set[str]:
    """Give the memories that the pure judgement credits with any of the keywords."""
    alone = Keywords(keywords.items)
    rarity = Rarity(len(TEXTS), (1,) * len(keywords.items), ())
    return {name for name in TEXTS if keyword_score(alone, rarity, lexemes(name)) > 0}


@pytest.mark.parametrize("question", QUESTIONS)
def test_index_and_judgement_find_what_the_table_says(index: FalkorDBGraph, question: str) -> None:
    keywords = extract_keywords(question)
    assert found(index, any_of(keywords.items)) == QUESTIONS[question]
    assert judged(keywords) == QUESTIONS[question]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_single_keyword_agrees(index: FalkorDBGraph, question: str) -> None:
    for keyword in extract_keywords(question).items:
        expected = judged(Keywords((keyword,)))
        assert found(index, keyword.index_query) == expected, keyword.text
        assert index.frequencies([keyword.index_query]) == [len(expected)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("web shop", [{"deployment"}]),
        ("shop web", [set()]),
        ("payment service", [{"errors"}]),
        ("service payments", [set()]),
        ("never again", [{"quote"}]),
        ("release Friday", [set()]),
        ("Node kx-ams-07b", [{"node"}]),
        ("новая машина", [{"russian"}]),
        ("max_retry_count is read", []),
        ("three errors log", [{"errors"}, set()]),
    ],
)
def test_pairs_are_found_as_phrases(index: FalkorDBGraph, question: str, expected: list[set[str]]) -> None:
    pairs = extract_keywords(question).pairs
    assert [found(index, pair.index_query) for pair in pairs] == expected
    assert [{name for name in TEXTS if pair.phrase in lexemes(name)} for pair in pairs] == expected


def test_words_of_any_length_are_found_whole(index: FalkorDBGraph) -> None:
    long_words = {"latin": "a" * 3_000, "cyrillic": "ж" * 300, "digits": "7" * 200, "q": "q" * 130}
    index.create([draft(name, f"before {word} after") for name, word in long_words.items()], pending=False)
    try:
        for name, word in long_words.items():
            keywords = extract_keywords(word)
            assert found(index, any_of(keywords.items)) == {name}
    finally:
        index.delete(list(long_words))


def test_a_long_run_of_characters_chooses_by_its_first_pairs(index: FalkorDBGraph) -> None:
    run = "".join(chr(0x4E00 + 7 * i) for i in range(400))
    index.create([draft("run", run)], pending=False)
    try:
        whole = extract_keywords(run).items[0]
        assert found(index, whole.index_query) == {"run"}
    finally:
        index.delete(["run"])


def test_metadata_terms_are_found_by_word_and_by_character(index: FalkorDBGraph) -> None:
    index.create(
        [
            draft("meta-repo", "x", repo="billing-core"),
            draft("meta-tower", "x", project="東京タワー"),
            draft("meta-city", "x", project="京都タワー"),
        ],
        pending=False,
    )
    try:
        assert found(index, metadata_terms_query("the billing repo")) == {"meta-repo"}
        assert found(index, metadata_terms_query("東京タワー")) == {"meta-tower"}
        assert found(index, metadata_terms_query("coreutils")) == set()
    finally:
        index.delete(["meta-repo", "meta-tower", "meta-city"])


def test_a_tag_token_finds_every_spelling(index: FalkorDBGraph) -> None:
    assert found(index, tag_token("dogs")) == {"k9"}
    assert found(index, tag_token("DOGS:police")) == {"k9"}
    assert found(index, tag_token("dog")) == set()


ALPHABETS = (
    " ".join("\"*(|)-%@\\{}[]:;'~$^=<>!?.,/+#&`"),
    "abcqzxyABC019 -_.",
    "éßİıŁøжйёїЯ" + " '’",
    "東京大阪カガ々ー한국어ไทยกำ หนด",
    "हिन्दी مَرحبا שָׁלוֹם",
    "🚀❤\ufe0f👩\u200d💻🇩🇪🏽→",
    "\u0000\u0007\u00ad\u200b\u2028\ufeff\ufffd",
)


def random_questions(count: int) -> list[str]:
    dice = random.Random(20260301)
    return [
        "".join(dice.choice(dice.choice(ALPHABETS)) for _ in range(dice.randint(0, 40))) for _ in range(count)
    ]


def test_no_question_is_refused_by_the_engine(index: FalkorDBGraph) -> None:
    queries: list[str] = []
    for question in random_questions(300):
        keywords = extract_keywords(question)
        queries += [keyword.index_query for keyword in keywords.items]
        queries += [pair.index_query for pair in keywords.pairs]
        queries += [any_of(keywords.items), metadata_terms_query(question)]
    queries = [query for query in dict.fromkeys(queries) if query]
    assert all(SAFE.fullmatch(query) for query in queries)
    assert len(index.frequencies(queries)) == len(queries)


def test_random_questions_find_no_less_than_is_credited(index: FalkorDBGraph) -> None:
    for question in random_questions(150):
        keywords = extract_keywords(question)
        if keywords.items:
            assert judged(keywords) <= found(index, any_of(keywords.items)), question
