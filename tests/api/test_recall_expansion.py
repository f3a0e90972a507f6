"""GET /recall: following relations to memories that no search finds (recall.md 9.2, D11, D13)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.support.recalls import Body, RawGraph, ids, recall, row_of, store

Settled = Callable[[], None]
Link = Callable[..., None]


def days_ago(days: int) -> str:
    """Times weeks apart keep memories from being neighbours of one conversation."""
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()


def expansions(body: Body) -> list[str]:
    return [row["id"] for row in body["results"] if row["match_type"] == "relation"]


# The seed's own story: two decisions, each exemplifying one principle, which is worded like neither.
STORY = {"query": "PostgreSQL for billing, Kafka for events", "limit": 2, "expand_relations": "true"}


@pytest.fixture
def story(api: httpx.Client, settled: Settled, tag: str, link: Link) -> dict[str, str]:
    made = {
        "billing": store(api, "We chose PostgreSQL for billing", tag, timestamp=days_ago(90)),
        "events": store(api, "We chose Kafka for events", tag, timestamp=days_ago(60)),
        "principle": store(
            api, "Boring and proven beats new", f"{tag}x", timestamp=days_ago(300), importance=0.1
        ),
        "once": store(
            api, "Dana signed it off", f"{tag}x", timestamp=days_ago(1), importance=1.0, confidence=1.0
        ),
        "unlinked": store(api, "The office plants need water", f"{tag}x", timestamp=days_ago(200)),
    }
    link(made["billing"], "EXEMPLIFIES", made["principle"], strength=0.5)
    link(made["events"], "EXEMPLIFIES", made["principle"], strength=0.4)
    link(made["billing"], "LEADS_TO", made["once"], strength=0.9)
    settled()
    return made


def test_the_principle_behind_two_decisions_comes_first(
    api: httpx.Client, tag: str, story: dict[str, str]
) -> None:
    body = recall(api, tags=tag, **STORY)
    seeds = ids(body)[:2]
    assert set(seeds) == {story["billing"], story["events"]}
    assert expansions(body) == ids(body)[2:] == [story["principle"], story["once"]]
    row = row_of(body, story["principle"])
    assert row["bridge"] is True
    assert row["related_to"] == row["relations"]
    by_seed = {edge["from"]: edge for edge in row["relations"]}
    assert len(row["relations"]) == len(by_seed) == 2
    for rank, seed in enumerate(seeds):
        assert by_seed[seed] == {
            "type": "EXEMPLIFIES",
            "strength": 0.5 if seed == story["billing"] else 0.4,
            "from": seed,
            "seed_rank": rank,
            "seed_score": pytest.approx(body["results"][rank]["final_score"]),
        }
    best = max(result["final_score"] for result in body["results"][:2])
    assert row["relation_score"] == pytest.approx(0.9 + 0.25 * best)
    assert row["match_score"] == row["score_components"]["relation"] == row["relation_score"]
    assert "_query" not in row
    assert body["expansion"] == {
        "enabled": True,
        "seed_count": 2,
        "expanded_count": 2,
        "relation_limit": 5,
        "expansion_limit": 25,
        "respect_tags": False,
    }


def test_a_memory_reached_once_is_no_bridge(api: httpx.Client, tag: str, story: dict[str, str]) -> None:
    body = recall(api, tags=tag, **STORY)
    row = row_of(body, story["once"])
    assert "bridge" not in row
    [edge] = row["relations"]
    seed = row_of(body, story["billing"])
    assert (edge["type"], edge["from"]) == ("LEADS_TO", story["billing"])
    assert row["relation_score"] == pytest.approx(0.9 + 0.25 * seed["final_score"])
    assert all("bridge" not in result for result in body["results"][:2])


def test_bridges_stay_first_with_a_recency_bias(api: httpx.Client, tag: str, story: dict[str, str]) -> None:
    body = recall(api, tags=tag, **STORY, recency_bias="on")
    assert body["recency_bias"] == "on"
    assert expansions(body) == [story["principle"], story["once"]]


@pytest.mark.parametrize("name", ["expand_relations", "expand_associations", "expand"])
def test_only_when_asked(api: httpx.Client, tag: str, story: dict[str, str], name: str) -> None:
    question = {"query": STORY["query"], "limit": 2, "tags": tag}
    assert "expansion" not in recall(api, **question)
    assert ids(recall(api, **question, **{name: "false"}))[2:] == []
    assert expansions(recall(api, **question, **{name: "true"})) == [story["principle"], story["once"]]


def test_several_edges_to_one_seed_are_listed_each_and_summed(
    api: httpx.Client, tag: str, story: dict[str, str], link: Link
) -> None:
    link(story["billing"], "RELATES_TO", story["once"], strength=0.3)
    link(story["once"], "PART_OF", story["billing"], strength=0.2)
    row = row_of(recall(api, tags=tag, **STORY), story["once"])
    assert sorted((edge["type"], edge["strength"]) for edge in row["relations"]) == [
        ("LEADS_TO", 0.9),
        ("PART_OF", 0.2),
        ("RELATES_TO", 0.3),
    ]
    assert "bridge" not in row
    best = row["relations"][0]["seed_score"]
    assert row["relation_score"] == pytest.approx(1.4 + 0.25 * best)


@pytest.fixture
def star(api: httpx.Client, settled: Settled, tag: str, link: Link) -> Callable[..., list[str]]:
    """Make a seed with edges to other memories; each row is (strength, importance, own fields)."""

    def make(*rows: tuple[float, float, dict[str, Any]], kind: str = "RELATES_TO") -> list[str]:
        made = [store(api, "The carillon plays at noon", tag, timestamp=days_ago(2_000))]
        for number, (strength, importance, fields) in enumerate(rows):
            own = {"timestamp": days_ago(1_000 - 20 * number), **fields}
            tags = own.pop("tags", [f"{tag}x"])
            made.append(store(api, f"Linked note {number}", *tags, importance=importance, **own))
            link(made[0], kind, made[-1], strength=strength)
        settled()
        return made

    return make


CARILLON = {"query": "when does the carillon play", "limit": 1, "expand_relations": "true"}


def test_least_strength_and_importance(api: httpx.Client, tag: str, star: Callable[..., list[str]]) -> None:
    _, strong, weak, minor = star((0.8, 0.5, {}), (0.3, 0.5, {}), (0.8, 0.1, {}))
    asked = {"tags": tag, **CARILLON}
    assert set(expansions(recall(api, **asked))) == {strong, weak, minor}
    assert set(expansions(recall(api, **asked, expand_min_strength=0.5))) == {strong, minor}
    assert set(expansions(recall(api, **asked, expand_min_importance=0.5))) == {strong, weak}
    assert expansions(recall(api, **asked, expand_min_strength=0.5, expand_min_importance=0.5)) == [strong]
    assert expansions(recall(api, **asked, expand_min_strength=0.81)) == []


def test_limits(api: httpx.Client, tag: str, star: Callable[..., list[str]]) -> None:
    made = star(*((0.5, 0.5, {}) for _ in range(8)))
    asked = {"tags": tag, **CARILLON}
    # The newest edges of each seed, five unless told otherwise; filters come before the limit.
    assert set(expansions(recall(api, **asked))) == set(made[4:])
    assert set(expansions(recall(api, **asked, relation_limit=2))) == set(made[7:])
    assert set(expansions(recall(api, **asked, relation_limit=50))) == set(made[1:])
    body = recall(api, **asked, relation_limit=50, expansion_limit=3)
    assert len(expansions(body)) == body["expansion"]["expanded_count"] == 3
    assert body["count"] == 4
    assert len(expansions(recall(api, **asked, relation_expansion_limit=0))) == 1


def test_filtered_neighbours_do_not_take_the_places_of_others(
    api: httpx.Client, tag: str, star: Callable[..., list[str]]
) -> None:
    """The only allowed neighbour is behind six newer ones that fail a rule."""
    barred: dict[str, Any] = {"tags": [f"{tag}x", "barred"]}
    made = star((0.9, 0.9, {}), *((0.9, 0.9, barred) for _ in range(6)))
    body = recall(api, tags=tag, **CARILLON, exclude_tags="barred", relation_limit=1)
    assert expansions(body) == [made[1]]


def test_the_rules_of_the_request_hold_for_expansions(
    api: httpx.Client, tag: str, star: Callable[..., list[str]]
) -> None:
    tagged, past = {"tags": [tag]}, {"timestamp": "2015-06-01T00:00:00Z"}
    made = star(
        (0.5, 0.5, {}),
        (0.5, 0.5, tagged),
        (0.5, 0.5, past),
        (0.5, 0.5, {"type": "MetaPattern"}),
        (0.5, 0.5, {"t_invalid": "2024-01-01", "t_valid": "2023-01-01"}),
        (0.5, 0.5, {"tags": [f"{tag}x", "barred/deep"]}),
    )
    _, plain, inside, old, _, expired, barred = made
    asked = {"tags": tag, **CARILLON, "relation_limit": 50}
    assert set(expansions(recall(api, **asked))) == {plain, inside, old, barred}
    assert set(expansions(recall(api, **asked, expand_respect_tags="true"))) == {inside}
    assert set(expansions(recall(api, **asked, exclude_tags="Barred"))) == {plain, inside, old}
    since = {"start": "2018-01-01T00:00:00Z"}
    assert set(expansions(recall(api, **asked, **since))) == {plain, inside, barred}
    assert expired in expansions(recall(api, **asked, state_mode="history"))


def test_all_tags_may_be_asked_of_expansions_too(
    api: httpx.Client, settled: Settled, tag: str, link: Link
) -> None:
    seed = store(api, "The carillon plays at noon", tag, "Town/Square", timestamp=days_ago(900))
    both, one = (
        store(api, f"Linked to it {n}", tag, *more, timestamp=days_ago(700 + n * 20))
        for n, more in enumerate((["town/square/north"], ["townhall"]))
    )
    for other in (both, one):
        link(seed, "RELATES_TO", other)
    settled()
    asked = {**CARILLON, "tags": f"{tag},town", "expand_respect_tags": "true"}
    assert expansions(recall(api, **asked, tag_mode="all")) == [both]
    assert set(expansions(recall(api, **asked))) == {both, one}
    assert expansions(recall(api, **asked, tag_mode="all", tag_match="exact")) == []


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("kind", "followed"),
    [
        ("EXEMPLIFIES", True),
        ("CONTRADICTS", True),
        ("DERIVED_FROM", True),
        ("LEADS_TO", True),
        ("OCCURRED_BEFORE", True),
        ("PART_OF", True),
        ("PREFERS_OVER", True),
        ("REINFORCES", True),
        ("RELATES_TO", True),
        ("SIMILAR_TO", False),
        ("PRECEDED_BY", False),
        ("DISCOVERED", False),
    ],
)
def test_both_directions_of_the_relations_that_clients_make(
    api: httpx.Client,
    settled: Settled,
    tag: str,
    raw_graph: RawGraph,
    kind: str,
    followed: bool,
    turned: bool,
) -> None:
    seed = store(api, "The carillon plays at noon", tag, timestamp=days_ago(900))
    other = store(api, "Something else", f"{tag}x", timestamp=days_ago(700))
    # Not by POST /associate, which refuses the last three: only the service itself makes those.
    raw_graph.link(*((other, kind, seed) if turned else (seed, kind, other)), strength=0.5)
    settled()
    body = recall(api, tags=tag, **CARILLON)
    assert expansions(body) == ([other] if followed else [])


def test_a_seed_is_never_an_expansion(api: httpx.Client, settled: Settled, tag: str, link: Link) -> None:
    one = store(api, "The carillon plays at noon", tag, timestamp=days_ago(900))
    two = store(api, "The carillon plays at six", tag, timestamp=days_ago(800))
    link(one, "RELATES_TO", two)
    link(two, "LEADS_TO", one)
    settled()
    body = recall(api, **{**CARILLON, "limit": 5}, tags=tag)
    assert sorted(ids(body)) == sorted([one, two])
    assert expansions(body) == []
    first = row_of(body, one)["relations"][0]
    assert (first["type"], first["memory"]["id"]) == ("RELATES_TO", two), "before what the service made"


def test_relations_of_a_result_are_outgoing_newest_first_and_bounded(
    api: httpx.Client, tag: str, star: Callable[..., list[str]]
) -> None:
    made = star(*((number / 10, 0.5, {}) for number in range(7)))
    [row] = recall(api, tags=tag, query="carillon", limit=1)["results"]
    assert [edge["memory"]["id"] for edge in row["relations"]] == made[:2:-1]
    edge = row["relations"][0]
    assert (edge["type"], edge["strength"]) == ("RELATES_TO", 0.6)
    assert "Linked note 6" in (edge["memory"].get("summary"), edge["memory"].get("content"))


def test_min_score_cuts_expansions_too(api: httpx.Client, tag: str, star: Callable[..., list[str]]) -> None:
    star((0.01, 0.0, {"confidence": 0.0}))
    whole = recall(api, tags=tag, **CARILLON)
    floor = (whole["results"][0]["final_score"] + whole["results"][1]["final_score"]) / 2
    cut = recall(api, tags=tag, **CARILLON, min_score=floor)
    assert ids(cut) == ids(whole)[:1]
    assert cut["score_filter"]["filtered_count"] == 1
    assert cut["expansion"]["expanded_count"] == 1
