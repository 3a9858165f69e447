"""Documents and messages as places to search in: spans that follow sentence and paragraph borders where they can."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

MAX_CHARACTERS = 1200
"""About 300 English tokens: the local embedder reads 512, and a payload should cite less than a page."""


class Chunk(NamedTuple):
    """Characters [start, end) of the content; `part` counts from 0."""

    part: int
    start: int
    end: int


def chunk(content: str) -> list[Chunk]:
    """The chunks of `content`, in order; text that is only white space belongs to none."""
    if not content.strip():
        return []
    if len(content) <= MAX_CHARACTERS:
        return [Chunk(0, 0, len(content))]
    pieces = _splitter().chunk_indices(content)
    return [Chunk(part, start, start + len(text)) for part, (start, text) in enumerate(pieces)]


@lru_cache(maxsize=1)
def _splitter() -> Any:
    from semantic_text_splitter import TextSplitter

    return TextSplitter(MAX_CHARACTERS)
