"""The fixed queries of the graph store. Every value is a parameter.

FalkorDB (4.x) may remove another property than those asked for, when a query removes several of one node:
each step (a SET behind a WITH) removes one at most. So what is over is cleared to an empty value where that
means the same.
"""

from collections.abc import Sequence

from automem.stores.cypher import REPLACED
from automem.utils.text import storable_form

PUBLIC = f"properties(m), {REPLACED}"
"""How a memory ``m`` is given: a map, which needs none of the driver's cached names, and its state."""

OWES_PAYLOAD = "old._rev = coalesce(old._rev, 0) + 1, old._pending = coalesce(old._pending, 'payload')"
"""Marks a memory whose being replaced may have changed. The revision keeps a ``vector_done`` that is
on its way from clearing the new debt."""

CREATE = """
UNWIND $rows AS row CREATE (m:Memory) SET m = row, m._seq = row._seq
WITH collect(m.id) AS ids
FOREACH (receipt IN $receipts | CREATE (k:IdempotencyKey) SET k = receipt)
WITH ids OPTIONAL MATCH (t:Tombstone) WHERE t.id IN ids DELETE t
RETURN DISTINCT ids"""


def update(removed: Sequence[str]) -> str:
    """Give the query that changes a memory and removes these properties, names that are identifiers.

    The debt is judged in the query: vector_done may have cleared it since the node was read.
    """
    return (
        "MATCH (m:Memory {id: $id}) WHERE coalesce(m._rev, 0) = $revision SET m += $changes "
        "SET m._pending = CASE WHEN m._pending = 'vector' THEN 'vector' ELSE $owed END"
        f"{''.join(f' WITH m SET m.{name} = null' for name in removed)} RETURN m.id"
    )


# What a deleted memory had replaced is no longer so: its payload must say that.
NAMELESS = """outDegree(e, 'REFERENCED_IN') = 0 AND e.identity IS NULL AND e.merged_into IS NULL
AND coalesce(e.aliases = [], true)"""
"""An entity that nothing names, and of which nothing more is known."""
DELETE = f"""
MATCH (m:Memory) WHERE m.id IN $ids WITH m, m.id AS id
OPTIONAL MATCH (old:Memory)-[:INVALIDATED_BY|EVOLVED_INTO]->(m) SET {OWES_PAYLOAD}
WITH DISTINCT m, id OPTIONAL MATCH (e:Entity)-[:REFERENCED_IN]->(m)
WITH m, id, collect(e.id) AS names DETACH DELETE m
WITH collect(DISTINCT id) AS ids, collect(names) AS lists
FOREACH (id IN ids | MERGE (t:Tombstone {{id: id}}) SET t.at = $at)
WITH ids, reduce(all = [], names IN lists | all + names) AS named
OPTIONAL MATCH (e:Entity) WHERE e.id IN named AND {NAMELESS} DELETE e
WITH DISTINCT ids
OPTIONAL MATCH (k:IdempotencyKey) WHERE k.key IN [id IN ids | 'id:' + id] DELETE k
RETURN DISTINCT ids"""

TOMBSTONES = "MATCH (t:Tombstone) WITH t ORDER BY t.at, t.id LIMIT $limit RETURN t.id"
BURY = "MATCH (t:Tombstone) WHERE t.id IN $ids DELETE t"
# The revision grows so that a vector_done on its way does not clear the new debt.
REVIVED = """
MATCH (m:Memory) WHERE m.id IN $ids
SET m._pending = 'vector', m._rev = coalesce(m._rev, 0) + 1"""

RECEIPTS = "MATCH (k:IdempotencyKey) WHERE k.key IN $keys RETURN k.key, k.fingerprint, k.answer, k.expires"
AMEND_RECEIPT = "MATCH (k:IdempotencyKey {key: $key}) SET k.answer = $answer"
FORGET_RECEIPTS = """
MATCH (k:IdempotencyKey) WHERE k.expires < $before WITH k, k.key AS key DELETE k RETURN count(key)"""

TOUCH = "MATCH (m:Memory) WHERE m.id IN $ids SET m.last_accessed = $at"

PENDING = f"""
MATCH (m:Memory) WHERE m._pending IN ['vector', 'payload'] AND coalesce(m._retry_at, 0.0) <= $now
WITH m ORDER BY coalesce(m._ts, 0.0), m.id LIMIT $limit RETURN {PUBLIC}"""
OWING = "MATCH (m:Memory) WHERE m._pending IN ['vector', 'payload'] AND coalesce(m._retry_at, 0.0) < $never"
PENDING_COUNT = f"{OWING} RETURN count(m)"
VECTOR_DONE = """
UNWIND $rows AS row MATCH (m:Memory {id: row.id}) WHERE coalesce(m._rev, 0) = row.revision
SET m._pending = null, m._attempts = 0, m._retry_at = 0.0, m._embedding = [],
    m._enrichment = CASE WHEN m._enrichment IN ['waiting', 'partial'] THEN 'ready' ELSE m._enrichment END"""
