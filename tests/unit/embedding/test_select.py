"""Which provider the settings choose, and which settings are refused at start (background.md 6.1)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from automem.config import Settings
from automem.embedding.base import ClosingProvider
from automem.embedding.select import make_provider
from automem.errors import EmbeddingUnavailable, StartupError
from tests.support.openai_server import AiServer, Status

VOYAGE = {"voyage_api_key": "v"}
OPENAI = {"openai_api_key": "o"}
OLLAMA = {"ollama_model": "nomic-embed-text"}


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)


class Makes:
    """Makes providers and closes them at the end."""

    def __init__(self) -> None:
        self.made: list[ClosingProvider] = []

    def __call__(self, **values: Any) -> ClosingProvider:
        self.made.append(make_provider(Settings(_env_file=None, **values)))  # type: ignore[call-arg]
        return self.made[-1]


@pytest.fixture
def make() -> Iterator[Makes]:
    makes = Makes()
    yield makes
    for provider in makes.made:
        provider.close()


@pytest.mark.parametrize(
    ("values", "name", "dimension"),
    [
        ({}, "local:all-MiniLM-L6-v2", 384),
        ({"vector_size": 384}, "local:all-MiniLM-L6-v2", 384),
        (
            {"automem_local_model": "sentence-transformers/all-MiniLM-L6-v2"},
            "local:all-MiniLM-L6-v2",
            384,
        ),
        ({**VOYAGE, **OPENAI, **OLLAMA}, "voyage:voyage-4", 1024),
        ({**VOYAGE, "vector_size": 512}, "voyage:voyage-4", 512),
        ({**VOYAGE, **OPENAI, "vector_size": 768}, "openai:text-embedding-3-small", 768),
        ({**OPENAI, **OLLAMA}, "openai:text-embedding-3-small", 1536),
        ({**OPENAI, "vector_size": 3072}, "openai:text-embedding-3-large", 3072),
        ({**OPENAI, "vector_size": 2000}, "openai:text-embedding-3-large", 2000),
        (
            {**OPENAI, "openai_base_url": "https://x.example/v1"},
            "openai-compatible:text-embedding-3-small",
            1536,
        ),
        ({**OPENAI, "openai_base_url": "https://api.openai.com/v1"}, "openai:text-embedding-3-small", 1536),
        (
            {
                **OPENAI,
                "openai_base_url": "https://x.example/v1",
                "embedding_model": "bge",
                "vector_size": 99,
            },
            "openai-compatible:bge",
            99,
        ),
        (OLLAMA, "ollama:nomic-embed-text", 768),
        ({"ollama_base_url": "http://ollama.example:11434"}, "ollama:nomic-embed-text", 768),
        ({"ollama_model": "mxbai-embed-large:335m"}, "ollama:mxbai-embed-large:335m", 1024),
        ({"embedding_provider": "OLLAMA", **VOYAGE}, "ollama:nomic-embed-text", 768),
        ({"embedding_provider": " Local ", **VOYAGE, **OPENAI}, "local:all-MiniLM-L6-v2", 384),
        ({"embedding_provider": "openai", **VOYAGE, **OPENAI}, "openai:text-embedding-3-small", 1536),
        ({"embedding_provider": "voyage", **VOYAGE, **OPENAI}, "voyage:voyage-4", 1024),
        ({"embedding_provider": "placeholder", **OPENAI}, "placeholder", 1024),
        ({"embedding_provider": "placeholder", "vector_size": 32}, "placeholder", 32),
    ],
)
def test_choice(make: Makes, values: dict[str, Any], name: str, dimension: int) -> None:
    provider = make(**values)
    assert (provider.name, provider.dimension) == (name, dimension)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"embedding_provider": "voyage"}, "needs VOYAGE_API_KEY"),
        ({"embedding_provider": "openai", **VOYAGE}, "needs OPENAI_API_KEY"),
        ({"embedding_provider": "voyage", **VOYAGE, "vector_size": 384}, "256, 512, 1024 or 2048"),
        ({"vector_size": 1024}, "VECTOR_SIZE=1024.*all-MiniLM-L6-v2.*384.*Unset VECTOR_SIZE"),
        ({**OLLAMA, "vector_size": 1024}, "VECTOR_SIZE=1024.*nomic-embed-text.*768"),
        (
            {**OPENAI, "embedding_model": "text-embedding-ada-002", "vector_size": 512},
            "ada-002.*1536",
        ),
        ({**OPENAI, "vector_size": 4096}, "text-embedding-3-large.*3072"),
        (
            {"automem_local_model": "BAAI/bge-base-en-v1.5"},
            r"BAAI/bge-base-en-v1.5 needs the package fastembed.*pip install 'automem\[fastembed\]'",
        ),
    ],
)
def test_refused_at_start(make: Makes, values: dict[str, Any], message: str) -> None:
    with pytest.raises(StartupError, match=message):
        make(**values)


def test_an_unknown_provider_is_refused_with_the_options() -> None:
    settings = Settings.model_construct(embedding_provider="cohere")
    with pytest.raises(StartupError) as raised:
        make_provider(settings)
    assert str(raised.value) == (
        "Invalid EMBEDDING_PROVIDER=cohere. Valid options: auto, voyage, openai, local, ollama, placeholder"
    )


def test_a_compatible_server_gets_no_dimensions_and_its_size_is_learnt(make: Makes, server: AiServer) -> None:
    provider = make(**OPENAI, openai_base_url=server.openai_url, embedding_model="bge")
    assert provider.dimension == 16
    provider.embed_query("question")
    provider.embed_query("question")
    assert [sorted(request.body) for request in server.received] == [
        ["encoding_format", "input", "model"],
        ["encoding_format", "input", "model"],
    ]


def test_a_dead_server_is_left_alone(make: Makes, server: AiServer) -> None:
    provider = make(ollama_base_url=server.url, ollama_model="some-model")
    server.always(Status(500))
    for number in range(6):
        with pytest.raises(EmbeddingUnavailable):
            provider.embed_query(f"question {number}")
    assert server.count() == 3


def test_a_wrong_vector_size_of_a_compatible_server_makes_no_vectors(make: Makes, server: AiServer) -> None:
    provider = make(**OPENAI, openai_base_url=server.openai_url, vector_size=99)
    with pytest.raises(EmbeddingUnavailable, match="16 numbers instead of 99; VECTOR_SIZE"):
        provider.embed_batch(["text"])


def test_the_placeholder_is_the_same_everywhere(make: Makes) -> None:
    provider = make(embedding_provider="placeholder", vector_size=4)
    vector = provider.embed_query("hello")
    assert np.array_equal(vector, provider.embed_batch(["x", "hello"])[1])
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    assert vector.min() >= 0
    assert not np.allclose(vector, provider.embed_query("hello!"))
