"""Identities by the chat model on a real graph: when, of what, and when the model fails (background.md 5)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any

import pytest

from automem.embedding.breaker import BreakerConfig, MonotonicStopwatch
from automem.enrichment.chat import ChatConfig, OpenAIChat
from automem.entities.identity import IdentityPace, IdentityReport, IdentityWorker, IdentityWriter
from automem.stores.embedded import EmbeddedFalkorDB
from automem.stores.entities import EntityName, EntityRecord, Mentions
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_locks import FalkorDBLocks
from automem.utils.clock import RandomIds
from automem.workers.exclusive import ExclusiveRuns, Lease
from tests.support.events import Remembered
from tests.support.graphs import embedded_server, plain_draft
from tests.support.openai_server import AiServer, CutOff, Fault, HangUp, Late, Raw, Status
from tests.support.service import wait_until

ANN = EntityName("people", "ann-lee", "Ann Lee")
DAY = 86_400.0


@dataclass
class HandClock:
    at: datetime = field(default_factory=lambda: datetime(2026, 6, 1, tzinfo=UTC))

    def now(self) -> datetime:
        return self.at


@dataclass
class Bench:
    graph: FalkorDBGraph
    server: AiServer
    clock: HandClock
    writer: IdentityWriter

    def store(self, content: str, **fields: Any) -> str:
        draft = plain_draft(content, **fields)
        self.graph.create([draft], pending=False)
        self.graph.mention([Mentions(draft.id, (ANN,))], draft.timestamp)
        return draft.id

    def run(self, dry_run: bool = False) -> IdentityReport:
        return self.writer.run(Lease(), dry_run)

    def ann(self) -> EntityRecord:
        found = self.graph.entity_named("ann-lee")
        assert found is not None
        return found

    def asked(self) -> list[str]:
        return [str(each.body["messages"][1]["content"]) for each in self.server.received]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedFalkorDB]:
    with embedded_server(tmp_path_factory.mktemp("identity")) as running:
        yield running


@pytest.fixture
def bench(engine: EmbeddedFalkorDB) -> Iterator[Bench]:
    graph, clock = FalkorDBGraph.over_socket(engine.socket_path, f"g{uuid.uuid4().hex}"), HandClock()
    with AiServer() as server:
        server.text_reply = "Ann Lee is a gardener."
        config = ChatConfig("key", "m", server.openai_url, 1.0, 0, BreakerConfig(failures=100))
        chat = OpenAIChat(config, clock, MonotonicStopwatch())
        pace = IdentityPace(refresh=DAY, retry=60.0, idle=0.02)
        yield Bench(graph, server, clock, IdentityWriter(graph, chat, clock, pace))
        chat.close()
    graph.close()


def test_a_new_entity_gets_an_identity_from_its_notes(bench: Bench) -> None:
    bench.store("Ann plants oaks.", importance=0.2)
    bench.store("Ann hates ivy. " + "x" * 400, importance=0.9)
    assert bench.run() == IdentityReport(1, 1)
    own = bench.ann().properties
    assert own["identity"] == "Ann Lee is a gardener."
    assert (own["identity_version"], own["identity_source_count"]) == (1, 2)
    assert own["identity_updated_at"] == bench.clock.now().isoformat()
    [asked] = bench.asked()
    first, second = asked.splitlines()
    assert first == ("2026-05-01: Ann hates ivy. " + "x" * 400)[: len("2026-05-01: ") + 300]
    assert second == "2026-05-01: Ann plants oaks."
    assert bench.run() == IdentityReport(), "nothing has changed"


def test_only_current_memories_count(bench: Bench) -> None:
    old = bench.store("Ann is a clerk.")
    bench.store("Ann was away.", t_invalid="2026-05-02T00:00:00+00:00")
    bench.store("Ann will be away.", t_valid="2027-01-01T00:00:00+00:00")
    new = bench.store("Ann is a gardener.")
    bench.graph.beside().write(
        "MATCH (a {id: $a}), (b {id: $b}) CREATE (a)-[:EVOLVED_INTO]->(b)", {"a": old, "b": new}
    )
    assert bench.run().synthesized == 1
    assert bench.asked() == ["2026-05-01: Ann is a gardener."]
    assert (bench.ann().references, bench.ann().properties["identity_source_count"]) == (4, 1)


def test_without_current_memories_nothing_is_asked(bench: Bench) -> None:
    bench.store("Ann was away.", t_invalid="2026-05-02T00:00:00+00:00")
    assert bench.run() == IdentityReport(1, 0)
    assert bench.asked() == []


def test_what_is_no_longer_true_replaces_nothing(bench: Bench) -> None:
    old = bench.store("Ann is a clerk.")
    ended = bench.store("Ann is a cook.", t_invalid="2026-05-02T00:00:00+00:00")
    link = "MATCH (a {id: $a}), (b {id: $b}) CREATE (a)-[:INVALIDATED_BY]->(b)"
    bench.graph.beside().write(link, {"a": old, "b": ended})
    assert bench.run().synthesized == 1
    assert bench.asked() == ["2026-05-01: Ann is a clerk."]


@pytest.mark.parametrize("way", ["deleted", "ended"])
def test_it_is_refreshed_when_memories_go(bench: Bench, way: str) -> None:
    bench.store("Ann plants oaks.")
    other = bench.store("Ann is a clerk.", importance=0.1)
    bench.run()
    if way == "deleted":
        bench.graph.delete([other])
    else:
        assert bench.graph.update(other, {"t_invalid": "2026-05-02T00:00:00+00:00"}, 0)
    assert bench.run() == IdentityReport(), "too fresh"
    bench.clock.at += timedelta(seconds=DAY)
    assert bench.run() == IdentityReport(1, 1)
    assert bench.asked()[-1].splitlines()[-1] == "2026-05-01: Ann plants oaks."
    assert bench.ann().properties["identity_source_count"] == 1


def test_what_comes_while_the_model_thinks_is_not_forgotten(bench: Bench) -> None:
    bench.store("Ann plants oaks.")
    bench.server.next(Late(0.5))
    writing = Thread(target=bench.run)
    writing.start()
    wait_until(lambda: bool(bench.asked()))
    bench.store("Ann plants elms.")
    writing.join()
    assert bench.ann().properties["identity_source_count"] == 1
    assert bench.run() == IdentityReport(1, 0), "looked at, and still fresh"
    bench.clock.at += timedelta(seconds=DAY)
    assert bench.run() == IdentityReport(1, 1)
    assert bench.ann().properties["identity_source_count"] == 2


def test_entities_of_others_are_due_when_adopted(bench: Bench) -> None:
    bench.store("Ann plants oaks.")
    strange = "MATCH (e:Entity) SET e = {id: e.id, slug: e.slug, category: e.category, name: e.name}"
    bench.graph.beside().write(strange, {})
    assert bench.run() == IdentityReport()
    bench.graph.adopt_identities()
    assert bench.run() == IdentityReport(1, 1)
    bench.graph.adopt_identities()
    assert bench.run() == IdentityReport(), "it is known now"


def test_it_is_refined_when_memories_came_and_time_has_passed(bench: Bench) -> None:
    bench.store("Ann plants oaks.")
    bench.run()
    bench.store("Ann plants elms.")
    assert bench.run() == IdentityReport(1, 0), "too fresh"
    assert bench.run() == IdentityReport(), "looked at again when its time has come"
    bench.clock.at += timedelta(seconds=DAY)
    bench.server.text_reply = "Ann Lee plants trees."
    assert bench.run() == IdentityReport(1, 1)
    assert "So far it was written: Ann Lee is a gardener." in bench.asked()[-1]
    own = bench.ann().properties
    assert (own["identity"], own["identity_version"]) == ("Ann Lee plants trees.", 2)


def test_every_fifth_version_is_written_afresh(bench: Bench) -> None:
    for number in range(5):
        bench.store(f"Ann plants tree {number}.")
        bench.run()
        bench.clock.at += timedelta(seconds=DAY)
    shown = ["So far" in asked for asked in bench.asked()]
    assert shown == [False, True, True, True, False]


def test_a_dry_run_writes_nothing(bench: Bench) -> None:
    bench.store("Ann plants oaks.")
    assert bench.run(dry_run=True) == IdentityReport(1, 1)
    assert "identity" not in bench.ann().properties and bench.asked() == []
    assert bench.run() == IdentityReport(1, 1)


@pytest.mark.parametrize(
    "fault", [Status(429), Status(500), CutOff(), HangUp(), Raw("{"), Raw('{"choices": []}'), Late(3.0)]
)
def test_a_failing_model_only_delays(bench: Bench, fault: Fault) -> None:
    bench.store("Ann plants oaks.")
    bench.server.next(fault)
    report = bench.run()
    assert report.synthesized == 0
    assert report.errors == ("entity:people:ann-lee: the chat model gave no usable answer",)
    assert "identity" not in bench.ann().properties
    assert bench.run() == IdentityReport(), "not at once"
    bench.clock.at += timedelta(seconds=60)
    assert bench.run() == IdentityReport(1, 1)


def test_the_worker_waits_until_enrichment_rests(bench: Bench, engine: EmbeddedFalkorDB) -> None:
    stored = bench.store("Ann plants oaks.")
    runs = ExclusiveRuns(FalkorDBLocks(bench.graph.beside()), RandomIds())
    told = Remembered()
    worker = IdentityWorker(bench.writer, runs, told)
    worker.start()
    with runs.run("test", "busy"):
        assert bench.graph.enrichment_counts(bench.clock.now()).pending == 1
    assert bench.asked() == []
    bench.graph.delete([stored])
    bench.graph.mention([Mentions(stored, ())], "2026-05-01")
    other = bench.store("Ann plants elms.")
    bench.graph.beside().write("MATCH (m:Memory {id: $id}) SET m._enrichment = 'done'", {"id": other})
    wait_until(lambda: "identity" in bench.ann().properties)
    worker.stop()
    assert bench.asked() == ["2026-05-01: Ann plants elms."]
    [(kind, data)] = told.events
    assert kind == "consolidation.run" and data.pop("elapsed_ms") >= 0
    assert data == {"task_type": "identity", "affected_count": 1, "success": True, "steps": ["identity"]}
