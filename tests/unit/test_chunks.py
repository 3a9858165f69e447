"""Chunks point at all of the text, once, in order, and are never too long to embed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.derive.chunks import MAX_CHARACTERS, Chunk, chunk

PIECES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.sampled_from([
        "Call me first. ", "The summary can follow!\n", "\n\n", "\r\n", " ", "\t", "\u3000", "\x0b", "\x85", "\u200b",
        "\ufeff", "\x1c", "先打电话。摘要随后！", "โทรก่อน", "\U0001f469\u200d\U0001f469\u200d\U0001f467",
        "\U0001f1eb\U0001f1f7", "e\u0301", "\u0301\u0302", "# Title\n", "- item\n", "x",
    ]),
)  # fmt: skip
LONG_TEXTS = st.lists(st.tuples(PIECES, st.integers(1, 120)), min_size=1, max_size=12).map(
    lambda pieces: "".join(piece * times for piece, times in pieces)
)


@settings(max_examples=120, deadline=None)
@given(LONG_TEXTS)
def test_chunks_hold_every_visible_character_once_in_order_and_within_the_limit(content: str) -> None:
    at = 0
    for part, piece in enumerate(chunk(content)):
        assert piece.part == part
        assert at <= piece.start <= piece.end <= len(content)
        assert piece.end - piece.start <= MAX_CHARACTERS
        assert not content[at : piece.start].strip()
        at = piece.end
    assert not content[at:].strip()


@pytest.mark.parametrize("unit", ["x", "\u0301", "\U0001f469\u200d", "\U0001f1eb\U0001f1f7", "电", "\ufeff"], ids=ascii)
def test_one_endless_word_is_cut_all_the_same(unit: str) -> None:
    content = unit * 3000
    pieces = chunk(content)
    assert "".join(content[piece.start : piece.end] for piece in pieces) == content
    assert all(0 < piece.end - piece.start <= MAX_CHARACTERS for piece in pieces)


def test_a_short_text_is_one_chunk() -> None:
    assert chunk(" Call me first.\n") == [Chunk(0, 0, 16)]
    assert chunk("x" * MAX_CHARACTERS) == [Chunk(0, 0, MAX_CHARACTERS)]


@pytest.mark.parametrize(
    "content", ["", " ", "\n\t\u3000", " " * 3000], ids=["empty", "a space", "blanks", "many blanks"]
)
def test_nothing_visible_makes_no_chunk(content: str) -> None:
    assert chunk(content) == []


def test_paragraphs_that_fit_are_kept_whole() -> None:
    paragraphs = [f"{word.capitalize()} {' '.join([word] * 120)}." for word in ("call", "mail", "wait", "sign")]
    content = "\n\n".join(paragraphs)
    assert [content[piece.start : piece.end] for piece in chunk(content)] == paragraphs


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    sentence = "Send the written summary before we schedule the renewal call."
    pieces = chunk(content := " ".join([sentence] * 60))
    assert len(pieces) > 1
    assert all(content[piece.start : piece.end].startswith("Send the") for piece in pieces)
    assert all(content[piece.start : piece.end].endswith("call.") for piece in pieces)


def test_the_same_text_is_cut_the_same_way() -> None:
    content = "先打电话。Call first. \U0001f469\u200d\U0001f467 " * 200
    assert chunk(content) == chunk(content)
