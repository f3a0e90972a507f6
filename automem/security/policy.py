"""Who may ask what: the rules of D31 and service.md 2 as one value made from the settings."""

from __future__ import annotations

from dataclasses import dataclass

from automem.config import Settings, reveal
from automem.errors import StartupError
from automem.security.network import host_of, is_loopback, is_loopback_origin

_OPEN_PATHS = frozenset({"/health", "/health/live", "/health/ready", "/backup", "/backup/"})
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """What is required of a request. ``local_only``: no token, so only this machine may ask."""

    token: str | None
    admin_token: str | None
    local_only: bool
    origins: tuple[str, ...] = ()

    def needs_token(self, method: str, path: str) -> bool:
        """Say whether this request must carry the API token. ``/backup`` asks for the admin's itself."""
        if self.token is None or method == "OPTIONS":
            return False
        return path not in _OPEN_PATHS and not path.startswith("/viewer")

    def host_allowed(self, host: str | None) -> bool:
        """Refuse foreign names for a local service: a page could point its own name at 127.0.0.1."""
        return not self.local_only or host is None or is_loopback(host_of(host))

    def origin_allowed(self, origin: str) -> bool:
        """Say whether pages of this origin may read answers."""
        if self.origins:
            return "*" in self.origins or origin.rstrip("/") in self.origins
        return self.token is not None or is_loopback_origin(origin)

    def write_allowed(self, method: str, origin: str | None) -> bool:
        """Refuse writes that a foreign page sends without a preflight to a service without a token."""
        if self.token is not None or origin is None or method in _SAFE_METHODS:
            return True
        return self.origin_allowed(origin)

    @property
    def any_origin(self) -> bool:
        """Say whether every origin is allowed."""
        return "*" in self.origins if self.origins else self.token is not None


def access_policy(settings: Settings) -> AccessPolicy:
    """Make the policy; raises ``StartupError`` for an address that needs a token and has none (D31)."""
    token = reveal(settings.automem_api_token)
    if token is None and not settings.automem_allow_open and not is_loopback(settings.automem_host):
        raise StartupError(
            f"AUTOMEM_HOST={settings.automem_host} can be reached from other machines, and "
            "AUTOMEM_API_TOKEN is not set. Set a token (any long random text), or listen on 127.0.0.1, "
            "or set AUTOMEM_ALLOW_OPEN=true if everybody who reaches this address may read and write."
        )
    return AccessPolicy(
        token=token,
        admin_token=reveal(settings.admin_api_token),
        local_only=token is None and not settings.automem_allow_open,
        origins=tuple(origin.rstrip("/") for origin in settings.viewer_allowed_origins),
    )
