"""Locks of runs on the server of the graph."""

from __future__ import annotations

from automem.stores.falkordb_connection import Connection

_TAKE = """
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1"""
_RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"


class FalkorDBLocks:
    """``RunLocks`` on the keys ``automem:lock:<graph>:<name>``. Thread-safe."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def take(self, name: str, owner: str, seconds: float) -> bool:
        milliseconds = max(1, int(seconds * 1000))
        return bool(self._connection.command("EVAL", _TAKE, 1, self._key(name), owner, milliseconds))

    def release(self, name: str, owner: str) -> None:
        self._connection.command("EVAL", _RELEASE, 1, self._key(name), owner)

    def reset(self) -> None:
        """Give all locks free: for the process that owns the server, at its start. Their owners are dead."""
        for key in self._connection.command("KEYS", self._key("*")):
            self._connection.command("DEL", key)

    def _key(self, name: str) -> str:
        return f"automem:lock:{self._connection.graph}:{name}"
