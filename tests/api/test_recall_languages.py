"""GET /recall: words of many languages, of code and of operations (D10; issue 3, 8).

Each case has a text that the question's words stand in and one that only looks like it: a search for
substrings, or for ASCII words, fails on one of them.
"""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import pytest

from tests.support.recalls import Body, recall, row_of
from tests.support.service import RunningService

# name: (question, text that holds it, text that does not)
CASES: dict[str, tuple[str, str, str]] = {
    "two Chinese characters": ("会议", "会议室在三楼", "三楼有咖啡"),
    "one Chinese character": ("猫", "家里有两只猫", "家里有两只狗"),
    "a longer run of Chinese": ("数据库迁移", "周五进行数据库迁移", "周五放假"),
    "Japanese": ("再起動", "サーバーの再起動は火曜日です", "火曜日は休みです"),
    "Japanese in katakana": ("サーバー", "サーバーの再起動は火曜日です", "火曜日は休みです"),
    "Korean": ("배포", "배포는 금요일에 합니다", "회의는 월요일입니다"),
    "Korean with a particle": ("서울", "서울에서 만났다", "부산에서 만났다"),
    "Thai": ("ประชุม", "พรุ่งนี้มีประชุม", "วันนี้อากาศดี"),
    "Cyrillic": ("перезагрузка", "Нужна перезагрузка сервера", "Сегодня хорошая погода"),
    "Cyrillic, inflected": ("серверы", "Нужна перезагрузка сервера", "Сегодня хорошая погода"),
    "Greek": ("συνάντηση", "Η συνάντηση είναι αύριο", "Ο καιρός είναι καλός"),
    "Arabic": ("اجتماع", "لدينا اجتماع غدا", "الطقس جميل اليوم"),
    "accents as typed": ("Zürich", "Das Büro in Zürich ist gemietet", "Das Büro in Zug ist gemietet"),
    "accents left out": ("zurich", "Das Büro in Zürich ist gemietet", "Das Büro in Zug ist gemietet"),
    "accents added": ("Zürich", "The Zurich office is let", "The Zug office is let"),
    "accents decomposed": ("Zu\u0308rich", "Das Büro in Zürich ist gemietet", "Das Büro in Zug"),
    "sharp s": ("strasse", "Sie wohnt in der Langen Straße", "Sie wohnt in der Langen Gasse"),
    "full width": ("ABC-7", "部品 ＡＢＣ-７ を注文", "部品 ＸＹＺ-８ を注文"),
    "emoji": ("🚀", "The release went out 🚀", "The release went out 🎉"),
    "emoji with a skin tone": ("👍", "Ann said 👍🏽 to it", "Ann said 👎🏽 to it"),
    "a ticket": ("OPS-4711", "OPS-4711 is closed", "DEV-12 is closed"),
    "the number of a ticket": ("4711", "OPS-4711 is closed", "Order 14711 is closed"),
    "a host": ("kx-ams-07b", "kx-ams-07b was rebooted", "ky-fra-11c was rebooted"),
    "a part of a host": ("ams", "kx-ams-07b was rebooted", "The teams and dreams of kxams"),
    "a domain": ("db01.example.org", "Connect to db01.example.org first", "Connect to the other one"),
    "a path": ("/etc/nginx/nginx.conf", "Edit /etc/nginx/nginx.conf by hand", "Edit it by hand"),
    "C sharp": ("C#", "The desktop client is in C#", "The desktop client is in C"),
    "C plus plus": ("C++", "The engine is in C++", "The engine is in C#"),
    "dot net": (".NET", "Upgrade to .NET nine", "Mend the fishing net"),
    "a numeronym": ("k8s", "The k8s cluster was drained", "The k3s cluster was drained"),
    "the beginning of a numeronym": ("k8", "The k8s cluster was drained", "The k3s cluster was drained"),
    "snake case": ("load_user_settings", "Call load_user_settings early", "Call the compiler early"),
    "a part of snake case": ("settings", "Call load_user_settings early", "Call presettings early"),
    "camel case": ("HttpRequestParser", "HttpRequestParser fails on it", "The compiler fails on it"),
    "a part of camel case": ("parser", "HttpRequestParser fails on it", "The sparser one fails on it"),
    "two letters": ("AI", "The AI answered", "The aims were said again"),
    "two letters that begin words": ("Go", "The tool is written in Go", "A good goal is gold"),
    "the beginning of a word": ("deploy", "The deployment took an hour", "They redeploy nothing here"),
    "not the middle of a word": ("error", "An error was logged", "The terror of the deep"),
    "another form of a word": ("running", "She runs every morning", "The prunings lay about"),
    "a possessive": ("Sarah", "Sarah's sister lives in Oslo", "Sahara sand in Oslo"),
    "an elision": ("l'école", "Il va à l’école", "Il va au protocole"),
    "a version": ("v2.14.3", "Rolled back to v2.14.3", "Rolled back to the last one"),
}

