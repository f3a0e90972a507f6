"""Settings: sources, defaults, leniency and messages (environment.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from automem.config import Settings, load_settings, reveal
from automem.errors import StartupError


def from_environment(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Settings:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return load_settings()


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_defaults() -> None:
    settings = load_settings()
    assert (settings.automem_host, settings.port) == ("127.0.0.1", 8001)
    assert settings.graph_embedded and settings.vectors_embedded
    assert settings.vector_size is None
    assert settings.memory_content_hard_limit == 32_768
    assert settings.recall_adaptive_floor is False
    assert settings.recall_excluded_types == ("MetaPattern",)
    assert settings.automem_data_dir.parts[-3:] == (".local", "share", "automem")


def test_environment_beats_project_file_beats_personal_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    personal = tmp_path / "home" / ".config" / "automem"
    personal.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (personal / ".env").write_text("PORT=1001\nFALKORDB_GRAPH=personal\nVOYAGE_MODEL=personal\n")
    (tmp_path / ".env").write_text("PORT=1002\nFALKORDB_GRAPH=project\nNOT_OURS=1\n")
    settings = from_environment(monkeypatch, PORT="1003")
    assert (settings.port, settings.falkordb_graph, settings.voyage_model) == (1003, "project", "personal")


def test_an_empty_variable_hides_the_file_and_means_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("PORT=1002\n")
    assert from_environment(monkeypatch, PORT="", QDRANT_URL=" ").port == 8001


def test_empty_means_none_where_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = from_environment(
        monkeypatch,
        RECALL_EXCLUDED_TYPES="",
        CONSOLIDATION_PROTECTED_TYPES=" ",
        CONSOLIDATION_DECAY_IMPORTANCE_THRESHOLD="",
    )
    assert settings.recall_excluded_types == settings.consolidation_protected_types == ()
    assert settings.consolidation_decay_importance_threshold is None


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("RECALL_VECTOR_OVERFETCH", "0", 1),
        ("RECALL_VECTOR_FETCH_CAP", "-7", 1),
        ("RECALL_RELEVANCE_GATE", "1.5", 1.0),
        ("RECALL_RECENCY_BIAS", " AUTO ", "auto"),
        ("RECALL_RECENCY_BIAS", "sometimes", "off"),
        ("SEARCH_RECENCY_CURVE", "Exp", "exp"),
        ("SEARCH_RECENCY_CURVE", "cubic", "linear"),
        ("SEARCH_RECENCY_WINDOW_DAYS", "0", 180.0),
        ("SEARCH_WEIGHT_TEMPORAL", "-1", 0.0),
        ("SEARCH_TAG_SCORE_TOKEN_CAP", "-1", 0),
        ("SEARCH_WEIGHT_TAG", "-0.5", -0.5),
        ("RECALL_METADATA_SEARCH_ENABLED", "No", False),
        ("RECALL_METADATA_SEARCH_ENABLED", "perhaps", True),
        ("RECALL_ADAPTIVE_FLOOR", "YES", True),
        ("RECALL_ADAPTIVE_FLOOR", "perhaps", False),
        ("QDRANT_ENSURE_PAYLOAD_INDEXES", "off", False),
        ("VIEWER_ALLOWED_ORIGINS", " https://a.example , ,https://b.example", None),
        ("EMBEDDING_PROVIDER", "Local", "local"),
        ("QDRANT_TIMEOUT_SECONDS", "2.5", 2.5),
        ("AUTOMEM_LOG_LEVEL", "debug", "DEBUG"),
    ],
)
def test_leniency(monkeypatch: pytest.MonkeyPatch, name: str, text: str, value: object) -> None:
    settings = from_environment(monkeypatch, **{name: text})
    expected = ("https://a.example", "https://b.example") if value is None else value
    assert getattr(settings, name.lower()) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("PORT", "http"),
        ("PORT", "70000"),
        ("RECALL_MAX_LIMIT", "ten"),
        ("SEARCH_WEIGHT_VECTOR", "nan"),
        ("RECALL_RELEVANCE_GATE", "nan"),
        ("RECALL_VECTOR_OVERFETCH", "4.5"),
        ("QDRANT_URL", "qdrant:6333"),
        ("EMBEDDING_PROVIDER", "magic"),
        ("VECTOR_SIZE", "0"),
        ("QDRANT_TIMEOUT_SECONDS", "soon"),
    ],
)
def test_a_wrong_value_stops_the_start_and_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    with pytest.raises(StartupError, match=name):
        from_environment(monkeypatch, **{name: text})


def test_a_message_names_all_faults_but_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StartupError) as caught:
        from_environment(monkeypatch, PORT="x", RECALL_MAX_LIMIT="y", AUTOMEM_API_TOKEN="hush-hush")
    assert "PORT" in caught.value.message and "RECALL_MAX_LIMIT" in caught.value.message
    assert "hush" not in caught.value.message


def test_secrets_are_masked_and_trimmed(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["AUTOMEM_API_TOKEN", "ADMIN_API_TOKEN", "FALKORDB_PASSWORD", "QDRANT_API_KEY"]
    names += ["OPENAI_API_KEY", "VOYAGE_API_KEY"]
    settings = from_environment(monkeypatch, **dict.fromkeys(names, " hush-hush "))
    assert "hush" not in repr(settings) and "hush" not in str(settings.model_dump())
    assert {reveal(getattr(settings, name.lower())) for name in names} == {"hush-hush"}


def test_fallbacks(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = from_environment(
        monkeypatch,
        FALKORDB_HOST="",
        RAILWAY_PUBLIC_DOMAIN="graph.example",
        VECTOR_SIZE="",
        QDRANT_VECTOR_SIZE="768",
        CLASSIFICATION_MODEL="small",
        QDRANT_HOST="vectors.example",
    )
    assert settings.falkordb_host == "graph.example"
    assert settings.vector_size == 768
    assert settings.identity_synthesis_model == "small"
    assert settings.qdrant_address == "http://vectors.example:6333"


def test_the_url_of_qdrant_wins_over_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = from_environment(monkeypatch, QDRANT_URL="https://q.example/", QDRANT_HOST="other")
    assert settings.qdrant_address == "https://q.example"


def test_naming_ollama_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not load_settings().ollama_named
    assert from_environment(monkeypatch, OLLAMA_MODEL="nomic-embed-text").ollama_named


def test_the_data_directory_follows_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert load_settings().automem_data_dir == tmp_path / "automem"


def test_overrides_beat_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "1003")
    assert load_settings(port=1004, automem_host=None).port == 1004
