"""The border to FalkorDB: where a server is, queries with parameters, and its errors as ours.

redis-py's own repeating of commands is off: a write whose connection broke may have taken place.
The pool opens new connections by itself once the server is back.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import falkordb
from falkordb.helpers import stringify_param_value
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, BusyLoadingError, RedisError, ResponseError
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import TimeoutError as NoAnswer
from redis.retry import Retry

from automem.errors import Conflict, GraphUnavailable, InvalidInput

logger = logging.getLogger(__name__)

_RUN = re.compile(r"run_id:(\w+)")

Rows = list[list[Any]]


@dataclass(frozen=True, slots=True)
class SocketAddress:
    """A server on this machine, reached over a unix socket."""

    path: str

    def options(self) -> dict[str, Any]:
        return {"unix_socket_path": self.path}


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A server reached over TCP; with a password it is used as the user ``default`` (storage.md 2)."""

    host: str = "localhost"
    port: int = 6379
    password: str | None = field(default=None, repr=False)
    tls: bool = False

    def options(self) -> dict[str, Any]:
        user = "default" if self.password else None
        options = {"host": self.host, "port": self.port, "username": user, "password": self.password or None}
        return options | ({"ssl": True, "ssl_check_hostname": True} if self.tls else {})


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait, in seconds: to connect, for an answer, for a read query, for the indexes."""

    connect: float = 5.0
    answer: float = 60.0
    read: float = 10.0
    indexes: float = 120.0


class QueryRefused(GraphUnavailable):
    """FalkorDB answered a query with an error; ``reason`` is its text, not for clients."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class Connection:
    """One graph on one server. Connects when first used and again whenever needed; thread-safe.

    Every method raises ``GraphUnavailable`` when the server does not serve, ``Conflict`` for a value
    that a constraint keeps unique and ``InvalidInput`` for text that cannot be sent unaltered.
    """

    def __init__(self, address: SocketAddress | ServerAddress, graph: str, limits: Limits) -> None:
        self.graph = graph
        self.limits = limits
        self._address = address
        self._lock = threading.Lock()
        self._client: falkordb.FalkorDB | None = None
        self._server = ""
        self.servers = 0
        """Server processes met so far. A new one may have other data, and indexes still growing."""

    def read(self, query: str, params: Mapping[str, Any]) -> Rows:
        """Run a query that cannot write, for as long as ``limits.read`` allows."""
        text = with_parameters(query, params)
        with self._errors_mapped():
            graph = self._connected().select_graph(self.graph)
            rows: Rows = graph.ro_query(text, timeout=int(self.limits.read * 1000)).result_set
            return rows

    def write(self, query: str, params: Mapping[str, Any]) -> Rows:
        """Run a query, once."""
        text = with_parameters(query, params)
        with self._errors_mapped():
            rows: Rows = self._connected().select_graph(self.graph).query(text).result_set
            return rows

    def command(self, *arguments: str | int) -> Any:
        """Run a command of the server."""
        with self._errors_mapped():
            return self._connected().execute_command(*arguments)

    def beside(self) -> Connection:
        """Give a connection to the same graph with a pool of its own, not yet connected."""
        return Connection(self._address, self.graph, self.limits)

    def close(self) -> None:
        """Close all connections; using it again opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _connected(self) -> falkordb.FalkorDB:
        client = self._client
        if client is not None:
            return client
        # Outside of the lock: a server that swallows packets must not queue up all threads here.
        fresh = self._connect()
        with self._lock:
            client = self._client = self._client or fresh
        if client is not fresh:
            fresh.close()
        return client

    def _connect(self) -> falkordb.FalkorDB:
        return falkordb.FalkorDB(
            socket_connect_timeout=self.limits.connect,
            socket_timeout=self.limits.answer,
            retry=Retry(NoBackoff(), 0),
            encoding_errors="replace",  # for odd bytes on reading; what is sent was checked
            connect_func=self._meet,
            **self._address.options(),
        )

    def _meet(self, connection: Any) -> None:
        """Set up a new connection of the pool, and see whether the server is still the same one."""
        connection.on_connect()
        connection.send_command("INFO", "server")
        found = _RUN.search(str(connection.read_response()))
        server = found[1] if found else ""
        with self._lock:
            if server != self._server:
                self._server = server
                self.servers += 1

    @contextmanager
    def _errors_mapped(self) -> Iterator[None]:
        try:
            yield
        except (NoConnection, NoAnswer) as error:
            raise GraphUnavailable(_unanswered(error)) from error
        except ResponseError as error:
            raise self._refused(str(error)) from error
        except RedisError as error:
            raise GraphUnavailable("FalkorDB cannot be used") from error

    def _refused(self, reason: str) -> Conflict | GraphUnavailable:
        if "unique constraint violation" in reason:
            return Conflict("This id or key exists already")
        if "timed out" in reason:
            return GraphUnavailable(f"FalkorDB took longer than {self.limits.read:g} s for a query")
        if "already" not in reason:  # an index that another process has just made
            logger.error("FalkorDB refused a query: %s", reason[:500])
        return QueryRefused("FalkorDB refused a query", reason)


def with_parameters(query: str, params: Mapping[str, Any]) -> str:
    """Put parameters in front of a query. Names are ours; values may hold any text.

    :raises InvalidInput: for a NUL character or half a surrogate pair, which would not arrive.
    """
    if not params:
        return query
    header = " ".join(f"{name}={stringify_param_value(value)}" for name, value in params.items())
    try:
        header.encode()
    except UnicodeEncodeError:
        raise InvalidInput("Text must be valid Unicode (it has half a surrogate pair)") from None
    if "\0" in header:
        raise InvalidInput("Text must not contain a NUL character")
    return f"CYPHER {header} {query}"


def _unanswered(error: RedisError) -> str:
    if isinstance(error, BusyLoadingError):
        return "FalkorDB is still loading its data"
    if isinstance(error, AuthenticationError):
        return "FalkorDB refuses the password"
    if isinstance(error, NoAnswer):
        return "FalkorDB did not answer in time"
    return "FalkorDB does not answer"
