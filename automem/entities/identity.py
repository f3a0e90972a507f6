"""Identities: who or what an entity is, in a few sentences by the chat model (background.md 5).

Without a model no entity has one. What is due stands in the graph, so that a restart loses nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from automem.enrichment.chat import ChatModel
from automem.errors import Conflict, Unavailable
from automem.events.base import EventSink
from automem.models import Memory
from automem.stores.base import GraphStore
from automem.stores.entities import EntityRecord, Identity
from automem.utils.clock import Clock
from automem.utils.text import storable_form
from automem.utils.time import lenient_timestamp
from automem.workers.exclusive import ExclusiveRuns, Lease
from automem.workers.thread import WorkerThread

_log = logging.getLogger("automem.entities")

RUN, BUSY = "identity", "Another run of identities is on"
MOST_MEMORIES = 50
_SHOWN_CHARACTERS = 300
_ANSWER_TOKENS = 500
_AFRESH_EVERY = 5
"""Every so many versions the old one is not shown, so that errors do not live on."""
_PROMPT = (
    "You keep the entries on people and things in a long-term memory. Write 2 to 5 sentences on who or what "
    "{name} ({category}) is, from the notes alone: what stays true of it, newer notes over older ones. "
    "Invent nothing. Answer with the sentences only, in the language of the notes."
)


@dataclass(frozen=True, slots=True)
class IdentityPace:
    """When identities are written; times in seconds.

    :param refresh: so long an identity stands before new memories change it.
    :param retry: wait after the model gave nothing.
    :param idle: how often the worker looks.
    :param batch: most entities of one run.
    :param goodbye: the most that a stop waits for the model.
    """

    refresh: float = 604_800.0
    retry: float = 300.0
    idle: float = 5.0
    batch: int = 20
    goodbye: float = 3.0


@dataclass(frozen=True, slots=True)
class IdentityReport:
    """What a run did, in entities."""

    examined: int = 0
    synthesized: int = 0
    errors: tuple[str, ...] = ()


class IdentityWriter:
    """Judges which entities need an identity, and writes it. Methods raise ``Unavailable``."""

    def __init__(self, graph: GraphStore, chat: ChatModel, clock: Clock, pace: IdentityPace) -> None:
        self.graph = graph
        self.clock = clock
        self.pace = pace
        self._chat = chat

    def close(self) -> None:
        """Release the model's connections."""
        self._chat.close()

    def run(self, lease: Lease, dry_run: bool = False) -> IdentityReport:
        """Work on what is due now; a dry run counts what would be written, and writes nothing."""
        examined, written, errors = 0, 0, []
        for entity in self.graph.identities_due(self.clock.now(), self.pace.batch):
            lease.check()
            examined += 1
            count, memories = self.graph.entity_memories(entity.id, self.clock.now(), MOST_MEMORIES)
            if not self._is_needed(entity, count):
                if not dry_run:
                    self.graph.postpone_identity(entity, self._next_look(entity, count))
            elif dry_run or self._write(entity, count, memories):
                written += 1
            else:
                errors.append(f"{entity.id}: the chat model gave no usable answer")
        return IdentityReport(examined, written, tuple(errors))

    def _is_needed(self, entity: EntityRecord, count: int) -> bool:
        if not count:
            return False
        if not entity.properties.get("identity"):
            return True
        changed = count != entity.properties.get("identity_source_count")
        return changed and self._fresh_until(entity) <= self.clock.now()

    def _next_look(self, entity: EntityRecord, count: int) -> datetime:
        """Give when to look again. Memories also end, or are replaced, without being named anew."""
        later, fresh = self.clock.now() + timedelta(seconds=self.pace.refresh), self._fresh_until(entity)
        changed = count and count != entity.properties.get("identity_source_count")
        return fresh if changed and fresh > self.clock.now() else later

    def _fresh_until(self, entity: EntityRecord) -> datetime:
        """Give until when an identity stands; one without a time may be refreshed at once."""
        written = lenient_timestamp(entity.properties.get("identity_updated_at"))
        return written + timedelta(seconds=self.pace.refresh) if written else self.clock.now()

    def _write(self, entity: EntityRecord, count: int, memories: Sequence[Memory]) -> bool:
        now, known = self.clock.now(), entity.properties.get("identity_version")
        version = (known if isinstance(known, int) else 0) + 1
        told = _PROMPT.format(name=entity.properties.get("name"), category=entity.properties.get("category"))
        answer = self._chat.complete_text(told, notes(entity, memories, version), _ANSWER_TOKENS)
        text = storable_form(answer or "").strip()
        if not text:
            self.graph.postpone_identity(entity, now + timedelta(seconds=self.pace.retry))
            return False
        self.graph.write_identity(entity.id, Identity(text, version, count, now.isoformat()))
        self.graph.postpone_identity(entity, now + timedelta(seconds=self.pace.refresh))
        return True


def notes(entity: EntityRecord, memories: Sequence[Memory], version: int) -> str:
    """Give the notes that the model is shown: the identity so far, then each memory with its date."""
    lines = [
        f"{str(memory.properties.get('timestamp') or 'undated')[:10]}: {memory.content[:_SHOWN_CHARACTERS]}"
        for memory in memories
    ]
    before = entity.properties.get("identity")
    if isinstance(before, str) and before and version % _AFRESH_EVERY:
        lines.insert(0, f"So far it was written: {before}\n")
    return "\n".join(lines)


class IdentityWorker(WorkerThread):
    """Writes identities when enrichment has come to rest; one process at a time."""

    def __init__(self, writer: IdentityWriter, runs: ExclusiveRuns, events: EventSink) -> None:
        super().__init__("identity")
        self._events = events
        self._writer = writer
        self._runs = runs
        self._adopted = False

    def stop(self, timeout: float | None = None) -> None:
        """End, without waiting long for the model: what is due stays so."""
        super().stop(self._writer.pace.goodbye if timeout is None else timeout)
        self._writer.close()

    def _run_once(self) -> float:
        try:
            report = self._run() if self._is_time() else IdentityReport()
        except (Conflict, Unavailable) as error:
            _log.info("identities wait: %s", error)
            report = IdentityReport()
        except Exception:  # a fault of ours: the thread must outlive it
            _log.exception("writing identities failed unexpectedly")
            report = IdentityReport()
        return 0.0 if report.synthesized and not report.errors else self._writer.pace.idle

    def _is_time(self) -> bool:
        graph, now = self._writer.graph, self._writer.clock.now()
        if not self._adopted:
            graph.adopt_identities()
            self._adopted = True
        return not graph.enrichment_counts(now).pending and bool(graph.identities_due(now, 1))

    def _run(self) -> IdentityReport:
        began = self._writer.clock.now()
        with self._runs.run(RUN, BUSY) as lease:
            report = self._writer.run(lease)
        if report.synthesized or report.errors:
            elapsed = self._writer.clock.now() - began
            told = {"task_type": RUN, "affected_count": report.synthesized, "success": not report.errors}
            timed = {"elapsed_ms": round(elapsed.total_seconds() * 1000, 2), "steps": [RUN]}
            self._events.emit("consolidation.run", {**told, **timed})
        return report
