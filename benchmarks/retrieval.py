"""Measure retrieval: ``python benchmarks/retrieval.py DATA`` (docs/retrieval.md, ``--help``)."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # Run as a script, only this directory is on the path, not the one that holds the package.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from benchmarks.command import main

    sys.exit(main())
