"""Names that a language model recognises; optional (background.md 3.1a)."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Mapping, Sequence
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

    def find(self, text: str) -> Sequence[tuple[str, str]]:
        found = ((_CATEGORIES.get(span.label_), span.text) for span in self._pipeline(text).ents)
        return [(category, name) for category, name in found if category is not None]


def load_recogniser(model: str) -> Recogniser:
    """Load a spaCy model by the name of its package or by path; without one, the rules alone work."""
    try:
        spacy = importlib.import_module("spacy")
    except ImportError:
        _log.info("spaCy is not installed: entities are found by rules alone")
        return NoRecogniser()
    try:
        return SpacyRecogniser(spacy.load(model))
    except (OSError, ValueError) as error:
        _log.warning("the spaCy model %s cannot be used, entities are found by rules alone: %s", model, error)
        return NoRecogniser()
