"""The registry of relation types, against the table of memory-api.md 7.1."""

from __future__ import annotations

import pytest

from automem import relations
from automem.search.runtime_relations import AUTHORABLE

# Name, own properties beside strength and updated_at, made by clients, public, colour.
TABLE = """
RELATES_TO      -                                    yes yes #94A3B8
LEADS_TO        -                                    yes yes #3B82F6
OCCURRED_BEFORE -                                    yes yes #6B7280
PREFERS_OVER    context,reason                       yes yes #8B5CF6
EXEMPLIFIES     pattern_type,confidence              yes yes #10B981
CONTRADICTS     resolution,reason                    yes yes #EF4444
REINFORCES      observations                         yes yes #22C55E
INVALIDATED_BY  reason,timestamp                     yes yes #F97316
EVOLVED_INTO    confidence,reason                    yes yes #06B6D4
DERIVED_FROM    transformation,confidence            yes yes #A855F7
PART_OF         role,context                         yes yes #64748B
SIMILAR_TO      score                                no  yes #0EA5E9
PRECEDED_BY     count                                no  yes #475569
DISCOVERED      kind,confidence,similarity,origin    no  no  #A1A1AA
"""


def test_the_registry_is_the_table() -> None:
    rows = [line.split() for line in TABLE.split("\n") if line]
    assert [row[0] for row in rows] == list(relations.REGISTRY)
    for name, properties, authorable, public, colour in rows:
        kind = relations.REGISTRY[name]
        assert kind.name == name
        assert ",".join(kind.properties) == properties.strip("-")
        assert (kind.authorable, kind.expands, kind.system) == (
            authorable == "yes",
            authorable == "yes",
            authorable == "no",
        )
        assert (kind.public, kind.colour) == (public == "yes", colour)


def test_recall_follows_what_clients_may_make() -> None:
    assert relations.AUTHORABLE == AUTHORABLE
    assert list(AUTHORABLE) == sorted(AUTHORABLE) and len(AUTHORABLE) == 11


def test_two_types_replace() -> None:
    replacing = {name for name, kind in relations.REGISTRY.items() if kind.replaces}
    assert replacing == {"INVALIDATED_BY", "EVOLVED_INTO"}


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("leads_to", "LEADS_TO"),
        (" Part_Of ", "PART_OF"),
        ("explains", "DISCOVERED"),
        ("SHARES_THEME", "DISCOVERED"),
        ("parallel_context", "DISCOVERED"),
        ("SUMMARIZES", None),
        ("", None),
    ],
)
def test_names_are_found_in_any_spelling(word: str, name: str | None) -> None:
    found = relations.relation_named(word)
    assert (found.name if found else None) == name


def test_legacy_edges_are_read_with_discovered_ones() -> None:
    assert relations.REGISTRY["DISCOVERED"].labels == (
        "DISCOVERED",
        "EXPLAINS",
        "SHARES_THEME",
        "PARALLEL_CONTEXT",
    )
    assert relations.REGISTRY["PART_OF"].labels == ("PART_OF",)
