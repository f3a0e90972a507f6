"""Entities of a text, by rules (background.md 3.1, 3.3)."""

from __future__ import annotations

import itertools
import string
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from automem.entities.extract import Entity, EntityExtractor, known_tag
from automem.entities.recogniser import NoRecogniser

EXTRACTOR = EntityExtractor(NoRecogniser())


def names(text: str) -> list[str]:
    return [f"{each.category}:{each.slug}" for each in EXTRACTOR.extract(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "We use Postgres with Alice Johnson over MySQL",
            ["people:alice-johnson", "tools:mysql", "tools:postgres"],
        ),
        ("I chose Redis over Memcached via Docker", ["tools:docker", "tools:memcached", "tools:redis"]),
        (
            "Built with FastAPI using Uvicorn on project: my-app",
            ["projects:my-app", "tools:fastapi", "tools:uvicorn"],
        ),
        ("`Foo Bar` for Project Launchpad", ["projects:foo-bar", "projects:launchpad"]),
    ],
)
def test_observed_examples(text: str, expected: Sequence[str]) -> None:
    assert names(text) == expected


def test_plain_facts_share_a_person() -> None:
    assert names("Tom's wife Lena Vogel joined Siemens as an engineer in 2021.") == [
        "organizations:siemens",
        "people:lena-vogel",
        "people:tom",
    ]
    assert names("Sarah's sister is Rachel.") == ["people:rachel", "people:sarah"]
    assert names("Rachel works as a pediatric nurse at Mercy Hospital.") == [
        "organizations:mercy-hospital",
        "people:rachel",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("met with Xiomara at noon", "xiomara"),
        ("I talked to Dovran Halik about rent", "dovran-halik"),
        ("my colleague Tomás Rivera plays chess", "tomás-rivera"),
        ("her brother is called Bashir", "bashir"),
        ("The user's name is Xiomara. Her name is Tindra.", "tindra"),
        ("Bashira is my cousin", "bashira"),
        ("Xiomara's younger sister came", "xiomara"),
        ("Xiomara already moved to Lyon", "xiomara"),
        ("Dr. Okonjo called", "okonjo"),
        ("Mr Patel and the rest", "patel"),
        ("Melanie said hi", "melanie"),
        ("Thanks, Xiomara! See you", "xiomara"),
        ("The parcel is for Ludwig van Dyck", "ludwig-van-dyck"),
        ("John F. Kennedy spoke", "john-f-kennedy"),
        ("Karen Lee wrote it", "karen-lee"),
        ("Grace Holloway wrote it", "grace-holloway"),
        ("Zoë and the dog", "zoë"),
        ("Łukasz cooks", "łukasz"),
        ("Jose\u0301 cooks", "josé"),
        ("Aunt Lucy bakes", "lucy"),
        ("Mary O'Brien sings", "mary-o-brien"),
        ("Jean-Luc Fontaine paints", "jean-luc-fontaine"),
        ("Françoise Dupont habite ici", "françoise-dupont"),
        ("Frau Tindra kommt morgen", "tindra"),
        ("La señora Ruiz canta", "ruiz"),
        ("I'm Xiomara, a nurse", "xiomara"),
        ("I am Xiomara Vega.", "xiomara-vega"),
        ("Will Smith acts", "will-smith"),
        ("Will Sarah come?", "sarah"),
        ("Li Wei has access", "li-wei"),
    ],
)
def test_people_in_plain_sentences(text: str, expected: str) -> None:
    assert f"people:{expected}" in names(text)


def test_speakers() -> None:
    assert names("Caroline: I went to the park") == ["people:caroline"]
    assert names("Tindra: hello\nOskarin Ade: hi\nTindra: bye\nOskarin Ade: bye") == [
        "people:oskarin-ade",
        "people:tindra",
    ]
    assert names("Remember: lock the door") == []


@pytest.mark.parametrize(
    "text",
    [
        "Completed the migration.",
        "Today we met. The plan is good.",
        "Fixed the bug in the login page. Added tests. Updated docs.",
        "Meeting with Legal tomorrow, then coffee with Friends.",
        "Anyone over forty may join. Game over.",
        "Will we mark this as done? Grace under pressure. Rich people.",
        "I'm Portuguese. On New Year's Eve, at Dawn.",
        "The document is set in Times New Roman from Jan 15, 2024.",
        "Charles Proxy shows the traffic.",
        "### Using Given Sizes with Maximum Impact\n\n**Stay Updated with Industry Trends**",
        "Use Heron's formula, and align with Employer Values.",
        "We compare Canada over Jamaica",
        "The response was 404 Not Found, then ECONNREFUSED.",
        "the quick brown fox jumps over the lazy dog",
        "#MediaProduction #CareerGrowth",
        "12:30 - 14:00, 400ms, 5 GB",
        "",
    ],
)
def test_ordinary_text_names_nothing(text: str) -> None:
    assert names(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("python and postgresql, with kubernetes", ["tools:kubernetes", "tools:postgresql", "tools:python"]),
        ("Decision: use Zephyrdb for the ledger", ["tools:zephyrdb"]),
        ("Zephyrdb over Redis", ["tools:redis", "tools:zephyrdb"]),
        ("The MetricForge dashboard is slow", ["tools:metricforge"]),
        ("I edit it in VS Code", ["tools:vs-code"]),
        ("We pair with Claude Code on Node.js", ["tools:claude-code", "tools:node-js"]),
        ("a spring day, react to it, go on with rust on the gate", []),
    ],
)
def test_tools(text: str, expected: Sequence[str]) -> None:
    assert names(text) == expected


def test_a_part_of_a_persons_name_is_no_tool() -> None:
    assert names("We deployed it using Tindra. I met Tindra Halik.") == ["people:tindra-halik"]


