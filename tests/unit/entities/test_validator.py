"""Which names are entities (background.md 3.2)."""

from __future__ import annotations

import pytest

from automem.entities.validator import CATEGORIES, has_hints, is_given_name, validate, validate_tag

REJECTED_EVERYWHERE = (
    "completed",
    "advocacy",
    "involvement",
    "key-findings",
    "deployed-automem",
    "config-file-approach",
    "recommended",
    "word",
    "ud83d-udc4d",
)


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("name", REJECTED_EVERYWHERE)
def test_rejected_in_every_category(category: str, name: str) -> None:
    assert not validate(category, name).accepted


@pytest.mark.parametrize(
    ("category", "name"),
    [
        ("tools", "claude-code"),
        ("tools", "vs-code"),
        ("tools", "code-server"),
        ("tools", "vectorstorex"),
        ("tools", "containerkit"),
        ("tools", "MetricForge"),
        ("organizations", "orbitlabs"),
        ("concepts", "recallgraph"),
        ("events", "launch-summit-2026"),
        ("people", "mara-quinn"),
        ("people", "Priya J Raman"),
    ],
)
def test_accepted(category: str, name: str) -> None:
    verdict = validate(category, name)
    assert (verdict.accepted, verdict.name, verdict.confidence) == (True, name, 0.95)


@pytest.mark.parametrize(
    ("category", "name"),
    [
        *[("people", name) for name in ("docker-compose", "bottom-line", "claude-desktop", "data-dog")],
        ("people", "sora-2"),
        ("people", "MetricForge"),
        *[("concepts", name) for name in ("400ms", "12k", "00-00-berlin", "the-plan")],
        *[("tools", name) for name in ("sep-22-2025", "tmp-settings", "venv-bin-python-m")],
        ("projects", "add-longmemeval"),
    ],
)
def test_rejected(category: str, name: str) -> None:
    assert not validate(category, name).accepted


@pytest.mark.parametrize(
    ("category", "name", "reason"),
    [
        ("animals", "tiger", "unknown_category"),
        ("tools", "qt", "too_short"),
        ("tools", "ud83d-udc4d", "unicode_escape_slug"),
        ("concepts", "smile-u1f600", "unicode_escape_slug"),
        ("concepts", "1f60-0a2b", "unicode_escape_slug"),
        ("concepts", "400ms", "duration_or_count_slug"),
        ("concepts", "90-min", "duration_or_count_slug"),
        ("concepts", "120", "duration_or_count_slug"),
        ("concepts", "00-00-berlin", "duration_or_count_slug"),
        ("projects", "3-blind-mice", "duration_or_count_slug"),
        ("tools", "completed", "generic_entity_slug"),
        ("people", "Deploying", "low_signal_people_slug"),
        ("tools", "verified", "generic_entity_slug"),
        ("concepts", "applied", "generic_entity_slug"),
        ("concepts", "advocacy", "generic_entity_slug"),
        ("people", "Happiness", "low_signal_people_slug"),
        ("tools", "build-9f8e7d6c", "generated_fragment_slug"),
        ("tools", "run-x7k29qpl", "generated_fragment_slug"),
        ("tools", "tmp-settings", "markdown_or_code_fragment"),
        ("tools", "bash-cli", "markdown_or_code_fragment"),
        ("tools", "sep-22-2025", "generated_phrase_slug"),
        ("projects", "one-two-three-four-five-six", "generated_phrase_slug"),
        ("projects", "phase-two", "generated_phrase_slug"),
        ("projects", "atlas-kickoff-berlin", "generated_phrase_slug"),
        ("concepts", "memory", "generic_entity_slug"),
        ("concepts", "the-plan", "generic_entity_slug"),
        ("concepts", "task-list", "generic_entity_slug"),
        ("projects", "add-longmemeval", "generic_entity_slug"),
        ("people", "Workflow", "low_signal_people_slug"),
        ("people", "sora-2", "non_name_people_slug"),
        ("people", "Mara Quinn Mara", "non_name_people_slug"),
        ("people", "bora-bora", "non_name_people_slug"),
        ("people", "mara-quinn-and-friends-too", "low_signal_people_slug"),
        ("people", "mara-quill-orr-finch", "non_name_people_slug"),
        ("people", "docker-compose", "low_signal_people_slug"),
        ("people", "Chrome", "low_signal_people_slug"),
        ("people", "MetricForge", "tool_or_organization_looking_people"),
        ("people", "Orbit Labs", "tool_or_organization_looking_people"),
        ("people", "Zentrihub", "tool_or_organization_looking_people"),
    ],
)
def test_reasons(category: str, name: str, reason: str) -> None:
    assert validate(category, name).reason == reason


@pytest.mark.parametrize(
    ("alias", "category"),
    [
        ("person", "people"),
        ("Org", "organizations"),
        ("organization", "organizations"),
        ("tool", "tools"),
        ("project", "projects"),
        ("concept", "concepts"),
        ("event", "events"),
        ("opportunity", "opportunities"),
    ],
)
def test_categories_have_aliases(alias: str, category: str) -> None:
    assert validate(alias, "Mara Quinn").category == category


def test_a_possessive_is_no_part_of_a_name() -> None:
    verdict = validate("people", "alex-beck-s")
    assert (verdict.slug, verdict.name) == ("alex-beck", "Alex Beck")
    assert verdict.confidence >= 0.85


def test_a_lone_name_is_less_sure() -> None:
    assert validate("people", "Rachel").confidence == 0.6
    assert validate("tools", "Redis").confidence == 0.95


@pytest.mark.parametrize(
    "name",
    ["Ludwig van Beethoven", "Mary Ann Smith", "Tomás Rivera", "Mary McDonald", "DeShawn", "Mary O'Brien"],
)
def test_names_of_people(name: str) -> None:
    assert validate("people", name).accepted


def test_a_lone_unknown_name_in_a_technical_text_is_rather_a_product() -> None:
    technical = has_hints("Zephyra is our new database endpoint.")
    assert validate("people", "Zephyra", technical).reason == "tool_or_organization_looking_people"
    assert validate("people", "Zephyra", has_hints("Zephyra likes tea.")).accepted
    assert validate("people", "Rachel", technical).accepted
    assert validate("people", "Zephyra Quinn", technical).accepted


@pytest.mark.parametrize(
    "tag", ["project:atlas", "entity:tools", "entity:tools:redis:7", "entity::redis", ""]
)
def test_other_tags_are_no_entity_tags(tag: str) -> None:
    assert validate_tag(tag).reason == "invalid_entity_tag"


def test_a_tag_is_judged_as_its_name() -> None:
    assert validate_tag("entity:tool:redis").category == "tools"
    assert validate_tag("entity:tools:word").reason == "generic_entity_slug"
    assert validate_tag("entity:animals:tiger").reason == "unknown_category"


@pytest.mark.parametrize("name", ["Zoë", "josé", "Łukasz", "Anna-Maria", "rachel"])
def test_given_names_with_and_without_accents(name: str) -> None:
    assert is_given_name(name)


@pytest.mark.parametrize("name", ["Anna-Table", "Completed", "-", ""])
def test_other_words_are_no_given_names(name: str) -> None:
    assert not is_given_name(name)
