"""The version of the installed package."""

from __future__ import annotations

from importlib.metadata import version


def package_version() -> str:
    """Give the version as pyproject.toml has it."""
    return version("automem")
