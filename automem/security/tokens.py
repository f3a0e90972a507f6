"""Where tokens stand in a request, and comparing them (service.md 2). Pure; nothing here is logged."""

from __future__ import annotations

import hmac
from typing import Protocol

_BEARER = "bearer "


class Lookup(Protocol):
    """Headers, or the arguments of a query string."""

    def get(self, name: str, /) -> str | None:
        """Give the first value of that name, None without one."""
        ...


def presented_token(headers: Lookup, arguments: Lookup) -> str | None:
    """Give the API token of a request: bearer, ``X-API-Key``, ``api_key``; None without any.

    The first that is present decides, right or wrong. Another ``Authorization`` scheme is not present.
    """
    authorization = headers.get("Authorization")
    if authorization is not None and authorization.lower().startswith(_BEARER):
        return authorization[len(_BEARER) :].strip()
    for source, name in ((headers, "X-API-Key"), (arguments, "api_key")):
        value = source.get(name)
        if value is not None:
            return value.strip()
    return None


def presented_admin_token(headers: Lookup, arguments: Lookup) -> str | None:
    """Give the admin token: ``X-Admin-Token``, ``X-Admin-Api-Key``, ``admin_token``; None without any."""
    for source, name in (
        (headers, "X-Admin-Token"),
        (headers, "X-Admin-Api-Key"),
        (arguments, "admin_token"),
    ):
        value = source.get(name)
        if value is not None:
            return value
    return None


def same_token(expected: str, given: str | None) -> bool:
    """Compare in constant time (D31)."""
    if given is None:
        return False
    return hmac.compare_digest(expected.encode("utf-8", "replace"), given.encode("utf-8", "replace"))
