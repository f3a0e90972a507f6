"""Storing and asking over HTTP, in few words; and writing into the graph as others may."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import falkordb
import httpx

from automem.stores.server_process import server_files
from tests.support.service import wait_until

Body = dict[str, Any]


def store(api: httpx.Client, content: str, *tags: str, **fields: Any) -> str:
    """Store a memory; give its id."""
    reply = api.post("/memory", json={"content": content, "tags": list(tags), **fields})
    assert reply.status_code == 201, reply.text
    return str(reply.json()["memory_id"])


def store_many(api: httpx.Client, contents: Iterable[str], *tags: str, **fields: Any) -> list[str]:
    """Store memories that differ in their text only; give their ids."""
    rows = [{"content": content, "tags": list(tags), **fields} for content in contents]
    reply = api.post("/memory/batch", json={"memories": rows})
    assert reply.status_code == 201, reply.text
    return list(reply.json()["memory_ids"])


def associate(api: httpx.Client, source: str, kind: str, target: str, **fields: Any) -> None:
    """Make an edge."""
    body = {"memory1_id": source, "memory2_id": target, "type": kind, **fields}
    reply = api.post("/associate", json=body)
    assert reply.status_code == 201, reply.text


def recall(api: httpx.Client, **params: Any) -> Body:
    """Ask; give the answer."""
    reply = api.get("/recall", params=params)
    assert reply.status_code == 200, reply.text
    body: Body = reply.json()
    return body


def ids(body: Mapping[str, Any]) -> list[str]:
    """Give the ids of the results in order."""
    return [row["id"] for row in body["results"]]


def row_of(body: Mapping[str, Any], memory_id: str) -> Body:
    """Give the result that shows this memory, which must be there once."""
    [row] = [row for row in body["results"] if row["id"] == memory_id]
    return dict(row)


class RawGraph:
    """The graph of a running service, past the service: for data that others have written."""

    def __init__(self, data_dir: Path) -> None:
        socket = server_files(data_dir / "falkordb").socket
        self._client = falkordb.FalkorDB(unix_socket_path=str(socket), socket_timeout=20)
        self._graph = self._client.select_graph("memories")

    def run(self, query: str, **params: Any) -> Sequence[Sequence[Any]]:
        """Run a query; give its rows."""
        rows: Sequence[Sequence[Any]] = self._graph.query(query, params).result_set
        return rows

    def change(self, memory_id: str, **properties: Any) -> None:
        """Set properties of a memory, None removes; nothing derived follows.

        Only once the service is done with it, which would not notice such a change.
        """
        wait_until(lambda: self._is_done(memory_id))
        rows = self.run(
            "MATCH (m:Memory {id: $id}) SET m += $values RETURN m.id", id=memory_id, values=properties
        )
        assert len(rows) == 1

    def _is_done(self, memory_id: str) -> bool:
        done = "coalesce(m._enrichment, 'done') = 'done' AND m._pending IS NULL"
        return bool(self.run(f"MATCH (m:Memory {{id: $id}}) RETURN {done}", id=memory_id)[0][0])

    def link(self, source: str, kind: str, target: str, **properties: Any) -> None:
        """Make an edge with any properties."""
        query = (
            f"MATCH (a:Memory {{id: $a}}), (b:Memory {{id: $b}}) CREATE (a)-[r:{kind}]->(b) SET r = $values"
        )
        self.run(f"{query} RETURN type(r)", a=source, b=target, values=properties)

    def close(self) -> None:
        self._client.close()
