"""Where one message of an mbox ends and the next begins."""

from __future__ import annotations

import io

import pytest

from muniment.readers import mbox
from muniment.readers.files import BLOCK_BYTES, line_pieces

DATED = b"From jane@example.org Sat Jan 10 09:00:00 2026\n"


def bodies(data: bytes, limit: int = 1 << 20) -> list[bytes | None]:
    return [message.data for message in mbox.split(line_pieces(io.BytesIO(data)), limit)]


@pytest.mark.parametrize(
    "line",
    [
        DATED,
        b"From - Sat Jan 10 09:00:00 2026\n",
        b"From 1234567@xxx Sat Jan 10 09:00:00 +0000 2026\r\n",
        b"From jane at example.org  Sat Jan 10 09:00:00 2026\n",
        b"From jane@x Sat, 10 Jan 2026 09:00:00 +0000\n",
        b"From jane@x 2026-01-10T09:00:00+00:00\n",
        b"From jane@x\n",
    ],
)
def test_the_separators_of_known_programs_are_recognised(line: bytes) -> None:
    assert bodies(b"".join([line, b"Subject: a\n\none\n\n", line, b"Subject: b\n\ntwo\n"])) == [
        b"Subject: a\n\none\n",
        b"Subject: b\n\ntwo\n",
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        b"From the start I said: call me.\n",
        b"From Monday on we meet at 10:30 in 2026.\nSubject: closed\n",
        b"From: jane\n",
        b"From here\nall is well\n",
        b"From " + b"x" * 2000 + b"\nSubject: a\n",
    ],
)
def test_a_sentence_that_begins_with_from_splits_nothing(sentence: bytes) -> None:
    message = b"Subject: a\n\nHello.\n\n" + sentence
    assert bodies(DATED + message) == [message]


def test_a_separator_needs_a_blank_line_before_it() -> None:
    message = b"Subject: a\n\nforwarded:\n" + DATED + b"Subject: b\n"
    assert bodies(DATED + message) == [message]


def test_quoted_from_lines_lose_one_mark() -> None:
    assert bodies(DATED + b"Subject: a\n\n>From me\n>>From you\n> From them\n") == [
        b"Subject: a\n\nFrom me\n>From you\n> From them\n"
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_kind_of_line_end_is_understood(end: bytes) -> None:
    data = (DATED + b"Subject: a\n\none\n\n" + DATED + b"Subject: b\n\ntwo").replace(b"\n", end)
    assert bodies(data) == [each.replace(b"\n", end) for each in (b"Subject: a\n\none\n", b"Subject: b\n\ntwo")]


def test_the_last_message_needs_no_line_end() -> None:
    assert bodies(DATED + b"Subject: a\n\none") == [b"Subject: a\n\none"]


def test_blank_lines_before_the_first_message_are_nothing() -> None:
    assert bodies(b"\n\r\n" + DATED + b"Subject: a\n\none\n")[-1] == b"Subject: a\n\none\n"
    assert len(bodies(b"\n\r\n" + DATED + b"Subject: a\n\none\n")) == 1
    assert bodies(b"\n\n") == []


def test_what_stands_before_the_first_separator_is_not_lost() -> None:
    assert bodies(b"Subject: a\n\none\n\n" + DATED + b"Subject: b\n") == [b"Subject: a\n\none\n", b"Subject: b\n"]


@pytest.mark.parametrize("length", [BLOCK_BYTES - 6, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES])
def test_a_line_longer_than_a_block_is_one_line(length: int) -> None:
    long = b"x" * length
    message = b"Subject: a\n\n" + long + b"\n" + long + b"From me\n\n" + long
    assert bodies(DATED + message) == [message]


def test_a_message_over_the_limit_keeps_only_its_size() -> None:
    big, small = b"Subject: a\n\n" + b"x" * 500 + b"\n\n", b"Subject: b\n"
    found = list(mbox.split(line_pieces(io.BytesIO(DATED + big + DATED + small)), 100))
    assert [(each.data, each.size) for each in found] == [(None, len(big)), (small, len(small))]
    assert found[0].end == len(DATED + big)
