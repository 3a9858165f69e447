"""LoCoMo's chat files: a JSON list of conversations in numbered sessions; one `message` evidence a turn."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from muniment.errors import InvalidInput, UnreadableFile
from muniment.model.evidence import EvidenceDraft, EvidenceKind
from muniment.model.text import MAX_CONTENT_BYTES, require_name, require_text
from muniment.readers.files import opened
from muniment.readers.port import Read, Unread, unread

name = "LoCoMo chat JSON"

MAX_FILE_BYTES = MAX_CONTENT_BYTES
_GAP = re.compile(r"\s*(\[\s*\]|[\[\],]?)\s*")
_SESSION = re.compile(r"session_(\d{1,6})")
_BEGINS_LIST_OF_OBJECTS = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\{")
# Parsed by hand: `strptime` reads the names of months and "pm" in the host's language.
_WHEN = re.compile(r"(\d{1,2}):(\d{2}) (am|pm) on (\d{1,2}) ([a-z]+),? ((?:19|20)\d\d)", re.IGNORECASE)
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip


def accepts(path: Path, head: bytes) -> bool:
    """By shape, whatever the file's name: the first object of a list has a `conversation` with a `session_1`."""
    if not _BEGINS_LIST_OF_OBJECTS.match(head):
        return False
    try:
        first, _ = next(_objects(_load(path)))
    except (InvalidInput, UnreadableFile, StopIteration):
        return False
    return "session_1" in _dict(_dict(first).get("conversation"))


def read(path: Path) -> Iterator[Read | Unread]:
    """The turns in their order, named like "conv-26 session_1 turn 3".

    `occurred_at` is the session's time, which has no zone in these files and is taken as UTC, plus a second for each
    turn before it, so that the order of the turns is kept. `position` moves on by whole conversations. Of a file that
    breaks off, the conversations before the break are given. Raises `UnreadableFile`.
    """
    number = position = 0
    try:
        for number, (conversation, position) in enumerate(_objects(_load(path)), 1):
            for place, turn in _turns(number, conversation):
                if isinstance(turn, EvidenceDraft):
                    yield Read(turn, position, place)
                else:
                    yield _refused(place, turn, position)
    except InvalidInput as error:
        yield _refused(f"conversation {number + 1}", error, position)


def _refused(place: str, error: InvalidInput, position: int) -> Unread:
    return unread(place, error.code, str(error), position)


def _load(path: Path) -> str:
    with opened(path) as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise UnreadableFile(f"{str(path)!r} has more than {MAX_FILE_BYTES} bytes; split it into several lists")
    try:
        # Not `bytes.decode`: a file may break off inside a character, and what stands before it is still whole.
        return codecs.getincrementaldecoder("utf-8-sig")().decode(data)
    except UnicodeError:
        raise UnreadableFile(f"{str(path)!r} is not JSON in UTF-8") from None


def _objects(text: str) -> Iterator[tuple[Any, int]]:
    """The elements of a JSON list one by one, each with the byte where it ends.

    Raises `InvalidInput` where the list breaks off, so that the elements before that place are not lost.
    """
    if not text.strip():
        return
    decoder = json.JSONDecoder()
    start = position = 0
    while True:
        gap = _GAP.match(text, start)
        separator = gap[1] if gap else ""
        if gap is None or separator.endswith("]"):
            return
        try:
            if separator != ("," if start else "["):
                raise InvalidInput("the JSON list breaks off here")
            value, end = decoder.raw_decode(text, gap.end())
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"the JSON breaks off or is broken here: {error}") from None
        position += len(text[start:end].encode())
        yield value, position
        start = end


def _turns(number: int, sample: Any) -> Iterator[tuple[str, EvidenceDraft | InvalidInput]]:
    """Each turn of a conversation with its place, as a draft or as the reason why it is none."""
    chat = _dict(sample).get("conversation")
    try:
        sample_id = require_name(_dict(sample).get("sample_id", ""), what="sample_id")
        if not isinstance(chat, dict):
            raise InvalidInput("there is no 'conversation' object")
    except InvalidInput as error:
        yield f"conversation {number}", error
        return
    sessions = sorted((int(found[1]), key) for key in chat if (found := _SESSION.fullmatch(key)))
    for session, key in sessions:
        if not isinstance(chat[key], list):
            yield f"{sample_id} {key}", InvalidInput("the session is not a list of turns")
            continue
        began = _when(chat.get(f"{key}_date_time"))
        for index, turn in enumerate(chat[key]):
            try:
                draft: EvidenceDraft | InvalidInput = _draft(turn, sample_id, session, began, index)
            except InvalidInput as error:
                draft = error
            yield f"{sample_id} {key} turn {index + 1}", draft


def _draft(turn: Any, sample_id: str, session: int, began: datetime | None, index: int) -> EvidenceDraft:
    if not isinstance(turn, dict):
        raise InvalidInput("the turn is not an object")
    dia_id = require_name(turn.get("dia_id", ""), what="dia_id")
    metadata: dict[str, Any] = {"session": session, "dia_id": dia_id, "sample_id": sample_id}
    if began is None:
        metadata["repaired"] = ["the session has no readable time, so the time is unknown"]
    return EvidenceDraft(
        content=_content(turn),
        source="locomo",
        source_id=f"{sample_id}:{dia_id}",
        kind=EvidenceKind.MESSAGE,
        occurred_at=None if began is None else began + timedelta(seconds=index),
        author=require_name(turn.get("speaker", ""), what="speaker"),
        thread=f"{sample_id}:session_{session}",
        metadata=metadata,
    )


def _content(turn: dict[str, Any]) -> str:
    text, caption = turn.get("text") or "", turn.get("blip_caption")
    require_text(text, what="text", allow_empty=True)
    if caption:
        text = f"{text} [shares a photo: {require_text(caption, what='blip_caption')}]".lstrip()
    return require_text(text, what="the turn")


def _when(told: Any) -> datetime | None:
    """A session's time, such as "1:56 pm on 8 May, 2023"; None when it is anything else."""
    found = _WHEN.fullmatch(told.strip()) if isinstance(told, str) else None
    if found is None:
        return None
    hour, minute, half, day, month, year = found.groups()
    if not 1 <= int(hour) <= 12 or month.lower() not in _MONTHS:
        return None
    hours = int(hour) % 12 + (12 if half.lower() == "pm" else 0)
    try:
        return datetime(int(year), _MONTHS.index(month.lower()) + 1, int(day), hours, int(minute), tzinfo=UTC)
    except ValueError:
        return None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