VECTOR_FAILED = """
MATCH (m:Memory) WHERE m.id IN $ids AND m._pending IN ['vector', 'payload']
SET m._attempts = coalesce(m._attempts, 0) + 1, m._retry_at = $retry_at"""
_ERROR_LENGTH = 500


def error_text(error: str) -> str:
    """Give the beginning of an error as the graph keeps it."""
    return storable_form(error[:_ERROR_LENGTH])


NEVER = 1e300
"""When the vector of a text is tried again that the provider refuses."""
# It stays pending, so that no older vector is trusted; enrichment goes on without.
VECTOR_REFUSED = """
MATCH (m:Memory {id: $id}) WHERE m._pending = 'vector'
SET m._attempts = coalesce(m._attempts, 0) + 1, m._retry_at = $never, m._enrich_error = $error,
    m._enrichment = CASE WHEN m._enrichment IN ['waiting', 'partial'] THEN 'ready' ELSE m._enrichment END"""

IDENTITY = """
MATCH (s:StoreIdentity {id: 'store'})
RETURN s.embedding_model, s.dimension, s.analysis, coalesce(s.generation, ''), s.previous"""
RECORD_IDENTITY = """
MERGE (s:StoreIdentity {id: 'store'})
SET s.embedding_model = $embedding_model, s.dimension = $dimension, s.analysis = $analysis,
    s.generation = $generation, s.previous = $previous"""

GET_MANY = f"MATCH (m:Memory) WHERE m.id IN $ids RETURN {PUBLIC}"
COUNT = """
MATCH (m:Memory) WITH count(m) AS total
OPTIONAL MATCH (e:Memory) WHERE e.type IN $types
WITH total, count(e) AS excluded RETURN total - excluded"""

FREQUENCIES = """
UNWIND $queries AS query CALL db.idx.fulltext.queryNodes('Memory', query) YIELD node
RETURN query, count(node)"""

UNDERIVED = f"""
MATCH (m:Memory) WHERE m.id > '' AND (coalesce(m._analysis, 0) <> $analysis
OR (coalesce(m.processed = false, false) AND m._enrichment IS NULL))
WITH m LIMIT $limit RETURN {PUBLIC}"""
DERIVE = """
UNWIND $rows AS row MATCH (m:Memory {id: row.id}) WHERE coalesce(m._rev, 0) = row.revision
SET m += row.derived
SET m._enrichment = CASE WHEN NOT coalesce(m.processed = false, false) OR m._enrichment IS NOT NULL
    THEN m._enrichment WHEN m._pending = 'vector' THEN 'waiting' ELSE 'ready' END
RETURN count(m)"""

_REPLACEMENT = "INVALIDATED_BY|EVOLVED_INTO"
_TARGET_REPLACED = REPLACED.replace("(m,", "(t,")

_SHORT = "t{.id, .type, .timestamp, .summary, .content, .importance, .confidence, .tags}"
"""What the summary of a related memory shows (recall.md 9.1)."""

RELATIONS = f"""
MATCH (m:Memory)-[r]->(t:Memory) WHERE m.id IN $ids
WITH m, r, t ORDER BY type(r) IN $last, coalesce(r.updated_at, t.timestamp, '') DESC, t.id
WITH m.id AS source, collect(r)[0..$limit] AS edges
UNWIND edges AS r WITH source, r, endNode(r) AS t
RETURN source, type(r), properties(r), {_SHORT}, {_TARGET_REPLACED}"""


def replacements(hops: int) -> str:
    """Give the query that follows replacement edges over at most ``hops`` hops.

    Layer by layer, each node once: a pattern of variable length would walk every path there is.
    """
    hop = (
        "UNWIND CASE WHEN size(layer) = 0 THEN [null] ELSE layer END AS m "
        f"OPTIONAL MATCH (m)-[:{_REPLACEMENT}]->(t:Memory) "
        "WITH seen, collect(DISTINCT t) AS found "
        "WITH seen, [t IN found WHERE NOT t IN seen] AS layer "
        "WITH seen + layer AS seen, layer "
    )
    return (
        "MATCH (m:Memory) WHERE m.id IN $ids WITH collect(m) AS seen "
        f"WITH seen, seen AS layer {hop * max(0, hops - 1)}"
        f"UNWIND seen AS m MATCH (m)-[r:{_REPLACEMENT}]->(t:Memory) "
        f"RETURN m.id, type(r), properties(r), properties(t), {_TARGET_REPLACED}"
    )
