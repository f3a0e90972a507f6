"""What the benchmark does, from the command line to the report."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from automem.embedding.local import LocalConfig, LocalProvider, bundled_model
from benchmarks.baselines import Bm25, Fusion, Ranker, Vectors
from benchmarks.client import CONTENT_LIMIT, Client, Ingest, ServiceFault
from benchmarks.data import Conversation, DataSet, UnknownFormat, limited, load, shortened
from benchmarks.measures import Outcome, outcome
from benchmarks.options import Options, Variant, parse
from benchmarks.progress import Progress
from benchmarks.report import Report, Run, as_json, written
from benchmarks.service import OwnService

TurnsByMemory = Mapping[str, str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; gives the exit code."""
    options = parse(arguments)
    try:
        report = measure(options)
    except (ServiceFault, UnknownFormat, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(written(report))
    if options.json_file is not None:
        options.json_file.write_text(json.dumps(as_json(report), indent=1) + "\n", encoding="utf-8")
    return 0


def measure(options: Options) -> Report:
    """Measure all systems that are asked for, on the same turns and questions."""
    data, cut = shortened(load(options.data), CONTENT_LIMIT)
    if options.limit_questions is not None:
        data = limited(data, options.limit_questions)
    ingest, runs = _automem(data, options) if "automem" in options.systems else (None, [])
    runs += _baselines(data, options)
    return Report(data, tuple(runs), ingest, cut)


def _baselines(data: DataSet, options: Options) -> list[Run]:
    rankers: dict[str, list[Ranker]] = {}
    if "bm25" in options.systems:
        rankers["BM25, stemmed"] = [Bm25(one.turns) for one in data.conversations]
    if "vectors" in options.systems:
        rankers["vectors alone"] = _vectors(data)
    if len(rankers) == 2:
        rankers["rank fusion of both"] = [Fusion(pair) for pair in zip(*rankers.values(), strict=True)]
    return [_ranked(name, data, one) for name, one in rankers.items()]


def _vectors(data: DataSet) -> list[Ranker]:
    provider = LocalProvider(LocalConfig(bundled_model()))
    rankers: list[Ranker] = []
    with Progress("embedding for the baseline", data.turns, "turn") as progress:
        for one in data.conversations:
            rankers.append(Vectors(one.turns, provider))
            progress.advance(len(one.turns))
    return rankers


def _ranked(name: str, data: DataSet, rankers: Sequence[Ranker]) -> Run:
    outcomes: list[Outcome] = []
    with Progress(name, data.questions, "question") as progress:
        for conversation, ranker in zip(data.conversations, rankers, strict=True):
            for asked in conversation.questions:
                outcomes.append(outcome(asked.category, asked.evidence, ranker.rank(asked.text)))
                progress.advance()
    return Run(name, tuple(outcomes))


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the service holds: turns by the memories' ids, for each conversation."""

    turns: tuple[TurnsByMemory, ...]
    ingest: Ingest


def _automem(data: DataSet, options: Options) -> tuple[Ingest | None, list[Run]]:
    """Store once; ask in every variant, with the service started anew where its settings differ."""
    stored: _Stored | None = None
    runs: list[Run] = []
    with ExitStack() as stack:
        directory = options.directory or _fresh_directory(stack)
        for settings, variants in groupby(options.variants, key=lambda variant: dict(variant.environment)):
            with _service(options, directory, settings) as client:
                stored = stored or _store(data, client)
                runs += [_ask(variant, data, stored, client) for variant in variants]
    return (stored.ingest if stored else None), runs


def _fresh_directory(stack: ExitStack) -> Path:
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="automem-bench-")))


@contextmanager
def _service(options: Options, directory: Path, settings: Mapping[str, str]) -> Iterator[Client]:
    with ExitStack() as stack:
        url = options.url or stack.enter_context(OwnService(directory, settings)).url
        yield stack.enter_context(Client(url, options.token or settings.get("AUTOMEM_API_TOKEN")))


def _store(data: DataSet, client: Client) -> _Stored:
    start = time.monotonic()
    with Progress("storing", data.turns, "turn") as progress:
        turns = tuple(client.store(one, _tag(data, one), progress) for one in data.conversations)
    accepted = time.monotonic() - start
    with Progress("waiting for vectors", 0, "turn") as progress:
        client.settle(progress)
    return _Stored(turns, Ingest(data.turns, accepted, time.monotonic() - start))


def _ask(variant: Variant, data: DataSet, stored: _Stored, client: Client) -> Run:
    outcomes: list[Outcome] = []
    seconds: list[float] = []
    with Progress(variant.name, data.questions, "question") as progress:
        for one, turns in zip(data.conversations, stored.turns, strict=True):
            for asked in one.questions:
                recalled = client.recall(asked.text, _tag(data, one), variant.params)
                # What is no turn of ours, in a store that is not empty, takes its place all the same.
                found = [turns.get(memory_id, memory_id) for memory_id in recalled.memory_ids]
                outcomes.append(outcome(asked.category, asked.evidence, found))
                seconds.append(recalled.seconds)
                progress.advance()
    return Run(variant.name, tuple(outcomes), tuple(seconds))


def _tag(data: DataSet, conversation: Conversation) -> str:
    return f"{data.name}:{conversation.name}"
