"""Tokens, hosts and origins (service.md 2, D31)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from automem.config import Settings
from automem.errors import StartupError
from automem.security.network import host_of, is_loopback, is_loopback_origin
from automem.security.policy import access_policy
from automem.security.tokens import presented_admin_token, presented_token, same_token


@pytest.mark.parametrize(
    ("headers", "arguments", "token"),
    [
        ({"Authorization": "Bearer  a "}, {}, "a"),
        ({"Authorization": "bEaReR a"}, {}, "a"),
        ({"Authorization": "Basic x", "X-API-Key": " k "}, {}, "k"),
        ({"Authorization": "Bearer"}, {"api_key": "q"}, "q"),
        ({"Authorization": "Bearer wrong", "X-API-Key": "k"}, {"api_key": "q"}, "wrong"),
        ({"X-API-Key": ""}, {"api_key": "q"}, ""),
        ({}, {"api_key": " q "}, "q"),
        ({}, {}, None),
    ],
)
def test_the_first_token_that_is_present_decides(
    headers: dict[str, str], arguments: dict[str, str], token: str | None
) -> None:
    assert presented_token(headers, arguments) == token


def test_admin_tokens() -> None:
    assert presented_admin_token({"X-Admin-Token": "a", "X-Admin-Api-Key": "b"}, {}) == "a"
    assert presented_admin_token({"X-Admin-Api-Key": "b"}, {"admin_token": "c"}) == "b"
    assert presented_admin_token({}, {"admin_token": " c"}) == " c"
    assert presented_admin_token({}, {}) is None


def test_tokens_are_compared_whole() -> None:
    assert same_token("sésame", "sésame")
    assert not same_token("sesame", "sesam")
    assert not same_token("sesame", "\udcff")
    assert not same_token("sesame", None)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "127.0.0.1", "127.9.9.9", "::1", "[::1]"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.168.0.1", "localhost.evil.example", "127.0.0.1.nip.io", ""]
)
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)


def test_host_headers() -> None:
    assert host_of("localhost:8001") == "localhost"
    assert host_of("[::1]:8001") == "::1"
    assert host_of("user@evil.example") == "evil.example"
    assert host_of("[::1") == ""


def test_origins() -> None:
    assert is_loopback_origin("http://localhost:3000")
    assert not is_loopback_origin("https://localhost.evil.example")
    assert not is_loopback_origin("null")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "memory.example"])
def test_another_address_needs_a_token(make_settings: Callable[..., Settings], host: str) -> None:
    with pytest.raises(StartupError, match="AUTOMEM_API_TOKEN is not set"):
        access_policy(make_settings(automem_host=host))
    assert access_policy(make_settings(automem_host=host, automem_api_token="t")).token == "t"
    assert not access_policy(make_settings(automem_host=host, automem_allow_open="true")).local_only


def test_without_a_token_only_loopback_is_served(make_settings: Callable[..., Settings]) -> None:
    policy = access_policy(make_settings())
    assert policy.host_allowed("localhost:8001") and policy.host_allowed(None)
    assert not policy.host_allowed("evil.example")
    assert policy.origin_allowed("http://127.0.0.1:5173")
    assert not policy.origin_allowed("https://viewer.example")


def test_named_origins_replace_the_rule(make_settings: Callable[..., Settings]) -> None:
    named = access_policy(make_settings(viewer_allowed_origins="https://viewer.example/"))
    assert named.origin_allowed("https://viewer.example")
    assert not named.origin_allowed("http://localhost:3000")
    assert access_policy(make_settings(viewer_allowed_origins="*")).origin_allowed("https://any.example")
    assert access_policy(make_settings(automem_api_token="t")).origin_allowed("https://any.example")


@pytest.mark.parametrize(
    ("method", "path", "needed"),
    [
        ("GET", "/recall", True),
        ("GET", "/unknown", True),
        ("GET", "/openapi.json", True),
        ("OPTIONS", "/recall", False),
        ("GET", "/health", False),
        ("GET", "/health/live", False),
        ("GET", "/health/ready", False),
        ("GET", "/health/", True),
        ("GET", "/viewer/x", False),
        ("GET", "/backup", False),
        ("GET", "/backups", True),
    ],
)
def test_who_needs_the_token(
    make_settings: Callable[..., Settings], method: str, path: str, needed: bool
) -> None:
    assert access_policy(make_settings(automem_api_token="t")).needs_token(method, path) is needed
    assert access_policy(make_settings()).needs_token(method, path) is False
