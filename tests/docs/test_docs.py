"""The documents say what the code does: settings, routes, errors, and no more than these."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from automem.api import errors
from automem.app import BLUEPRINTS
from automem.config import Settings
from automem.settings_docs import SECTIONS, env_example, markdown_tables

ROOT = Path(__file__).parents[2]
# Read by docker compose, or by the tests, not by the service (environment.md).
NOT_SETTINGS = {"AUTOMEM_API_HOST_PORT", "FALKORDB_ARGS", "XDG_DATA_HOME"}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_configuration_page_is_made_from_the_settings() -> None:
    tables = read("docs/configuration.md").split("<!-- settings -->\n", 1)[1]
    assert tables == markdown_tables(), "run `make docs`"


def test_env_example_is_made_from_the_settings() -> None:
    assert read(".env.example") == env_example(), "run `make docs`"


def test_env_example_sets_nothing() -> None:
    assert all(not line or line.startswith("#") for line in env_example().splitlines())


def test_every_setting_has_a_meaning_and_a_section() -> None:
    assert all(field.description for field in Settings.model_fields.values())
    assert next(iter(Settings.model_fields)) == next(iter(SECTIONS))
    assert set(SECTIONS) <= set(Settings.model_fields)


@pytest.mark.parametrize(
    "name", ["README.md", "docs/api.md", "docs/operations.md", "docs/dependencies.md", "docker-compose.yml"]
)
def test_documents_name_only_variables_that_exist(name: str) -> None:
    known = {field.upper() for field in Settings.model_fields} | NOT_SETTINGS
    prefixes = "AUTOMEM|FALKORDB|QDRANT|EMBEDDING|RECALL|SEARCH|MEMORY_CONTENT|OPENAI|VOYAGE|OLLAMA|VIEWER"
    named = set(re.findall(rf"\b(?:{prefixes})_[A-Z_]*[A-Z]\b", read(name)))
    assert named - known == set()


def routes() -> set[str]:
    from flask import Flask

    app = Flask("routes", static_folder=None)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    found = {"GET /openapi.json"}
    for rule in app.url_map.iter_rules():
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        found |= {f"{method} {path}" for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}}
    return found


def test_every_route_is_documented_and_no_other() -> None:
    documented = set(re.findall(r"^\| `([A-Z]+ /[^`]*)`", read("docs/api.md"), re.MULTILINE))
    assert documented == routes()


def test_every_status_is_documented() -> None:
    documented = {int(code) for code in re.findall(r"^\| (\d{3}) \|", read("docs/api.md"), re.MULTILINE)}
    assert set(errors.STATUS.values()) | {405, 414, 500} == documented


def test_every_dependency_is_explained() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    extras = project["optional-dependencies"]["fastembed"]
    explained = read("docs/dependencies.md").lower()
    pins = read("constraints.txt").lower()
    for requirement in project["dependencies"] + extras:
        name = re.split(r"[<>=]", requirement)[0].lower()
        assert name in explained
        assert "<" in requirement and ">=" in requirement
        assert requirement in extras or f"\n{name}==" in pins


def test_compose() -> None:
    compose = yaml.safe_load(read("docker-compose.yml"))
    services = compose["services"]
    assert set(services) == {"falkordb", "qdrant", "automem"}
    for name in ("falkordb", "qdrant"):
        assert re.search(r":v\d+\.\d+\.\d+$", services[name]["image"])
        assert "ports" not in services[name] and services[name]["healthcheck"]
    assert services["falkordb"]["volumes"] == ["falkordb:/var/lib/falkordb/data"]
    assert services["qdrant"]["volumes"] == ["qdrant:/qdrant/storage"]
    api = services["automem"]
    assert ":?" in api["environment"]["AUTOMEM_API_TOKEN"]
    assert api["ports"][0].startswith("127.0.0.1:")
    waited_for = api["depends_on"].values()
    assert all(needed["condition"] == "service_healthy" for needed in waited_for)
    names = {name for name in api["environment"] if name.lower() not in Settings.model_fields}
    assert names == set()


def test_dockerfile() -> None:
    lines = read("Dockerfile").splitlines()
    assert sum(line.startswith("FROM ") for line in lines) == 2
    users = [line for line in lines if line.startswith("USER ")]
    assert users and users[-1] != "USER root"
    assert any(line.startswith("HEALTHCHECK") for line in lines)
    assert lines[-1] == 'CMD ["automem", "serve"]'


def test_continuous_integration_runs_what_everybody_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert "exec make test" in script.read_text()


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.name}: {target}"
