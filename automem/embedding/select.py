"""Chooses the embedding provider from the settings (background.md 6.1), never a placeholder unasked (D23)."""

from __future__ import annotations

from automem.config import Settings, reveal
from automem.embedding.base import ClosingProvider
from automem.embedding.breaker import BreakerConfig, CircuitBreaker, MonotonicStopwatch
from automem.embedding.cached import CachedProvider
from automem.embedding.fastembed_local import FastembedConfig, FastembedProvider
from automem.embedding.guarded import GuardedProvider
from automem.embedding.local import MODEL_NAME, LocalConfig, LocalProvider, bundled_model
from automem.embedding.ollama import OllamaConfig, known_dimension, ollama_limits, ollama_provider
from automem.embedding.openai import (
    KNOWN_DIMENSIONS,
    OpenAIConfig,
    is_official,
    openai_limits,
    openai_provider,
)
from automem.embedding.placeholder import DEFAULT_DIMENSION as PLACEHOLDER_DIMENSION
from automem.embedding.placeholder import PlaceholderProvider
from automem.embedding.remote import Patience, RemoteProvider
from automem.embedding.voyage import DEFAULT_DIMENSION as VOYAGE_DIMENSION
from automem.embedding.voyage import DIMENSIONS as VOYAGE_DIMENSIONS
from automem.embedding.voyage import VoyageConfig, voyage_limits, voyage_provider
from automem.errors import StartupError

_OPTIONS = ("auto", "voyage", "openai", "local", "ollama", "placeholder")
_BUNDLED_NAMES = (MODEL_NAME.lower(), f"sentence-transformers/{MODEL_NAME}".lower())


def make_provider(settings: Settings) -> ClosingProvider:
    """Make the provider that the settings name, with a memory for questions and, if remote, a breaker.

    Nothing is sent and no model is loaded yet (a fastembed model excepted). Raises ``StartupError``
    for a missing key, a missing model, or a VECTOR_SIZE that the model does not give.
    """
    choice = choose(settings)
    if choice == "local":
        return CachedProvider(_local(settings))
    if choice == "placeholder":
        return PlaceholderProvider(settings.vector_size or PLACEHOLDER_DIMENSION)
    remote = _remote(choice, settings)
    breaker = CircuitBreaker(f"embedding provider {remote.name}", BreakerConfig(), MonotonicStopwatch())
    return CachedProvider(GuardedProvider(remote, breaker))


def choose(settings: Settings) -> str:
    """Name the provider: the one asked for, or with ``auto`` the first that is set up."""
    asked = settings.embedding_provider.strip().lower() or "auto"
    if asked not in _OPTIONS:
        raise StartupError(
            f"Invalid EMBEDDING_PROVIDER={settings.embedding_provider}. Valid options: {', '.join(_OPTIONS)}"
        )
    if asked != "auto":
        return asked
    if settings.voyage_api_key and settings.vector_size in (None, *VOYAGE_DIMENSIONS):
        return "voyage"
    if settings.openai_api_key:
        return "openai"
    return "ollama" if settings.ollama_named else "local"


def _remote(choice: str, settings: Settings) -> RemoteProvider:
    if choice == "voyage":
        return _voyage(settings)
    return _openai(settings) if choice == "openai" else _ollama(settings)


def _local(settings: Settings) -> ClosingProvider:
    model = settings.automem_local_model
    provider: LocalProvider | FastembedProvider
    if model is None or model.lower() in _BUNDLED_NAMES:
        provider = LocalProvider(LocalConfig(bundled_model()))
    else:
        provider = FastembedProvider(FastembedConfig(model, settings.automem_models_dir))
    _check_size(settings.vector_size, provider.dimension, provider.name)
    return provider


def _voyage(settings: Settings) -> RemoteProvider:
    key = reveal(settings.voyage_api_key)
    if not key:
        raise StartupError("EMBEDDING_PROVIDER=voyage needs VOYAGE_API_KEY.")
    dimension = settings.vector_size or VOYAGE_DIMENSION
    if dimension not in VOYAGE_DIMENSIONS:
        raise StartupError(
            f"VECTOR_SIZE={dimension}, but Voyage gives vectors of 256, 512, 1024 or 2048 numbers. "
            "Set VECTOR_SIZE to one of these, or unset it for 1024."
        )
    limits = voyage_limits(dimension, settings.embedding_query_timeout_seconds)
    return voyage_provider(VoyageConfig(key, settings.voyage_model, dimension), limits)


def _openai(settings: Settings) -> RemoteProvider:
    key = reveal(settings.openai_api_key)
    if not key:
        raise StartupError("EMBEDDING_PROVIDER=openai needs OPENAI_API_KEY.")
    model = _openai_model(settings)
    base_url = settings.openai_base_url
    config = OpenAIConfig(key, model, base_url, _asked_dimensions(settings, model))
    dimension = settings.vector_size or KNOWN_DIMENSIONS.get(model)
    return openai_provider(
        config, openai_limits(base_url, dimension, settings.embedding_query_timeout_seconds)
    )


def _openai_model(settings: Settings) -> str:
    small = settings.embedding_model == "text-embedding-3-small"
    if small and (settings.vector_size or 0) > KNOWN_DIMENSIONS["text-embedding-3-small"]:
        return "text-embedding-3-large"
    return settings.embedding_model


def _asked_dimensions(settings: Settings, model: str) -> int | None:
    """Say what to send as ``dimensions``: only to OpenAI, whose newer models can shorten their vectors.

    The names of another server's models prove nothing: there VECTOR_SIZE is believed, and each
    answer's length is checked.
    """
    if not is_official(settings.openai_base_url):
        return None
    size, own = settings.vector_size, KNOWN_DIMENSIONS.get(model)
    if size is None or own is None:
        return size
    if model.startswith("text-embedding-3-") and size <= own:
        return size
    _check_size(size, own, f"openai:{model}")
    return None


def _ollama(settings: Settings) -> RemoteProvider:
    known = known_dimension(settings.ollama_model)
    if known is not None:
        _check_size(settings.vector_size, known, f"ollama:{settings.ollama_model}")
    limits = ollama_limits(
        settings.vector_size or known,
        Patience(settings.ollama_timeout, settings.ollama_max_retries),
        settings.embedding_query_timeout_seconds,
    )
    return ollama_provider(OllamaConfig(settings.ollama_base_url, settings.ollama_model), limits)


def _check_size(wanted: int | None, given: int, name: str) -> None:
    if wanted is not None and wanted != given:
        raise StartupError(
            f"VECTOR_SIZE={wanted}, but the embedding model {name} gives vectors of {given} numbers. "
            f"Unset VECTOR_SIZE (it then follows the model) or set it to {given}, "
            "or choose another model with EMBEDDING_PROVIDER."
        )
