"""MIME: the parts of a message, the text to read and the names of what is attached."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from email.message import EmailMessage, Message
from email.parser import BytesFeedParser
from email.policy import EmailPolicy
from typing import Any

from muniment.errors import InvalidInput
from muniment.readers.decoding import decode, storable
from muniment.readers.files import BLOCK_BYTES
from muniment.readers.headers import MAX_FIELD_CHARACTERS, readable_field
from muniment.readers.markup import declared_charset, readable

MAX_DEPTH = 50
MAX_PARTS = 20_000
MAX_MIME_FIELD_CHARACTERS = 4096
MAX_ATTACHMENTS_LISTED = 100
MAX_FILE_NAME_CHARACTERS = 255


class BoundedMessage(EmailMessage):
    """A message that refuses, while it is parsed, to nest or to branch without end."""

    def __init__(self, policy: Any = None) -> None:
        super().__init__(policy)
        self.depth = 0
        # Shared by all parts. A list and not the root itself, which would make a cycle and keep every message alive
        # until the garbage collector comes by.
        self.parts = [1]

    def attach(self, payload: Any) -> None:
        """Called by the parser for each part, before the part is read."""
        payload.depth, payload.parts = self.depth + 1, self.parts
        self.parts[0] += 1
        if payload.depth > MAX_DEPTH:
            raise InvalidInput(f"the message nests more than {MAX_DEPTH} parts")
        if self.parts[0] > MAX_PARTS:
            raise InvalidInput(f"the message has more than {MAX_PARTS} parts")
        super().attach(payload)


class BoundedPolicy(EmailPolicy):
    """`email.policy.default`, with header fields cut to a length and handed out as plain text.

    The default policy's field parser raises errors of any class on hostile fields, and needs seconds for long ones.
    """

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """The name and the value of a field, as it is stored."""
        name, value = super().header_source_parse(sourcelines)
        is_mime = name.lower().startswith("content-")
        return name, value[: MAX_MIME_FIELD_CHARACTERS if is_mime else MAX_FIELD_CHARACTERS]

    def header_fetch_parse(self, name: str, value: str) -> Any:
        """The value of a field on one line."""
        return value.replace("\r", "").replace("\n", "")


_POLICY = BoundedPolicy(message_factory=BoundedMessage)


def parse(data: bytes) -> Message[str, str]:
    """The message. Raises `InvalidInput` when it is not one, or has too many parts."""
    # In blocks: `email.message_from_bytes` makes several copies of the whole message, one of them four times its size.
    parser = BytesFeedParser(policy=_POLICY)
    for start in range(_beginning(data), len(data), BLOCK_BYTES):
        parser.feed(data[start : start + BLOCK_BYTES])
    message = parser.close()
    if not message.keys():
        raise InvalidInput("there is no header field here, so this is not a mail message")
    return message


def _beginning(data: bytes) -> int:
    """Where the first field begins: programs put a byte order mark or empty lines before it, `email` expects none."""
    start = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    while data[start : start + 1] in (b"\r", b"\n"):
        start += 1
    return start


def body(part: Message[str, str], notes: list[str]) -> str:
    """The text of the message: every text part that is shown with it, plain text preferred among alternatives."""
    children = _children(part)
    if not children:
        return _text(part, notes) if _is_text(part) else ""
    if _type(part) != "multipart/alternative":
        return "\n\n".join(text for child in children if (text := body(child, notes)))
    # RFC 2046 puts the best alternative last; but text written as text needs no turning.
    children.reverse()
    children.sort(key=lambda child: _type(child) != "text/plain")
    return next((text for child in children if (text := body(child, notes))), "")


def attachments(message: Message[str, str], notes: list[str]) -> list[dict[str, str | None]]:
    """Name and type of each part that is not text of the message itself; a forwarded message counts as one."""
    found = [part for part in _leaves(message) if not _is_text(part)]
    if len(found) > MAX_ATTACHMENTS_LISTED:
        notes.append(f"only the first {MAX_ATTACHMENTS_LISTED} of {len(found)} attachments are listed")
    return [
        {"name": _file_name(part, notes), "type": storable(part.get_content_type()[:100], "a content type", notes)}
        for part in found[:MAX_ATTACHMENTS_LISTED]
    ]


def defects(message: Message[str, str]) -> list[str]:
    """What the parser found wrong with the structure, by the names of the standard library's defects."""
    return sorted({type(defect).__name__ for part in message.walk() for defect in part.defects})


def _children(part: Message[str, str]) -> list[Message[str, str]]:
    """The parts of a multipart. A forwarded message is a whole of its own and is not entered."""
    if not part.is_multipart() or part.get_content_maintype() == "message":
        return []
    return [child for child in part.get_payload() if isinstance(child, Message)]


def _leaves(part: Message[str, str]) -> Iterator[Message[str, str]]:
    children = _children(part)
    if not children:
        yield part
    for child in children:
        yield from _leaves(child)


def _is_text(part: Message[str, str]) -> bool:
    """Whether this part is text that mail programs show as the message itself."""
    if part.get_content_maintype() == "multipart":
        return True  # It named parts but none was found, so what it holds is text.
    disposition = part.get_content_disposition()
    if disposition == "attachment" or (disposition == "inline" and part.get_filename()):
        return False
    return _type(part) in ("text/plain", "text/html")


def _type(part: Message[str, str]) -> str:
    return part.get_content_type().split()[0]


def _text(part: Message[str, str], notes: list[str]) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    is_html = _type(part) == "text/html"
    charset = part.get_content_charset() or (declared_charset(data) if is_html else None)
    text = storable(decode(data, charset, notes), "the text", notes)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return readable(text) if is_html else text.strip("\n").rstrip()


def _file_name(part: Message[str, str], notes: list[str]) -> str | None:
    name = part.get_filename()
    return readable_field(name, "a file name", notes)[:MAX_FILE_NAME_CHARACTERS] if name else None