# These would be operators or wildcards of the index, were they not text.
SYNTAX = [
    '"',
    "*",
    "(",
    ")",
    "|",
    "-",
    "%",
    "@",
    "\\",
    "~",
    ":",
    "'",
    "{",
    "}",
    "[",
    "]",
    "$",
    "=>",
    "&",
    "?",
]


@pytest.fixture(scope="module")
def texts(service: RunningService) -> str:
    """Store the texts of all cases, each pair under its own tag; give the tag above them."""
    scope = f"t{uuid.uuid4().hex[:12]}"
    rows: list[dict[str, Any]] = [
        {"content": text, "tags": [f"{scope}:{number}:{kind}"]}
        for number, (_, holds, lacks) in enumerate(CASES.values())
        for kind, text in (("holds", holds), ("lacks", lacks))
    ]
    rows.append({"content": "The relief valve of pump nine leaks", "tags": [f"{scope}:syntax"]})
    reply = service.client.post("/memory/batch", json={"memories": rows})
    assert reply.status_code == 201, reply.text
    service.wait_settled()
    return scope


def by_tag(body: Body, tag: str) -> Body:
    [memory_id] = [row["id"] for row in body["results"] if tag in row["memory"]["tags"]]
    return row_of(body, memory_id)


@pytest.mark.parametrize("name", CASES)
def test_words(api: httpx.Client, texts: str, name: str) -> None:
    scope = f"{texts}:{list(CASES).index(name)}"
    body = recall(api, query=CASES[name][0], tags=scope)
    holds, lacks = (by_tag(body, f"{scope}:{kind}") for kind in ("holds", "lacks"))
    assert "keyword" in holds["match_types"]
    assert holds["score_components"]["keyword"] > 0.3
    assert "keyword" not in lacks["match_types"]
    assert lacks["score_components"]["keyword"] == 0
    assert body["results"][0]["id"] == holds["id"]


@pytest.mark.parametrize("sign", SYNTAX)
def test_signs_are_text(api: httpx.Client, texts: str, sign: str) -> None:
    """They neither break the question, nor negate, nor stand for other letters."""
    for query in (f"{sign}valve", f"valve{sign}", f"{sign} valve {sign}", f"pump {sign}valve"):
        [row] = recall(api, query=query, tags=f"{texts}:syntax")["results"]
        assert row["score_components"]["keyword"] > 0.3, query
    for query in (f"{sign}alve", f"{sign}alve{sign}", f"elief{sign}", f"alve {sign} eaks", f"v{sign}e"):
        [row] = recall(api, query=query, tags=f"{texts}:syntax")["results"]
        assert row["score_components"]["keyword"] == 0, query


def test_a_whole_identifier_is_worth_more_than_its_parts(
    api: httpx.Client, service: RunningService, tag: str
) -> None:
    rows = [
        {"content": text, "tags": [f"{tag}:{kind}"]}
        for kind, text in (
            ("whole", "Seen on ops-4711 again"),
            ("parts", "ops said 4711 again"),
            ("other", "Seen on ops-4712 again"),
        )
    ]
    assert api.post("/memory/batch", json={"memories": rows}).status_code == 201
    service.wait_settled()
    body = recall(api, query="ops-4711", tags=tag)
    keyword = {
        kind: by_tag(body, f"{tag}:{kind}")["score_components"]["keyword"]
        for kind in ("whole", "parts", "other")
    }
    assert keyword["whole"] > keyword["parts"] > keyword["other"] > 0
