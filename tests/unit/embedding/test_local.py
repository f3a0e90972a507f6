"""The true model: meaning, batches, order, long and odd texts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from automem.embedding.local import LocalConfig, LocalProvider, bundled_model
from automem.errors import EmbeddingUnavailable

HARBOUR = "The ferry leaves the harbour at dawn and the fishermen mend their nets on the quay. "
DATABASE = "The billing database was moved from MySQL to PostgreSQL because of row locking. "

ODD_TEXTS = [
    "",
    " \n\t ",
    "😀🎉",
    "\x01\x02\x07",
    "\0",
    "\ud800",
    "x" * 32_768,
    "a1b2" * 500,
    "สวัสดีชาวโลก" * 40,
    "東京タワー" * 300,
    "!" * 3000,
]


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("Where does Maria work?", "Maria has a job at the town library", "The soup needs more salt"),
        (
            "Which database did we choose?",
            "We went with PostgreSQL for storage",
            "The dog likes long walks",
        ),
        ("birthday of my sister", "My sister was born on the fourth of May", "Rust compiles slowly"),
    ],
)
def test_the_answer_is_nearer_than_something_else(
    minilm: LocalProvider, question: str, answer: str, other: str
) -> None:
    near, far = minilm.embed_batch([answer, other]) @ minilm.embed_query(question)
    assert near > far + 0.2


def test_name_shape_and_length(minilm: LocalProvider) -> None:
    vectors = minilm.embed_batch(["one", "two words", "three words here"])
    assert minilm.name == "local:all-MiniLM-L6-v2"
    assert vectors.shape == (3, minilm.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert minilm.embed_batch([]).shape == (0, minilm.dimension)


def test_a_batch_gives_what_single_texts_give_in_their_order(minilm: LocalProvider) -> None:
    texts = [HARBOUR * 30, "short", DATABASE, "", HARBOUR, "a word more", DATABASE * 12, "short"]
    batch = minilm.embed_batch(texts)
    single = np.stack([minilm.embed_query(text) for text in texts])
    assert np.abs(batch - single).max() < 1e-5


def test_the_end_of_a_long_text_is_findable(minilm: LocalProvider) -> None:
    ending = "Grandmother's recipe for plum cake needs cardamom and brown butter."
    topic = minilm.embed_query("How do I bake the plum cake?")
    with_end, without_end = minilm.embed_batch([HARBOUR * 25 + ending, HARBOUR * 25]) @ topic
    assert with_end > without_end + 0.05


def test_the_middle_counts_as_the_ends_do(minilm: LocalProvider) -> None:
    question = minilm.embed_query("Why was the database moved?")
    plain, middle = minilm.embed_batch([HARBOUR * 60, HARBOUR * 25 + DATABASE * 10 + HARBOUR * 25]) @ question
    assert middle > plain + 0.05


@pytest.mark.parametrize("text", ODD_TEXTS, ids=range(len(ODD_TEXTS)))
def test_odd_texts_give_a_unit_vector(minilm: LocalProvider, text: str) -> None:
    vector = minilm.embed_query(text)
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_endless_words_are_told_apart(minilm: LocalProvider) -> None:
    one, other = minilm.embed_batch(["deadbeef" * 20, "cafe1234" * 20])
    assert one @ other < 0.99


def test_threads_that_meet_an_unloaded_model_all_get_the_same_vector(minilm: LocalProvider) -> None:
    fresh = LocalProvider(LocalConfig(bundled_model(), threads=1))
    with ThreadPoolExecutor(4) as executor:
        vectors = list(executor.map(fresh.embed_query, [HARBOUR] * 8))
    fresh.close()
    expected = minilm.embed_query(HARBOUR)
    assert max(np.abs(vector - expected).max() for vector in vectors) < 1e-5


def test_a_broken_model_file_is_said_and_no_vector_is_made_up(tmp_path: Path) -> None:
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(b"not a model")
    (tmp_path / "tokenizer.json").write_bytes((bundled_model() / "tokenizer.json").read_bytes())
    with pytest.raises(EmbeddingUnavailable, match="does not load"):
        LocalProvider(LocalConfig(tmp_path)).embed_query("text")
