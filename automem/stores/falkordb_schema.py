"""Indexes, constraints and types of edges of the graph (storage.md 2): made when missing, waited for until
they serve."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from automem.errors import GraphUnavailable
from automem.relations import REGISTRY
from automem.stores.falkordb_connection import Connection, QueryRefused

logger = logging.getLogger(__name__)

RANGE_INDEXES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Memory", ("id", "type", "timestamp", "importance", "_ts", "_updated", "_scope")),
    ("Memory", ("_pending", "_enrichment", "_chat")),
    ("Entity", ("id", "slug", "_identity")),
    ("MetaMemory", ("id",)),
    ("Pattern", ("type",)),
    ("IdempotencyKey", ("key", "expires")),
    ("Tombstone", ("id",)),
)
UNIQUE = (("Memory", "id"), ("IdempotencyKey", "key"))

# The plan of a MERGE that is made while its type of edge is unknown matches nothing: several at once would
# make the first edge of the type several times.
EDGE_TYPES = (*REGISTRY, "REFERENCED_IN")
_KNOWN_TYPES = "CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType"

# No stopwords and no stemming: the tokens of utils/text.py are matched as they are.
_FULL_TEXT = (
    "CALL db.idx.fulltext.createNodeIndex({label: 'Memory', stopwords: [], language: 'english'}, "
    "{field: '_lex', nostem: true})"
)
_INDEXES = "CALL db.indexes() YIELD label, types, status RETURN label, types, status"
_CONSTRAINTS = "CALL db.constraints() YIELD label, properties, status RETURN label, properties, status"
_POLL = 0.02


@dataclass(frozen=True, slots=True)
class _State:
    indexed: frozenset[tuple[str, str]]
    unique: frozenset[tuple[str, str]]
    building: bool
    failed: bool


def ensure_schema(connection: Connection) -> None:
    """Make what is missing and wait until all of it serves. Safe from several processes at once.

    :raises GraphUnavailable: when the indexes are not complete within ``limits.indexes`` seconds.
    """
    _create_missing(connection, _state(connection))
    deadline = time.monotonic() + connection.limits.indexes
    while (state := _state(connection)).building:
        if time.monotonic() > deadline:
            raise GraphUnavailable("FalkorDB is still building its indexes")
        time.sleep(_POLL)
    if state.failed:
        logger.error(
            "graph %s: several nodes share one id, so that ids cannot be kept unique", connection.graph
        )


def _create_missing(connection: Connection, state: _State) -> None:
    for label, names in RANGE_INDEXES:
        for name in names:
            if (label, name) not in state.indexed:
                _create(connection, f"CREATE INDEX FOR (n:{label}) ON (n.{name})")
    if ("Memory", "_lex") not in state.indexed:
        _create(connection, _FULL_TEXT)
    for label, name in UNIQUE:
        if (label, name) not in state.unique:
            _constrain(connection, label, name)
    _create_edge_types(connection)


def _create_edge_types(connection: Connection) -> None:
    """Make an edge of each missing type and take it away again; the type stays known."""
    known = {row[0] for row in connection.write(_KNOWN_TYPES, {})}
    missing = [name for name in EDGE_TYPES if name not in known]
    if missing:
        edges = ", ".join(f"(a)-[:{name}]->(a)" for name in missing)
        connection.write(f"CREATE (a:EdgeTypes), {edges} DELETE a", {})


def _create(connection: Connection, query: str) -> None:
    try:
        connection.write(query, {})
    except QueryRefused as error:
        _forgive_existing(error)


def _constrain(connection: Connection, label: str, name: str) -> None:
    graph = connection.graph
    try:
        connection.command(
            "GRAPH.CONSTRAINT", "CREATE", graph, "UNIQUE", "NODE", label, "PROPERTIES", 1, name
        )
    except QueryRefused as error:
        _forgive_existing(error)


def _forgive_existing(error: QueryRefused) -> None:
    """Another process may have made the same in the meantime."""
    if "already" not in error.reason:
        raise error


def _state(connection: Connection) -> _State:
    indexes = connection.write(_INDEXES, {})
    constraints = connection.write(_CONSTRAINTS, {})
    states = [str(row[2]) for row in (*indexes, *constraints)]
    return _State(
        indexed=frozenset((label, name) for label, types, _ in indexes for name in types),
        unique=frozenset((label, name) for label, names, _ in constraints for name in names),
        building=any(state not in ("OPERATIONAL", "FAILED") for state in states),
        failed="FAILED" in states,
    )
