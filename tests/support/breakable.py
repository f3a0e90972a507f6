"""Stores that fail on demand; otherwise every call goes to the real one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Breakable:
    """Wraps a store. Its methods raise while ``down``, or while their name is in ``broken``.

    A name in ``lost`` does its work and then raises: the answer was lost on the way.
    """

    def __init__(self, inner: Any, error: type[Exception]) -> None:
        self._inner = inner
        self._error = error
        self.down = False
        self.broken: set[str] = set()
        self.lost: set[str] = set()
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        if not callable(method):
            return method
        self.calls.append(name)
        if self.down or name in self.broken:
            raise self._error("the store is down")
        return self._losing(method) if name in self.lost else method

    def _losing(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            method(*arguments, **named)
            raise self._error("the answer was lost")

        return call
