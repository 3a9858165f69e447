"""Markdown and plain text: the whole file is one `document` evidence.

A limit to know: a reader cannot see what is stored, so it cannot number versions. A changed file gets another
`source_id`, because that ends with a hash of its bytes, and `source_version` stays 1; the caller that knows the
earlier row fills `replaces`.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from muniment.errors import InvalidInput, UnreadableFile
from muniment.model.evidence import EvidenceDraft, EvidenceKind
from muniment.model.text import MAX_CONTENT_BYTES, MAX_SOURCE_ID_BYTES, require_name, require_text
from muniment.readers.decoding import storable
from muniment.readers.files import opened
from muniment.readers.port import Read, Unread, unread

name = "Markdown and plain text (.md, .txt, or no suffix)"

_MEDIA_TYPES = {
    ".md": "text/markdown", ".markdown": "text/markdown", ".txt": "text/plain", ".text": "text/plain", "": "text/plain"
}  # fmt: skip
# The longer mark first: UTF-32 begins like UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def accepts(path: Path, head: bytes) -> bool:
    """By suffix; a file without one if it does not look binary. An empty file of any name is an empty text."""
    suffix = path.suffix.lower()
    return not head or (suffix in _MEDIA_TYPES and (suffix != "" or not _is_binary(head)))


def read(path: Path) -> Iterator[Read | Unread]:
    """The file as one item, or nothing when it is empty. `occurred_at` is not known.

    `source_id` is the path as given, `#`, and 16 hexadecimal digits of the SHA-256 of the bytes;
    `metadata["modified_at"]` is the file's own time in UTC. Raises `UnreadableFile`.
    """
    with opened(path) as file:
        data = file.read(MAX_CONTENT_BYTES + 1)
        modified = path.stat().st_mtime
    if not data:
        return
    try:
        yield Read(_draft(path, data, modified), len(data), "file")
    except (InvalidInput, UnreadableFile) as error:
        yield unread("file", error.code, str(error), len(data))


def _draft(path: Path, data: bytes, modified: float) -> EvidenceDraft:
    if len(data) > MAX_CONTENT_BYTES:
        raise InvalidInput(f"the file has more than {MAX_CONTENT_BYTES} bytes; split it first")
    if _is_binary(data):
        raise UnreadableFile("the file has NUL bytes, so it is not text")
    notes: list[str] = []
    content = require_text(_text(data, notes), what="the file")
    place = storable(path.as_posix(), "the path", notes)
    source_id = f"{place}#{hashlib.sha256(data).hexdigest()[:16]}"
    return EvidenceDraft(
        content=content,
        source="file",
        source_id=require_name(source_id, what="the path", max_bytes=MAX_SOURCE_ID_BYTES),
        kind=EvidenceKind.DOCUMENT,
        media_type=_MEDIA_TYPES.get(path.suffix.lower(), "text/plain"),
        metadata=_modified_at(modified) | ({"repaired": notes} if notes else {}),
    )


def _is_binary(data: bytes) -> bool:
    return b"\x00" in data and _codec(data) is None


def _codec(data: bytes) -> str | None:
    """The encoding that the byte order mark tells; None without one."""
    return next((codec for mark, codec in _MARKS if data.startswith(mark)), None)


def _text(data: bytes, notes: list[str]) -> str:
    codec = _codec(data) or "utf-8"
    try:
        return storable(data.decode(codec), "the text", notes)
    except UnicodeError:
        codec = "windows-1252" if codec == "utf-8" else codec
        notes.append(f"the text was read as {codec}; bytes outside it became U+FFFD")
    return storable(data.decode(codec, "replace"), "the text", notes)


def _modified_at(modified: float) -> dict[str, object]:
    try:
        return {"modified_at": datetime.fromtimestamp(modified, UTC).isoformat()}
    except (OverflowError, ValueError, OSError):
        return {}  # File systems hold times that no calendar has.
