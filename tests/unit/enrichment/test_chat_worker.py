"""The chat model in the background: optional, and never able to spoil anything (issue 4.6)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from automem.embedding.breaker import BreakerConfig, MonotonicStopwatch
from automem.embedding.placeholder import PlaceholderProvider
from automem.enrichment.board import Desk
from automem.enrichment.chat import ChatConfig, OpenAIChat
from automem.enrichment.chat_worker import ChatPace, ChatWorker
from automem.enrichment.summary import ChatSummaries
from automem.memory.classification import Classifier
from automem.models import Memory
from automem.stores.additions import Additions
from automem.stores.embedded import EmbeddedFalkorDB
from automem.stores.enrichment import Enriched, Lease
from automem.stores.falkordb import FalkorDBGraph
from automem.stores.falkordb_connection import Connection
from automem.stores.qdrant_edge import EdgeVectors
from automem.utils.clock import SystemClock
from automem.workers.embedding import EmbeddingWorker
from tests.support.graphs import embedded_server, plain_draft
from tests.support.openai_server import AiServer, CutOff, Fault, HangUp, Late, Raw, Status
from tests.support.service import wait_until

LONG = "The harbour ledger was audited. " * 30
PACE = ChatPace(attempts=3, backoff=0.02, longest=0.1, idle=0.02, outage=0.02)


@dataclass
class Bench:
    """A graph with a chat model beside it."""

    graph: FalkorDBGraph
    connection: Connection
    server: AiServer
    worker: ChatWorker

    def store(self, content: str, provisional: bool = True) -> str:
        """Store a memory as enrichment leaves it, with the chat model's part still owed."""
        draft = plain_draft(content, provisional=provisional)
        self.graph.create([draft], pending=False)
        now = datetime.now(UTC)
        lease = Lease("test", now, now.replace(year=now.year + 1))
        for claim in self.graph.claim_enrichment(lease, 10, ahead=False):
            found = {"summary": "By rule.", "processed": True}
            done = Enriched(claim.memory, found, Additions(), complete=True, chat=True)
            assert self.graph.finish_enrichment("test", [done])
        self.worker.notify()
        return draft.id

    def memory(self, memory_id: str) -> Memory:
        return self.graph.get_many([memory_id])[memory_id]

    def owed(self) -> bool:
        """Say whether anything waits for the model, due or not."""
        rows = self.connection.read("MATCH (m:Memory) WHERE m._chat = 'due' RETURN count(m)", {})
        return bool(rows[0][0])

    def asked(self) -> int:
        return self.server.count("/v1/chat/completions")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedFalkorDB]:
    with embedded_server(tmp_path_factory.mktemp("chat")) as running:
        yield running


@pytest.fixture
def bench(engine: EmbeddedFalkorDB, tmp_path: Path) -> Iterator[Bench]:
    graph = FalkorDBGraph.over_socket(engine.socket_path, f"g{uuid.uuid4().hex}")
    points = EdgeVectors.open(tmp_path / "vectors", 8)
    clock = SystemClock()
    with AiServer() as server:
        server.chat_reply = '{"type": "Insight", "confidence": 0.8}'
        server.text_reply = "An audit of the ledger."
        config = ChatConfig("key", "m", server.openai_url, timeout_seconds=1.0, retries=0)
        chat = OpenAIChat(replace(config, breaker=BreakerConfig(failures=100)), clock, MonotonicStopwatch())
        classifier = Classifier(chat, clock)
        embedder = EmbeddingWorker(graph, points, PlaceholderProvider(8), clock)
        summaries = ChatSummaries(chat, 500, 300)
        desk = Desk("me", clock)
        worker = ChatWorker(graph, classifier, summaries, embedder, desk, PACE)
        worker.start()
        connection = graph.beside()
        yield Bench(graph, connection, server, worker)
        worker.stop()
        classifier.close()
        chat.close()
        connection.close()
    points.close()
    graph.close()


def test_a_type_that_nobody_chose_and_a_long_text(bench: Bench) -> None:
    both, short, typed = bench.store(LONG), bench.store("Plain."), bench.store(LONG, provisional=False)
    wait_until(lambda: bench.memory(typed).summary != "By rule.")
    assert (bench.memory(both).type, bench.memory(both).confidence) == ("Insight", 0.8)
    assert bench.memory(both).summary == "An audit of the ledger."
    assert bench.memory(both).content == LONG
    assert (bench.memory(short).type, bench.memory(short).summary) == ("Insight", "By rule.")
    assert (bench.memory(typed).type, bench.memory(typed).summary) == ("Memory", "An audit of the ledger.")


@pytest.mark.parametrize(
    "fault", [Status(429), Status(500), CutOff(), HangUp(), Raw("{"), Raw('{"choices": []}'), Late(3.0)]
)
def test_trouble_is_tried_again(bench: Bench, fault: Fault) -> None:
    bench.server.next(fault)
    stored = bench.store("Plain.")
    wait_until(lambda: bench.memory(stored).type == "Insight")
    assert bench.asked() == 2


def test_a_model_that_never_answers_well_is_left_alone_in_the_end(bench: Bench) -> None:
    bench.server.always(Status(500))
    stored = bench.store(LONG)
    wait_until(lambda: bench.asked() >= 6)
    wait_until(lambda: not bench.owed())
    memory = bench.memory(stored)
    assert (memory.type, memory.confidence, memory.summary) == ("Memory", 0.3, "By rule.")


def test_half_of_an_answer_is_kept_in_the_end(bench: Bench) -> None:
    bench.server.text_reply = ""
    stored = bench.store(LONG)
    wait_until(lambda: bench.memory(stored).type == "Insight")
    assert bench.memory(stored).summary == "By rule."


def test_a_summary_that_is_none_is_not_taken(bench: Bench) -> None:
    bench.server.text_reply = LONG + "And more."
    stored = bench.store(LONG, provisional=False)
    wait_until(lambda: bench.asked() >= 3)
    wait_until(lambda: not bench.owed())
    assert bench.memory(stored).summary == "By rule."


def test_a_type_chosen_meanwhile_stands(bench: Bench) -> None:
    bench.server.always(Late(0.3))
    stored = bench.store("Plain.")
    wait_until(lambda: bench.asked() == 1)
    assert bench.graph.update(stored, {"type": "Decision"}, bench.memory(stored).revision)
    wait_until(lambda: not bench.owed())
    assert bench.memory(stored).type == "Decision"
