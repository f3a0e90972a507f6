"""The figures as tables for people and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.client import Ingest
from benchmarks.data import DataSet
from benchmarks.measures import (
    CUTS,
    FULL_CUT,
    Outcome,
    Summary,
    by_category,
    difference,
    latency,
    summarize,
)

_NAME_WIDTH = 30
_COMPARED = (5, 10)


@dataclass(frozen=True, slots=True)
class Run:
    """One system's answers to all questions, in the order of the questions.

    :param seconds: of each question, where it was asked over HTTP.
    """

    name: str
    outcomes: tuple[Outcome, ...]
    seconds: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was measured; ``ingest`` where something was stored."""

    data: DataSet
    runs: tuple[Run, ...]
    ingest: Ingest | None = None
    cut: int = 0


def written(report: Report) -> str:
    """Write the tables; recall, MRR and full are in percent."""
    sections = [_heading(report), _overall(report), *(_categories(run) for run in report.runs)]
    sections += [_latencies(report), _differences(report), _ingested(report)]
    return "\n\n".join(section for section in sections if section)


def as_json(report: Report) -> dict[str, Any]:
    """Give all figures; no text of the data is among them."""
    return {
        "data": report.data.name,
        "conversations": len(report.data.conversations),
        "turns": report.data.turns,
        "questions": report.data.questions,
        "turns_cut": report.cut,
        "ingest": asdict(report.ingest) if report.ingest else None,
        "runs": [_run_json(run) for run in report.runs],
    }


def _run_json(run: Run) -> dict[str, Any]:
    categories = {name: asdict(summary) for name, summary in by_category(run.outcomes).items()}
    return {
        "name": run.name,
        "overall": asdict(summarize(run.outcomes)),
        "categories": categories,
        "latency_ms": asdict(latency(run.seconds)) if run.seconds else None,
        "places": [one.places for one in run.outcomes],
    }


def _heading(report: Report) -> str:
    data = report.data
    counts = f"{len(data.conversations)} conversations, {data.turns} turns, {data.questions} questions"
    text = f"{data.name}: {counts}"
    return f"{text}; {report.cut} turns cut to the length that is taken" if report.cut else text


def _overall(report: Report) -> str:
    rows = [_row(run.name, summarize(run.outcomes)) for run in report.runs]
    return "\n".join([_header("overall"), *rows])


def _categories(run: Run) -> str:
    rows = [_row(f"  {name}", summary) for name, summary in by_category(run.outcomes).items()]
    return "\n".join([_header(run.name), *rows])


def _header(title: str) -> str:
    columns = [f"@{k}" for k in CUTS] + ["MRR", f"full@{FULL_CUT}"]
    return f"{title:<{_NAME_WIDTH}}{'n':>6}" + "".join(f"{column:>9}" for column in columns)


def _row(name: str, summary: Summary) -> str:
    values = [*(summary.recall[k] for k in CUTS), summary.mrr, summary.full]
    numbers = "".join(f"{100 * value:>9.1f}" for value in values)
    return f"{name[:_NAME_WIDTH]:<{_NAME_WIDTH}}{summary.questions:>6}{numbers}"


def _latencies(report: Report) -> str:
    rows = []
    for run in report.runs:
        if run.seconds:
            found = latency(run.seconds)
            rows.append(f"{run.name:<{_NAME_WIDTH}}{found.p50:>9.1f}{found.p90:>9.1f}{found.p99:>9.1f}")
    header = f"{'latency of a recall, ms':<{_NAME_WIDTH}}{'p50':>9}{'p90':>9}{'p99':>9}"
    return "\n".join([header, *rows]) if rows else ""


def _differences(report: Report) -> str:
    """Compare the first run with each other one; twice the error is about what chance gives."""
    if len(report.runs) < 2:
        return ""
    first = report.runs[0]
    lines = [f"{first.name} over {other.name}: {_compared(first, other)}" for other in report.runs[1:]]
    return "\n".join(["points of recall gained, ± standard error", *lines])


def _compared(first: Run, other: Run) -> str:
    gains = ((k, difference(first.outcomes, other.outcomes, k)) for k in _COMPARED)
    return ", ".join(f"@{k} {100 * gain.mean:+.1f} ± {100 * gain.error:.1f}" for k, gain in gains)


def _ingested(report: Report) -> str:
    ingest = report.ingest
    if ingest is None:
        return ""
    return (
        f"ingest: {ingest.turns} turns accepted in {ingest.accepted_seconds:.1f} s "
        f"({_rate(ingest.turns, ingest.accepted_seconds)}), all vectors after "
        f"{ingest.settled_seconds:.1f} s ({_rate(ingest.turns, ingest.settled_seconds)})"
    )


def _rate(turns: int, seconds: float) -> str:
    return f"{turns / max(seconds, 1e-9):.0f} a second"
