"""Changing the embedding model while the service runs (D30): the successor is filled, then it serves.

What was asked for stands in the graph, so that a restart goes on with it. The old model serves until the
switch, which waits for the recalls in hand and takes one moment.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, replace

from automem.config import Settings
from automem.embedding.base import ClosingProvider
from automem.embedding.plan import ModelPlan
from automem.errors import AutoMemError, Conflict, Unavailable
from automem.identity import IdentityKeeper
from automem.stores.base import GraphStore, StoreIdentity, VectorStore
from automem.stores.generations import VectorGenerations, generation_name
from automem.stores.switchable import SwitchableProvider, SwitchableVectors
from automem.utils.gate import Busy, Gate
from automem.utils.text import ANALYSIS_VERSION
from automem.workers.exclusive import Lease
from automem.workers.rebuild import Rebuild, retire_previous, same_model, switch_identity
from automem.workers.sync import BUSY, RUN, StoreSync
from automem.workers.thread import WorkerThread
from automem.workers.vectors import VectorWriter

_log = logging.getLogger("automem.reembed")

_BATCH = 32
_ROUNDS = 5
_PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class ChangeState:
    """How far a change is: ``idle``, ``running``, ``waiting`` (it will be tried again) or ``failed``."""

    status: str = "idle"
    model: str | None = None
    dimension: int | None = None
    processed: int = 0
    total: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Serving:
    """What serves, and can be exchanged; ``gate`` is closed for the moment of the switch."""

    graph: GraphStore
    vectors: SwitchableVectors
    provider: SwitchableProvider
    writer: VectorWriter
    generations: VectorGenerations
    gate: Gate
    keeper: IdentityKeeper


@dataclass(frozen=True, slots=True)
class Successor:
    """What will serve."""

    identity: StoreIdentity
    vectors: VectorStore
    provider: ClosingProvider


class ModelChanger(WorkerThread):
    """Makes the change that is planned in the graph, if one is; looks at the start and when notified."""

    def __init__(self, settings: Settings, serving: Serving, sync: StoreSync, retry: float = 5.0) -> None:
        super().__init__("reembed")
        self._settings = settings
        self._serving = serving
        self._sync = sync
        self._retry = retry
        self._state = ChangeState()

    @property
    def state(self) -> ChangeState:
        """How far the present change, or the last of this process, is."""
        return self._state

    def plan(self, plan: ModelPlan, model: str, dimension: int) -> ChangeState:
        """Record that the model is to be changed, and begin.

        :raises Conflict: while another change is planned.
        """
        if self._serving.graph.model_change() is not None:
            raise Conflict("Another change of the model is being made; see GET /admin/reembed")
        self._serving.graph.plan_model_change(plan.text())
        self._state = ChangeState("running", model, dimension, total=self._serving.graph.count(()))
        self.notify()
        return self._state

    def _run_once(self) -> float:
        try:
            text = self._serving.graph.model_change()
            if text is None:
                return 3600.0
            self._state = replace(self._state, status="running")
            with self._sync.runs.run(RUN, BUSY) as lease:
                self._change(ModelPlan.read(text), lease)
            self._look_again()
        except (Unavailable, Conflict, Busy) as error:
            self._wait(str(error))
        except AutoMemError as error:  # a model that cannot be made: trying again would not help
            self._give_up(error.message)
        except Exception as error:  # a fault of ours: the old model goes on serving
            _log.exception("the change of the model failed")
            self._wait(f"{type(error).__name__}: {error}")
        return 0.0

    def _wait(self, error: str) -> None:
        if self._state.status == "running":
            _log.warning("the change of the model waits: %s", error)
            self._state = replace(self._state, status="waiting", error=error)
        self._rest(self._retry)

    def _look_again(self) -> None:
        """Find what other processes have written meanwhile; if that fails, the next comparison does."""
        with suppress(Unavailable, Conflict):
            self._sync.repair_later()

    def _give_up(self, error: str) -> None:
        _log.error("the model cannot be changed: %s", error)
        self._state = replace(self._state, status="failed", error=error)
        with suppress(Unavailable):
            self._serving.graph.plan_model_change(None)

    def _change(self, plan: ModelPlan, lease: Lease) -> None:
        provider = plan.provider(self._settings)
        kept = False
        try:
            wanted = _identity(provider)
            if not same_model(self._serving.graph.identity(), wanted):
                kept = self._replace(Successor(wanted, self._open(wanted), provider), lease)
                if not kept:
                    return
            self._finish()
        finally:
            if not kept:
                provider.close()

    def _open(self, wanted: StoreIdentity) -> VectorStore:
        return self._serving.generations.open(wanted.generation, wanted.dimension)

    def _replace(self, successor: Successor, lease: Lease) -> bool:
        """Fill the successor and switch to it; False when the service stops before."""
        switched = False
        rebuild = Rebuild(self._serving.graph, successor.vectors, successor.provider, _BATCH)
        try:
            self._serving.writer.keep_journal()
            if self._fill(rebuild, successor.identity, lease):
                self._switch(successor, rebuild.refused)
                switched = True
        finally:
            self._serving.writer.end_journal()
            if not switched:
                successor.vectors.close()
        return switched

    def _fill(self, rebuild: Rebuild, wanted: StoreIdentity, lease: Lease) -> bool:
        total = self._serving.graph.count(())
        self._state = ChangeState("running", wanted.embedding_model, wanted.dimension, total=total)
        for count in rebuild.fill():
            lease.check()
            self._state = replace(self._state, processed=self._state.processed + count)
            if self._stopping.is_set():
                return False
        for _ in range(_ROUNDS):
            changed = self._serving.writer.take_journal()
            if not changed:
                break
            rebuild.renew(sorted(changed))
        return True

    def _switch(self, successor: Successor, refused: set[str]) -> None:
        serving = self._serving
        wanted = successor.identity
        with (
            serving.gate.closed(_PATIENCE),
            serving.keeper.changing(wanted),
            serving.writer.alone() as changed,
        ):
            living = serving.graph.existing(sorted(changed))
            successor.vectors.delete(sorted(changed - living))
            switch_identity(serving.graph, wanted, sorted(living | refused))
            # In this order: what was embedded with the old provider is never taken for the new one's.
            provider = serving.provider.switch(successor.provider)
            vectors = serving.vectors.switch(successor.vectors)
            serving.writer.next_epoch(wanted.generation)
        vectors.close()
        provider.close()
        _log.info("the model was changed", extra={"model": wanted.embedding_model})

    def _finish(self) -> None:
        retire_previous(self._serving.graph, self._serving.generations)
        self._serving.graph.plan_model_change(None)
        self._state = replace(self._state, status="idle", error=None)


def _identity(provider: ClosingProvider) -> StoreIdentity:
    name, dimension = provider.name, provider.dimension
    return StoreIdentity(name, dimension, ANALYSIS_VERSION, generation_name(name, dimension))
