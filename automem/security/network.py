"""Which addresses, host names and origins are this machine's own (D31). Pure."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Say whether a host name or address, without port, is a loopback one: localhost, 127/8, ::1."""
    name = host.strip().rstrip(".").lower().removeprefix("[").removesuffix("]")
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def host_of(header: str) -> str:
    """Give the name in a ``Host`` header, without its port; '' for a malformed one."""
    try:
        return urlsplit(f"//{header.strip()}").hostname or ""
    except ValueError:
        return ""


def is_loopback_origin(origin: str) -> bool:
    """Say whether an ``Origin`` header names a page served from this machine."""
    try:
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and is_loopback(parts.hostname or "")
    except ValueError:
        return False
