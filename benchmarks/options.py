"""The command line of the retrieval benchmark."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SYSTEMS = ("automem", "bm25", "vectors")
DEFAULT_NAME = "AutoMem"

_NEXT_ASSIGNMENT = re.compile(r",(?=\s*\w+=)")


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of asking: recall parameters, and settings of our own service."""

    name: str
    params: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Options:
    """What is to be measured; ``variants`` begins with the plain one."""

    data: Path
    systems: tuple[str, ...]
    variants: tuple[Variant, ...]
    url: str | None = None
    token: str | None = None
    limit_questions: int | None = None
    directory: Path | None = None
    json_file: Path | None = None


def parse(arguments: Sequence[str] | None = None) -> Options:
    """Read the command line; a fault in it ends the process with a message, like ``--help``."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        variants = _variants(given)
    except ValueError as error:
        parser.error(str(error))
    if given.url and (given.directory or any(variant.environment for variant in variants)):
        parser.error("settings and a data directory can be given to our own service only, not with --url")
    return Options(
        data=given.data,
        systems=SYSTEMS if given.only == "all" else (given.only,),
        variants=variants,
        url=given.url,
        token=given.token,
        limit_questions=given.limit_questions,
        directory=given.directory,
        json_file=given.json_file,
    )


def read_variant(written: str, base: Variant) -> Variant:
    """Read ``name:x=1,NAME=2`` on top of another variant; names in capitals are settings.

    A comma parts two assignments only before another ``name=``. Raises ``ValueError``.
    """
    name, colon, assignments = written.partition(":")
    if not (name.strip() and colon and assignments.strip()):
        raise ValueError(f"a variant is written name:parameter=value,SETTING=value, not {written!r}")
    pairs = read_pairs(_NEXT_ASSIGNMENT.split(assignments))
    settings = {key: value for key, value in pairs.items() if key.isupper()}
    params = {key: value for key, value in pairs.items() if key not in settings}
    return Variant(name.strip(), {**base.params, **params}, {**base.environment, **settings})


def read_pairs(written: Iterable[str]) -> dict[str, str]:
    """Read ``name=value`` pairs; raises ``ValueError``."""
    pairs: dict[str, str] = {}
    for one in written:
        name, equals, value = one.partition("=")
        if not (name.strip() and equals):
            raise ValueError(f"a pair is written name=value, not {one!r}")
        pairs[name.strip()] = value.strip()
    return pairs


def _variants(given: argparse.Namespace) -> tuple[Variant, ...]:
    plain = Variant(DEFAULT_NAME, read_pairs(given.param), read_pairs(given.environment))
    variants = (plain, *(read_variant(written, plain) for written in given.variant))
    names = [variant.name for variant in variants]
    if len(set(names)) < len(names):
        raise ValueError("each variant needs a name of its own")
    return variants


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="retrieval.py",
        description="Measure how well the evidence of questions is found, and how fast.",
        epilog="The formats of DATA and what is counted: docs/retrieval.md.",
    )
    parser.add_argument("data", metavar="DATA", type=Path, help="a LoCoMo, BEAM or HotpotQA file")
    parser.add_argument("--only", choices=(*SYSTEMS, "all"), default="all", help="measure one system only")
    parser.add_argument(
        "--limit-questions", metavar="N", type=_positive, help="ask the first N questions of the file only"
    )
    parser.add_argument("--json", dest="json_file", metavar="FILE", type=Path, help="also write all figures")
    _add_service_arguments(parser)
    _add_variant_arguments(parser)
    return parser


def _add_service_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--url", help="a running, empty service (the memories stay there); without: one of our own"
    )
    parser.add_argument("--token", help="its API token")
    parser.add_argument(
        "--directory",
        metavar="DIR",
        type=Path,
        help="keep our own service's data here and use what is there already; without: a fresh one, removed",
    )


def _add_variant_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--param", metavar="NAME=VALUE", action="append", default=[], help="a parameter of every recall"
    )
    parser.add_argument(
        "--environment",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a setting of our own service",
    )
    parser.add_argument(
        "--variant",
        "--compare",
        metavar="NAME:PARAM=VALUE,SETTING=VALUE",
        action="append",
        default=[],
        help="ask once more in another way, on the same memories; for settings (in capitals) our own "
        "service is started again",
    )


def _positive(written: str) -> int:
    number = int(written)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
