"""OpenAI, Voyage and Ollama against a real HTTP server that fails as it is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from automem.embedding.base import ClosingProvider, EmbeddingRefused
from automem.embedding.ollama import OllamaConfig, ollama_limits, ollama_provider
from automem.embedding.openai import OpenAIConfig, openai_limits, openai_provider
from automem.embedding.remote import Patience, RemoteConfig, pack
from automem.embedding.voyage import VoyageConfig, voyage_limits, voyage_provider
from automem.errors import EmbeddingUnavailable
from tests.support.openai_server import (
    AiServer,
    Backwards,
    Constant,
    CutOff,
    Fault,
    HangUp,
    Late,
    OneMissing,
    Raw,
    Status,
    WrongDimension,
)

SIZE = 16
SOON = {"retry-after-ms": "1"}
PATIENCE = Patience(timeout_seconds=5, retries=2)


def openai(server: AiServer, config: OpenAIConfig | None = None, size: int | None = SIZE) -> ClosingProvider:
    config = config or OpenAIConfig("secret-key", "some-model", server.openai_url)
    limits = replace(openai_limits(server.openai_url, size, 5.0), batch=PATIENCE)
    return openai_provider(config, limits)


def voyage(server: AiServer) -> ClosingProvider:
    config = VoyageConfig("secret-key", "voyage-4", SIZE, server.openai_url, waits=(0.01, 0.02))
    return voyage_provider(config, replace(voyage_limits(SIZE, 5.0), batch=PATIENCE))


def ollama(server: AiServer, size: int | None = SIZE) -> ClosingProvider:
    return ollama_provider(OllamaConfig(server.url), ollama_limits(size, PATIENCE, 5.0))


@pytest.fixture(params=["openai", "voyage", "ollama"])
def provider(request: pytest.FixtureRequest, server: AiServer) -> Iterator[ClosingProvider]:
    made = {"openai": openai, "voyage": voyage, "ollama": ollama}[request.param](server)
    yield made
    made.close()


def test_vectors_come_in_order_and_of_unit_length(provider: ClosingProvider, server: AiServer) -> None:
    texts = ["one two", "three", "two two two"]
    vectors = provider.embed_batch(texts)
    for text, vector in zip(texts, vectors, strict=True):
        expected = np.array(server.vector(text))
        assert vector @ expected == pytest.approx(np.linalg.norm(expected), abs=1e-5)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert provider.embed_query("three").tolist() == vectors[1].tolist()
    assert provider.embed_batch([]).shape == (0, SIZE)


def test_the_end_of_a_long_text_counts(provider: ClosingProvider) -> None:
    question = provider.embed_query("plum cake")
    with_end, without_end = provider.embed_batch(["harbour " * 3000 + "plum cake " * 300, "harbour " * 3000])
    assert with_end @ question > without_end @ question


@pytest.mark.parametrize("text", ["", "  \n", "\ud800 lone", "a\0b", "😀" * 3000])
def test_odd_texts_are_sent_in_a_form_that_servers_take(provider: ClosingProvider, text: str) -> None:
    assert np.linalg.norm(provider.embed_query(text)) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("fault", [Status(429, SOON), Status(503, SOON), HangUp(), CutOff()])
def test_passing_trouble_is_tried_again(provider: ClosingProvider, server: AiServer, fault: Fault) -> None:
    server.next(fault, fault)
    assert provider.embed_batch(["text"]).shape == (1, SIZE)
    assert server.count() == 3


@pytest.mark.parametrize("fault", [Status(429, SOON), Status(500, SOON), HangUp(), CutOff()])
def test_lasting_trouble_gives_no_vector_after_three_tries(
    provider: ClosingProvider, server: AiServer, fault: Fault
) -> None:
    server.always(fault)
    with pytest.raises(EmbeddingUnavailable):
        provider.embed_batch(["text"])
    assert server.count() == 3


@pytest.mark.parametrize(
    "fault",
    [
        Raw('{"data": ['),
        Raw("[]"),
        Raw('{"data": 5, "embeddings": "x"}'),
        Raw('{"data": [{"embedding": "x", "index": 0}], "embeddings": [["x"]]}'),
        Raw('{"data": [{"embedding": [1, 2], "index": 7}], "embeddings": [[1], [1, 2]]}'),
        WrongDimension(SIZE + 1),
        Raw('{"data": [{"embedding": [], "index": 0}], "embeddings": [[]]}'),
        OneMissing(),
        Constant(0.0),
        Constant(float("nan")),
    ],
    ids=repr,
)
def test_a_wrong_answer_gives_no_vector_and_is_not_asked_again(
    provider: ClosingProvider, server: AiServer, fault: Fault
) -> None:
    server.always(fault)
    with pytest.raises(EmbeddingUnavailable) as raised:
        provider.embed_batch(["text"])
    assert not isinstance(raised.value, EmbeddingRefused)
    assert server.count() == 1


def test_a_refused_text_is_told_from_trouble(provider: ClosingProvider, server: AiServer) -> None:
    server.always(Status(400))
    with pytest.raises(EmbeddingRefused):
        provider.embed_batch(["text"])
    assert server.count() == 1


def test_a_refused_key_is_trouble_and_stays_secret(provider: ClosingProvider, server: AiServer) -> None:
    server.always(Status(401))
    with pytest.raises(EmbeddingUnavailable, match="status 401") as raised:
        provider.embed_batch(["text"])
    assert not isinstance(raised.value, EmbeddingRefused)
    assert "secret-key" not in repr(raised.value) + repr(vars(provider))


def test_a_query_is_given_up_after_its_own_short_limit(server: AiServer) -> None:
    limits = replace(openai_limits(server.openai_url, SIZE, 0.1), batch=PATIENCE)
    for made in (
        openai_provider(OpenAIConfig("k", "m", server.openai_url), limits),
        voyage_provider(VoyageConfig("k", "m", SIZE, server.openai_url), limits),
        ollama_provider(OllamaConfig(server.url), limits),
    ):
        server.next(Late(30))
        before = server.count()
        with pytest.raises(EmbeddingUnavailable, match="in time"):
            made.embed_query("question")
        assert server.count() == before + 1
        made.close()


def test_a_query_survives_a_connection_that_the_server_closed(
    provider: ClosingProvider, server: AiServer
) -> None:
    server.next(HangUp())
    assert provider.embed_query("question").shape == (SIZE,)


def test_a_query_does_not_wait_out_a_rate_limit(provider: ClosingProvider, server: AiServer) -> None:
    server.always(Status(429))
    with pytest.raises(EmbeddingUnavailable):
        provider.embed_query("question")
    assert server.count() == 1


def test_a_server_that_is_gone_gives_no_vector(provider: ClosingProvider, server: AiServer) -> None:
    server.close()
    with pytest.raises(EmbeddingUnavailable, match="reached"):
        provider.embed_query("question")


def test_rows_are_ordered_by_their_index(server: AiServer) -> None:
    for made in (openai(server), voyage(server)):
        expected = made.embed_batch(["one", "two", "three"])
        server.next(Backwards())
        assert made.embed_batch(["one", "two", "three"]).tolist() == expected.tolist()
        made.close()


def test_an_unknown_dimension_is_asked_for_once(server: AiServer) -> None:
    for made in (openai(server, size=None), ollama(server, size=None)):
        before = server.count()
        assert (made.dimension, made.dimension) == (SIZE, SIZE)
        assert server.count() == before + 1
        made.close()


def test_an_unknown_dimension_is_learnt_from_the_first_vectors(server: AiServer) -> None:
    made = ollama(server, size=None)
    made.embed_batch(["text"])
    assert (made.dimension, server.count()) == (SIZE, 1)
    server.next(WrongDimension(3))
    with pytest.raises(EmbeddingUnavailable, match="3 numbers instead of 16"):
        made.embed_batch(["text"])
    made.close()


def test_openai_sends_key_and_model_and_dimensions_only_where_asked(server: AiServer) -> None:
    for dimensions in (None, SIZE):
        made = openai(server, OpenAIConfig("secret-key", "m-3", server.openai_url, dimensions))
        made.embed_batch(["text"])
        made.close()
    plain, asked = server.received
    assert plain.headers["authorization"] == "Bearer secret-key"
    assert plain.body["model"] == "m-3"
    assert "dimensions" not in plain.body
    assert asked.body["dimensions"] == SIZE


def test_openai_names(server: AiServer) -> None:
    own = openai(server, OpenAIConfig("k", "m"))
    other = openai(server, OpenAIConfig("k", "m", "https://llm.example/v1"))
    assert (own.name, other.name) == ("openai:m", "openai-compatible:m")
    own.close()
    other.close()


def test_voyage_sends_output_dimension_and_at_most_128_texts(server: AiServer) -> None:
    made = voyage(server)
    assert made.embed_batch([f"text {number}" for number in range(300)]).shape == (300, SIZE)
    assert [len(request.body["input"]) for request in server.received] == [128, 128, 44]
    assert {request.body["output_dimension"] for request in server.received} == {SIZE}
    assert not any("input_type" in request.body for request in server.received)
    assert made.name == "voyage:voyage-4"
    made.close()


def test_an_old_ollama_is_asked_text_by_text() -> None:
    with AiServer(SIZE, old_ollama=True) as server:
        made = ollama(server)
        expected = np.array([server.vector("one"), server.vector("two")])
        assert made.embed_batch(["one", "two"]).tolist() == expected.tolist()
        made.embed_query("three")
        made.close()
        assert (server.count("/api/embed"), server.count("/api/embeddings")) == (1, 3)


def test_an_old_answer_inside_data_is_read() -> None:
    with AiServer(2, old_ollama=True) as server:
        made = ollama(server, size=2)
        server.next(Status(404, body="404 page not found"), Raw('{"data": [{"embedding": [0, 5]}]}'))
        assert made.embed_query("text").tolist() == [0, 1]
        made.close()


def test_a_model_that_ollama_lacks_is_named(server: AiServer) -> None:
    server.ollama_model = "another"
    made = ollama(server)
    with pytest.raises(EmbeddingUnavailable, match="ollama pull nomic-embed-text"):
        made.embed_query("text")
    server.ollama_model = None
    assert made.embed_query("text").shape == (SIZE,)
    assert server.count("/api/embeddings") == 0
    made.close()


def test_requests_are_packed_by_number_and_by_size() -> None:
    limits = RemoteConfig(None, 10, 3, 10, PATIENCE, PATIENCE)
    assert list(pack(list("abcd"), limits)) == [["a", "b", "c"], ["d"]]
    assert list(pack(["aaaaaa", "bbbb", "c", "é" * 9, "d"], limits)) == [
        ["aaaaaa", "bbbb"],
        ["c"],
        ["é" * 9],
        ["d"],
    ]
    assert list(pack([], limits)) == []
