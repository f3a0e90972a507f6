"""A mixed load whose outcome is known: what was acknowledged, and what was on its way when all ended."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import httpx

Body = dict[str, Any]
_WORD_TEXT = "harbour ledger copper violet signal orchard engine ribbon glacier lantern meadow anchor"
_WORDS = _WORD_TEXT.split()


@dataclass(frozen=True)
class Version:
    """What a memory may look like; None for its content: it is gone."""

    content: str | None
    tags: tuple[str, ...] = ()


@dataclass
class Ledger:
    """What one writer knows: the versions each memory may have, the last acknowledged or two while a
    change is on its way, and the edges that were acknowledged."""

    versions: dict[str, set[Version]] = field(default_factory=dict)
    edges: set[tuple[str, str]] = field(default_factory=set)
    touched: set[str] = field(default_factory=set)
    acknowledged: int = 0

    def certain(self) -> list[str]:
        """Give the memories that surely exist."""
        return [
            memory_id
            for memory_id, versions in self.versions.items()
            if all(version.content is not None for version in versions)
        ]

    def settle(self, memory_id: str, version: Version) -> None:
        """Note what was seen or acknowledged of a memory."""
        self.versions[memory_id] = {version}
        self.touched.add(memory_id)


class Writer:
    """Sends changes, one at a time, and keeps the ledger. Touches only memories of its own."""

    def __init__(self, name: str, url: str, seed: str) -> None:
        self.ledger = Ledger()
        self._name = name
        self._random = random.Random(seed)
        self._client = httpx.Client(base_url=url, timeout=30.0)
        self._number = 0

    def run(self) -> None:
        """Write until the service is gone."""
        steps = [self._store] * 4 + [self._batch] * 2 + [self._patch] * 2 + [self._associate, self._delete]
        try:
            while True:
                self._random.choice(steps)()
                self.ledger.acknowledged += 1
        except httpx.TransportError:
            return

    def close(self) -> None:
        self._client.close()

    def _memory(self) -> Body:
        self._number += 1
        words = " ".join(self._random.choices(_WORDS, k=8))
        return {"content": f"{self._name} {self._number}: {words}", "tags": ["crash", self._name]}

    def _send(self, method: str, path: str, status: int, body: Body | None = None) -> Body:
        reply = self._client.request(method, path, json=body)
        assert reply.status_code == status, f"{method} {path}: {reply.status_code} {reply.text}"
        answer: Body = reply.json()
        return answer

    def _store(self) -> None:
        memory = self._memory()
        answer = self._send("POST", "/memory", 201, memory)
        self.ledger.settle(answer["memory_id"], _version(memory))

    def _batch(self) -> None:
        rows = [self._memory() for _ in range(self._random.randint(2, 8))]
        answer = self._send("POST", "/memory/batch", 201, {"memories": rows})
        for memory_id, row in zip(answer["memory_ids"], rows, strict=True):
            self.ledger.settle(memory_id, _version(row))

    def _patch(self) -> None:
        if own := self.ledger.certain():
            memory = self._memory()
            self._change("PATCH", self._random.choice(own), _version(memory), memory)

    def _delete(self) -> None:
        if own := self.ledger.certain():
            self._change("DELETE", self._random.choice(own), Version(None), None)

    def _change(self, method: str, memory_id: str, then: Version, body: Body | None) -> None:
        """Change a memory; until that is acknowledged both versions are possible."""
        self.ledger.versions[memory_id] |= {then}
        self.ledger.touched.add(memory_id)
        self._send(method, f"/memory/{memory_id}", 200, body)
        self.ledger.settle(memory_id, then)

    def _associate(self) -> None:
        own = self.ledger.certain()
        if len(own) > 1:
            first, second = self._random.sample(own, 2)
            body = {"memory1_id": first, "memory2_id": second, "type": "RELATES_TO", "strength": 0.5}
            self._send("POST", "/associate", 201, body)
            self.ledger.edges.add((first, second))


def _version(memory: Body) -> Version:
    return Version(memory["content"], tuple(memory["tags"]))
