"""docs/recall.md names every parameter of /recall, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from automem.api.recall_schema import RecallQuery
from automem.utils.scoring import COMPONENTS, Weights

PAGE = (Path(__file__).parents[2] / "docs" / "recall.md").read_text(encoding="utf-8")


def test_every_parameter_is_told_and_no_other() -> None:
    table = PAGE.split("## Parameters", 1)[1].split("## Times", 1)[0]
    named = {
        name
        for row in re.findall(r"^\| ((?:`\w+`[ ,()]*)+)\|", table, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert named == set(RecallQuery.model_fields)


def test_every_component_is_told_with_its_weight() -> None:
    table = PAGE.split("## The score", 1)[1]
    for name in COMPONENTS:
        assert f"`{name}`" in table
        assert f"{getattr(Weights(), name):g}" in table
