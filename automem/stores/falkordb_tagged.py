"""Lists of memories by tag, in pages that inserts and deletes do not shift (memory-api.md 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from automem.stores.cypher import REPLACED
from automem.stores.edges import Tagged, TagPage
from automem.stores.falkordb_connection import Rows
from automem.stores.node import read_memory
from automem.utils.tags import canonical_tag
from automem.utils.text import exact_tag_token

# Whole numbers: FalkorDB answers with 15 digits of a float, so that one could not be found again.
_LAST = 10**18
# The inner CASE first: FalkorDB computes all branches, and a text times a number is an error.
_BY_IMPORTANCE = (
    "coalesce(-toInteger(CASE WHEN m.importance > -1e6 AND m.importance < 1e6 THEN m.importance END * 1e12), "
    f"CASE WHEN m.importance >= 1e6 THEN -{_LAST} ELSE {_LAST} END)"
)
_BY_TIME = f"coalesce(-toInteger(CASE WHEN m._ts > -1e12 AND m._ts < 1e12 THEN m._ts END * 1e6), {_LAST})"


class TagLists:
    """The part of the graph store that lists by tag; mixed into it."""

    _read: Callable[..., Rows]

    def tagged(self, tags: Sequence[str], page: TagPage) -> list[Tagged]:
        tokens = list(dict.fromkeys(exact_tag_token(tag) for tag in tags if canonical_tag(tag)))
        if not tokens or page.limit < 1:
            return []
        rows = self._read(
            _tagged(page),
            query="|".join(tokens),
            after=list(page.after or ()),
            offset=max(0, page.offset),
            limit=page.limit,
        )
        return [_row(row) for row in rows]


def _tagged(page: TagPage) -> str:
    behind = "" if page.after is None else "WHERE [important, recent, m.id] > $after "
    return (
        "CALL db.idx.fulltext.queryNodes('Memory', $query) YIELD node AS m "
        f"WITH m, {_BY_IMPORTANCE} AS important, {_BY_TIME} AS recent {behind}"
        "WITH m, important, recent ORDER BY important, recent, m.id SKIP $offset LIMIT $limit "
        f"RETURN important, recent, properties(m), {REPLACED}"
    )


def _row(row: list[Any]) -> Tagged:
    important, recent, node, replaced = row
    memory = read_memory(node, bool(replaced))
    return Tagged(memory, (important, recent, memory.id))
