"""A real local HTTP server that answers like OpenAI, Voyage and Ollama, and fails as it is told.

    with AiServer(dimension=8) as server:
        provider = openai_provider(OpenAIConfig("key", "m", server.openai_url), limits)
        server.next(Status(429), Late(2.0))     # the next two requests fail like this
        server.always(CutOff())                 # and all after them like this
        server.always(None)                     # well again
        server.count("/v1/embeddings")          # requests received

Vectors are counts of hashed words, so that texts that share words are near to each other.
Paths: ``/v1/embeddings`` (OpenAI, Voyage), ``/v1/chat/completions``, ``/api/embed`` and
``/api/embeddings`` (Ollama).
"""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Status:
    """An error status instead of an answer."""

    code: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = '{"error": {"message": "told to fail"}}'


@dataclass(frozen=True)
class Late:
    """The right answer, after a while (at once when the server is closed)."""

    seconds: float


@dataclass(frozen=True)
class Raw:
    """Status 200 with this body: malformed JSON, JSON of another shape."""

    body: str = '{"data": ['


@dataclass(frozen=True)
class CutOff:
    """Half of the right answer, then the connection is closed."""


@dataclass(frozen=True)
class HangUp:
    """The connection is closed without an answer."""


@dataclass(frozen=True)
class WrongDimension:
    """Vectors of another length."""

    dimension: int


@dataclass(frozen=True)
class OneMissing:
    """One vector too few."""


@dataclass(frozen=True)
class Backwards:
    """The right vectors with their indexes, last first."""


@dataclass(frozen=True)
class Constant:
    """Each number of each vector is this: 0.0, NaN."""

    number: float


Fault = Status | Late | Raw | CutOff | HangUp | WrongDimension | OneMissing | Backwards | Constant


@dataclass(frozen=True)
class Received:
    """One request; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class AiServer:
    """Listens on a free port of the loopback while used as a context manager."""

    def __init__(self, dimension: int = 8, old_ollama: bool = False) -> None:
        """:param old_ollama: ``/api/embed`` answers 404, as before Ollama 0.3."""
        self.dimension = dimension
        self.old_ollama = old_ollama
        self.ollama_model: str | None = None
        """The only model that Ollama has; None: every one."""
        self.chat_reply: str | None = '{"type": "Context", "confidence": 0.7}'
        self.text_reply: str | None = None
        """What is answered where no JSON is asked for; None: the same."""
        self._lock = Lock()
        self._received: list[Received] = []
        self._next: deque[Fault] = deque()
        self._always: Fault | None = None
        self._closing = Event()
        self._http = _Listener(("127.0.0.1", 0), _Handler)
        self._http.server = self
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        """The base URL of Ollama."""
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def openai_url(self) -> str:
        """The base URL of OpenAI and Voyage."""
        return f"{self.url}/v1"

    @property
    def received(self) -> list[Received]:
        """All requests so far, oldest first."""
        with self._lock:
            return list(self._received)

    def count(self, path: str | None = None) -> int:
        """Count the requests, or those of one path."""
        return sum(path in (None, request.path) for request in self.received)

    def next(self, *faults: Fault) -> None:
        """Let the next requests fail, one fault each, in this order."""
        with self._lock:
            self._next.extend(faults)

    def always(self, fault: Fault | None) -> None:
        """Let each request fail for which ``next`` has nothing; None: answer well."""
        with self._lock:
            self._always = fault

    def vector(self, text: str, dimension: int | None = None) -> list[float]:
        """Give the vector of a text as the server does: word counts by hash, never all zero."""
        numbers = [0.0] * (dimension or self.dimension)
        for word in re.findall(r"\w+", text.lower()) or [text]:
            numbers[zlib.crc32(word.encode("utf-8", "replace")) % len(numbers)] += 1.0
        return numbers

    def wait(self, seconds: float) -> None:
        """Wait, but not beyond the server's end."""
        self._closing.wait(seconds)

    def take(self, request: Received) -> Fault | None:
        """Record a request and give what is to go wrong with it."""
        with self._lock:
            self._received.append(request)
            return self._next.popleft() if self._next else self._always

    def close(self) -> None:
        """Stop listening; requests after that are refused by the system."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def __enter__(self) -> AiServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    server: AiServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up waiting is expected here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Received(self.path, headers, body)
        fault = self.server.server.take(request)
        if isinstance(fault, HangUp):
            self.close_connection = True
        elif isinstance(fault, Status):
            self._send(fault.code, fault.body, fault.headers)
        elif isinstance(fault, Raw):
            self._send(200, fault.body)
        else:
            if isinstance(fault, Late):
                self.server.server.wait(fault.seconds)
            code, answer = _answer(self.server.server, request, fault)
            self._send(code, json.dumps(answer), cut=isinstance(fault, CutOff))

    def _send(
        self, code: int, text: str, headers: Mapping[str, str] | None = None, cut: bool = False
    ) -> None:
        data = text.encode("utf-8")
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.close_connection = self.close_connection or cut

    def log_message(self, format: str, *args: object) -> None:
        """Tests look at ``AiServer.received`` instead."""


def _answer(server: AiServer, request: Received, fault: Fault | None) -> tuple[int, dict[str, Any]]:
    if request.path == "/v1/chat/completions":
        return 200, _chat(server, request)
    if request.path == "/v1/embeddings":
        texts = request.body["input"]
        texts = [texts] if isinstance(texts, str) else texts
        size = request.body.get("output_dimension") or request.body.get("dimensions")
        vectors = _vectors(server, texts, fault, size)
        return 200, _data(vectors, request.body.get("encoding_format") == "base64", fault)
    return _ollama(server, request, fault)


def _chat(server: AiServer, request: Received) -> dict[str, Any]:
    wants_text = "response_format" not in request.body and server.text_reply is not None
    message = {"role": "assistant", "content": server.text_reply if wants_text else server.chat_reply}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 0,
        "model": request.body.get("model"),
        "choices": [choice],
    }


def _ollama(server: AiServer, request: Received, fault: Fault | None) -> tuple[int, dict[str, Any]]:
    model = request.body.get("model")
    batch = request.path == "/api/embed"
    if (batch and server.old_ollama) or (not batch and request.path != "/api/embeddings"):
        return 404, {"error": "404 page not found"}
    if server.ollama_model not in (None, model):
        return 404, {"error": f'model "{model}" not found, try pulling it first'}
    if batch:
        return 200, {"model": model, "embeddings": _vectors(server, request.body["input"], fault)}
    vectors = _vectors(server, [request.body["prompt"]], fault)
    return 200, {"embedding": vectors[0] if vectors else []}


def _vectors(
    server: AiServer, texts: Sequence[str], fault: Fault | None, size: int | None = None
) -> list[list[float]]:
    if isinstance(fault, OneMissing):
        texts = texts[1:]
    if isinstance(fault, WrongDimension):
        size = fault.dimension
    vectors = [server.vector(text, size) for text in texts]
    if isinstance(fault, Constant):
        return [[fault.number] * len(vector) for vector in vectors]
    return vectors


def _data(vectors: Sequence[Sequence[float]], encoded: bool, fault: Fault | None) -> dict[str, Any]:
    rows = [
        {"object": "embedding", "index": index, "embedding": _encode(vector) if encoded else vector}
        for index, vector in enumerate(vectors)
    ]
    if isinstance(fault, Backwards):
        rows.reverse()
    return {"object": "list", "data": rows, "model": "m", "usage": {"prompt_tokens": 0, "total_tokens": 0}}


def _encode(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")
