"""Documents and messages as places to search in: spans that follow sentence and paragraph borders where they can."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

MAX_CHARACTERS = 1200
"""About 300 English tokens: the local embedder reads 512, and a payload should cite less than a page."""
MIN_CHARACTERS = 400
"""A heading alone answers nothing: a chunk is filled up to here where the text allows it."""
_WINDOW = 32_768


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
    spans = [
        (begin + start, begin + start + len(text))
        for begin, window in _windows(content)
        for start, text in _splitter().chunk_indices(window)
    ]
    return [Chunk(part, start, end) for part, (start, end) in enumerate(_filled(spans))]


def _filled(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, a short one joined with the one after it: a heading goes with what it heads."""
    filled: list[tuple[int, int]] = []
    for start, end in spans:
        short = bool(filled) and filled[-1][1] - filled[-1][0] < MIN_CHARACTERS
        if short and end - filled[-1][0] <= MAX_CHARACTERS:
            filled[-1] = (filled[-1][0], end)
        else:
            filled.append((start, end))
    return filled


def _windows(content: str) -> Iterator[tuple[int, str]]:
    """Pieces that the splitter handles in time: its cost grows faster than the text. They end at a border if one is
    near."""
    begin = 0
    while begin < len(content):
        end = begin + _WINDOW
        if end < len(content):
            borders = (content.rfind(mark, begin + _WINDOW // 2, end) for mark in ("\n\n", "\n", " "))
            end = next((border + 1 for border in borders if border >= 0), end)
        yield begin, content[begin:end]
        begin = end


@lru_cache(maxsize=1)
def _splitter() -> Any:
    from semantic_text_splitter import TextSplitter

    return TextSplitter((MIN_CHARACTERS, MAX_CHARACTERS))
