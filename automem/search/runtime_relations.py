"""The relations that a result shows (recall.md 9.1), fetched for all results in one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from automem.errors import GraphUnavailable
from automem.models import Memory, Relation
from automem.search.types import Warn
from automem.stores.base import GraphStore

Neighbours = Sequence[tuple[Relation, Memory]]


def fetch_relations(
    graph: GraphStore, memory_ids: Sequence[str], limit: int
) -> tuple[Mapping[str, Neighbours], Warn | None]:
    """Give the outgoing edges of each memory, newest first, at most ``limit`` each, none twice.

    With the graph down the lists are missing and the warning says so (D4).
    """
    if not memory_ids:
        return {}, None
    try:
        return graph.relations(list(memory_ids), limit), None
    except GraphUnavailable:
        return {}, Warn("graph_unavailable", "The graph did not answer: relations are missing.")
