"""Opening the vector store: embedded in this process, or on a server (D29).

The engines are imported here, when one is opened: only the one in use has to be installed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from automem.errors import StartupError
from automem.stores.base import VectorStore


@dataclass(frozen=True, slots=True)
class QdrantServer:
    """Where a Qdrant server is and how to use it (storage.md 3). ``timeout`` is in seconds."""

    url: str
    collection: str = "memories"
    api_key: str | None = field(default=None, repr=False)
    timeout: float | None = None
    ensure_indexes: bool = True


def open_embedded(path: Path, dimension: int) -> VectorStore:
    """Open, or make, the shard in a directory; its own ``dimension`` may differ: ``check_dimension``.

    :raises StartupError: when the package is missing or the directory cannot be used.
    """
    try:
        from automem.stores.qdrant_edge import EdgeVectors
    except ImportError as error:
        raise StartupError(
            "The embedded vector store needs the package qdrant-edge-py: pip install qdrant-edge-py, "
            "or name a Qdrant server in QDRANT_URL"
        ) from error
    return EdgeVectors.open(path, dimension)


def open_server(server: QdrantServer, dimension: int) -> VectorStore:
    """Open, or make, the collection; its own ``dimension`` may differ: ``check_dimension``.

    :raises StartupError: for a wrong URL, a missing package, a refused key, a collection of another make.
    :raises VectorsUnavailable: when the server does not answer.
    """
    url = checked_url(server.url)
    try:
        from automem.stores.qdrant import QdrantServerVectors, connect
    except ImportError as error:
        raise StartupError(
            "A Qdrant server needs the package qdrant-client: pip install qdrant-client"
        ) from error
    client = connect(url, server.api_key, server.timeout)
    return QdrantServerVectors.open(client, server.collection, dimension, server.ensure_indexes)


def replace_collection(server: QdrantServer, old: str, new: str) -> None:
    """Remove a collection, then let the server's collection name lead to another where it is not its own.

    :raises VectorsUnavailable: when the server does not answer.
    """
    from automem.stores.qdrant import connect, retire_collection

    client = connect(checked_url(server.url), server.api_key, server.timeout)
    try:
        retire_collection(client, server.collection, old, new)
    finally:
        client.close()


def checked_url(url: str) -> str:
    """Give a URL of a server as it is, once it has a scheme of the web and a host.

    :raises StartupError: otherwise.
    """
    try:
        parts = urlsplit(url.strip())
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid:
        raise StartupError("QDRANT_URL must begin with http:// or https:// and name a host")
    return url.strip()
