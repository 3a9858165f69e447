"""Mail: mbox files, and single messages (.eml), to one `message` evidence each."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from muniment.errors import InvalidInput
from muniment.model.evidence import EvidenceDraft, EvidenceKind
from muniment.model.text import MAX_CONTENT_BYTES, MAX_SOURCE_ID_BYTES, require_text
from muniment.readers import mbox, mime
from muniment.readers.files import Chunk, Gathering, line_pieces, opened
from muniment.readers.headers import Headers
from muniment.readers.port import Read, Unread, unread

name = "mail (mbox, .eml)"

MAX_MESSAGE_BYTES = MAX_CONTENT_BYTES
_SINGLE_SUFFIXES = {".eml"}
_SUFFIXES = _SINGLE_SUFFIXES | {".mbox", ".mbx"}
_FIELD = re.compile(rb"[!-9;-~]+:")
_MAIL_ONLY_FIELD = re.compile(rb"^(?:Message-ID|Received|Return-Path|Delivered-To):", re.IGNORECASE | re.MULTILINE)


def accepts(path: Path, head: bytes) -> bool:
    """By suffix, or by a first line that begins an mbox, or by header fields that only mail has."""
    if path.suffix.lower() in _SUFFIXES:
        return True
    first, _, rest = head.partition(b"\n")
    fields = re.split(rb"\r?\n\r?\n", head, maxsplit=1)[0]
    return mbox.is_separator(first, rest) or bool(_FIELD.match(head) and _MAIL_ONLY_FIELD.search(fields))


def read(path: Path) -> Iterator[Read | Unread]:
    """The messages of the file in its order, named "message 1", "message 2" and so on.

    `occurred_at` is the Date with the sender's own offset, or None; `metadata["repaired"]` lists what had to be mended
    or could not be told. Both copies of a message that stands twice are given. Raises `UnreadableFile`.
    """
    with opened(path) as file:
        for number, message in enumerate(_messages(path, file), 1):
            yield _item(f"message {number}", message)


def _messages(path: Path, file: BinaryIO) -> Iterator[Chunk]:
    begins_mbox = file.read(5) == b"From "
    file.seek(0)
    if begins_mbox or path.suffix.lower() in _SUFFIXES - _SINGLE_SUFFIXES:
        yield from mbox.split(line_pieces(file), MAX_MESSAGE_BYTES)
        return
    message = Gathering(MAX_MESSAGE_BYTES)
    for piece in line_pieces(file):
        message.add(piece)
    if message.size:
        yield message.chunk(message.size)


def _item(place: str, message: Chunk) -> Read | Unread:
    if message.data is None:
        reason = f"the message has {message.size} bytes; at most {MAX_MESSAGE_BYTES} are read"
        return unread(place, InvalidInput.code, reason, message.end)
    try:
        return Read(_draft(message.data), message.end, place)
    except InvalidInput as error:
        return unread(place, error.code, str(error), message.end)
    except Exception as error:  # noqa: BLE001 - `email` raises errors of any class on hostile input; the rest goes on
        reason = f"the message cannot be parsed ({type(error).__name__})"
        return unread(place, InvalidInput.code, reason, message.end)


def _draft(data: bytes) -> EvidenceDraft:
    notes: list[str] = []
    message = mime.parse(data)
    headers = Headers(message, notes)
    subject, text = headers.text("subject"), mime.body(message, notes)
    content = "\n\n".join(part for part in (f"Subject: {subject}" if subject else "", text) if part)
    authors, answered = headers.addresses("from"), _keys(headers, "in-reply-to")
    source_id = next(iter(_keys(headers, "message-id")), None) or _sha256(data)
    metadata = {
        "subject": subject,
        "from": ", ".join(authors),
        "to": headers.addresses("to"),
        "cc": headers.addresses("cc"),
        "in_reply_to": next(iter(answered), None),
        "attachments": mime.attachments(message, notes),
    }
    occurred_at = headers.sent_at()
    metadata["repaired"] = list(dict.fromkeys(notes + mime.defects(message)))
    return EvidenceDraft(
        content=require_text(content, what="the message"),
        source="email",
        source_id=source_id,
        kind=EvidenceKind.MESSAGE,
        occurred_at=occurred_at,
        author=_cut(authors[0]) if authors else None,
        thread=(_keys(headers, "references") or answered or [source_id])[0],
        metadata={name: value for name, value in metadata.items() if value},
    )


def _keys(headers: Headers, name: str) -> list[str]:
    """The message ids of a field; one too long for a key is replaced by its hash, the same wherever it is named."""
    return [each if len(each.encode()) <= MAX_SOURCE_ID_BYTES else _sha256(each.encode()) for each in headers.ids(name)]


def _sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _cut(author: str) -> str:
    return author.encode()[:MAX_SOURCE_ID_BYTES].decode("utf-8", "ignore")
