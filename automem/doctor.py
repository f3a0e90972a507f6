"""``automem doctor``: check what a start needs, one finding each, and say how to mend what is wrong."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from automem.config import Settings
from automem.embedding.select import make_provider
from automem.errors import AutoMemError, StartupError
from automem.identity import compare_identity
from automem.security.policy import access_policy
from automem.server import check_port
from automem.services import open_graph, open_vectors
from automem.stores.base import StoreIdentity
from automem.stores.data_directory import DataDirectory, DirectoryInUse
from automem.stores.vector_values import check_dimension
from automem.utils.text import ANALYSIS_VERSION

_ENOUGH_BYTES = 500_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; ``text`` says how to mend it when it is not good."""

    name: str
    good: bool
    text: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where the embedded engines are tried: the data directory, or an empty one when that is taken."""

    data: DataDirectory
    real: bool


def examine(settings: Settings) -> list[Finding]:
    """Run all checks; none changes the data."""
    with ExitStack() as stack:
        findings = [_check_access(settings)]
        place, directory = _find_place(settings, stack)
        findings.append(directory)
        running = place is not None and not place.real
        identity, model = _check_model(settings)
        findings.append(model)
        findings += _check_stores(settings, place, identity)
        findings.append(_check_port(settings, running))
        return findings


def written(findings: list[Finding]) -> str:
    """Write the findings, one a line, and a verdict."""
    width = max(len(finding.name) for finding in findings)
    lines = [f"{'ok  ' if found.good else 'FAIL'}  {found.name:{width}}  {found.text}" for found in findings]
    bad = sum(not finding.good for finding in findings)
    return "\n".join([*lines, f"{bad} to mend" if bad else "All is well."])


def _check_access(settings: Settings) -> Finding:
    try:
        policy = access_policy(settings)
    except StartupError as error:
        return Finding("settings", False, error.message)
    who = "this machine only, no token" if policy.local_only else "with a token" if policy.token else "OPEN"
    return Finding("settings", True, f"all valid; access: {who}")


def _find_place(settings: Settings, stack: ExitStack) -> tuple[Place | None, Finding]:
    """Claim the data directory. A running service keeps it: then an empty one takes its place."""
    path = settings.automem_data_dir
    if not (settings.graph_embedded or settings.vectors_embedded):
        return None, Finding("data directory", True, "not needed: both stores are servers")
    try:
        if not path.exists():
            _check_creatable(path)
            return _empty_place(stack, real=True), Finding("data directory", True, f"{path} will be made")
        data = stack.enter_context(DataDirectory.open(path))
    except DirectoryInUse:
        text = f"{path} belongs to a running service, so the engines are tried in an empty directory"
        return _empty_place(stack, real=False), Finding("data directory", True, text)
    except StartupError as error:
        return None, Finding("data directory", False, error.message)
    free = shutil.disk_usage(path).free
    if free < _ENOUGH_BYTES:
        text = f"{path} has only {free // 1_000_000} MB left; make room or move it (AUTOMEM_DATA_DIR)"
        return Place(data, True), Finding("data directory", False, text)
    text = f"{path} is writable, {free // 1_000_000_000} GB free"
    return Place(data, True), Finding("data directory", True, text)


def _empty_place(stack: ExitStack, real: bool) -> Place:
    # Short, because the engine's unix socket lies in it and such paths are limited.
    path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="automem-")))
    return Place(stack.enter_context(DataDirectory.open(path)), real)


def _check_creatable(path: Path) -> None:
    parent = next(parent for parent in path.parents if parent.exists())
    try:
        tempfile.TemporaryFile(dir=parent).close()
    except OSError as error:
        raise StartupError(
            f"{path} cannot be made ({error.strerror}): name a writable place in AUTOMEM_DATA_DIR"
        ) from error


def _check_model(settings: Settings) -> tuple[StoreIdentity | None, Finding]:
    try:
        with closing(make_provider(settings)) as provider:
            length = len(provider.embed_query("Does the model answer?"))
            identity = StoreIdentity(provider.name, length, ANALYSIS_VERSION)
            return identity, Finding("model", True, f"{provider.name} answers, {length} values a vector")
    except AutoMemError as error:
        text = f"{error.message} (EMBEDDING_PROVIDER={settings.embedding_provider}; `local` needs no network)"
        return None, Finding("model", False, text)


def _check_stores(
    settings: Settings, place: Place | None, identity: StoreIdentity | None
) -> Iterator[Finding]:
    data = place.data if place is not None else None
    recorded = None
    if data is not None or not settings.graph_embedded:
        finding, recorded = _check_graph(settings, data, identity)
        yield finding
    if data is not None or not settings.vectors_embedded:
        dimension = identity.dimension if identity else settings.vector_size
        yield _check_vectors(settings, data, dimension, recorded)


def _check_graph(
    settings: Settings, data: DataDirectory | None, identity: StoreIdentity | None
) -> tuple[Finding, StoreIdentity | None]:
    found: StoreIdentity | None = None
    what = "embedded FalkorDB" if settings.graph_embedded else f"FalkorDB at {settings.falkordb_host}"
    try:
        with ExitStack() as stack:
            graph = open_graph(settings, data, stack)
            graph.ping()
            found = graph.identity()
            if found is not None and identity is not None:
                compare_identity(found, identity)
            count = graph.count(())
    except AutoMemError as error:
        hint = "" if settings.graph_embedded else "; see FALKORDB_HOST, _PORT, _PASSWORD, _TLS"
        return Finding("graph", False, f"{what}: {error.message}{hint}"), found
    return Finding("graph", True, f"{what} answers, {count} memories"), found


def _check_vectors(
    settings: Settings, data: DataDirectory | None, dimension: int | None, recorded: StoreIdentity | None
) -> Finding:
    what = "embedded Qdrant" if settings.vectors_embedded else f"Qdrant at {settings.qdrant_address}"
    if dimension is None:
        return Finding("vectors", False, f"{what} was not tried, since the model does not answer")
    try:
        with ExitStack() as stack:
            generation = recorded.generation if recorded is not None else None
            vectors = open_vectors(settings, data, dimension, stack, generation)
            vectors.ping()
            check_dimension(vectors.dimension, dimension)
            count = vectors.count(())
    except AutoMemError as error:
        hint = "" if settings.vectors_embedded else "; see QDRANT_URL, QDRANT_API_KEY"
        return Finding("vectors", False, f"{what}: {error.message}{hint}")
    return Finding("vectors", True, f"{what} answers, {count} vectors")


def _check_port(settings: Settings, running: bool) -> Finding:
    where = f"{settings.automem_host}:{settings.port}"
    try:
        check_port(settings)
    except StartupError as error:
        if running:
            return Finding("port", True, f"{where} is in use, by the running service it seems")
        return Finding("port", False, error.message)
    return Finding("port", True, f"{where} is free")
