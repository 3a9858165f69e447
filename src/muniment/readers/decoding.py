"""Bytes to text that can be stored, with a note for everything that had to be mended."""

from __future__ import annotations

import codecs
import re

# These are codecs by name but not character sets; some of them need quadratic time or rewrite plain text.
_NOT_CHARSETS = {
    "base64", "bz2", "hex", "idna", "mbcs", "oem", "punycode", "quopri", "raw-unicode-escape", "rot-13", "undefined",
    "unicode-escape", "uu", "zlib",
}  # fmt: skip

# Programs that name the narrow set mean the wide one (as the WHATWG Encoding Standard records).
_WIDER = {
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs",
    "iso8859-1": "cp1252",
}  # fmt: skip
# Any bytes are valid in these, so a lie shows only in this: text in them is hardly ever valid UTF-8 as well.
_WESTERN = {"ascii": ["utf-8", "cp1252"], "cp1252": ["utf-8", "cp1252"], "iso8859-1": ["utf-8", "cp1252", "iso8859-1"]}

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def decode(data: bytes, charset: str | None, notes: list[str]) -> str:
    """`data` as text: in the charset it names, else as UTF-8, else with U+FFFD for what cannot be read.

    Never raises. Every departure from the named charset is noted.
    """
    codec = _codec(charset)
    declared = repr(charset[:40]) if charset else "no charset"
    for candidate in _candidates(codec):
        try:
            text = data.decode(candidate)
        except UnicodeError:
            continue
        if candidate not in (codec, _WIDER.get(codec or "")) and not data.isascii():
            notes.append(f"bytes declared as {declared} were read as {candidate}")
        return text
    notes.append(f"bytes declared as {declared} could not all be read; U+FFFD stands for the others")
    return data.decode(codec or "utf-8", "replace")


def _codec(charset: str | None) -> str | None:
    """Python's own name for `charset`; None when it is missing or unknown."""
    if charset is None or len(charset) > 40:
        return None
    try:
        name = codecs.lookup(charset.strip().lower().removeprefix("x-")).name
    except (LookupError, ValueError):
        return None
    return None if name.replace("_", "-") in _NOT_CHARSETS else name


def _candidates(codec: str | None) -> list[str]:
    if codec is None:
        return ["utf-8"]
    return _WESTERN.get(codec) or [codec, *([_WIDER[codec]] if codec in _WIDER else []), "utf-8"]


def storable(text: str, what: str, notes: list[str]) -> str:
    """`text` with U+FFFD in place of NUL characters and lone surrogates, which PostgreSQL cannot hold; noted."""
    mended, count = _UNSTORABLE.subn("\ufffd", text)
    if count:
        notes.append(f"{what} had {count} NUL characters or lone surrogates; they were replaced by U+FFFD")
    return mended
