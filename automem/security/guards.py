"""The policy applied to requests: host, token, admin token, CORS (service.md 2 and 4, D31)."""

from __future__ import annotations

from typing import cast

from flask import Flask, Response, current_app, request

from automem.errors import Forbidden, Unauthorized
from automem.security.policy import AccessPolicy
from automem.security.tokens import presented_admin_token, presented_token, same_token

_ALLOWED_METHODS = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"
_ALLOWED_HEADERS = (
    "Content-Type, X-API-Key, Authorization, X-Request-ID, X-Admin-Token, X-Admin-Api-Key, Idempotency-Key"
)
_EXPOSED_HEADERS = "X-Request-ID, Retry-After"
_PREFLIGHT_SECONDS = "600"


def policy() -> AccessPolicy:
    """Give the policy of the present application."""
    return cast(AccessPolicy, current_app.extensions["automem-policy"])


def require_admin() -> None:
    """Raise unless the request carries the admin token; to be called first in an admin route."""
    expected = policy().admin_token
    if expected is None:
        raise Forbidden("Admin token not configured")
    if not same_token(expected, presented_admin_token(request.headers, request.args)):
        raise Unauthorized("Admin authorization required")


def register(app: Flask, rules: AccessPolicy) -> None:
    """Guard every request of an application, before routing errors are raised (service.md 2.1)."""
    app.extensions["automem-policy"] = rules
    app.before_request(_check_origin)
    app.before_request(_check_token)
    app.after_request(_allow_origin)


def _check_origin() -> None:
    rules = policy()
    if not rules.host_allowed(request.headers.get("Host")):
        raise Forbidden(
            "Without AUTOMEM_API_TOKEN this service answers only to loopback names "
            "(localhost, 127.0.0.1, [::1]) in the Host header"
        )
    if not rules.write_allowed(request.method, request.headers.get("Origin")):
        raise Forbidden("Pages of this origin may not write; see VIEWER_ALLOWED_ORIGINS")


def _check_token() -> None:
    rules = policy()
    if rules.token is None or not rules.needs_token(request.method, request.path):
        return
    if not same_token(rules.token, presented_token(request.headers, request.args)):
        raise Unauthorized("Unauthorized")


def _allow_origin(response: Response) -> Response:
    rules, origin, headers = policy(), request.headers.get("Origin"), response.headers
    if origin is None:
        if rules.any_origin:
            headers["Access-Control-Allow-Origin"] = "*"
        return response
    response.vary.add("Origin")
    if not rules.origin_allowed(origin):
        return response
    headers["Access-Control-Allow-Origin"] = origin
    headers["Access-Control-Expose-Headers"] = _EXPOSED_HEADERS
    if request.method == "OPTIONS":
        headers["Access-Control-Allow-Methods"] = _ALLOWED_METHODS
        headers["Access-Control-Allow-Headers"] = _ALLOWED_HEADERS
        headers["Access-Control-Max-Age"] = _PREFLIGHT_SECONDS
    return response
