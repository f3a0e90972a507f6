"""docs/associations.md names every relation type with its properties, and every parameter of the lists."""

from __future__ import annotations

import re
from pathlib import Path

from automem.api.schemas_associations import AssociationsQuery, RelatedQuery
from automem.relations import REGISTRY

PAGE = (Path(__file__).parents[2] / "docs" / "associations.md").read_text(encoding="utf-8")


def test_every_type_is_told_with_its_properties() -> None:
    told = {
        name: (re.findall(r"`(\w+)`", properties), maker == "clients")
        for name, properties, maker in re.findall(
            r"^\| `([A-Z_]+)`[^|]*\|([^|]*)\| ([^|]*) \|$", PAGE, re.MULTILINE
        )
    }
    assert told == {name: (list(kind.properties), kind.authorable) for name, kind in REGISTRY.items()}


def test_every_parameter_is_told() -> None:
    listing, related = PAGE.split("## List those", 1)[1].split("## Find related", 1)
    named = set(re.findall(r"^\| `(\w+)` \|", listing, re.MULTILINE))
    assert named == set(AssociationsQuery.model_fields)
    assert all(f"`{name}`" in related for name in RelatedQuery.model_fields)
