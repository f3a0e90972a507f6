"""A Qdrant server that is wrong, gone, slow or of another make; and what the URL must be."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from qdrant_client import QdrantClient, models

from automem.errors import StartupError, VectorsUnavailable
from automem.models import Memory, Scope
from automem.stores.base import VectorPoint
from automem.stores.open_vectors import QdrantServer, checked_url, open_server
from automem.stores.qdrant import QdrantServerVectors, connect

SCOPE = Scope(at=datetime(2025, 6, 1, tzinfo=UTC))
NAME = "00000000-0000-4000-8000-000000000000"


@contextmanager
def failing_server(status: int, body: bytes, answers: threading.Event | None = None) -> Iterator[str]:
    """Serve nothing but this answer; with ``answers`` not before the event is set. Gives the URL."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            if answers is not None:
                answers.wait(30)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_PUT = do_POST = do_DELETE = answer

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """Say nothing of clients that gave up."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        if answers is not None:
            answers.set()
        server.shutdown()
        thread.join()
        server.server_close()


def calls(store: QdrantServerVectors) -> list[Callable[[], object]]:
    memory = Memory(properties={"id": NAME})
    return [
        store.ping,
        lambda: store.upsert([VectorPoint(NAME, [1, 0], memory)]),
        lambda: store.update_payload(memory),
        lambda: store.delete([NAME]),
        lambda: store.search([1, 0], SCOPE, 5),
        lambda: store.scroll(SCOPE, 5),
        lambda: store.similarities([1, 0], [NAME]),
        lambda: store.vectors([NAME]),
        lambda: store.count([]),
        lambda: store.ids("", 5),
    ]


def _all_unavailable(url: str) -> None:
    store = QdrantServerVectors(connect(url, timeout=5), "memories", 2)
    for call in calls(store):
        with pytest.raises(VectorsUnavailable):
            call()
    store.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_server_that_is_gone() -> None:
    url = f"http://127.0.0.1:{_free_port()}"

    _all_unavailable(url)
    with pytest.raises(VectorsUnavailable):
        open_server(QdrantServer(url), 2)


@pytest.mark.parametrize("status", [404, 429, 500, 503])
def test_a_server_that_answers_with_an_error(status: int) -> None:
    with failing_server(status, json.dumps({"status": {"error": "no"}}).encode()) as url:
        _all_unavailable(url)


@pytest.mark.parametrize("body", [b"<html>welcome</html>", b"", b"\xff", b"{}", b"[]", b'{"result": null}'])
def test_a_server_that_is_no_qdrant(body: bytes) -> None:
    with failing_server(200, body) as url:
        _all_unavailable(url)


def test_a_server_that_does_not_answer_in_time() -> None:
    with failing_server(200, b"{}", answers=threading.Event()) as url:
        store = QdrantServerVectors(connect(url, timeout=0.3), "memories", 2)
        with pytest.raises(VectorsUnavailable):
            store.search([1, 0], SCOPE, 5)
        store.close()


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_said_at_the_start(status: int) -> None:
    with (
        failing_server(status, b"Invalid API key") as url,
        pytest.raises(StartupError, match="QDRANT_API_KEY"),
    ):
        open_server(QdrantServer(url), 2)


def test_an_existing_collection_keeps_its_dimension() -> None:
    client = QdrantClient(":memory:")
    QdrantServerVectors.open(client, "memories", 2, ensure_indexes=False)

    assert QdrantServerVectors.open(client, "memories", 3, ensure_indexes=False).dimension == 2
    assert QdrantServerVectors.open(client, "others", 3, ensure_indexes=False).dimension == 3


@pytest.mark.parametrize(
    "made",
    [
        models.VectorParams(size=2, distance=models.Distance.DOT),
        {"text": models.VectorParams(size=2, distance=models.Distance.COSINE)},
    ],
)
def test_a_collection_of_another_make_is_refused(made: models.VectorParams) -> None:
    client = QdrantClient(":memory:")
    client.create_collection("memories", vectors_config=made)

    with pytest.raises(StartupError, match="QDRANT_COLLECTION"):
        QdrantServerVectors.open(client, "memories", 2, ensure_indexes=False)


def test_payload_indexes_are_asked_for_unless_switched_off() -> None:
    """The local mode answers each request for an index with a warning."""
    client = QdrantClient(":memory:")

    with pytest.warns(UserWarning, match="Payload indexes"):
        QdrantServerVectors.open(client, "memories", 2)
    QdrantServerVectors.open(client, "memories", 2, ensure_indexes=False)


@pytest.mark.parametrize("url", ["http://qdrant", "https://q.example:6333", " http://[::1]:6333/prefix "])
def test_a_url_with_scheme_and_host_is_taken(url: str) -> None:
    assert checked_url(url) == url.strip()


@pytest.mark.parametrize(
    "url", ["qdrant", "qdrant:6333", "//qdrant", "grpc://qdrant", "http://", "http://:6333", "http://q:x", ""]
)
def test_another_url_is_refused(url: str) -> None:
    with pytest.raises(StartupError, match="QDRANT_URL"):
        open_server(QdrantServer(url), 2)


def test_the_key_is_never_shown() -> None:
    assert "secret" not in repr(QdrantServer("http://q", api_key="secret"))
