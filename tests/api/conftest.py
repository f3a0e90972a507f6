"""The real service, as a process and in this process; both once for the whole run.

Tests share them: give each its own tag, and do not count all memories.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from functools import partial

import httpx
import pytest
from flask import Flask
from flask.testing import FlaskClient

from automem.app import create_app
from automem.config import Settings
from automem.services import Services, build_services
from tests.support.recalls import RawGraph, associate
from tests.support.service import RunningService


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service without a token, on an empty directory."""
    running = RunningService(tmp_path_factory.mktemp("service"))
    running.start()
    yield running
    running.close()


@pytest.fixture(scope="session")
def api(service: RunningService) -> httpx.Client:
    """A client of that service."""
    return service.client


@pytest.fixture(scope="session")
def settled(service: RunningService) -> Callable[[], None]:
    """Wait until everything stored can be found by meaning too."""
    return service.wait_settled


@pytest.fixture
def tag() -> str:
    """A tag of this test alone, so that tests can share one service."""
    return f"t{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="session")
def raw_graph(service: RunningService) -> Iterator[RawGraph]:
    """The graph of that service, to write into it as others may."""
    graph = RawGraph(service.data_dir)
    yield graph
    graph.close()


@pytest.fixture(scope="session")
def link(api: httpx.Client) -> Callable[..., None]:
    """Make a relation as clients do: source, type, target, further fields."""
    return partial(associate, api)


@pytest.fixture
def make_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., RunningService]]:
    """Make services of a test's own; they are ended after it."""
    made: list[RunningService] = []

    def make(**variables: str) -> RunningService:
        made.append(RunningService(tmp_path_factory.mktemp("own"), **variables))
        return made[-1]

    yield make
    for running in made:
        running.close()


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """The services of an application in this process, on embedded engines."""
    settings = Settings.model_validate({"automem_data_dir": tmp_path_factory.mktemp("inner")})
    built = build_services(settings)
    built.start()
    yield built
    built.close()


@pytest.fixture(scope="session")
def make_app(services: Services) -> Callable[..., Flask]:
    """Make applications on these services, with other settings as named."""

    def make(**changes: object) -> Flask:
        return create_app(services.settings.model_copy(update=changes), services)

    return make


@pytest.fixture
def app_client(make_app: Callable[..., Flask]) -> FlaskClient:
    """A client of an application without a token."""
    return make_app().test_client()
