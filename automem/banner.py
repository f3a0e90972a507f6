"""What the service says to a person who starts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from automem.config import Settings
from automem.errors import EmbeddingUnavailable, StartupError
from automem.security.network import is_loopback
from automem.utils.version import package_version

if TYPE_CHECKING:
    from automem.services import Services


def base_url(settings: Settings) -> str:
    """Give the URL to try first, from this machine."""
    host = settings.automem_host.removeprefix("[").removesuffix("]")
    shown = host if is_loopback(host) else "127.0.0.1"
    return f"http://[{shown}]:{settings.port}" if ":" in shown else f"http://{shown}:{settings.port}"


def banner(settings: Settings, services: Services) -> str:
    """Describe the running service in a few lines, with a request to try."""
    token = ' -H "X-API-Key: $AUTOMEM_API_TOKEN"' if settings.automem_api_token else ""
    lines = [
        f"AutoMem {package_version()} listens on {settings.automem_host}:{settings.port}",
        f"  graph    {_graph(settings)}",
        f"  vectors  {_vectors(settings)}",
        f"  model    {services.provider.name} ({_dimension(services)})",
        f"  access   {_access(settings)}",
        f"  try      curl{token} {base_url(settings)}/health",
    ]
    return "\n".join(lines)


def complaint(error: StartupError) -> str:
    """Say why there is no service."""
    return f"AutoMem cannot start: {error.message}"


def _graph(settings: Settings) -> str:
    if settings.graph_embedded:
        return f"FalkorDB embedded, in {settings.automem_data_dir}"
    return f"FalkorDB at {settings.falkordb_host}:{settings.falkordb_port}"


def _vectors(settings: Settings) -> str:
    if settings.vectors_embedded:
        return f"Qdrant embedded, in {settings.automem_data_dir}"
    return f"Qdrant at {settings.qdrant_address}"


def _dimension(services: Services) -> str:
    try:
        return f"{services.provider.dimension} values a vector"
    except EmbeddingUnavailable:
        return "not answering yet"


def _access(settings: Settings) -> str:
    if settings.automem_api_token:
        return "with AUTOMEM_API_TOKEN"
    if settings.automem_allow_open:
        return "OPEN to everybody who reaches this address (AUTOMEM_ALLOW_OPEN)"
    return "this machine only; set AUTOMEM_API_TOKEN to serve others"
