"""Instants, time windows and the time expressions of `/recall`.

Everything is UTC and weeks start on Monday. Nothing here reads a clock: whoever
calls passes `now`. A naive datetime counts as UTC.

Sources: contract README D1, D6 and D7, recall.md 7, memory-api.md 0.1.
"""

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

ACCEPTED_EXPRESSIONS = (
    "today, yesterday, tomorrow; last|past|this|next hour|day|week|month|year; "
    "last|past N minutes|hours|days|weeks|months|years; N days|weeks|... ago; "
    "since D, until D, on D, in D, before D, after D; between D and D; D to D; or D, "
    "where D is a date (2025-01-31), an ISO time (2025-01-31T10:00:00Z), "
    "a month (2025-01, January 2025, March) or a year (2025)"
)
EMPTY_TIMESTAMP = "Timestamp must be a non-empty ISO formatted string"
INVALID_TIMESTAMP = "Invalid ISO timestamp"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_INSTANT = datetime.max.replace(tzinfo=UTC)
_MAX_COUNT = 1_000_000
_SHOWN = 60


class TimeParseError(ValueError):
    """Report text that is no time, with what is accepted instead."""


_CLOCK = r"(?!24)[0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2}(?:[.,][0-9]+)?)?)?"
_ISO = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}"
    r"|[0-9]{4}-W[0-9]{2}(?:-[0-9])?|[0-9]{4}W[0-9]{3}|[0-9]{4}W[0-9]{2})"
    rf"(?:Z|[Tt ](?P<clock>{_CLOCK})(?P<offset>Z|[+\- ]{_CLOCK})?)?"
)


def parse_timestamp(value: object) -> datetime:
    """Read strict ISO text as an instant in UTC (memory-api.md 0.1).

    A missing offset means UTC and a missing time midnight. A blank in place of an
    offset's `+` is understood, since an unencoded URL turns one into the other.
    Digits beyond microseconds are cut off.

    :raises TimeParseError: for anything else, and for an instant whose UTC form
        lies outside the years 1 to 9999.
    """
    if not isinstance(value, str) or not value.strip():
        raise TimeParseError(EMPTY_TIMESTAMP)
    shape = _ISO.fullmatch(value.strip())
    if shape is None:
        raise TimeParseError(INVALID_TIMESTAMP)
    offset = (shape["offset"] or "Z").replace(" ", "+")
    try:
        text = f"{shape['date']}T{shape['clock'] or '00'}{offset}"
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise TimeParseError(INVALID_TIMESTAMP) from None


def normalize_timestamp(value: object) -> str:
    """Give what `parse_timestamp` reads as ISO text: `+00:00`, no zero microseconds."""
    return parse_timestamp(value).isoformat()