def test_names_inside_fenced_code_do_not_count() -> None:
    assert names("See:\n```python\nclass WeatherCache: use(Redis, Sarah)\n```\nDone by Rachel") == [
        "people:rachel"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('the repository "orbit-core"', []),
        ('The project is called "Blue Heron"', ["projects:blue-heron"]),
        ('the repository called "Orbit Core"', ["projects:orbit-core"]),
        ("Project Launchpad starts", ["projects:launchpad"]),
        ("project: atlas-2", ["projects:atlas-2"]),
        ("Detail the Project Thoroughly", []),
        ("the `Ledger` class and the `make_widget()` call", []),
        ("Go to `File` > `New Library`", []),
        ("`Alpha One` `Beta Two` `Gamma Three` `Delta Four`", []),
        ("`Zephyr` ships in autumn", ["projects:zephyr"]),
    ],
)
def test_projects(text: str, expected: Sequence[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She studies at Stanford University.", "stanford-university"),
        ("Our client, the Max Planck Institute, paid", "max-planck-institute"),
        ("She went to the University of Oxford in May", "university-of-oxford"),
        ("the Massachusetts Institute of Technology", "massachusetts-institute-of-technology"),
        ("He was employed by Deutsche Bank AG", "deutsche-bank-ag"),
        ("Joanna joined Siemens in 2019", "siemens"),
        ("He works for Northwind", "northwind"),
        ("a developer at GitHub", "github"),
        ("Anita arbeitet bei Krauswerk", "krauswerk"),
        ("Anita travaille chez Michelin", "michelin"),
        ("Anita trabaja en Inditex", "inditex"),
        ("We asked Anthropic", "anthropic"),
    ],
)
def test_organizations(text: str, expected: str) -> None:
    found = names(text)
    assert [name for name in found if not name.startswith("people:")] == [f"organizations:{expected}"]


@pytest.mark.parametrize(
    "text",
    [
        "I work for Sarah",
        "working at Night",
        "He joined Friday",
        "works by Bach",
        "The Bank",
        "Best Actor Academy Award",
        "Keep it in Google Docs",
        "to google it",
    ],
)
def test_no_organizations(text: str) -> None:
    assert not any(name.startswith("organizations:") for name in names(text))


def test_concepts() -> None:
    assert names("We discussed machine learning and event-sourcing") == [
        "concepts:event-sourcing",
        "concepts:machine-learning",
    ]


def test_an_entity_tells_what_it_is() -> None:
    (entity,) = EXTRACTOR.extract("Łukasz Żak said so")
    assert entity == Entity("people", "łukasz-żak", "Łukasz Żak", 0.95)
    assert entity.id == "entity:people:łukasz-żak"


def test_entities_come_once_and_in_order() -> None:
    text = "Sarah met Rachel. Redis, redis and REDIS. Rachel likes Sarah's cat and Docker."
    found = EXTRACTOR.extract(text)
    ids = [each.id for each in found]
    assert ids == ["entity:people:rachel", "entity:people:sarah", "entity:tools:docker", "entity:tools:redis"]
    assert EXTRACTOR.extract(text) == found


def test_many_threads_find_the_same() -> None:
    texts = ["Sarah's sister is Rachel.", "I chose Redis over Memcached via Docker"] * 20
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(names, texts)) == list(map(names, texts))


class Named:
    """Recognises what it was given."""

    def __init__(self, *found: tuple[str, str]) -> None:
        self._found = found

    def find(self, text: str) -> Sequence[tuple[str, str]]:
        return self._found


def test_a_models_names_pass_the_same_rules() -> None:
    found = EntityExtractor(
        Named(
            ("people", "Alex Beck's"),
            ("concepts", "Lyon"),
            ("tools", "the Plan"),
            ("organizations", "One Two Three Four Five Six Seven"),
            ("tools", "OrderHandler"),
        )
    ).extract("a text")
    assert [each.id for each in found] == ["entity:concepts:lyon", "entity:people:alex-beck"]
    assert found[1].aliases == ("alex-beck-s",)
    assert found[1].name == "Alex Beck"


def test_tags_name_entities() -> None:
    assert known_tag("entity:people:mara-quinn") == Entity("people", "mara-quinn", "Mara Quinn", 0.95)
    assert known_tag("entity:person:Sarah") == Entity("people", "sarah", "Sarah", 0.6)
    mended = known_tag("entity:people:alex-beck-s")
    assert mended is not None
    assert (mended.slug, mended.aliases) == ("alex-beck", ("alex-beck-s",))


@pytest.mark.parametrize(
    "tag", ["entity:tools:word", "project:atlas", "entity:tools", "entity:animals:tiger"]
)
def test_other_tags_name_none(tag: str) -> None:
    assert known_tag(tag) is None


@pytest.mark.parametrize(
    "unit",
    [
        *["a", "A", "é", "É", "Aa ", "Aa.", "Aa-", "O'", "`", '"', "```", " ", "\n", "1. ", "::"],
        *["with ", "With Aa ", "use Aa ", 'project "', "`a", "Sarah ", "Sarah's ", "Sarah de ", "Inc "],
        *["works at Aa ", "Mr Aa ", "my name is ", "Foo over Redis ", "Claude ", "machine "],
    ],
)
def test_long_monotonous_texts_finish(unit: str) -> None:
    text = (unit * 32768)[:32768]
    assert len(EXTRACTOR.extract(text)) <= 3


def test_many_names_in_one_text() -> None:
    made = [
        "".join(letters)
        for letters in itertools.islice(itertools.product(string.ascii_lowercase, repeat=4), 3000)
    ]
    text = " ".join(f"Mr {name.capitalize()} is a database." for name in made)
    assert len(EXTRACTOR.extract(text)) < 3000
