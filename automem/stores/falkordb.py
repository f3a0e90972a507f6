"""The graph store on FalkorDB, over a unix socket (embedded) or TCP (a server)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from automem.errors import Conflict, GraphUnavailable
from automem.models import Memory, MemoryDraft, Relation, Scope, Sort
from automem.relations import MADE_BY_SERVICE
from automem.stores import cypher
from automem.stores import falkordb_queries as texts
from automem.stores.base import Hit, PendingVector, Receipt, Replacement, StoreIdentity
from automem.stores.cypher import Conditions
from automem.stores.falkordb_associations import Associations
from automem.stores.falkordb_connection import (
    Connection,
    Limits,
    QueryRefused,
    Rows,
    ServerAddress,
    SocketAddress,
)
from automem.stores.falkordb_conversation import Conversations
from automem.stores.falkordb_edges import newness, read_edge
from automem.stores.falkordb_enrichment import PendingEnrichment
from automem.stores.falkordb_entities import Entities
from automem.stores.falkordb_insights import Insights
from automem.stores.falkordb_patterns import Patterns
from automem.stores.falkordb_repair import Repair
from automem.stores.falkordb_schema import ensure_schema
from automem.stores.falkordb_tagged import TagLists
from automem.stores.falkordb_traversal import Traversal
from automem.stores.node import (
    changed_node,
    derived,
    draft_node,
    present,
    read_memory,
    receipt_node,
    set_and_removed,
    storable,
    stored_order,
)
from automem.utils.text import ANALYSIS_VERSION
from automem.utils.time import to_epoch

_SEARCH = "CALL db.idx.fulltext.queryNodes('Memory', $query) YIELD node AS m, score WITH m, score"


class FalkorDBGraph(
    Traversal, Conversations, Associations, TagLists, Repair, Insights, PendingEnrichment, Patterns, Entities
):
    """``GraphStore`` on one graph of a FalkorDB server. Thread-safe.

    Nothing is asked of the server before the first use (or ``prepare``); the indexes are made then,
    and looked after again whenever the server was restarted. While it is away every method raises
    ``GraphUnavailable``; the first use after its return works again.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._prepared_at = -1

    @classmethod
    def over_socket(cls, path: str, graph: str, limits: Limits | None = None) -> FalkorDBGraph:
        """Use the embedded server behind a unix socket."""
        return cls(Connection(SocketAddress(path), graph, limits or Limits()))

    @classmethod
    def over_tcp(cls, address: ServerAddress, graph: str, limits: Limits | None = None) -> FalkorDBGraph:
        """Use a server."""
        return cls(Connection(address, graph, limits or Limits()))

    def prepare(self) -> None:
        """Connect, make missing indexes and wait until they serve; once per server process."""
        servers = self._connection.servers
        if not self._is_prepared():
            ensure_schema(self._connection)
            self._prepared_at = servers

    def beside(self) -> Connection:
        """Give another way to the same server, for what is no query of the graph."""
        return self._connection.beside()

    def ping(self) -> None:
        self._read("RETURN 1")

    def close(self) -> None:
        self._connection.close()

    def identity(self) -> StoreIdentity | None:
        rows = self._read(texts.IDENTITY)
        return StoreIdentity(*rows[0]) if rows else None

    def record_identity(self, identity: StoreIdentity) -> None:
        self._write(
            texts.RECORD_IDENTITY,
            embedding_model=storable(identity.embedding_model, "embedding_model"),
            dimension=identity.dimension,
            analysis=identity.analysis,
            generation=identity.generation,
            previous=identity.previous,
        )

    # write
    def create(self, drafts: Sequence[MemoryDraft], pending: bool, receipts: Sequence[Receipt] = ()) -> None:
        first = stored_order()
        rows = [draft_node(draft, pending) | {"_seq": first + place} for place, draft in enumerate(drafts)]
        if not rows:
            return
        given = [row["id"] for row in rows]
        if len(set(given)) < len(given):
            raise Conflict("The same id was given twice")
        answer = self._write(texts.CREATE, rows=rows, receipts=[receipt_node(r) for r in receipts])
        if not answer or sorted(answer[0][0]) != sorted(given):
            raise GraphUnavailable("FalkorDB did not confirm the write")

    def update(self, memory_id: str, changes: Mapping[str, Any], revision: int) -> bool:
        memory = self.get_many([memory_id]).get(memory_id)
        if memory is None or memory.revision != revision:
            return False
        node = changed_node(memory, changes)
        owed, (kept, removed) = node.pop("_pending"), set_and_removed(node)
        rows = self._write(texts.update(removed), id=memory_id, revision=revision, changes=kept, owed=owed)
        return bool(rows)

    def delete(self, memory_ids: Sequence[str]) -> list[str]:
        rows = self._write(texts.DELETE, ids=list(memory_ids), at=stored_order()) if memory_ids else []
        gone = set(rows[0][0]) if rows else set()
        return [memory_id for memory_id in dict.fromkeys(memory_ids) if memory_id in gone]

    def touch(self, memory_ids: Sequence[str], at: str) -> None:
        if memory_ids:
            self._write(texts.TOUCH, ids=list(memory_ids), at=at)

    def tombstones(self, limit: int) -> list[str]:
        return [row[0] for row in self._read(texts.TOMBSTONES, limit=max(0, limit))]

    def bury(self, memory_ids: Sequence[str]) -> None:
        # The debt first: killed in between, the tombstone stays and all is done again.
        if memory_ids:
            self._write(texts.REVIVED, ids=list(memory_ids))
            self._write(texts.BURY, ids=list(memory_ids))

    # answers to repeat
    def receipts(self, keys: Sequence[str]) -> dict[str, Receipt]:
        rows = self._read(texts.RECEIPTS, keys=list(keys)) if keys else []
        return {row[0]: Receipt(*row) for row in rows}

    def amend_receipt(self, key: str, answer: str) -> None:
        self._write(texts.AMEND_RECEIPT, key=key, answer=answer)

    def forget_receipts(self, before: float) -> int:
        return int(self._write(texts.FORGET_RECEIPTS, before=before)[0][0])

    # owed vectors
    def pending_vectors(self, limit: int, now: datetime) -> list[PendingVector]:
        rows = self._read(texts.PENDING, limit=max(0, limit), now=to_epoch(now))
        return [
            PendingVector(
                read_memory(node, replaced), node.get("_attempts") or 0, node.get("_embedding") or None
            )
            for node, replaced in rows
        ]

    def vector_done(self, memory_ids: Mapping[str, int]) -> None:
        rows = [{"id": memory_id, "revision": revision} for memory_id, revision in memory_ids.items()]
        if rows:
            self._write(texts.VECTOR_DONE, rows=rows)

    def vector_failed(self, memory_ids: Sequence[str], retry_at: datetime) -> None:
        if memory_ids:
            self._write(texts.VECTOR_FAILED, ids=list(memory_ids), retry_at=to_epoch(retry_at))

    def vector_refused(self, memory_id: str, error: str) -> None:
        self._write(texts.VECTOR_REFUSED, id=memory_id, error=texts.error_text(error), never=texts.NEVER)

    def pending_vector_count(self) -> int:
        return int(self._read(texts.PENDING_COUNT, never=texts.NEVER)[0][0])

    # read
    def get_many(self, memory_ids: Sequence[str]) -> dict[str, Memory]:
        rows = self._read(texts.GET_MANY, ids=list(memory_ids)) if memory_ids else []
        return {memory.id: memory for memory in _memories(rows)}

    def count(self, excluded_types: Sequence[str]) -> int:
        return int(self._read(texts.COUNT, types=list(excluded_types))[0][0])

    def ids(self, after: str, limit: int, excluded_types: Sequence[str]) -> list[str]:
        wanted = Conditions(("m.id > $after",), {"after": after}) & cypher.types_left_out(excluded_types)
        query = f"MATCH (m:Memory) {wanted.where} WITH m.id AS id ORDER BY id LIMIT $limit RETURN id"
        return [row[0] for row in self._read(query, **wanted.params, limit=max(0, limit))]

    # search
    def keyword_search(self, query: str, scope: Scope, limit: int) -> list[Hit]:
        if not query.strip() or limit < 1 or cypher.is_unmatchable(scope):
            return []
        inside = cypher.conditions(scope)
        text = (
            f"{_SEARCH} {inside.where} WITH m, score ORDER BY score DESC, {cypher.ORDERS['score']} "
            f"LIMIT $limit RETURN {texts.PUBLIC}, score"
        )
        narrowed = cypher.scoped_query(query, scope)
        rows = self._read(text, **inside.params, query=narrowed, limit=limit)
        return [Hit(read_memory(node, replaced), float(score)) for node, replaced, score in rows]

    def frequencies(self, queries: Sequence[str]) -> list[int]:
        asked = list(dict.fromkeys(query for query in queries if query.strip()))
        rows = self._read(texts.FREQUENCIES, queries=asked) if asked else []
        found = {query: int(count) for query, count in rows}
        return [found.get(query, 0) for query in queries]

    def trending(self, scope: Scope, sort: Sort, limit: int) -> list[Hit]:
        found: dict[str, Memory] = {}
        for band in self._bands(scope, sort):
            if len(found) >= limit:
                break
            for memory in self._trending_band(scope, sort, band, limit - len(found)):
                found.setdefault(memory.id, memory)
        return [Hit(memory, memory.importance or 0.0) for memory in list(found.values())[: max(0, limit)]]

    def _bands(self, scope: Scope, sort: Sort) -> Iterable[Conditions]:
        """Give the steps of a search through everything; one suffices where the scope is narrow."""
        if cypher.is_unmatchable(scope):
            return []
        if scope.tags or (scope.window and not scope.window.is_open):
            return [Conditions()]
        name = cypher.sort_field(sort)
        if not name:
            return cypher.importance_bands()
        if sort.endswith("_desc"):
            return cypher.time_bands(name, to_epoch(scope.at), descending=True)
        return cypher.time_bands(name, self._oldest(name), descending=False)

    def _oldest(self, name: str) -> float:
        rows = self._read(f"MATCH (m:Memory) WHERE m.{name} > -1e300 RETURN min(m.{name})")
        return float(rows[0][0] or 0.0)

    def _trending_band(self, scope: Scope, sort: Sort, band: Conditions, limit: int) -> list[Memory]:
        tags = cypher.tag_query(scope)
        inside = cypher.conditions(scope) & band & (Conditions() if tags else cypher.exclusion(scope))
        source = _SEARCH if tags else "MATCH (m:Memory)"
        text = (
            f"{source} {inside.where} WITH m ORDER BY {cypher.ORDERS[sort]} LIMIT $limit "
            f"RETURN {texts.PUBLIC}"
        )
        return _memories(self._read(text, **inside.params, query=tags, limit=limit))

    # relations
    def relations(self, memory_ids: Sequence[str], limit: int) -> dict[str, list[tuple[Relation, Memory]]]:
        if not memory_ids or limit < 1:
            return {}
        rows = self._read(texts.RELATIONS, ids=list(memory_ids), limit=limit, last=list(MADE_BY_SERVICE))
        return {source: sorted(edges, key=_shown_order) for source, edges in _edges(rows).items()}

    def replacements(self, memory_ids: Sequence[str], hops: int) -> dict[str, list[Replacement]]:
        if not memory_ids or hops < 1:
            return {}
        found = _edges(self._read(texts.replacements(hops), ids=list(memory_ids)))
        return {
            source: [Replacement(source, new, relation) for relation, new in sorted(edges, key=newness)]
            for source, edges in found.items()
        }

    # beyond the protocol
    def adopt(self, limit: int) -> int:
        """Derive the internal properties of nodes written by others, or by an older analysis.

        Takes at most ``limit`` nodes and gives how many were done; call it until that is 0. Until
        then such a memory is read and listed, but not found by words or tags.
        """
        rows = self._read(texts.UNDERIVED, analysis=ANALYSIS_VERSION, limit=max(0, limit))
        changes = [_derivation(memory) for memory in _memories(rows)]
        return int(self._write(texts.DERIVE, rows=changes)[0][0]) if changes else 0

    def _read(self, query: str, /, **params: Any) -> Rows:
        self.prepare()
        try:
            rows = self._connection.read(query, params)
        except QueryRefused:
            if self._is_prepared():
                raise
        else:
            if self._is_prepared():
                return rows
        # The pool met a new server on the way: without complete indexes "nothing" would not be true.
        self.prepare()
        return self._connection.read(query, params)

    def _is_prepared(self) -> bool:
        return self._prepared_at == self._connection.servers

    def _write(self, query: str, /, **params: Any) -> Rows:
        self.prepare()
        return self._connection.write(query, params)


def _memories(rows: Rows) -> list[Memory]:
    return [read_memory(node, bool(replaced)) for node, replaced in rows]


def _edges(rows: Rows) -> dict[str, list[tuple[Relation, Memory]]]:
    edges: dict[str, list[tuple[Relation, Memory]]] = {}
    for source, *row in rows:
        edges.setdefault(source, []).append(read_edge(source, row))
    return edges


def _shown_order(edge: tuple[Relation, Memory]) -> tuple[bool, tuple[bool, float, str]]:
    return edge[0].type in MADE_BY_SERVICE, newness(edge)


def _derivation(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "revision": memory.revision,
        "derived": present(derived(memory.properties, memory.added_tags)),
    }
