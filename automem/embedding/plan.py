"""A model to change to, as an admin names it: the settings that choose one, without keys and addresses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from automem.config import Settings
from automem.embedding.base import ClosingProvider
from automem.embedding.select import make_provider
from automem.errors import InvalidInput

FIELDS = (
    "embedding_provider",
    "embedding_model",
    "voyage_model",
    "ollama_model",
    "automem_local_model",
    "vector_size",
)


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """Values of ``FIELDS``; the others are those of the service, but VECTOR_SIZE follows the model."""

    choice: Mapping[str, Any]

    @classmethod
    def of(cls, given: object) -> ModelPlan:
        """Take what a client sent.

        :raises InvalidInput: for what is no object of these fields.
        """
        accepted = f"'model' must be an object with some of {', '.join(FIELDS)}"
        if not isinstance(given, Mapping) or not given or set(given) - set(FIELDS):
            raise InvalidInput(accepted, field="model")
        if not all(isinstance(value, str | int) for value in given.values()):
            raise InvalidInput(f"{accepted}, each a text or a number", field="model")
        return cls(dict(given))

    @classmethod
    def read(cls, text: str) -> ModelPlan:
        """Read what ``text`` wrote."""
        return cls(json.loads(text))

    def text(self) -> str:
        """Write it down."""
        return json.dumps(self.choice)

    def provider(self, settings: Settings) -> ClosingProvider:
        """Make the provider, with the keys and addresses of the settings.

        :raises InvalidInput: for a value that no setting can have.
        :raises StartupError: as ``make_provider`` does.
        """
        merged = {**settings.model_dump(), "vector_size": None, **self.choice}
        try:
            return make_provider(Settings.model_validate(merged))
        except ValidationError as error:
            faults = "; ".join(f"{fault['loc'][-1]}: {fault['msg']}" for fault in error.errors())
            raise InvalidInput(f"'model' cannot be used: {faults}", field="model") from None
