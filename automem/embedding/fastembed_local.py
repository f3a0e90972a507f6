"""Another local model through the optional package ``fastembed``, by AUTOMEM_LOCAL_MODEL (D30)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from automem.embedding.base import Vectors
from automem.embedding.pieces import break_endless_words, clean, cut_text, pool_texts, unit_rows, windows
from automem.errors import EmbeddingUnavailable, StartupError

_OVERLAP = 32
_MARGIN = 4  # special tokens, and a token more where a cut falls inside a word
_BYTES_WITHOUT_TOKENIZER = 1_500
_PIECES_PER_RUN = 16


@dataclass(frozen=True)
class FastembedConfig:
    """:param models_dir: where models are kept. :param threads: 0 is fastembed's own choice.

    :param model_files: a directory that already holds the model; nothing is fetched then.
    """

    model: str
    models_dir: Path
    threads: int = 0
    model_files: Path | None = None


class TextCutter:
    """Cuts texts into windows of a model's tokens, as texts."""

    def __init__(self, tokenizer: Tokenizer, window: int) -> None:
        self._tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._window = window - _MARGIN

    def cut(self, text: str) -> list[str]:
        """Give the text itself when the model reads it whole, else pieces that share some words."""
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        if len(offsets) <= self._window:
            return [text]
        overlap = min(_OVERLAP, self._window // 4)
        spans = [offsets[window] for window in windows(len(offsets), self._window, overlap)]
        return [text[span[0][0] : span[-1][1]] for span in spans]


class FastembedProvider:
    """A model of fastembed, fetched and loaded when made; raises ``StartupError`` then."""

    def __init__(self, config: FastembedConfig) -> None:
        self.name = f"local:{config.model}"
        self._model = _open_model(config)
        self.dimension = int(self._model.embedding_size)
        self._cutter = _cutter_of(self._model)
        self._lock = Lock()

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._embed([text], question=True)[0]
        return vector

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return self._embed(texts, question=False)

    def close(self) -> None:
        """The model is released with the provider."""

    def _embed(self, texts: Sequence[str], question: bool) -> Vectors:
        cut = [self._cut(break_endless_words(clean(text))) for text in texts]
        pieces = [piece for of_text in cut for piece in of_text]
        owners = [owner for owner, of_text in enumerate(cut) for _ in of_text]
        vectors = self._run(pieces, question)
        return pool_texts(unit_rows(vectors), owners, [len(piece) for piece in pieces])

    def _cut(self, text: str) -> list[str]:
        return self._cutter.cut(text) if self._cutter else cut_text(text, _BYTES_WITHOUT_TOKENIZER)

    def _run(self, pieces: Sequence[str], question: bool) -> Vectors:
        embed = self._model.query_embed if question else self._model.passage_embed
        by_length = sorted(range(len(pieces)), key=lambda index: len(pieces[index]))
        vectors = np.empty((len(pieces), self.dimension), dtype=np.float32)
        try:
            rows = embed([pieces[index] for index in by_length], batch_size=_PIECES_PER_RUN)
            vectors[by_length] = np.stack(list(rows))
        except Exception as error:  # onnxruntime's classes have no other common root
            raise EmbeddingUnavailable(f"the embedding model {self.name} failed") from error
        return vectors


def _open_model(config: FastembedConfig) -> Any:
    try:
        fastembed = import_module("fastembed")
    except ImportError as error:
        raise StartupError(
            f"AUTOMEM_LOCAL_MODEL={config.model} needs the package fastembed. "
            "Install it with `pip install 'automem[fastembed]'`, or unset AUTOMEM_LOCAL_MODEL."
        ) from error
    try:
        return fastembed.TextEmbedding(
            config.model,
            cache_dir=str(config.models_dir),
            threads=config.threads or None,
            **({"specific_model_path": str(config.model_files)} if config.model_files else {}),
        )
    except Exception as error:  # unknown names, every kind of network error, broken files
        raise StartupError(
            f"The embedding model AUTOMEM_LOCAL_MODEL={config.model} cannot be loaded: "
            f"{str(error).rstrip('. ')}. "
            f"It has to be one that fastembed knows and can fetch into {config.models_dir}."
        ) from error


def _cutter_of(model: Any) -> TextCutter | None:
    tokenizer = getattr(model.model, "tokenizer", None)
    if not isinstance(tokenizer, Tokenizer) or not tokenizer.truncation:
        return None
    return TextCutter(tokenizer, int(tokenizer.truncation["max_length"]))
