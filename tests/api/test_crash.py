"""The kill -9 loop of benchmarks/crash.py with a small count."""

from __future__ import annotations

from pathlib import Path

from benchmarks.crash import crash


def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    assert crash(tmp_path, rounds=3, seed=4711) > 0
