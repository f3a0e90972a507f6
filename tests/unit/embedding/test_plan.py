"""A model to change to, as an admin names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from automem.config import Settings
from automem.embedding.plan import ModelPlan
from automem.errors import InvalidInput, StartupError

MakeSettings = Callable[..., Settings]


@pytest.mark.parametrize(
    "given", [{}, [], "local", {"ollama_base_url": "http://x"}, {"embedding_provider": None}, {1: 2}]
)
def test_what_is_no_choice_of_a_model(given: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        ModelPlan.of(given)
    assert refused.value.field == "model"


def test_a_plan_survives_being_written_down() -> None:
    plan = ModelPlan.of({"embedding_provider": "placeholder", "vector_size": 12})
    assert ModelPlan.read(plan.text()) == plan


def test_the_length_follows_the_model_unless_it_is_named(make_settings: MakeSettings) -> None:
    settings = make_settings(embedding_provider="placeholder", vector_size=8)
    assert ModelPlan.of({"embedding_provider": "local"}).provider(settings).dimension == 384
    chosen = ModelPlan.of({"embedding_provider": "placeholder", "vector_size": 12})
    assert chosen.provider(settings).dimension == 12


def test_keys_are_those_of_the_service(make_settings: MakeSettings) -> None:
    plan = ModelPlan.of({"embedding_provider": "voyage", "vector_size": 256})
    with pytest.raises(StartupError, match="VOYAGE_API_KEY"):
        plan.provider(make_settings())
    assert plan.provider(make_settings(voyage_api_key="secret")).dimension == 256
    assert "secret" not in plan.text()


@pytest.mark.parametrize("choice", [{"embedding_provider": "nothing"}, {"vector_size": -1}])
def test_a_value_that_no_setting_can_have(make_settings: MakeSettings, choice: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="cannot be used"):
        ModelPlan.of(choice).provider(make_settings())
