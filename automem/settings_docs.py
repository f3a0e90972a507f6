"""``.env.example`` and the tables of ``docs/configuration.md``, made from ``config.py``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from automem.config import Settings

# The first setting of each section, in the order of the class.
SECTIONS = {
    "automem_host": "Server and authentication",
    "falkordb_host": "Graph store",
    "qdrant_url": "Vector store",
    "memory_content_soft_limit": "Content and classification",
    "embedding_provider": "Embeddings",
    "enrichment_max_attempts": "Enrichment and sync",
    "consolidation_tick_seconds": "Consolidation",
    "recall_max_limit": "Recall",
    "search_weight_vector": "Ranking",
}
_MADE_DEFAULTS = {
    "automem_data_dir": "~/.local/share/automem",
    "automem_models_dir": "~/.config/automem/models",
}


def env_example() -> str:
    """Write every setting as a commented line of a .env file."""
    lines = [
        "# Settings of AutoMem. Copy to .env and remove the # before what you change.",
        "# Made by `automem settings`; docs/configuration.md says more.",
    ]
    for name, field in Settings.model_fields.items():
        if name in SECTIONS:
            lines += ["", f"# ---- {SECTIONS[name]} ----"]
        lines += [f"# {field.description}", f"#{name.upper()}={default_text(name, field)}"]
    return "\n".join(lines) + "\n"


def markdown_tables() -> str:
    """Write every setting as a row of its section's table."""
    return "\n".join(_markdown_lines()).lstrip() + "\n"


def _markdown_lines() -> Iterator[str]:
    for name, field in Settings.model_fields.items():
        if name in SECTIONS:
            yield from ("", f"## {SECTIONS[name]}", "", "| Variable | Default | Meaning |", "|---|---|---|")
        default = default_text(name, field)
        yield f"| `{name.upper()}` | {f'`{default}`' if default else '–'} | {field.description} |"


def default_text(name: str, field: FieldInfo) -> str:
    """Give a default as one would write it in the environment; '' for none."""
    return _MADE_DEFAULTS.get(name) or _text(field.default)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, float) and value.is_integer() and abs(value) >= 2:
        return str(int(value))
    return str(value) if not isinstance(value, Path) else value.as_posix()
