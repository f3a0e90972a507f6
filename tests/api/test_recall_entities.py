"""GET /recall: following the entities that the results name (recall.md 9.3, 9.4, D12)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.support.recalls import Body, RawGraph, ids, recall, row_of, store, store_many

Settled = Callable[[], None]
Link = Callable[..., None]
TYPES = ("people", "tools", "projects", "concepts", "organizations")


def days_ago(days: int) -> str:
    """Times weeks apart keep memories from being neighbours of one conversation."""
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()


def named(body: Body) -> list[str]:
    return [row["id"] for row in body["results"] if row["match_type"] == "entity_expansion"]


def test_what_is_sarahs_sisters_job(api: httpx.Client, settled: Settled, tag: str) -> None:
    """Two memories that share no word with each other but a name, and a crowd between them."""
    sarah, rachel = f"entity:people:sarah-{tag}", f"entity:people:rachel-{tag}"
    first = store(api, "Sarah's sister is called Rachel", tag, sarah, rachel, timestamp=days_ago(300))
    second = store(api, "Rachel repairs organs for a living", tag, rachel, timestamp=days_ago(100))
    store_many(api, (f"Sarah likes job number {n}" for n in range(40)), tag, timestamp=days_ago(500))
    settled()
    asked = {"query": "What is Sarah's sister called?", "tags": tag, "limit": 1}
    assert ids(recall(api, **asked)) == [first]
    body = recall(api, **asked, expand_entities="true")
    assert ids(body)[0] == first and second in ids(body)
    row = row_of(body, second)
    assert row["expanded_from_entity"] == f"rachel {tag}"
    assert row["match_types"] == ["entity_expansion"]
    assert row["score_components"]["entity_expansion"] == 0.15
    told = body["entity_expansion"]
    assert told["enabled"] is True
    assert told["expanded_count"] == len(ids(body)) - 1
    assert told["entities_found"][:2] == [f"sarah {tag}", f"rachel {tag}"]
    assert ids(recall(api, **asked, entity_expansion="true")) == ids(body)
    assert "entity_expansion" not in recall(api, **asked)


@pytest.mark.parametrize("kind", TYPES)
def test_all_five_types(api: httpx.Client, settled: Settled, tag: str, kind: str) -> None:
    entity = f"Entity:{kind}/Blue-{tag}"
    seed = store(api, "The carillon plays at noon", tag, entity, timestamp=days_ago(300))
    other = store(api, "Nothing alike", f"{tag}x", entity.lower(), timestamp=days_ago(200))
    below = store(api, "Nothing alike either", f"{tag}x", f"{entity}:deeper", timestamp=days_ago(100))
    longer = store(api, "A longer name", f"{tag}x", f"{entity}er", timestamp=days_ago(50))
    unrelated = store(api, "Another type", f"{tag}x", f"entity:places:blue-{tag}", timestamp=days_ago(20))
    settled()
    body = recall(api, query="carillon at noon", tags=tag, limit=1, expand_entities="true")
    assert ids(body)[0] == seed
    assert set(named(body)) == {other, below}
    assert not {longer, unrelated} & set(ids(body))
    assert row_of(body, other)["expanded_from_entity"] == f"blue {tag}"


def test_other_tags_name_no_entity(api: httpx.Client, settled: Settled, tag: str) -> None:
    names = [f"entity:places:{tag}", f"entity:people:{tag}:x", f"people:{tag}", f"entity:{tag}"]
    seed = store(api, "The carillon plays at noon", tag, *names, timestamp=days_ago(300))
    store(api, "Nothing alike", f"{tag}x", *names, timestamp=days_ago(200))
    settled()
    body = recall(api, query="carillon at noon", tags=tag, limit=1, expand_entities="true")
    assert ids(body) == [seed]
    assert body["entity_expansion"]["entities_found"] == []


def test_the_bonus_is_added_to_the_score(api: httpx.Client, settled: Settled, tag: str) -> None:
    entity = f"entity:tools:{tag}"
    store(api, "The carillon plays at noon", tag, entity, timestamp=days_ago(300))
    other = store(api, "The carillon is old", f"{tag}x", entity, timestamp=days_ago(200))
    settled()
    asked = {"query": "carillon at noon", "tags": tag, "limit": 1, "explain": "true"}
    row = row_of(recall(api, **asked, expand_entities="true"), other)
    direct = row_of(recall(api, **{**asked, "tags": f"{tag}x"}), other)
    assert row["final_score"] - direct["final_score"] == pytest.approx(0.15, abs=1e-3)
    [part] = [part for part in row["explain"]["components"] if part["name"] == "entity_expansion"]
    assert part["product"] == 0.15
    assert "entity_expansion" not in direct["score_components"]


def test_the_rules_of_the_request_hold(
    api: httpx.Client, settled: Settled, tag: str, link: Link, raw_graph: RawGraph
) -> None:
    entity = f"entity:concepts:{tag}"
    seed = store(api, "The carillon plays at noon", tag, entity, timestamp=days_ago(300))
    rows: dict[str, dict[str, Any]] = {
        "plain": {},
        "inside": {"tags": [tag]},
        "old": {"timestamp": "2015-06-01T00:00:00Z"},
        "meta": {"type": "MetaPattern"},
        "expired": {"t_valid": "2023-01-01", "t_invalid": "2024-01-01"},
        "barred": {"tags": [f"{tag}x", "barred"]},
        "archived": {},
        "superseded": {},
    }
    made: dict[str, str] = {}
    for number, (name, fields) in enumerate(rows.items()):
        own = {"timestamp": days_ago(200 - 20 * number), **fields}
        made[name] = store(api, f"Note {name}", *own.pop("tags", [f"{tag}x"]), entity, **own)
    raw_graph.change(made["archived"], archived=True)
    newer = store(api, "The newer one", "elsewhere", timestamp=days_ago(10))
    link(made["superseded"], "EVOLVED_INTO", newer)
    settled()
    asked = {"query": "carillon at noon", "tags": tag, "limit": 1, "expand_entities": "true"}

    def found(**params: Any) -> set[str]:
        body = recall(api, **asked, **params)
        assert ids(body)[0] == seed
        names = {memory_id: name for name, memory_id in made.items()} | {newer: "newer"}
        return {names[memory_id] for memory_id in ids(body)[1:]}

    assert found() == {"plain", "inside", "old", "barred", "newer"}
    assert found(expand_respect_tags="true") == {"inside"}
    assert found(exclude_tags="barred") == {"plain", "inside", "old", "newer"}
    assert found(start="2018-01-01T00:00:00Z") == {"plain", "inside", "barred", "newer"}
    assert found(state_mode="history") == set(made) - {"meta"}


def test_relations_and_entities_share_one_limit(
    api: httpx.Client, settled: Settled, tag: str, link: Link
) -> None:
    entity = f"entity:projects:{tag}"
    seed = store(api, "The carillon plays at noon", tag, entity, timestamp=days_ago(900))
    linked = [store(api, f"Linked {n}", f"{tag}x", timestamp=days_ago(700 + 20 * n)) for n in range(3)]
    for other in linked:
        link(seed, "RELATES_TO", other)
    both = store(api, "Linked and named", f"{tag}x", entity, timestamp=days_ago(600))
    link(seed, "RELATES_TO", both)
    for n in range(6):
        store(api, f"Named {n}", f"{tag}x", entity, timestamp=days_ago(500 - 20 * n))
    settled()
    asked = {
        "query": "carillon at noon",
        "tags": tag,
        "limit": 1,
        "expand_relations": "true",
        "expand_entities": "true",
    }
    for limit, counts in ((25, (4, 6)), (6, (4, 2)), (4, (4, 0)), (2, (2, 0))):
        body = recall(api, **asked, expansion_limit=limit)
        kinds = [row["match_type"] for row in body["results"]][1:]
        assert (kinds.count("relation"), kinds.count("entity_expansion")) == counts
        assert kinds == sorted(kinds, reverse=True)
        assert body["expansion"]["expanded_count"] == counts[0]
        assert body["entity_expansion"]["expanded_count"] == counts[1]
    assert len(ids(body)) == len(set(ids(body)))
    assert row_of(recall(api, **asked), both)["match_type"] == "relation"
    once = recall(api, **{**asked, "expand_relations": "false"}, expansion_limit=3)
    assert len(named(once)) == 3


def test_the_order_is_the_same_each_time_and_follows_the_seeds(
    api: httpx.Client, settled: Settled, tag: str
) -> None:
    entities = [f"entity:{kind}:{tag}" for kind in TYPES]
    seeds = store_many(api, ("The carillon at noon", "The carillon at six"), tag, *entities)
    store_many(api, (f"Named {n}" for n in range(8)), f"{tag}x", *entities, embedding=[1.0] * 384)
    settled()
    asked = {"query": "carillon", "tags": tag, "limit": 2, "expand_entities": "true", "expansion_limit": 5}
    answers = {tuple(ids(recall(api, **asked))) for _ in range(10)}
    assert len(answers) == 1
    [answer] = answers
    assert set(answer[:2]) == set(seeds)
    assert len(answer) == 7


def test_identity_rows(api: httpx.Client, settled: Settled, tag: str, raw_graph: RawGraph) -> None:
    store(api, "The carillon plays at noon", tag, f"entity:people:mira-{tag}", timestamp=days_ago(300))
    settled()
    name = f"mira-{tag}"
    rows: list[dict[str, Any]] = [
        {"slug": name, "identity": "Plays the carillon.", "identity_source_count": 3, "identity_version": 2},
        {"slug": f"m-{tag}", "aliases": [name], "identity": "Known by a list."},
        {"slug": f"n-{tag}", "aliases": f'["x", "{name}"]', "identity": "Known by JSON text."},
        {"slug": f"o-{tag}", "aliases": 7, "identity": "Odd."},
        {"slug": name, "identity": "Merged.", "merged_into": "another"},
        {"slug": name},
        {"slug": f"tom-{tag}", "identity": "Somebody else."},
    ]
    for number, row in enumerate(rows):
        row |= {"id": f"{number}-{tag}", "category": "people", "name": "Mira"}
    raw_graph.run("UNWIND $rows AS row CREATE (e:Entity) SET e = row", rows=rows)
    body = recall(api, query="carillon", tags=tag)
    assert "warnings" not in body
    assert body["entities"] == [
        {
            "id": f"{number}-{tag}",
            "slug": rows[number]["slug"],
            "category": "people",
            "name": "Mira",
            "aliases": aliases,
            "identity": rows[number]["identity"],
            **extra,
        }
        for number, aliases, extra in (
            (1, [name], {}),
            (0, [], {"identity_source_count": 3}),
            (2, ["x", name], {}),
        )
    ]
    assert "entities" not in recall(api, query="carillon", tags=f"{tag}x")
