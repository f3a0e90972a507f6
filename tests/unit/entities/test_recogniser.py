"""What a spaCy pipeline recognises, and what becomes of a missing one (background.md 3.1 a)."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest
import spacy

from automem.entities.extract import EntityExtractor
from automem.entities.recogniser import NoRecogniser, load_recogniser

LABELS = {
    "PERSON": "Xanthe Vool",
    "ORG": "Glimmerworks",
    "PRODUCT": "Snarkboard",
    "WORK_OF_ART": "Moonsong",
    "LAW": "Quietude Act",
    "EVENT": "Lanternfest",
    "GPE": "Brindleton",
    "LOC": "Mount Ogle",
    "NORP": "Vespian",
    "DATE": "last harvest",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A pipeline on disk that knows one name of each label."""
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": label, "pattern": name} for label, name in LABELS.items()])  # type: ignore[attr-defined]
    path: Path = tmp_path_factory.mktemp("spacy") / "model"
    pipeline.to_disk(path)
    return str(path)


def test_labels_become_categories(model: str) -> None:
    found = load_recogniser(model).find(", ".join(LABELS.values()))
    assert found == [
        ("people", "Xanthe Vool"),
        ("organizations", "Glimmerworks"),
        ("tools", "Snarkboard"),
        ("tools", "Moonsong"),
        ("tools", "Quietude Act"),
        ("concepts", "Lanternfest"),
        ("concepts", "Brindleton"),
        ("concepts", "Mount Ogle"),
        ("concepts", "Vespian"),
    ]


def test_the_rules_add_to_it(model: str) -> None:
    text = "yesterday Xanthe Vool came to Brindleton to see Rachel"
    with_model = EntityExtractor(load_recogniser(model)).extract(text)
    by_rules = EntityExtractor(NoRecogniser()).extract(text)
    assert [each.slug for each in by_rules] == ["rachel"]
    assert [each.slug for each in with_model] == ["brindleton", "rachel", "xanthe-vool"]


@pytest.mark.parametrize("model", ["no_such_model", "no/such/model", "", "not-a-name"])
def test_without_a_model_one_warning(model: str, caplog: pytest.LogCaptureFixture) -> None:
    recogniser = load_recogniser(model)
    assert recogniser.find("Rachel uses Redis") == ()
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_a_directory_that_is_no_model(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert load_recogniser(str(tmp_path)).find("Rachel") == ()
    assert "rules alone" in caplog.text


def test_a_package_that_is_no_model(caplog: pytest.LogCaptureFixture) -> None:
    assert load_recogniser("tomllib").find("Rachel") == ()
    assert len(caplog.records) == 1


def test_spacy_is_not_imported_without_a_model() -> None:
    program = (
        "import sys; from automem.entities.recogniser import load_recogniser; "
        "load_recogniser('no_such_model'); print('spacy' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
