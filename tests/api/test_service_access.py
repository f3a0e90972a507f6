"""Who is let in: tokens, hosts, origins (service.md 2 and 4, D31)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from pydantic import SecretStr

TOKEN = "open-sésame"
VIEWER = "https://viewer.example"


@pytest.fixture(scope="session")
def guarded(make_app: Callable[..., Flask]) -> Flask:
    return make_app(automem_api_token=SecretStr(TOKEN))


@pytest.fixture
def client(guarded: Flask) -> FlaskClient:
    return guarded.test_client()


@pytest.mark.parametrize("path", ["/recall", "/no-such-path", "/openapi.json", "/health/"])
def test_a_token_is_asked_for_before_routing(client: FlaskClient, path: str) -> None:
    reply = client.get(path)
    assert reply.status_code == 401
    assert reply.json is not None and reply.json["message"] == "Unauthorized"
    assert reply.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("headers", "query"),
    [
        ({"Authorization": f"Bearer {TOKEN}"}, ""),
        ({"Authorization": f"bearer  {TOKEN} "}, ""),
        ({"X-Api-Key": TOKEN}, ""),
        ({"Authorization": f"Bearer {TOKEN}", "X-API-Key": "wrong"}, ""),
        ({}, f"?api_key={TOKEN}"),
    ],
)
def test_three_ways_to_send_it(client: FlaskClient, headers: dict[str, str], query: str) -> None:
    sent = {name: value.encode().decode("latin-1") for name, value in headers.items()}
    assert client.get(f"/no-such-path{query}", headers=sent).status_code in (404, 401)
    assert client.get("/no-such-path", query_string={"api_key": TOKEN}).status_code == 404


def test_a_plain_token_is_taken_each_way(make_app: Callable[..., Flask]) -> None:
    client = make_app(automem_api_token=SecretStr("plain")).test_client()
    assert client.get("/x", headers={"Authorization": "BEARER plain"}).status_code == 404
    assert client.get("/x", headers={"X-API-Key": " plain "}).status_code == 404
    assert client.get("/x?api_key=plain").status_code == 404
    assert client.get("/x", headers={"Authorization": "Basic plain"}).status_code == 401
    wrong = {"Authorization": "Bearer wrong"}
    assert client.get("/x?api_key=plain", headers=wrong).status_code == 401


@pytest.mark.parametrize("path", ["/health", "/health/live", "/health/ready"])
@pytest.mark.parametrize("headers", [{}, {"X-API-Key": "wrong"}])
def test_health_is_open(client: FlaskClient, path: str, headers: dict[str, str]) -> None:
    assert client.get(path, headers=headers).status_code == 200


def test_preflights_are_answered_without_a_token(client: FlaskClient) -> None:
    asked = {"Origin": VIEWER, "Access-Control-Request-Method": "PATCH"}
    reply = client.options("/memory/00000000-0000-4000-8000-000000000000", headers=asked)
    assert reply.status_code == 200
    assert reply.headers["Access-Control-Allow-Origin"] == VIEWER
    assert {"GET", "POST", "PATCH", "DELETE"} <= set(
        reply.headers["Access-Control-Allow-Methods"].split(", ")
    )
    allowed = {name.lower() for name in reply.headers["Access-Control-Allow-Headers"].split(", ")}
    assert {"content-type", "x-api-key", "authorization", "x-request-id", "idempotency-key"} <= allowed


def test_errors_carry_the_cors_headers(client: FlaskClient) -> None:
    reply = client.get("/recall", headers={"Origin": VIEWER})
    assert reply.status_code == 401
    assert reply.headers["Access-Control-Allow-Origin"] == VIEWER
    assert reply.headers["Vary"] == "Origin"
    assert client.get("/recall").headers["Access-Control-Allow-Origin"] == "*"


def test_without_a_token_foreign_names_are_refused(app_client: FlaskClient) -> None:
    reply = app_client.get("/health", headers={"Host": "evil.example"})
    assert reply.status_code == 403
    assert reply.json is not None and "loopback" in reply.json["message"]
    for host in ("localhost:8001", "127.0.0.1", "[::1]:8001"):
        assert app_client.get("/health/live", headers={"Host": host}).status_code == 200


def test_without_a_token_foreign_pages_read_and_write_nothing(app_client: FlaskClient) -> None:
    foreign, local = {"Origin": VIEWER}, {"Origin": "http://localhost:5173"}
    assert "Access-Control-Allow-Origin" not in app_client.get("/health/live", headers=foreign).headers
    assert app_client.post("/memory", headers=foreign).status_code == 403
    assert app_client.post("/memory", headers=local).status_code == 400
    reply = app_client.get("/health/live", headers=local)
    assert reply.headers["Access-Control-Allow-Origin"] == "http://localhost:5173"


def test_named_origins(make_app: Callable[..., Flask]) -> None:
    client = make_app(automem_api_token=SecretStr("t"), viewer_allowed_origins=(VIEWER,)).test_client()
    allowed = client.get("/health/live", headers={"Origin": VIEWER})
    assert allowed.headers["Access-Control-Allow-Origin"] == VIEWER
    refused = client.get("/health/live", headers={"Origin": "https://other.example"})
    assert "Access-Control-Allow-Origin" not in refused.headers


def test_open_to_all_when_asked_for(make_app: Callable[..., Flask]) -> None:
    client = make_app(automem_allow_open=True, automem_host="0.0.0.0").test_client()
    assert client.get("/health/live", headers={"Host": "memory.example"}).status_code == 200
