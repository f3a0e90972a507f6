"""Time: strict and lenient timestamps, windows, expressions, temporal intent."""

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta, timezone

import pytest

from automem.utils.time import (
    TimeParseError,
    TimeWindow,
    combine_window,
    epoch_of,
    is_temporal_intent,
    lenient_timestamp,
    normalize_timestamp,
    parse_time_expression,
    parse_timestamp,
    to_epoch,
)

EMPTY = "Timestamp must be a non-empty ISO formatted string"
INVALID = "Invalid ISO timestamp"

# A Wednesday; its week began on Monday the 10th.
NOW = datetime(2025, 3, 12, 15, 4, 5, 678000, tzinfo=UTC)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def window(start: str | None, end: str | None, inclusive: bool = False) -> TimeWindow:
    return TimeWindow(
        None if start is None else at(start),
        None if end is None else at(end),
        inclusive,
    )


class TestParseTimestamp:
    @pytest.mark.parametrize(
        ("text", "stored"),
        [
            ("2024-01-01", "2024-01-01T00:00:00+00:00"),
            ("20240101", "2024-01-01T00:00:00+00:00"),
            ("2024-W01-1", "2024-01-01T00:00:00+00:00"),
            ("2024W011", "2024-01-01T00:00:00+00:00"),
            ("2020-W53-5", "2021-01-01T00:00:00+00:00"),
            ("2024-01-01Z", "2024-01-01T00:00:00+00:00"),
            ("2024-02-29", "2024-02-29T00:00:00+00:00"),
            ("2024-01-01T09", "2024-01-01T09:00:00+00:00"),
            ("2024-01-01T09:30", "2024-01-01T09:30:00+00:00"),
            ("2024-01-01 09:30:15", "2024-01-01T09:30:15+00:00"),
            ("20240101T093015", "2024-01-01T09:30:15+00:00"),
            ("20240101T093015Z", "2024-01-01T09:30:15+00:00"),
            ("2024-01-01T09:30:15Z", "2024-01-01T09:30:15+00:00"),
            ("2024-01-01T09:30:15.5Z", "2024-01-01T09:30:15.500000+00:00"),
            ("2024-01-01T09:30:15,25", "2024-01-01T09:30:15.250000+00:00"),
            ("2024-01-01T09:30:15.000Z", "2024-01-01T09:30:15+00:00"),
            ("2024-01-01T09:30:15.123456789Z", "2024-01-01T09:30:15.123456+00:00"),
            ("2024-01-01T09:30:15.9999999Z", "2024-01-01T09:30:15.999999+00:00"),
            ("2024-01-01T00:30:00+02:00", "2023-12-31T22:30:00+00:00"),
            ("2024-02-28T23:00:00-05:00", "2024-02-29T04:00:00+00:00"),
            ("2023-02-28T23:00:00-05", "2023-03-01T04:00:00+00:00"),
            ("2024-01-01T05:45:00+0545", "2024-01-01T00:00:00+00:00"),
            ("2024-01-01T00:00:00-00:00", "2024-01-01T00:00:00+00:00"),
            ("2025-01-01T00:00:00 00:00", "2025-01-01T00:00:00+00:00"),
            ("2025-01-01T00:00:00.5 02:00", "2024-12-31T22:00:00.500000+00:00"),
            ("2025-01-01 10:00 02:00", "2025-01-01T08:00:00+00:00"),
            ("  2024-01-01T09:30:15Z\n", "2024-01-01T09:30:15+00:00"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+00:00"),
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59+00:00"),
        ],
    )
    def test_accepted_forms(self, text: str, stored: str) -> None:
        assert normalize_timestamp(text) == stored
        assert parse_timestamp(text).tzinfo is UTC

    @pytest.mark.parametrize("value", [None, "", "   ", "\t\n", 5, 0, True, [], {}, b"x"])
    def test_no_text(self, value: object) -> None:
        with pytest.raises(TimeParseError) as caught:
            parse_timestamp(value)
        assert str(caught.value) == EMPTY

    @pytest.mark.parametrize(
        "text",
        [
            "yesterday",
            "2024",
            "2024-01",
            "2024-13-01",
            "2024-02-30",
            "2023-02-29",
            "0000-01-01",
            "10000-01-01",
            "2024-1-1",
            "2024/01/01",
            "2024-01-01z",
            "2024-01-01T",
            "2024-01-01T24:00:00",
            "2024-01-01T23:60:00",
            "2024-01-01T23:59:60",
            "2024-01-01T9:00",
            "2024-01-01T09:00:00.",
            "2024-01-01T1200:00",
            "2024-01-01x09:00",
            "2024-01-01T09:00+24:00",
            "2024-01-01T09:00ZZ",
            "2024-01-01T09:00  02:00",
            "2024-W54-1",
            "2024-W01-8",
            "2024-01-01\x00",
            "\x002024-01-01",
            "2024-01-01T09:00:00\x00",
            "\uff12\uff10\uff12\uff14-01-01",
            "2024-01-01T\u0660\u0669:00",
            "1735689600",
            "NaN",
            "9" * 10_000,
            "0001-01-01T00:00:00+05:00",
            "9999-12-31T23:59:59-05:00",
        ],
    )
    def test_refused_forms(self, text: str) -> None:
        with pytest.raises(TimeParseError) as caught:
            normalize_timestamp(text)
        assert str(caught.value) == INVALID


class TestStoredValues:
    @pytest.mark.parametrize(
        ("value", "instant", "epoch"),
        [
            ("2025-01-01T00:00:00Z", "2025-01-01T00:00:00", 1735689600.0),
            ("2025-01-01T01:00:00+01:00", "2025-01-01T00:00:00", 1735689600.0),
            (1735689600, "2025-01-01T00:00:00", 1735689600.0),
            (1735689600.25, "2025-01-01T00:00:00.250000", 1735689600.25),
            (0, "1970-01-01T00:00:00", 0.0),
            (-86400, "1969-12-31T00:00:00", -86400.0),
        ],
    )
    def test_read(self, value: object, instant: str, epoch: float) -> None:
        assert lenient_timestamp(value) == at(instant)
        assert epoch_of(value) == epoch

    @pytest.mark.parametrize(
        "value",
        [
            None,
            True,
            False,
            "",
            "soon",
            "1735689600",
            [1],
            float("nan"),
            float("inf"),
            float("-inf"),
            1e300,
            10**400,
            -(10**12),
        ],
    )
    def test_not_read(self, value: object) -> None:
        assert lenient_timestamp(value) is None
        assert epoch_of(value) is None

    def test_epoch_of_any_zone(self) -> None:
        india = timezone(timedelta(hours=5, minutes=30))
        assert to_epoch(datetime(2025, 1, 1, 5, 30, tzinfo=india)) == 1735689600.0
        assert to_epoch(datetime(2025, 1, 1)) == 1735689600.0
        assert to_epoch(at("2025-01-01T00:00:00.000001")) == 1735689600.000001


class TestTimeWindow:
    @pytest.mark.parametrize(
        ("start", "end", "inclusive", "moment", "inside"),
        [
            ("2025-01-01", "2025-01-02", False, "2025-01-01T00:00:00", True),
            ("2025-01-01", "2025-01-02", False, "2024-12-31T23:59:59.999999", False),
            ("2025-01-01", "2025-01-02", False, "2025-01-01T23:59:59.999999", True),
            ("2025-01-01", "2025-01-02", False, "2025-01-02T00:00:00", False),
            ("2025-01-01", "2025-01-02", True, "2025-01-02T00:00:00", True),
            ("2025-01-01", "2025-01-02", True, "2025-01-02T00:00:00.000001", False),
            (None, "2025-01-02", False, "1970-01-01", True),
            (None, "2025-01-02", False, "2025-01-02", False),
            ("2025-01-01", None, False, "2999-01-01", True),
            ("2025-01-01", None, False, "2024-12-31", False),
            (None, None, False, "2025-01-01", True),
            ("2025-01-01", "2025-01-01", True, "2025-01-01", True),
            ("2025-01-01", "2025-01-01", False, "2025-01-01", False),
            ("2025-02-01", "2025-01-01", True, "2025-01-15", False),
        ],
    )
    def test_contains(
        self,
        start: str | None,
        end: str | None,
        inclusive: bool,
        moment: str,
        inside: bool,
    ) -> None:
        assert window(start, end, inclusive).contains(at(moment)) is inside

    def test_contains_compares_instants_of_any_zone(self) -> None:
        tokyo = timezone(timedelta(hours=9))
        january_first = window("2025-01-01", "2025-01-02")
        assert january_first.contains(datetime(2025, 1, 2, 8, 59, tzinfo=tokyo))
        assert not january_first.contains(datetime(2025, 1, 1, 8, 59, tzinfo=tokyo))
        assert january_first.contains(datetime(2025, 1, 1, 12))

    @pytest.mark.parametrize(
        ("start", "end", "is_open"),
        [
            (None, None, True),
            ("2025-01-01", None, False),
            (None, "2025-01-01", False),
        ],
    )
    def test_unknown_moment_only_passes_without_bounds(
        self, start: str | None, end: str | None, is_open: bool
    ) -> None:
        assert window(start, end).is_open is is_open
        assert window(start, end).contains(None) is is_open

    def test_as_json_is_utc(self) -> None:
        tokyo = timezone(timedelta(hours=9))
        shown = TimeWindow(datetime(2025, 1, 1, tzinfo=tokyo), None).as_json()
        assert shown == {"start": "2024-12-31T15:00:00+00:00", "end": None}
        assert window(None, "2025-01-02T03:04:05.000600").as_json() == {
            "start": None,
            "end": "2025-01-02T03:04:05.000600+00:00",
        }

    def test_is_frozen(self) -> None:
        with pytest.raises(FrozenInstanceError):
            window(None, None).end = NOW  # type: ignore[misc]


class TestCombineWindow:
    march = window("2025-03-01", "2025-04-01")

    def test_no_bound_is_no_window(self) -> None:
        assert combine_window(None, None, None) is None
        assert combine_window(window(None, None), None, None) is None

    def test_expression_alone_is_kept(self) -> None:
        assert combine_window(self.march, None, None) == self.march
        rolling = window("2025-03-01", "2025-03-02", True)
        assert combine_window(rolling, None, None) == rolling

    def test_explicit_bounds_are_inclusive(self) -> None:
        day = at("2025-03-05")
        assert combine_window(None, day, day) == window("2025-03-05", "2025-03-05", True)
        assert combine_window(None, day, None) == TimeWindow(day, None)
        assert combine_window(None, None, day) == window(None, "2025-03-05", True)

    def test_each_side_is_overridden_alone(self) -> None:
        early, late = at("2025-02-10"), at("2025-04-10")
        assert combine_window(self.march, early, None) == window("2025-02-10", "2025-04-01")
        assert combine_window(self.march, None, late) == window("2025-03-01", "2025-04-10", True)
        assert combine_window(self.march, early, late) == window("2025-02-10", "2025-04-10", True)

    def test_inverted_bounds_hold_nothing(self) -> None:
        nothing = combine_window(None, at("2025-02-01"), at("2025-01-01"))
        assert nothing is not None
        assert not nothing.contains(at("2025-01-15"))


Row = tuple[str, str | None, str | None, bool]

NAMED_UNITS: list[Row] = [
    ("today", "2025-03-12", "2025-03-13", False),
    ("yesterday", "2025-03-11", "2025-03-12", False),
    ("tomorrow", "2025-03-13", "2025-03-14", False),
    ("last hour", "2025-03-12T14:04:05.678", "2025-03-12T15:04:05.678", True),
    ("past hour", "2025-03-12T14:04:05.678", "2025-03-12T15:04:05.678", True),
    ("this hour", "2025-03-12T15", "2025-03-12T16", False),
    ("next hour", "2025-03-12T16", "2025-03-12T17", False),
    ("last minute", "2025-03-12T15:03:05.678", "2025-03-12T15:04:05.678", True),
    ("this minute", "2025-03-12T15:04", "2025-03-12T15:05", False),
    ("last day", "2025-03-11T15:04:05.678", "2025-03-12T15:04:05.678", True),
    ("past day", "2025-03-11T15:04:05.678", "2025-03-12T15:04:05.678", True),
    ("this day", "2025-03-12", "2025-03-13", False),
    ("next day", "2025-03-13", "2025-03-14", False),
    ("last week", "2025-03-03", "2025-03-10", False),
    ("past week", "2025-03-03", "2025-03-10", False),
    ("this week", "2025-03-10", "2025-03-17", False),
    ("next week", "2025-03-17", "2025-03-24", False),
    ("last month", "2025-02-01", "2025-03-01", False),
    ("past month", "2025-02-01", "2025-03-01", False),
    ("this month", "2025-03-01", "2025-04-01", False),
    ("next month", "2025-04-01", "2025-05-01", False),
    ("last year", "2024-01-01", "2025-01-01", False),
    ("past year", "2024-01-01", "2025-01-01", False),
    ("this year", "2025-01-01", "2026-01-01", False),
    ("next year", "2026-01-01", "2027-01-01", False),
]

NOW_TEXT = "2025-03-12T15:04:05.678"
COUNTED_UNITS: list[Row] = [
    ("last 30 minutes", "2025-03-12T14:34:05.678", NOW_TEXT, True),
    ("past 1 minute", "2025-03-12T15:03:05.678", NOW_TEXT, True),
    ("last 24 hours", "2025-03-11T15:04:05.678", NOW_TEXT, True),
    ("past 48 hours", "2025-03-10T15:04:05.678", NOW_TEXT, True),
    ("last 24 hour", "2025-03-11T15:04:05.678", NOW_TEXT, True),
    ("last 1 day", "2025-03-11T15:04:05.678", NOW_TEXT, True),
    ("last 7 days", "2025-03-05T15:04:05.678", NOW_TEXT, True),
    ("last seven days", "2025-03-05T15:04:05.678", NOW_TEXT, True),
    ("last 90 days", "2024-12-12T15:04:05.678", NOW_TEXT, True),
    ("past 365 days", "2024-03-12T15:04:05.678", NOW_TEXT, True),
    ("last 1 week", "2025-03-05T15:04:05.678", NOW_TEXT, True),
    ("last two weeks", "2025-02-26T15:04:05.678", NOW_TEXT, True),
    ("last 1 month", "2025-02-12T15:04:05.678", NOW_TEXT, True),
    ("past twelve months", "2024-03-12T15:04:05.678", NOW_TEXT, True),
    ("last 15 months", "2023-12-12T15:04:05.678", NOW_TEXT, True),
    ("last 5 years", "2020-03-12T15:04:05.678", NOW_TEXT, True),
    ("last 2000 years", "0025-03-12T15:04:05.678", NOW_TEXT, True),
    ("5 minutes ago", "2025-03-12T14:59", "2025-03-12T15:00", False),
    ("1 hour ago", "2025-03-12T14", "2025-03-12T15", False),
    ("16 hours ago", "2025-03-11T23", "2025-03-12T00", False),
    ("1 day ago", "2025-03-11", "2025-03-12", False),
    ("12 days ago", "2025-02-28", "2025-03-01", False),
    ("one week ago", "2025-03-03", "2025-03-10", False),
    ("2 weeks ago", "2025-02-24", "2025-03-03", False),
    ("three months ago", "2024-12-01", "2025-01-01", False),
    ("13 months ago", "2024-02-01", "2024-03-01", False),
    ("1 year ago", "2024-01-01", "2025-01-01", False),
]

BARE_DATES: list[Row] = [
    ("2025-01-15", "2025-01-15", "2025-01-16", False),
    ("20250115", "2025-01-15", "2025-01-16", False),
    ("2024-02-28", "2024-02-28", "2024-02-29", False),
    ("2024-02-29", "2024-02-29", "2024-03-01", False),
    ("2025-02-28", "2025-02-28", "2025-03-01", False),
    ("2024-12-31", "2024-12-31", "2025-01-01", False),
    ("2025-W03-2", "2025-01-14", "2025-01-15", False),
    ("2025-W03", "2025-01-13", "2025-01-20", False),
    ("2025w01", "2024-12-30", "2025-01-06", False),
    ("on 2025-01-15", "2025-01-15", "2025-01-16", False),
    ("2025-01", "2025-01-01", "2025-02-01", False),
    ("2024-02", "2024-02-01", "2024-03-01", False),
    ("2024-12", "2024-12-01", "2025-01-01", False),
    ("january 2025", "2025-01-01", "2025-02-01", False),
    ("jan 2025", "2025-01-01", "2025-02-01", False),
    ("sept 2024", "2024-09-01", "2024-10-01", False),
    ("in december 2024", "2024-12-01", "2025-01-01", False),
    ("in 2025-01", "2025-01-01", "2025-02-01", False),
    ("february", "2025-02-01", "2025-03-01", False),
    ("in march", "2025-03-01", "2025-04-01", False),
    ("in april", "2024-04-01", "2024-05-01", False),
    ("in may", "2024-05-01", "2024-06-01", False),
    ("in dec", "2024-12-01", "2025-01-01", False),
    ("2025", "2025-01-01", "2026-01-01", False),
    ("in 2024", "2024-01-01", "2025-01-01", False),
    ("9999", "9999-01-01", "9999-12-31T23:59:59.999999", False),
    ("2025-01-15T10:00:00Z", "2025-01-15T10:00:00", "2025-01-15T10:00:01", False),
    ("on 2025-01-15T10:00:00", "2025-01-15T10:00:00", "2025-01-15T10:00:01", False),
    ("2025-01-15 10:30", "2025-01-15T10:30", "2025-01-15T10:31", False),
    ("2025-01-15T10", "2025-01-15T10", "2025-01-15T11", False),
    ("2025-01-15T10+05:30", "2025-01-15T04:30", "2025-01-15T05:30", False),
    ("2025-01-15T10:00:00.5Z", "2025-01-15T10:00:00.5", "2025-01-15T10:00:00.5", True),
]

BOUNDED: list[Row] = [
    ("before 2025-02-01", None, "2025-02-01", False),
    ("before january 2025", None, "2025-01-01", False),
    ("before 2025-01-15T10:00:00Z", None, "2025-01-15T10:00:00", False),
    ("after 2025-01-15", "2025-01-15", None, False),
    ("since 2025-01-15", "2025-01-15", None, False),
    ("since january 2025", "2025-01-01", None, False),
    ("since march", "2025-03-01", None, False),
    ("since 2024", "2024-01-01", None, False),
    ("since yesterday", "2025-03-11", None, False),
    ("since last week", "2025-03-03", None, False),
    ("since 2025-01-01T00:00:00 00:00", "2025-01-01", None, False),
    ("after 2025-01-15T10:00:00+02:00", "2025-01-15T08:00:00", None, False),
    ("until 2025-01-15", None, "2025-01-16", False),
    ("until 2025-01", None, "2025-02-01", False),
    ("until 2024", None, "2025-01-01", False),
    ("until yesterday", None, "2025-03-12", False),
    ("until 2025-01-15T10:00:00Z", None, "2025-01-15T10:00:00", True),
    ("until now", None, NOW_TEXT, True),
    ("until 9999-12-31", None, "9999-12-31T23:59:59.999999", False),
]

RANGES: list[Row] = [
    ("between 2025-01-15 and 2025-01-20", "2025-01-15", "2025-01-21", False),
    ("2025-01-15 to 2025-01-20", "2025-01-15", "2025-01-21", False),
    ("from 2025-01-15 to 2025-01-20", "2025-01-15", "2025-01-21", False),
    ("2025-01-15/2025-01-20", "2025-01-15", "2025-01-21", False),
    ("between 2025-01-15 and 2025-01-15", "2025-01-15", "2025-01-16", False),
    ("between 2024-12-31 and 2025-01-01", "2024-12-31", "2025-01-02", False),
    ("between 2024-02-28 and 2024-02-29", "2024-02-28", "2024-03-01", False),
    ("between 2024 and 2025", "2024-01-01", "2026-01-01", False),
    ("between january 2025 and february 2025", "2025-01-01", "2025-03-01", False),
    ("november 2024 to 2025-01", "2024-11-01", "2025-02-01", False),
    ("2025-01-15 to 2025-01", "2025-01-15", "2025-02-01", False),
    ("yesterday to today", "2025-03-11", "2025-03-13", False),
    ("3 days ago to 1 day ago", "2025-03-09", "2025-03-12", False),
    ("2025-03-01 to now", "2025-03-01", NOW_TEXT, True),
    (
        "between 2025-01-15T10:00:00Z and 2025-01-15T12:00:00Z",
        "2025-01-15T10:00:00",
        "2025-01-15T12:00:00",
        True,
    ),
    (
        "2025-01-15T10:00:00 02:00 to 2025-01-15T12:00:00 02:00",
        "2025-01-15T08:00:00",
        "2025-01-15T10:00:00",
        True,
    ),
    (
        "2025-01-15T10:00:00Z to 2025-01-15T10:00:00Z",
        "2025-01-15T10:00:00",
        "2025-01-15T10:00:00",
        True,
    ),
]


class TestParseTimeExpression:
    @pytest.mark.parametrize(
        ("text", "start", "end", "inclusive"),
        NAMED_UNITS + COUNTED_UNITS + BARE_DATES + BOUNDED + RANGES,
    )
    def test_grammar(self, text: str, start: str | None, end: str | None, inclusive: bool) -> None:
        assert parse_time_expression(text, NOW) == window(start, end, inclusive)

    @pytest.mark.parametrize(
        ("text", "plain"),
        [
            ("  Last   HOUR ", "last hour"),
            ("TODAY\n", "today"),
            ("In\tJanuary  2025", "in january 2025"),
            ("Last 7 Days", "last 7 days"),
            ("BETWEEN 2025-01-15  AND  2025-01-20", "between 2025-01-15 and 2025-01-20"),
            ("Since 2025-01-15t10:00:00z", "since 2025-01-15T10:00:00Z"),
        ],
    )
    def test_case_and_blanks_do_not_matter(self, text: str, plain: str) -> None:
        assert parse_time_expression(text, NOW) == parse_time_expression(plain, NOW)

    @pytest.mark.parametrize(
        ("now", "text", "start", "end"),
        [
            ("2025-03-10T00:00:00", "this week", "2025-03-10", "2025-03-17"),
            ("2025-03-09T23:59:59", "this week", "2025-03-03", "2025-03-10"),
            ("2025-03-10T00:00:00", "last week", "2025-03-03", "2025-03-10"),
            ("2025-01-01T08:00:00", "this week", "2024-12-30", "2025-01-06"),
            ("2025-01-01T08:00:00", "last week", "2024-12-23", "2024-12-30"),
            ("2025-01-01T08:00:00", "yesterday", "2024-12-31", "2025-01-01"),
            ("2025-01-01T08:00:00", "last month", "2024-12-01", "2025-01-01"),
            ("2025-01-01T08:00:00", "in january", "2025-01-01", "2025-02-01"),
            ("2024-12-31T23:30:00", "next hour", "2025-01-01T00", "2025-01-01T01"),
            ("2024-12-31T23:30:00", "tomorrow", "2025-01-01", "2025-01-02"),
            ("2024-12-31T23:30:00", "next month", "2025-01-01", "2025-02-01"),
            ("2024-02-28T12:00:00", "tomorrow", "2024-02-29", "2024-03-01"),
            ("2025-02-28T12:00:00", "tomorrow", "2025-03-01", "2025-03-02"),
            ("2024-03-01T12:00:00", "yesterday", "2024-02-29", "2024-03-01"),
            ("2025-01-31T12:00:00", "next month", "2025-02-01", "2025-03-01"),
            ("2025-03-31T12:00:00", "last month", "2025-02-01", "2025-03-01"),
            ("2025-03-31T12:00:00", "1 month ago", "2025-02-01", "2025-03-01"),
            ("2024-02-29T12:00:00", "1 year ago", "2023-01-01", "2024-01-01"),
        ],
    )
    def test_calendar_edges(self, now: str, text: str, start: str, end: str) -> None:
        assert parse_time_expression(text, at(now)) == window(start, end)

    @pytest.mark.parametrize(
        ("now", "text", "start"),
        [
            ("2025-03-31T12:00:00", "last 1 month", "2025-02-28T12:00:00"),
            ("2024-03-31T12:00:00", "last 1 months", "2024-02-29T12:00:00"),
            ("2025-05-31T12:00:00", "last 3 months", "2025-02-28T12:00:00"),
            ("2025-05-31T12:00:00", "last 1 month", "2025-04-30T12:00:00"),
            ("2024-02-29T12:00:00", "last 1 year", "2023-02-28T12:00:00"),
            ("2024-02-29T12:00:00", "last 4 years", "2020-02-29T12:00:00"),
            ("2025-01-15T12:00:00", "last 1 month", "2024-12-15T12:00:00"),
            ("2025-01-01T00:30:00", "last hour", "2024-12-31T23:30:00"),
            ("2024-03-01T12:00:00", "last day", "2024-02-29T12:00:00"),
        ],
    )
    def test_rolling_edges(self, now: str, text: str, start: str) -> None:
        assert parse_time_expression(text, at(now)) == window(start, now, True)

    def test_now_of_another_zone_is_read_in_utc(self) -> None:
        tokyo = timezone(timedelta(hours=9))
        now = datetime(2025, 1, 1, 3, 0, tzinfo=tokyo)
        assert parse_time_expression("today", now) == window("2024-12-31", "2025-01-01")
        rolling = parse_time_expression("last hour", now)
        assert rolling.as_json() == {
            "start": "2024-12-31T17:00:00+00:00",
            "end": "2024-12-31T18:00:00+00:00",
        }

    def test_what_is_stored_just_now_is_in_the_last_hour(self) -> None:
        assert parse_time_expression("last hour", NOW).contains(NOW)
        assert parse_time_expression("last 7 days", NOW).contains(NOW)

    def test_adjacent_windows_do_not_overlap(self) -> None:
        moment = at("2025-03-01")
        assert parse_time_expression("this month", NOW).contains(moment)
        assert not parse_time_expression("last month", NOW).contains(moment)
        assert parse_time_expression("after 2025-03-01", NOW).contains(moment)
        assert not parse_time_expression("before 2025-03-01", NOW).contains(moment)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "   ",
            "banana",
            "now",
            "last",
            "last days",
            "last 3 big days",
            "last 1.5 days",
            "last few weeks",
            "last 3 fortnights",
            "next 3 days",
            "days ago",
            "2025-13",
            "2025-00",
            "0000",
            "2025-02-30",
            "2023-02-29",
            "2025-01-15T24:00:00",
            "on",
            "on banana",
            "in smarch",
            "since",
            "since banana",
            "until 2025-02-30",
            "between 2025-01-15",
            "between 2025-01-15 and",
            "between 2025-01-15 and banana",
            "banana to 2025-01-15",
            "2025-01-15 - 2025-01-20",
            "2025/01/15",
            "today; drop",
            "today\x00",
            "2025-01-15\x00",
            "\uff12\uff10\uff12\uff15",
            "last \u0663 days",
            "since 0001-01-01T00:00:00+05:00",
        ],
    )
    def test_not_understood(self, text: str) -> None:
        with pytest.raises(TimeParseError) as caught:
            parse_time_expression(text, NOW)
        message = str(caught.value)
        assert message.startswith("Time expression not understood: ")
        assert "accepted: today, yesterday, tomorrow; last|past|this|next" in message
        assert "\x00" not in message

    def test_error_names_the_part_at_fault(self) -> None:
        with pytest.raises(TimeParseError, match="not understood: 'banana'"):
            parse_time_expression("between 2025-01-15 and banana", NOW)

    def test_error_shows_only_the_beginning_of_long_text(self) -> None:
        with pytest.raises(TimeParseError) as caught:
            parse_time_expression("x" * 100_000, NOW)
        assert len(str(caught.value)) < 1000

    @pytest.mark.parametrize(
        "text",
        [
            "last 0 days",
            "last -3 days",
            "past 00 hours",
            "0 days ago",
            "-1 week ago",
            "last 1000001 days",
            "last 99999999999999999999 days",
            "99999999999 hours ago",
            f"last {'9' * 10_000} minutes",
        ],
    )
    def test_count_out_of_range(self, text: str) -> None:
        with pytest.raises(TimeParseError, match="whole number from 1 to 1000000"):
            parse_time_expression(text, NOW)

    @pytest.mark.parametrize(
        "text",
        ["last 2025 years", "last 30000 months", "last 1000000 days", "2025 years ago"],
    )
    def test_step_out_of_the_calendar(self, text: str) -> None:
        with pytest.raises(TimeParseError, match="beyond the years 1 to 9999"):
            parse_time_expression(text, NOW)

    @pytest.mark.parametrize(
        "text",
        [
            "between 2025-01-20 and 2025-01-15",
            "2025-01-02 to 2025-01-01",
            "between 2025 and 2024",
            "february 2025 to january 2025",
            "today to yesterday",
            "2025-01-15T10:00:01Z to 2025-01-15T10:00:00Z",
        ],
    )
    def test_inverted_range(self, text: str) -> None:
        with pytest.raises(TimeParseError, match=r"Inverted range: .* lies before"):
            parse_time_expression(text, NOW)


class TestTemporalIntent:
    @pytest.mark.parametrize(
        "text",
        [
            "latest release",
            "the MOST RECENT deploy",
            "most  recent deploy",
            "what did we do recently?",
            "current owner",
            "who currently owns it",
            "status now",
            "nowadays",
            "today's plan",
            "what changed",
            "(updated) policy",
            "when was the last time it failed",
            "newest plan",
            "these days",
            "does he not work there anymore",
        ],
    )
    def test_asks_for_the_present(self, text: str) -> None:
        assert is_temporal_intent(text) is True

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "what do you know",
            "snow in the known north",
            "unchanged currents",
            "electric currently_flowing",
            "recent",
            "most",
            "last timeout",
            "exchange rates",
            "outdated docs",
        ],
    )
    def test_does_not(self, text: str) -> None:
        assert is_temporal_intent(text) is False
