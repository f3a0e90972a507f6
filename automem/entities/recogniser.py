"""Names that a language model recognises; optional (background.md 3.1 a)."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

_log = logging.getLogger("automem.entities")

_CATEGORIES: Mapping[str, str] = {
    "PERSON": "people",
    "ORG": "organizations",
    **dict.fromkeys(("PRODUCT", "WORK_OF_ART", "LAW"), "tools"),
    **dict.fromkeys(("EVENT", "GPE", "LOC", "NORP"), "concepts"),
}


class Recogniser(Protocol):
    """Finds names in a text. Safe for many threads."""

    def find(self, text: str) -> Sequence[tuple[str, str]]:
        """Give categories and names in the order of the text."""
        ...


class NoRecogniser:
    """Finds nothing: the rules alone work."""

    def find(self, text: str) -> Sequence[tuple[str, str]]:
        return ()


class SpacyRecogniser:
    """Finds what a spaCy pipeline calls an entity."""

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        self._lock = Lock()

    def find(self, text: str) -> Sequence[tuple[str, str]]:
        with self._lock:  # a pipeline adds to its vocabulary while it reads
            spans = [(span.label_, span.text) for span in self._pipeline(text).ents]
        return [(_CATEGORIES[label], name) for label, name in spans if label in _CATEGORIES]


def load_recogniser(model: str) -> Recogniser:
    """Load a spaCy model by the name of its package or by path; without one, warn and let the rules work."""
    if not _is_installed("spacy") or not (_is_installed(model) or Path(model).is_dir()):
        _log.warning("no spaCy with a model %s: entities are found by rules alone", model)
        return NoRecogniser()
    try:
        spacy = importlib.import_module("spacy")
        return SpacyRecogniser(spacy.load(model))
    except (ImportError, OSError, ValueError) as error:
        _log.warning("the spaCy model %s cannot be used, entities are found by rules alone: %s", model, error)
        return NoRecogniser()


def _is_installed(package: str) -> bool:
    """Look for a package without importing it, which for spaCy takes half a second."""
    return package.isidentifier() and importlib.util.find_spec(package) is not None
