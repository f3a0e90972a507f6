"""The one shape of all errors (D3).

``{"status": "error", "code", "message", "request_id"}``, with ``field`` where one is at fault and
``errors`` for the rows of a batch; the id is also in ``X-Request-ID``.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from flask import Flask
from flask.testing import FlaskClient
from pydantic import SecretStr

from automem import errors
from automem.config import Settings
from tests.support.service import RunningService


def assert_error(reply: Any, status: int, message: str = "") -> dict[str, Any]:
    assert reply.status_code == status
    body: dict[str, Any] = reply.json() if callable(reply.json) else reply.json
    assert set(body) <= {"status", "code", "message", "field", "errors", "request_id"}
    assert (body["status"], body["code"]) == ("error", status)
    assert message in body["message"]
    assert body["request_id"] == reply.headers["X-Request-ID"]
    assert reply.headers["Content-Type"] == "application/json"
    return body


def test_not_found(api: httpx.Client) -> None:
    assert_error(api.get("/no-such-path"), 404, "not found")
    assert_error(api.get("/memory/"), 404)


def test_wrong_method_names_the_right_ones(api: httpx.Client) -> None:
    reply = api.put("/recall")
    assert_error(reply, 405, "not allowed")
    assert {"GET", "HEAD", "OPTIONS"} == set(reply.headers["Allow"].split(", "))


@pytest.mark.parametrize("size", [16_777_217, 40_000_000])
def test_too_large(api: httpx.Client, size: int) -> None:
    reply = api.post("/memory", content=b"a" * size, headers={"Content-Type": "application/json"})
    assert_error(reply, 413, "16777216")


def test_too_large_without_a_length(make_app: Callable[..., Flask]) -> None:
    client = make_app(automem_max_body_bytes=1000).test_client()
    reply = client.post(
        "/memory",
        data=b'{"content": "' + b"a" * 2000 + b'"}',
        content_type="application/json",
        headers={"Transfer-Encoding": "chunked"},
        environ_overrides={"wsgi.input_terminated": True, "CONTENT_LENGTH": ""},
    )
    assert_error(reply, 413, "1000 bytes")


def test_a_bad_value_names_its_field(api: httpx.Client) -> None:
    body = assert_error(api.get("/recall", params={"limit": "many"}), 400, "whole number")
    assert body["field"] == "limit"


def test_a_malformed_body(api: httpx.Client) -> None:
    headers = {"Content-Type": "application/json"}
    assert_error(api.post("/memory", content=b'{"content":', headers=headers), 400, "JSON body is required")
    assert_error(api.post("/memory", content=b"{}"), 400, "Content-Type")


def test_content_type_on_a_request_without_body_is_no_error(api: httpx.Client) -> None:
    assert api.get("/recall", headers={"Content-Type": "application/json"}).status_code == 200


@pytest.mark.parametrize("given", ["abc-123", "A.b_c:D", "x" * 128])
def test_a_request_id_of_the_client_is_kept(api: httpx.Client, given: str) -> None:
    reply = api.get("/no-such-path", headers={"X-Request-ID": given})
    assert assert_error(reply, 404)["request_id"] == given


@pytest.mark.parametrize("given", ["", "a b", 'x"y', "x" * 129, "é".encode().decode("latin-1")])
def test_another_one_is_replaced(app_client: FlaskClient, given: str) -> None:
    reply = app_client.get("/no-such-path", headers={"X-Request-ID": given})
    request_id = assert_error(reply, 404)["request_id"]
    assert request_id != given and request_id.isalnum()


def test_answers_carry_the_id_too(api: httpx.Client) -> None:
    assert api.get("/health/live").headers["X-Request-ID"]


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (errors.InvalidInput("bad", field="x"), 400),
        (errors.Unauthorized("who"), 401),
        (errors.Forbidden("no"), 403),
        (errors.NotFound("gone"), 404),
        (errors.Conflict("twice"), 409),
        (errors.TooLarge("big"), 413),
        (errors.GraphUnavailable("away"), 503),
        (errors.VectorsUnavailable("away"), 503),
        (errors.EmbeddingUnavailable("away"), 503),
    ],
)
def test_each_kind_has_its_status(
    make_app: Callable[..., Flask], fault: errors.AutoMemError, status: int
) -> None:
    app = make_app()

    @app.get("/trial")
    def trial() -> str:
        raise fault

    reply = app.test_client().get("/trial")
    body = assert_error(reply, status, fault.message)
    assert body.get("field") == getattr(fault, "field", None)
    assert ("Retry-After" in reply.headers) == (status == 503)


def test_rows_of_a_batch_are_listed(make_app: Callable[..., Flask]) -> None:
    app, rows = make_app(), ({"index": 3, "field": "tags", "message": "bad"},)

    @app.get("/trial")
    def trial() -> str:
        raise errors.InvalidInput("one row is wrong", rows=rows)

    assert assert_error(app.test_client().get("/trial"), 400)["errors"] == list(rows)


def test_our_own_faults_tell_no_details(
    make_app: Callable[..., Flask], caplog: pytest.LogCaptureFixture
) -> None:
    app = make_app()

    @app.get("/trial")
    def trial() -> str:
        raise RuntimeError("secret details")

    body = assert_error(app.test_client().get("/trial"), 500, "Internal server error")
    assert "secret" not in str(body)
    assert any(record.exc_info and "secret details" in str(record.exc_info[1]) for record in caplog.records)


def test_what_is_no_http_is_answered_in_json(service: RunningService) -> None:
    for request, status in ((b"NONSENSE\r\n\r\n", 400), (b"GET /" + b"x" * 300_000, 414)):
        with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
            connection.sendall(request)
            head, _, body = _read_all(connection).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 %d " % status)
        assert b"application/json" in head and b'"status": "error"' in body


def _read_all(connection: socket.socket) -> bytes:
    received = b""
    try:
        while piece := connection.recv(4096):
            received += piece
    except ConnectionResetError:
        # The server does not read the rest of an endless line; what it said came before.
        return received
    return received


def test_a_long_url_is_read(api: httpx.Client) -> None:
    vector = ",".join(["0.05103103630798288"] * 384)
    assert api.get("/recall", params={"embedding": vector, "tags": "none"}).status_code == 200


def test_no_secret_is_logged(make_service: Callable[..., RunningService]) -> None:
    service = make_service(AUTOMEM_API_TOKEN="hush-hush-token")
    service.start()
    assert service.client.get("/recall?api_key=hush-hush-token&query=private").status_code == 200
    assert service.client.get("/recall", headers={"X-API-Key": "wrong-token"}).status_code == 401
    service.stop()
    assert "path=/recall status=200" in service.log and "path=/recall status=401" in service.log
    for secret in ("hush", "private", "wrong-token"):
        assert secret not in service.log


def test_settings_do_not_show_the_token(make_settings: Callable[..., Settings]) -> None:
    assert "hush" not in repr(make_settings(automem_api_token=SecretStr("hush")))