def lenient_timestamp(value: object) -> datetime | None:
    """Read a stored value, ISO text or Unix seconds; else None (recall.md 7.1)."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        if isinstance(value, str):
            return parse_timestamp(value)
        return _EPOCH + timedelta(seconds=value)
    except (ValueError, OverflowError):
        return None


def to_epoch(moment: datetime) -> float:
    """Give the Unix seconds of an instant, to the microsecond."""
    return (_aware(moment) - _EPOCH).total_seconds()


def epoch_of(value: object) -> float | None:
    """Give the Unix seconds of a stored value, None where it holds no time."""
    moment = lenient_timestamp(value)
    return None if moment is None else to_epoch(moment)


def _aware(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


@dataclass(frozen=True)
class TimeWindow:
    """A span of time, half-open unless `end_inclusive`; None is an open side (D6)."""

    start: datetime | None
    end: datetime | None
    end_inclusive: bool = False

    @property
    def is_open(self) -> bool:
        """Tell whether neither side is bound, so that nothing is filtered."""
        return self.start is None and self.end is None

    def contains(self, moment: datetime | None) -> bool:
        """Tell whether the instant lies inside; an unknown one only if `is_open`."""
        if moment is None:
            return self.is_open
        instant = _aware(moment)
        if self.start is not None and instant < _aware(self.start):
            return False
        if self.end is None or instant < _aware(self.end):
            return True
        return self.end_inclusive and instant == _aware(self.end)

    def as_json(self) -> dict[str, str | None]:
        """Give both bounds as ISO text in UTC, as `/recall` echoes them."""
        bounds = {"start": self.start, "end": self.end}
        return {
            side: None if at is None else _aware(at).astimezone(UTC).isoformat()
            for side, at in bounds.items()
        }


def combine_window(
    expression: TimeWindow | None, start: datetime | None, end: datetime | None
) -> TimeWindow | None:
    """Let explicit, inclusive bounds replace those of an expression, per side (D6).

    None: no bound at all. A start behind the end is a window that holds nothing.
    """
    base = expression or TimeWindow(None, None)
    window = TimeWindow(
        start=base.start if start is None else start,
        end=base.end if end is None else end,
        end_inclusive=base.end_inclusive if end is None else True,
    )
    return None if window.is_open else window


_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_MONTHS_PER = {"month": 1, "year": 12}


def _floor(moment: datetime, unit: str) -> datetime:
    """Give the first instant of the calendar unit that holds `moment`."""
    if unit == "minute":
        return moment.replace(second=0, microsecond=0)
    if unit == "hour":
        return moment.replace(minute=0, second=0, microsecond=0)
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "week":
        return day - timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    return day.replace(month=1, day=1) if unit == "year" else day


def _add(moment: datetime, unit: str, count: int) -> datetime:
    """Move by whole units; months and years keep the day, clipped to the month's end.

    :raises TimeParseError: when the result lies outside the years 1 to 9999.
    """
    try:
        if unit in _SECONDS:
            return moment + timedelta(seconds=count * _SECONDS[unit])
        months = moment.year * 12 + moment.month - 1 + count * _MONTHS_PER[unit]
        year, month = months // 12, months % 12 + 1
        day = min(moment.day, calendar.monthrange(year, month)[1])
        return moment.replace(year=year, month=month, day=day)
    except (ValueError, OverflowError):
        text = f"{abs(count)} {unit}s reach beyond the years 1 to 9999"
        raise TimeParseError(text) from None


def _calendar_unit(moment: datetime, unit: str, offset: int = 0) -> TimeWindow:
    """Give the unit that holds `moment`, or the one `offset` units later."""
    start = _add(_floor(moment, unit), unit, offset)
    return TimeWindow(start, _unit_later(start, unit))


def _unit_later(start: datetime, unit: str) -> datetime:
    """Add one unit, stopping where the calendar does."""
    try:
        return _add(start, unit, 1)
    except TimeParseError:
        return _LAST_INSTANT


def _rolling(now: datetime, unit: str, count: int) -> TimeWindow:
    """Give the last `count` units up to and including `now`."""
    return TimeWindow(_add(now, unit, -count), now, end_inclusive=True)


def _point(moment: datetime) -> TimeWindow:
    return TimeWindow(moment, moment, end_inclusive=True)


_Reader = Callable[[re.Match[str], datetime], TimeWindow]

_UNIT = r"(?P<unit>minute|hour|day|week|month|year)"
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER_WORDS = {word: n for n, word in enumerate((*_WORDS, "eleven", "twelve"), 1)}
_COUNT = rf"(?P<count>-?[0-9]+|{'|'.join(_NUMBER_WORDS)})"
_DAY_STEPS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_UNIT_STEPS = {"last": -1, "past": -1, "this": 0, "next": 1}
_MONTH_NAMES = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_MONTH_STARTS = "jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec"
_YEAR = r"(?P<year>(?!0000)[0-9]{4})"
_ISO_WEEK = re.compile(r"[0-9]{4}-?W[0-9]{2}")
_PRECISIONS = {2: "hour", 4: "minute", 6: "second"}


def _read_day(match: re.Match[str], now: datetime) -> TimeWindow:
    return _calendar_unit(now, "day", _DAY_STEPS[match[0]])


def _read_unit(match: re.Match[str], now: datetime) -> TimeWindow:
    """Read last/past/this/next X: the last hour or day rolls, all else is calendar."""
    step, unit = _UNIT_STEPS[match["step"]], match["unit"]
    if step < 0 and unit in ("minute", "hour", "day"):
        return _rolling(now, unit, 1)
    return _calendar_unit(now, unit, step)


def _read_last_units(match: re.Match[str], now: datetime) -> TimeWindow:
    return _rolling(now, match["unit"], _count(match["count"]))


def _read_ago(match: re.Match[str], now: datetime) -> TimeWindow:
    """Read `N units ago` as the whole calendar unit (the clock hour) N back."""
    return _calendar_unit(now, match["unit"], -_count(match["count"]))


def _read_month_or_year(match: re.Match[str], now: datetime) -> TimeWindow:
    first = datetime(int(match["year"]), int(match["month"] or 1), 1, tzinfo=UTC)
    return _calendar_unit(first, "month" if match["month"] else "year")


def _read_named_month(match: re.Match[str], now: datetime) -> TimeWindow:
    """Read a month by name; without a year it is the latest that has begun."""
    month = _MONTH_STARTS.split(",").index(match["month"][:3]) + 1
    if match["year"] is None:
        return _calendar_unit(now, "month", -((now.month - month) % 12))
    first = datetime(int(match["year"]), month, 1, tzinfo=UTC)
    return _calendar_unit(first, "month")


def _read_iso(match: re.Match[str], now: datetime) -> TimeWindow:
    """Read a date as its day, a week without a day as that week, a time as a point."""
    text = match[0].upper()
    moment = lenient_timestamp(text)
    if moment is None:
        raise _not_understood(match[0])
    if _precision(text) is not None:
        return _point(moment)
    return _calendar_unit(moment, "week" if _ISO_WEEK.fullmatch(text) else "day")


_SPANS: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (re.compile("|".join(_DAY_STEPS)), _read_day),
    (re.compile(rf"(?P<step>{'|'.join(_UNIT_STEPS)}) {_UNIT}"), _read_unit),
    (re.compile(rf"(?:last|past) {_COUNT} {_UNIT}s?"), _read_last_units),
    (re.compile(rf"{_COUNT} {_UNIT}s? ago"), _read_ago),
    (re.compile(rf"{_YEAR}(?:-(?P<month>0[1-9]|1[0-2]))?"), _read_month_or_year),
    (re.compile(rf"(?P<month>{_MONTH_NAMES})(?: {_YEAR})?"), _read_named_month),
    (re.compile(r"[0-9].*"), _read_iso),
)


def _count(text: str) -> int:
    """Read N, in digits or as a word.

    :raises TimeParseError: unless it is a whole number from 1 to a million.
    """
    if text in _NUMBER_WORDS:
        return _NUMBER_WORDS[text]
    count = int(text) if len(text) <= len(str(_MAX_COUNT)) else 0
    if not 1 <= count <= _MAX_COUNT:
        raise TimeParseError(
            f"{text[:_SHOWN]!r} is out of range: N in 'last N days' or 'N days ago' "
            f"must be a whole number from 1 to {_MAX_COUNT}"
        )
    return count


def _precision(text: str) -> str | None:
    """Name the unit that ISO text is written to: '' for a fraction, None for a date."""
    shape = _ISO.fullmatch(text.upper())
    if shape is None or shape["clock"] is None:
        return None
    return _PRECISIONS.get(len(shape["clock"].replace(":", "")), "")


def _span(text: str, now: datetime) -> TimeWindow:
    """Read D. A date, month or year is half-open, an ISO time a point.

    :raises TimeParseError: when it is none of them.
    """
    for pattern, read in _SPANS:
        if match := pattern.fullmatch(text):
            return read(match, now)
    raise _not_understood(text)


def _bound(text: str, now: datetime) -> TimeWindow:
    """Read D as one side of a range, where `now` may stand too."""
    return _point(now) if text == "now" else _span(text, now)


def _held(text: str, now: datetime) -> TimeWindow:
    """Read D as what it holds: an ISO time is widened to its hour, minute or second."""
    span = _span(text, now)
    unit = _precision(text)
    if not unit or span.start is None:
        return span
    return TimeWindow(span.start, _unit_later(span.start, unit))


def parse_time_expression(text: str, now: datetime) -> TimeWindow:
    """Read a time expression, relative to `now` (D6).

    Only a window that reaches to `now`, or to an ISO time, includes its end.

    - `last hour`, `last day`, `last N units` run up to now; `last week|month|year`
      are the previous calendar unit; `this`/`next` are calendar units.
    - `N units ago` is the whole calendar unit N back: the clock hour, the day, the
      week from Monday, the month, the year.
    - A month without year is the latest that has begun.
    - An ISO time is taken as it is as a bound; alone or after `on` it is the second
      (minute, hour) it is written to, with a fraction that very instant.
    - In ranges, D may also be a relative phrase (`since yesterday`) or `now`.

    :raises TimeParseError: for anything else, naming what is accepted.
    """
    phrase = " ".join(text.lower().split())
    instant = _aware(now).astimezone(UTC)
    for pattern, read in _RANGES:
        if match := pattern.fullmatch(phrase):
            return read(match, instant)
    return _held(re.sub("^(?:on|in) ", "", phrase), instant)


def _read_between(match: re.Match[str], now: datetime) -> TimeWindow:
    """Run from the first instant of the one D to the last of the other.

    :raises TimeParseError: when the second ends before the first begins.
    """
    first, last = _bound(match["first"], now), _bound(match["last"], now)
    window = TimeWindow(first.start, last.end, last.end_inclusive)
    if not window.contains(first.start):
        raise TimeParseError(
            f"Inverted range: {match['last'][:_SHOWN]!r} lies before "
            f"{match['first'][:_SHOWN]!r}; put the earlier one first"
        )
    return window


def _read_side(match: re.Match[str], now: datetime) -> TimeWindow:
    bound = _bound(match["bound"], now)
    if match["side"] == "before":
        return TimeWindow(None, bound.start)
    if match["side"] == "until":
        return TimeWindow(None, bound.end, bound.end_inclusive)
    return TimeWindow(bound.start, None)


_RANGES: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (re.compile(r"between (?P<first>.+) and (?P<last>.+)"), _read_between),
    (re.compile(r"(?P<side>since|after|before|until) (?P<bound>.+)"), _read_side),
    (re.compile(r"(?:from )?(?P<first>.+?)(?: to | ?/ ?)(?P<last>.+)"), _read_between),
)


def _not_understood(text: str) -> TimeParseError:
    return TimeParseError(
        f"Time expression not understood: {text[:_SHOWN]!r}; accepted: {ACCEPTED_EXPRESSIONS}"
    )


_TEMPORAL_INTENT = re.compile(
    r"\b(?:latest|newest|most\s+recent|recently|currently|current|nowadays|now|today"
    r"|changed|updated|last\s+time|these\s+days|anymore)\b",
    re.IGNORECASE,
)


def is_temporal_intent(text: str) -> bool:
    """Tell whether a query asks for the present state of things (recall.md 7.5)."""
    return _TEMPORAL_INTENT.search(text) is not None
