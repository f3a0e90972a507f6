"""Every setting of the service, once: name, type, default and meaning (environment.md).

A field's name in upper case is the environment variable. Sources, the first wins: the process
environment, ``./.env``, ``~/.config/automem/.env``, the default. An empty value means the default,
except where the help says otherwise. ``docs/configuration.md`` and ``.env.example`` are made from here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from automem.errors import StartupError

_OFF = {"0", "false", "no", "off"}
_ON = {"1", "true", "yes", "on"}
_PROVIDERS = "auto, voyage, openai, local, ollama, placeholder"

# An empty value of these says "none"; of all others "the default".
_BLANK_COUNTS = {
    "recall_excluded_types",
    "consolidation_protected_types",
    "consolidation_decay_importance_threshold",
}
# What an absent setting falls back to, in order.
_FALLBACKS = {
    "vector_size": ("qdrant_vector_size",),
    "falkordb_host": ("railway_private_domain", "railway_public_domain"),
    "identity_synthesis_model": ("classification_model",),
}


def _word(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _on_unless(value: object) -> object:
    return _word(value) not in _OFF if isinstance(value, str) else value


def _on_if(value: object) -> object:
    return _word(value) in _ON if isinstance(value, str) else value


def _split(value: object) -> object:
    if not isinstance(value, str):
        return value
    return tuple(piece for raw in value.split(",") if (piece := raw.strip()))


def _strip(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


def _one_of(*words: str, otherwise: str) -> BeforeValidator:
    return BeforeValidator(lambda value: word if (word := _word(value)) in words else otherwise)


def _clamp(low: float, high: float | None = None, kind: type[float] | type[int] = float) -> BeforeValidator:
    def clamp(value: Any) -> Any:
        number = kind(value)
        if number != number:
            raise ValueError("must be a number")
        return max(low, number if high is None else min(number, high))

    return BeforeValidator(clamp)


def _days(value: Any) -> float:
    return days if (days := float(value)) > 0 else 180.0


def _provider(value: object) -> object:
    word = _word(value)
    if word not in _PROVIDERS.split(", "):
        raise ValueError(f"Invalid EMBEDDING_PROVIDER={value}. Valid options: {_PROVIDERS}")
    return word


def _http_url(value: object) -> object:
    if value is None:
        return None
    text = str(value).strip().rstrip("/")
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be a full URL that begins with http:// or https://")
    return text


def _path(value: object) -> object:
    return Path(str(value).strip()).expanduser().absolute()


def _upper(value: object) -> object:
    return value.strip().upper() if isinstance(value, str) else value


def default_data_dir() -> Path:
    """Give ``$XDG_DATA_HOME/automem``, or ``~/.local/share/automem``."""
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "automem"


OnUnless = Annotated[bool, BeforeValidator(_on_unless)]
"""On, unless the value is 0, false, no or off."""
OnIf = Annotated[bool, BeforeValidator(_on_if)]
"""Off, unless the value is 1, true, yes or on."""
Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
"""A comma list; pieces trimmed, blanks dropped."""
Text = Annotated[str, BeforeValidator(_strip)]
Secret = Annotated[SecretStr, BeforeValidator(_strip)]
Url = Annotated[str, BeforeValidator(_http_url)]
Directory = Annotated[Path, BeforeValidator(_path)]
Port = Annotated[int, Field(ge=1, le=65535)]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
Provider = Annotated[
    Literal["auto", "voyage", "openai", "local", "ollama", "placeholder"], BeforeValidator(_provider)
]
LogLevel = Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(_upper)]


def _say(default: Any, text: str) -> Any:
    return Field(default=default, description=text)


class Settings(BaseSettings):
    """All settings, read once at start and never changed."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="ignore",
        env_file=("~/.config/automem/.env", ".env"),
        env_file_encoding="utf-8",
        hide_input_in_errors=True,
    )

    # Server and authentication
    automem_host: Text = _say("127.0.0.1", "Address to listen on. Without a token only a loopback one.")
    port: Port = _say(8001, "Port to listen on.")
    automem_api_token: Secret | None = _say(None, "API token that every request must carry; unset: none.")
    admin_api_token: Secret | None = _say(None, "Token of the admin routes; unset: they answer 403.")
    automem_allow_open: OnIf = _say(False, "Allow other than loopback addresses without a token.")
    viewer_allowed_origins: Names = _say(
        (), "CORS origins, or `*`. Unset: every origin with a token, only loopback ones without."
    )
    enable_graph_viewer: OnIf = _say(True, "Serve the viewer's routes.")
    graph_viewer_url: Url | None = _say(None, "Where the graph viewer is hosted.")
    automem_data_dir: Directory = Field(
        default_factory=default_data_dir,
        description="Where the embedded engines keep their data ($XDG_DATA_HOME counts).",
    )
    automem_threads: Positive = _say(16, "Requests served at the same time.")
    automem_max_body_bytes: Positive = _say(16_777_216, "Largest request body in bytes; more is a 413.")
    automem_log_level: LogLevel = _say("INFO", "DEBUG, INFO, WARNING or ERROR.")

    # Graph store
    falkordb_host: Text | None = _say(None, "FalkorDB server. Unset: FalkorDB embedded in the service.")
    falkordb_port: Port = _say(6379, "Port of that server.")
    falkordb_password: Secret | None = _say(None, "Its password (user `default`).")
    falkordb_tls: OnIf = _say(False, "Speak TLS with it.")
    falkordb_graph: Text = _say("memories", "Name of the graph.")
    railway_private_domain: Text | None = _say(None, "Used as FALKORDB_HOST when that is unset.")
    railway_public_domain: Text | None = _say(None, "Used when both of these are unset.")

    # Vector store
    qdrant_url: Url | None = _say(None, "Qdrant server. This and QDRANT_HOST unset: Qdrant embedded.")
    qdrant_host: Text | None = _say(None, "Host of a Qdrant server, when QDRANT_URL is unset.")
    qdrant_port: Port = _say(6333, "Port that goes with QDRANT_HOST.")
    qdrant_api_key: Secret | None = _say(None, "Key of the Qdrant server.")
    qdrant_collection: Text = _say("memories", "Name of the collection.")
    qdrant_timeout_seconds: Seconds | None = _say(None, "Time limit of a request; unset: the client's own.")
    qdrant_ensure_payload_indexes: OnIf = _say(True, "Create the payload indexes that filters need.")
    vector_size: Positive | None = _say(None, "Length of the vectors. Unset: the embedding model decides.")
    qdrant_vector_size: Positive | None = _say(None, "Older name of VECTOR_SIZE.")
    vector_size_autodetect: OnUnless = _say(
        True, "Take the collection's size when it differs from VECTOR_SIZE and the model's own agrees."
    )

    # Content and classification
    memory_content_soft_limit: Count = _say(500, "Memories longer than this many characters get a summary.")
    memory_content_hard_limit: Positive = _say(32_768, "Longer memories are refused.")
    memory_auto_summarize: OnUnless = _say(True, "Let the chat model summarise long memories.")
    memory_summary_target_length: Positive = _say(300, "Wanted length of a summary in characters.")
    classification_model: Text = _say("gpt-4o-mini", "Chat model for types and summaries.")
    openai_api_key: Secret | None = _say(None, "Key for the chat model and OpenAI embeddings.")
    openai_base_url: Url | None = _say(None, "An OpenAI-compatible endpoint, used for both.")

    # Embeddings
    embedding_provider: Provider = _say("auto", f"One of {_PROVIDERS}.")
    embedding_model: Text = _say("text-embedding-3-small", "Model of the OpenAI provider.")
    embedding_batch_size: Positive = _say(20, "Memories that the worker embeds at once.")
    embedding_batch_timeout_seconds: Seconds = _say(2.0, "Longest wait for a batch to fill.")
    embedding_query_timeout_seconds: Seconds = _say(
        10.0, "Longest wait for a query's vector; then /recall goes on without, and says so."
    )
    automem_local_model: Text | None = _say(
        None, "Another local model, by its `fastembed` name (needs the extra `fastembed` and a network)."
    )
    automem_models_dir: Directory = Field(
        default_factory=lambda: Path("~/.config/automem/models").expanduser(),
        description="Where downloaded models are kept.",
    )
    voyage_api_key: Secret | None = _say(None, "Key of Voyage.")
    voyage_model: Text = _say("voyage-4", "Model of Voyage.")
    ollama_base_url: Url = _say("http://localhost:11434", "Ollama; setting it lets `auto` choose Ollama.")
    ollama_model: Text = _say("nomic-embed-text", "Its model; setting it lets `auto` choose Ollama.")
    ollama_timeout: Seconds = _say(30.0, "Time limit of a request in seconds.")
    ollama_max_retries: Count = _say(2, "Further tries after a failed request.")

    # Enrichment and sync
    enrichment_max_attempts: Positive = _say(3, "Tries before a memory's enrichment counts as failed.")
    enrichment_similarity_limit: Count = _say(5, "SIMILAR_TO edges per memory.")
    enrichment_similarity_threshold: Share = _say(0.8, "Least similarity of such an edge.")
    enrichment_idle_sleep_seconds: Seconds = _say(2.0, "Wait of an idle worker.")
    enrichment_failure_backoff_seconds: Seconds = _say(5.0, "Wait after a failure.")
    enrichment_enable_summaries: OnUnless = _say(True, "Write a summary for long memories.")
    enrichment_spacy_model: Text = _say("en_core_web_sm", "spaCy model for entities; absent: rules only.")
    jit_enrichment_enabled: OnUnless = _say(True, "Accepted for old set-ups; recall never enriches inline.")
    sync_check_interval_seconds: Seconds = _say(3600.0, "Time between two comparisons of the stores.")
    sync_auto_repair: OnUnless = _say(True, "Repair differences between the stores.")

    # Consolidation
    consolidation_tick_seconds: Seconds = _say(60.0, "How often the scheduler looks for due tasks.")
    consolidation_decay_interval_seconds: Number = _say(86_400.0, "Time between decay runs; 0: off.")
    consolidation_creative_interval_seconds: Number = _say(604_800.0, "Between creative runs; 0: off.")
    consolidation_cluster_interval_seconds: Number = _say(2_592_000.0, "Between cluster runs; 0: off.")
    consolidation_forget_interval_seconds: Number = _say(0.0, "Between forget runs; 0: off.")
    consolidation_identity_interval_seconds: Number | None = _say(
        None, "Between identity runs; 0: off. Unset: 604800 with IDENTITY_SYNTHESIS_ENABLED, else off."
    )
    consolidation_cluster_similarity_threshold: Share = _say(0.75, "Least similarity inside a cluster.")
    consolidation_min_cluster_size: Positive = _say(3, "Least size of a cluster.")
    consolidation_decay_importance_threshold: Number | None = _say(
        0.3, "Decay only memories of at least this importance; empty: all."
    )
    consolidation_history_limit: Positive = _say(20, "Runs kept in the history.")
    consolidation_base_decay_rate: Number = _say(0.01, "Decay per day.")
    consolidation_importance_floor_factor: Number = _say(0.3, "Share of importance that decay leaves.")
    consolidation_delete_threshold: Number = _say(0.0, "Forget below this relevance; 0: never.")
    consolidation_archive_threshold: Number = _say(0.0, "Archive below this relevance; 0: never.")
    consolidation_grace_period_days: Number = _say(90.0, "Younger memories are never forgotten.")
    consolidation_importance_protection_threshold: Number = _say(
        0.7, "Memories at least this important are never forgotten."
    )
    consolidation_protected_types: Names = _say(
        ("Decision", "Insight"), "Types that are never forgotten; empty: none."
    )
    consolidation_control_node_id: Text = _say("global", "Id of the scheduler's node in the graph.")
    identity_synthesis_enabled: OnIf = _say(False, "Write identities of entities.")
    identity_synthesis_model: Text = _say("gpt-4o-mini", "Its chat model. Unset: CLASSIFICATION_MODEL.")

    # Recall
    recall_max_limit: Positive = _say(100, "Largest `limit` of a recall.")
    recall_relation_limit: Positive = _say(5, "Edges followed from each seed.")
    recall_expansion_limit: Positive = _say(25, "Results that expansion adds at most.")
    recall_min_score: Annotated[Share, _clamp(0, 1)] = _say(
        0.0, "Results below it are left out; 0: none; taken into 0..1."
    )
    recall_adaptive_floor: OnIf = _say(False, "Leave out results far below the best.")
    recall_spread_evidence: OnUnless = _say(True, "Let evidence spread one step along edges.")
    recall_metadata_search_enabled: OnUnless = _say(True, "Search the metadata too.")
    recall_vector_overfetch: Annotated[int, _clamp(1, kind=int)] = _say(
        4, "Vector hits fetched per result wanted; at least 1."
    )
    recall_vector_fetch_cap: Annotated[int, _clamp(1, kind=int)] = _say(
        200, "Vector hits fetched at most; at least 1."
    )
    recall_excluded_types: Names = _say(("MetaPattern",), "Types never recalled nor counted; empty: none.")
    recall_relevance_gate: Annotated[Number, _clamp(0, 1)] = _say(
        0.0, "Least vector similarity for the importance bonus; taken into 0..1."
    )
    recall_recency_bias: Annotated[
        Literal["auto", "on", "off"], _one_of("auto", "on", "off", otherwise="off")
    ] = _say("off", "auto, on or off; anything else is off.")

    # Ranking
    search_weight_vector: Number = _say(0.35, "Weight of the vector similarity.")
    search_weight_keyword: Number = _say(0.35, "Weight of the keywords found.")
    search_weight_metadata: Number = _say(0.35, "Weight of metadata evidence.")
    search_weight_relation: Number = _say(0.25, "Weight of relations.")
    search_weight_tag: Number = _say(0.2, "Weight of the tags.")
    search_weight_exact: Number = _say(0.2, "Weight of the whole phrase.")
    search_weight_importance: Number = _say(0.1, "Weight of the importance.")
    search_weight_recency: Number = _say(0.1, "Weight of the recency.")
    search_weight_confidence: Number = _say(0.05, "Weight of the confidence.")
    search_weight_relevance: Number = _say(0.0, "Weight of the decayed relevance.")
    search_weight_temporal: Annotated[Number, _clamp(0)] = _say(
        0.1, "Weight of the recency bias; negative is 0."
    )
    search_recency_window_days: Annotated[Number, BeforeValidator(_days)] = _say(
        180.0, "Days until recency is 0; 0 and less is 180."
    )
    search_recency_curve: Annotated[
        Literal["linear", "exp"], _one_of("linear", "exp", otherwise="linear")
    ] = _say("linear", "linear or exp; anything else is linear.")
    search_tag_score_token_cap: Annotated[int, _clamp(0, kind=int)] = _say(
        0, "Query words that the tag score counts at most; 0: all."
    )

    @model_validator(mode="before")
    @classmethod
    def _drop_blanks(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        kept = {
            name: value
            for name, value in values.items()
            if name in _BLANK_COUNTS or not (isinstance(value, str) and not value.strip())
        }
        for name, others in _FALLBACKS.items():
            found = [kept[other] for other in (name, *others) if kept.get(other) is not None]
            if found:
                kept[name] = found[0]
        if not str(kept.get("consolidation_decay_importance_threshold", "0")).strip():
            kept["consolidation_decay_importance_threshold"] = None
        return kept

    @property
    def graph_embedded(self) -> bool:
        """Say whether the service runs FalkorDB itself (D29)."""
        return self.falkordb_host is None

    @property
    def vectors_embedded(self) -> bool:
        """Say whether the service runs Qdrant itself (D29)."""
        return self.qdrant_address is None

    @property
    def qdrant_address(self) -> str | None:
        """Give the URL of the Qdrant server: QDRANT_URL, else from QDRANT_HOST, else None."""
        if self.qdrant_url or not self.qdrant_host:
            return self.qdrant_url
        return f"http://{self.qdrant_host}:{self.qdrant_port}"

    @property
    def ollama_named(self) -> bool:
        """Say whether OLLAMA_BASE_URL or OLLAMA_MODEL was set, which lets `auto` choose it."""
        return bool({"ollama_base_url", "ollama_model"} & self.model_fields_set)


def load_settings(**overrides: Any) -> Settings:
    """Read the settings; raises ``StartupError`` naming each variable that is wrong."""
    try:
        return Settings(**{name: value for name, value in overrides.items() if value is not None})
    except ValidationError as error:
        raise StartupError(_explain(error)) from None


def _explain(error: ValidationError) -> str:
    lines = [
        f"  {str(fault['loc'][0]).upper() if fault['loc'] else 'settings'}: "
        + fault["msg"].removeprefix("Value error, ")
        for fault in error.errors(include_input=False, include_url=False)
    ]
    return "\n".join(["These settings are wrong (environment or .env file):", *lines])


def reveal(secret: SecretStr | None) -> str | None:
    """Give the text of a secret, None when it is unset."""
    return secret.get_secret_value() if secret is not None else None
