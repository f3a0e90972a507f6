"""Scopes as parts of queries: values travel as parameters, and nothing else gets into the text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from automem.errors import InvalidInput
from automem.models import Scope
from automem.stores.cypher import (
    Conditions,
    conditions,
    exclusion,
    importance_bands,
    is_unmatchable,
    scoped_query,
    tag_query,
    time_bands,
    window_conditions,
)
from automem.stores.falkordb_connection import with_parameters
from automem.utils.text import exact_tag_token, tag_token
from automem.utils.time import TimeWindow

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE = datetime(1970, 1, 1, 0, 1, tzinfo=UTC)


def test_an_open_scope_leaves_out_the_archived_alone() -> None:
    assert conditions(Scope(at=EPOCH)).where == "WHERE NOT coalesce(m.archived = true, false)"
    assert conditions(Scope(at=EPOCH, archived=True)) == Conditions()
    assert Conditions().where == ""


def test_values_travel_as_parameters() -> None:
    evil = "x'] OR true //"
    scope = Scope(at=MINUTE, exclude_tags=(evil,), excluded_types=(evil,), state="current")
    both = conditions(scope) & exclusion(scope)
    assert "OR true" not in both.where
    assert both.params == {
        "excluded_types": [evil],
        "at": 60.0,
        "excluded_tags": ["x'] or true :".strip(" :")],
    }


@pytest.mark.parametrize(
    ("window", "clauses", "params"),
    [
        (None, (), {}),
        (TimeWindow(None, None), (), {}),
        (TimeWindow(EPOCH, None), ("m._ts >= $window_start",), {"window_start": 0.0}),
        (TimeWindow(None, MINUTE), ("m._ts < $window_end",), {"window_end": 60.0}),
        (TimeWindow(None, MINUTE, True), ("m._ts <= $window_end",), {"window_end": 60.0}),
    ],
)
def test_windows(window: TimeWindow | None, clauses: tuple[str, ...], params: dict[str, float]) -> None:
    assert window_conditions(window) == Conditions(clauses, params)


def test_tags_narrow_a_query_without_scoring() -> None:
    a, b, c = tag_token("a"), tag_token("b"), tag_token("c")
    scope = Scope(at=EPOCH, tags=("A", "b/", "a"), exclude_tags=("c", ":"))
    assert tag_query(scope) == f"({a}|{b}) -{c}"
    assert scoped_query("w1|w2", scope) == f"(w1|w2) (({a}|{b}) => {{ $weight: 0.0; }}) -{c}"
    exact = Scope(at=EPOCH, tags=("a", "b"), tag_mode="all", tag_match="exact")
    assert tag_query(exact) == f"({exact_tag_token('a')} {exact_tag_token('b')})"
    assert tag_query(Scope(at=EPOCH, exclude_tags=("c",))) == ""
    assert scoped_query("w1", Scope(at=EPOCH)) == "(w1)"


def test_tags_without_a_segment_match_nothing() -> None:
    assert is_unmatchable(Scope(at=EPOCH, tags=("::",)))
    assert is_unmatchable(Scope(at=EPOCH, tags=("::", "a"), tag_mode="all"))
    assert not is_unmatchable(Scope(at=EPOCH, tags=("::", "a")))
    assert not is_unmatchable(Scope(at=EPOCH))


def test_importance_bands_part_everything() -> None:
    assert [band.where for band in importance_bands()] == [
        "WHERE m.importance >= 0.9",
        "WHERE m.importance >= 0.7 AND m.importance < 0.9",
        "WHERE m.importance >= 0.5 AND m.importance < 0.7",
        "WHERE NOT coalesce(m.importance >= 0.5, false)",
    ]


@pytest.mark.parametrize("descending", [True, False])
def test_time_bands_hold_every_time_once(descending: bool) -> None:
    bands = time_bands("_ts", 1e9, descending)
    assert bands[-1].where == "WHERE m._ts IS NULL"
    compare = {">=": float.__ge__, "<": float.__lt__}
    for time in (-1e12, 0.0, 1e9 - 86_400, 1e9 - 5e5, 1e9, 1e9 + 604_800, 1e9 + 3e6, 1e12):
        holding = [
            band
            for band in bands[:-1]
            if all(compare[clause.split()[1]](time, edge) for clause, edge in zip(*_parts(band), strict=True))
        ]
        assert len(holding) == 1


def _parts(band: Conditions) -> tuple[list[str], list[float]]:
    return list(band.clauses), [band.params[clause.split("$")[1]] for clause in band.clauses]


def test_parameters_stand_in_front_of_the_query() -> None:
    assert with_parameters("RETURN 1", {}) == "RETURN 1"
    params = {"a": 'x"\\', "b": [1, True, None], "c": {"k": 0.5}}
    assert with_parameters("RETURN 1", params) == r'CYPHER a="x\"\\" b=[1,True,null] c={`k`:0.5} RETURN 1'
    for odd in ("\0", "\udfff"):
        with pytest.raises(InvalidInput):
            with_parameters("RETURN 1", {"a": [{"k": odd}]})
