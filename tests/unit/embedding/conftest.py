"""A scriptable server, and the true local model (loaded once)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from automem.embedding.local import LocalConfig, LocalProvider, bundled_model
from tests.support.openai_server import AiServer


@pytest.fixture
def server() -> Iterator[AiServer]:
    with AiServer(dimension=16) as running:
        yield running


@pytest.fixture(scope="session")
def minilm() -> Iterator[LocalProvider]:
    provider = LocalProvider(LocalConfig(bundled_model()))
    yield provider
    provider.close()
