"""The header fields of a message as people read them: encoded words, addresses, ids and dates."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime

from muniment.readers.decoding import decode, storable

MAX_FIELD_CHARACTERS = 64 * 1024
_LONGEST_DATE = 200
_FIRST_YEAR, _LAST_YEAR = 1971, 2099  # No mail is older; nothing here reads a clock to say what is too new.

_WORD = r"=\?[^?\s]+\?[bqBQ]\?[^?]*\?="
_ENCODED_WORDS = re.compile(rf"{_WORD}(?:\s+{_WORD})*")
_ID = re.compile(r"<([^<>]+)>")


class Headers:
    """The fields of one message. What had to be mended or is missing is said in `notes`."""

    def __init__(self, message: Message[str, str], notes: list[str]) -> None:
        self._message = message
        self._notes = notes

    def text(self, name: str) -> str:
        """The field as readable text on one line; empty when it is missing."""
        return readable_field(self._raw(name), f"the field {name}", self._notes)

    def addresses(self, name: str) -> list[str]:
        """The addresses of the field as `Name <address>`, or what there is of it."""
        line = _one_line(self._raw(name), self._notes)
        # Names are decoded after the list is taken apart: a decoded name may hold a comma.
        pairs = [(_words(person, self._notes), address) for person, address in getaddresses([line])]
        known = [f"{person} <{address}>" if person and address else person or address for person, address in pairs]
        found = [storable(who, f"the field {name}", self._notes) for who in known if who]
        return found or ([self.text(name)] if line else [])

    def ids(self, name: str) -> list[str]:
        """The message ids of the field, without their angle brackets."""
        line = _one_line(self._raw(name), self._notes)
        found = _ID.findall(line) or [word for word in line.split() if "@" in word]
        return [storable(each.strip(), f"the field {name}", self._notes) for each in found if each.strip()]

    def sent_at(self) -> datetime | None:
        """The Date with the sender's own offset; `-0000` means UTC. None, and a note, when no moment can be told."""
        line = _one_line(self._raw("date"), self._notes)
        if not line:
            self._notes.append("there is no Date, so the time is unknown")
            return None
        moment = _moment(line)
        if moment is None:
            shown = storable(line[:80], "the field date", self._notes)
            self._notes.append(f"the Date {shown!r} tells no moment, so the time is unknown")
        return moment

    def _raw(self, name: str) -> str:
        value = ", ".join(str(value) for value in self._message.get_all(name, []))
        if len(value) >= MAX_FIELD_CHARACTERS:
            self._notes.append(f"the field {name} was cut to {MAX_FIELD_CHARACTERS} characters")
        return value[:MAX_FIELD_CHARACTERS]


def readable_field(raw: str, what: str, notes: list[str]) -> str:
    """A raw field on one line with its encoded words (RFC 2047) decoded; raw 8-bit bytes are read as UTF-8."""
    text = _words(_one_line(raw, notes), notes)
    return storable(re.sub(r"\s*[\r\n]+\s*", " ", text), what, notes).strip()


def _one_line(raw: str, notes: list[str]) -> str:
    # The parser keeps bytes that are not ASCII as lone surrogates (PEP 383); here they become text.
    text = decode(raw.encode("utf-8", "surrogateescape"), None, notes)
    return re.sub(r"[\r\n]+", "", text).strip()


def _words(text: str, notes: list[str]) -> str:
    """`text` with its encoded words decoded. Neighbours of one charset are joined first: programs split characters."""

    def decoded(run: re.Match[str]) -> str:
        try:
            pieces = decode_header(run[0])
        except HeaderParseError:
            notes.append("a header field has an encoded word that cannot be decoded")
            return run[0]
        return "".join(
            piece if isinstance(piece, str) else decode(piece, (charset or "utf-8").partition("*")[0], notes)
            for piece, charset in pieces
        )

    return _ENCODED_WORDS.sub(decoded, text)


def _moment(line: str) -> datetime | None:
    if len(line) > _LONGEST_DATE:
        return None
    try:
        moment = parsedate_to_datetime(line)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        return None
    if moment.tzinfo is None:
        # RFC 5322: "-0000" is a time in UTC from an unknown place. Without any zone the moment is not known.
        return moment.replace(tzinfo=UTC) if "-0000" in line.split() else None
    return moment
