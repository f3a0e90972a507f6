"""GET /recall asks the stores a bounded number of times, however much there is to find (issue 3).

A query per result, which is the naive way to relations, similarities and expansions, fails here.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from automem.app import create_app
from automem.errors import GraphUnavailable, VectorsUnavailable
from automem.search.statistics import TermStatistics
from automem.services import Services
from tests.support.breakable import Breakable
from tests.support.recalls import RawGraph
from tests.support.service import wait_until

EXPANDED = {"expand_relations": "true", "expand_entities": "true", "relation_limit": "50"}
Ask = Callable[..., tuple[dict[str, Any], int, int]]


@pytest.fixture(scope="module")
def ask(services: Services) -> Ask:
    """Ask for a recall; give the answer and how often it went to the graph and to the vectors."""
    graph: Any = Breakable(services.graph, GraphUnavailable)
    vectors: Any = Breakable(services.vectors, VectorsUnavailable)
    counted = dataclasses.replace(services, graph=graph, vectors=vectors, terms=TermStatistics(graph))
    client = create_app(services.settings, counted).test_client()

    def ask(**params: Any) -> tuple[dict[str, Any], int, int]:
        graph.calls.clear()
        vectors.calls.clear()
        reply = client.get("/recall", query_string=params)
        assert reply.status_code == 200, reply.text
        return reply.get_json(), len(graph.calls), len(vectors.calls)

    return ask


@pytest.fixture(scope="module")
def stored(services: Services) -> dict[int, str]:
    """Sets of 3 and 200 memories, all linked and naming one entity; the tag of each set by its size."""
    client = create_app(services.settings, services).test_client()
    raw = RawGraph(services.settings.automem_data_dir)
    tags = {}
    for size in (3, 200):
        tag = tags[size] = f"t{uuid.uuid4().hex[:12]}"
        rows = [
            {"content": f"Tide table {n} of the north pier", "tags": [tag, f"entity:people:p{n % 40}-{tag}"]}
            for n in range(size)
        ]
        reply = client.post("/memory/batch", json={"memories": rows})
        assert reply.status_code == 201
        raw.run(
            "MATCH (a:Memory), (b:Memory) WHERE a.id IN $ids AND b.id IN $ids AND a.id < b.id "
            "WITH a, b LIMIT 3000 CREATE (a)-[:RELATES_TO {strength: 0.5}]->(b)",
            ids=reply.get_json()["memory_ids"],
        )
    services.embedder.notify()
    wait_until(lambda: services.graph.unsettled_count() == 0)
    raw.close()
    return tags


@pytest.mark.parametrize("options", [{}, EXPANDED], ids=["plain", "expanded"])
@pytest.mark.parametrize(
    "question",
    [
        {"query": "tide table of the north pier"},
        {"query": "tides", "context_tags": "x", "sort": "time_desc"},
        {"query": ""},
    ],
    ids=["text", "context", "no text"],
)
def test_the_number_of_calls_does_not_grow(
    ask: Ask, stored: dict[int, str], question: dict[str, str], options: dict[str, str]
) -> None:
    graph_calls, vector_calls, shown = [], [], []
    for size, limit in ((3, 1), (3, 100), (200, 1), (200, 10), (200, 100)):
        body, graph, vectors = ask(**question, **options, tags=stored[size], limit=limit)
        shown.append(body["count"])
        graph_calls.append(graph)
        vector_calls.append(vectors)
    assert max(shown) >= 100
    assert (shown[2] > 1) is bool(options)
    assert max(graph_calls) <= 14
    assert max(vector_calls) <= 5
    assert max(graph_calls) - min(graph_calls) <= 3


def test_further_questions_cost_a_fixed_number_each(ask: Ask, stored: dict[int, str]) -> None:
    texts = ["tide table", "north pier", "table of tides", "pier"]
    for size, limit in ((3, 3), (200, 100)):
        body, graph, vectors = ask(queries=texts, tags=stored[size], limit=limit)
        assert body["count"] == limit
        assert graph <= 8 * len(texts)
        assert vectors <= 2 * len(texts)
