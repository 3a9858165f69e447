"""Plain floors that need none of our code: a textbook BM25 and bare vectors, in memory."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from muniment.providers.embedder import Vectors

_WORD = re.compile(r"[a-z0-9]+")


class PlainBM25:
    """BM25 over lower-cased words, k1 = 0.9, b = 0.4, no stemming (Robertson and Zaragoza, 2009)."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.documents = [Counter(_WORD.findall(text.lower())) for text in texts]
        self.lengths = [sum(document.values()) for document in self.documents]
        self.mean = sum(self.lengths) / max(len(self.lengths), 1)
        self.frequency = Counter(word for document in self.documents for word in document)

    def rank(self, question: str) -> list[int]:
        """Document numbers, best first."""
        words = set(_WORD.findall(question.lower()))
        total = len(self.documents)
        scores = []
        for number, document in enumerate(self.documents):
            score = 0.0
            for word in words & document.keys():
                n, f = self.frequency[word], document[word]
                idf = math.log(1 + (total - n + 0.5) / (n + 0.5))
                score += idf * f * 1.9 / (f + 0.9 * (0.6 + 0.4 * self.lengths[number] / self.mean))
            scores.append((-score, number))
        return [number for _, number in sorted(scores)]


def rank_vectors(passages: Vectors, question: Vectors) -> list[int]:
    """Passage numbers by cosine similarity, best first."""
    return [int(number) for number in np.argsort(-(passages @ question), kind="stable")]


def reciprocal_rank_fusion(rankings: Sequence[list[int]], constant: int = 60) -> list[int]:
    """Rankings fused by 1 / (60 + rank) (Cormack, Clarke and Büttcher, 2009)."""
    scores: Counter[int] = Counter()
    for ranking in rankings:
        for rank, number in enumerate(ranking):
            scores[number] += 1 / (constant + rank + 1)  # type: ignore[assignment]
    return [number for number, _ in sorted(scores.items(), key=lambda item: (-item[1], item[0]))]
