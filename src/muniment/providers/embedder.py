"""The embedder port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into L2-normalised vectors.

    `parameters` identifies the model completely: it is hashed into the recipe, so anything that changes a vector must
    change it. `floor` is the cosine similarity below which two texts have nothing to do with each other (calibrated
    per model: it differs widely between them).
    """

    @property
    def dimension(self) -> int: ...

    @property
    def floor(self) -> float: ...

    @property
    def parameters(self) -> Mapping[str, Any]: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """(len(texts), dimension) float32; the same text always gives the same bytes."""
        ...

    def embed_question(self, text: str) -> Vectors:
        """(dimension,) float32, with the prefix that the model wants for questions."""
        ...
