"""How common words are in the store (D9)."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from automem.search.runtime_keywords import Keywords, Rarity
from automem.stores.base import GraphStore

# Counting a word that stands in many memories takes milliseconds; a rare one takes none. So only
# common words are remembered, where a few more or less change nothing.
_COMMON = 2_000
_KEPT_SECONDS = 60.0
_CAPACITY = 5_000


class TermStatistics:
    """Counts memories per word through the index, remembering common words for a minute.

    Safe for use from many threads. ``monotonic`` gives seconds.
    """

    def __init__(self, graph: GraphStore, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._graph = graph
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def rarity(self, keywords: Keywords) -> Rarity:
        """Give the counts for a query; at most two round trips. Raises ``GraphUnavailable``."""
        words = [keyword.index_query for keyword in keywords.items]
        asked = words + [pair.index_query for pair in keywords.pairs]
        counts = self._counts(asked)
        return Rarity(self._graph.count(()), tuple(counts[: len(words)]), tuple(counts[len(words) :]))

    def _counts(self, queries: Sequence[str]) -> list[int]:
        known = self._remembered(queries)
        unknown = [query for query in dict.fromkeys(queries) if query not in known]
        if unknown:
            counted = dict(zip(unknown, self._graph.frequencies(unknown), strict=True))
            self._remember(counted)
            known |= counted
        return [known[query] for query in queries]

    def _remembered(self, queries: Sequence[str]) -> dict[str, int]:
        now = self._monotonic()
        with self._lock:
            entries = ((query, self._known.get(query)) for query in queries)
            return {query: entry[0] for query, entry in entries if entry and entry[1] > now}

    def _remember(self, counted: dict[str, int]) -> None:
        until = self._monotonic() + _KEPT_SECONDS
        with self._lock:
            for query, count in counted.items():
                if count >= _COMMON:
                    self._known[query] = (count, until)
                    self._known.move_to_end(query)
            while len(self._known) > _CAPACITY:
                self._known.popitem(last=False)
