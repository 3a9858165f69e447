"""Synthetic material: texts with a Zipf vocabulary and random unit vectors. It measures plumbing, not quality."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from muniment.model.evidence import EvidenceDraft
from muniment.providers.embedder import Vectors

VOCABULARY = 30_000


class RandomEmbedder:
    """A seeded random direction for each text: costs nothing, means nothing."""

    dimension = 384
    floor = 0.6

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {"model": "random", "dimension": self.dimension}

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._one(text) for text in texts])

    def embed_question(self, text: str) -> Vectors:
        return self._one(text)

    def _one(self, text: str) -> Vectors:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        vector = np.random.default_rng(seed).standard_normal(self.dimension, dtype=np.float32)
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def sentences(count: int, *, seed: int, shortest: int = 8, longest: int = 40) -> Iterator[str]:
    """`count` texts of 8 to 40 words; word frequencies follow Zipf's law."""
    generator = np.random.default_rng(seed)
    weights = 1 / np.arange(1, VOCABULARY + 1)
    weights /= weights.sum()
    for number in range(count):
        size = int(generator.integers(shortest, longest + 1))
        words = generator.choice(VOCABULARY, size=size, p=weights)
        yield " ".join(_word(int(word)) for word in words) + f" item{number}"


def _word(number: int) -> str:
    """A pronounceable word that the stemmer leaves alone."""
    text = ""
    while True:
        number, digit = divmod(number, 20)
        text += "bcdfghklmnprstvwxzjq"[digit] + "aou"[digit % 3]
        if number == 0:
            return text + "k"


def drafts(count: int, *, seed: int, access: frozenset[str] = frozenset()) -> Iterator[EvidenceDraft]:
    """Messages with these texts."""
    for number, text in enumerate(sentences(count, seed=seed)):
        yield EvidenceDraft(content=text, source="synthetic", source_id=f"{seed}-{number}", access=access)
