"""Remembers the vectors of recent questions, so that the same question is embedded once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from threading import Lock

from automem.embedding.base import ClosingProvider, Vectors
from automem.errors import AutoMemError


class CachedProvider:
    """Keeps the last ``size`` questions' vectors (read-only arrays); documents pass through.

    Threads that ask the same question at the same time share one call. Failures are not kept.
    """

    def __init__(self, inner: ClosingProvider, size: int = 512) -> None:
        self._inner = inner
        self._size = size
        self._lock = Lock()
        self._answers: OrderedDict[str, Future[Vectors]] = OrderedDict()

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    def embed_query(self, text: str) -> Vectors:
        with self._lock:
            answer = self._answers.get(text)
            mine = answer is None
            if answer is None:
                answer = self._answers[text] = Future()
            self._answers.move_to_end(text)
            while len(self._answers) > self._size:
                self._answers.popitem(last=False)
        if mine:
            self._fill(text, answer)
        return answer.result()

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        return self._inner.embed_batch(texts)

    def close(self) -> None:
        self._inner.close()

    def _fill(self, text: str, answer: Future[Vectors]) -> None:
        try:
            vector = self._inner.embed_query(text)
        except BaseException as error:  # those who wait for this answer have to hear of it
            self._forget(text, answer)
            answer.set_exception(error)
            if not isinstance(error, AutoMemError):
                raise
            return
        vector.setflags(write=False)
        answer.set_result(vector)

    def _forget(self, text: str, answer: Future[Vectors]) -> None:
        with self._lock:
            if self._answers.get(text) is answer:
                del self._answers[text]
