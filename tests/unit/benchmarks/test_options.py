"""The command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.options import SYSTEMS, Variant, parse, read_variant


def test_only_the_data_is_needed() -> None:
    options = parse(["data.json"])
    assert (options.data, options.systems, options.url) == (Path("data.json"), SYSTEMS, None)
    assert options.variants == (Variant("AutoMem"),)


def test_variants_build_on_the_common_parameters_and_settings() -> None:
    options = parse(
        [
            "d.json",
            "--only=automem",
            "--param=sort=score",
            "--environment=SEARCH_WEIGHT_TAG=0",
            "--variant=wide:limit=50, tags=a,b",
            "--compare=no words:SEARCH_WEIGHT_KEYWORD=0,sort=time_desc",
        ]
    )
    plain, wide, wordless = options.variants
    assert options.systems == ("automem",)
    assert (plain.params, plain.environment) == ({"sort": "score"}, {"SEARCH_WEIGHT_TAG": "0"})
    assert wide.params == {"sort": "score", "limit": "50", "tags": "a,b"}
    assert wide.environment == plain.environment
    assert wordless.params == {"sort": "time_desc"}
    assert wordless.environment == {"SEARCH_WEIGHT_TAG": "0", "SEARCH_WEIGHT_KEYWORD": "0"}


@pytest.mark.parametrize("written", ["", "name", "name:", ":a=1", "name:a"])
def test_a_variant_that_says_nothing_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="written"):
        read_variant(written, Variant("plain"))


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["d.json", "--only=nothing"],
        ["d.json", "--limit-questions=0"],
        ["d.json", "--param=limit"],
        ["d.json", "--variant=a:x=1", "--variant=a:x=2"],
        ["d.json", "--url=http://x", "--environment=A=1"],
        ["d.json", "--url=http://x", "--variant=a:SETTING=1"],
        ["d.json", "--url=http://x", "--directory=d"],
    ],
)
def test_what_cannot_be_is_said_at_once(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(arguments)
    assert "error:" in capsys.readouterr().err
