"""Splitting an mbox file into messages, as a stream.

The standard library's `mailbox.mbox` first builds a table of the whole file, and splits at any line that begins with
"From "; so the file is split here, and only its messages are given to `email`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, pairwise

from muniment.readers.files import Chunk, Gathering, ends_line

_DATED = re.compile(
    rb"From .{0,400}\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\s+(?:\d\d?\s+)?"
    rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b.{0,20}\d\d?:\d\d"
)
_UNDATED = re.compile(rb"From \S+(?:\s+\d[\d:.+TZ-]*)*\s*$")
_MAIL_FIELD = re.compile(
    rb">?(?:From|To|Cc|Bcc|Date|Subject|Message-ID|Return-Path|Received|Delivered-To|Envelope-To|Reply-To|Sender"
    rb"|References|In-Reply-To|MIME-Version|Status|(?:Content|X|ARC|DKIM|List|Authentication)-[!-9;-~]+)\s*:|>?From ",
    re.IGNORECASE,
)
_QUOTED = re.compile(rb">+From ")
_LONGEST_SEPARATOR = 512


def is_separator(line: bytes, following: bytes) -> bool:
    """Whether a line after a blank one begins a message: "From ", and a date or a mail header after it.

    Not every program quotes "From " in bodies, so a sentence that begins with this word must not split a message.
    """
    if not line.startswith(b"From ") or len(line) > _LONGEST_SEPARATOR:
        return False
    return bool(_DATED.match(line) or (_UNDATED.match(line) and _MAIL_FIELD.match(following)))


def split(pieces: Iterable[bytes], limit: int) -> Iterator[Chunk]:
    """The messages without their "From " lines, with ">From " (mboxo) and ">>From " (mboxrd) un-quoted once.

    `pieces` are lines as `line_pieces` gives them. A message over `limit` bytes comes without its data. What stands
    before the first "From " line, if it is more than blank lines, counts as a message.
    """
    message, position, started = Gathering(limit), 0, False
    after_blank = at_line_start = True
    for piece, following in pairwise(chain(pieces, [b""])):
        if after_blank and (is_separator(piece, following) or (position == 0 and piece.startswith(b"From "))):
            if started:
                yield _without_separator(message.chunk(position))
            message, started = Gathering(limit), True
        else:
            started = started or not _is_blank(piece)
            message.add(piece[1:] if at_line_start and _QUOTED.match(piece) else piece)
        position += len(piece)
        after_blank = at_line_start and _is_blank(piece)
        at_line_start = ends_line(piece)
    if started:
        yield _without_separator(message.chunk(position))


def _is_blank(piece: bytes) -> bool:
    return piece in (b"\n", b"\r\n", b"\r")


def _without_separator(message: Chunk) -> Chunk:
    """The message without the blank line that mbox puts after it, so that its bytes are those that were sent."""
    for end in (b"\r\n", b"\n", b"\r"):
        if message.data is not None and message.data.endswith(end + end):
            return replace(message, data=message.data.removesuffix(end))
    return message
