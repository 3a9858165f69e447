"""JSON Lines: one object a line, with the arguments of `Session.add` as its names, in snake_case or camelCase."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from muniment.errors import InvalidInput, UnreadableFile
from muniment.model.evidence import EvidenceDraft
from muniment.model.text import MAX_CONTENT_BYTES, require_json, require_text
from muniment.readers.files import Chunk, Gathering, ends_line, line_pieces, opened
from muniment.readers.port import Read, Unread, unread
from muniment.time import require_aware

name = "JSON Lines (.jsonl, .ndjson)"

MAX_LINE_BYTES = 2 * MAX_CONTENT_BYTES  # Escapes make the text longer in JSON than it is.
_SUFFIXES = {".jsonl", ".ndjson"}
_FIELDS = {
    spelling: field for field, info in EvidenceDraft.model_fields.items() for spelling in (field, info.alias or field)
}
_TIMES = ("occurred_at", "observed_at")


def accepts(path: Path, head: bytes) -> bool:
    """By suffix, or by a first line that is an object with `content`."""
    if path.suffix.lower() in _SUFFIXES:
        return True
    first = head.removeprefix(codecs.BOM_UTF8).lstrip().partition(b"\n")[0]
    try:
        return first.startswith(b"{") and "content" in _object(first)
    except InvalidInput:
        return False


def read(path: Path) -> Iterator[Read | Unread]:
    """The objects of the file, named "line 1" and so on; blank lines count and are skipped.

    `content` is required, `source` is "jsonl" unless given, names that `add` does not know go into the metadata, and
    times are ISO 8601 with an offset. Raises `UnreadableFile`.
    """
    with opened(path) as file:
        for number, line in enumerate(_lines(line_pieces(file)), 1):
            if number == 1 and (line.data or b"").startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise UnreadableFile(f"{str(path)!r} is UTF-16; JSON Lines is UTF-8, so convert it first")
            if line.data is None or line.data.strip():
                yield _item(f"line {number}", line)


def _lines(pieces: Iterator[bytes]) -> Iterator[Chunk]:
    line, position = Gathering(MAX_LINE_BYTES), 0
    piece = b"\n"
    for piece in pieces:
        line.add(piece)
        position += len(piece)
        if ends_line(piece):
            yield line.chunk(position)
            line = Gathering(MAX_LINE_BYTES)
    if not ends_line(piece):
        yield line.chunk(position)


def _item(place: str, line: Chunk) -> Read | Unread:
    try:
        if line.data is None:
            raise InvalidInput(f"the line has {line.size} bytes; at most {MAX_LINE_BYTES} are read")
        return Read(_draft(_object(line.data)), line.end, place)
    except InvalidInput as error:
        return unread(place, error.code, str(error), line.end)


def _object(line: bytes) -> dict[str, Any]:
    """The JSON object of a line. Raises `InvalidInput`."""
    try:
        value = json.loads(
            line.decode("utf-8-sig"), object_pairs_hook=_without_repeats, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise InvalidInput("the JSON is nested too deeply") from None
    except ValueError as error:
        raise InvalidInput(f"this is not JSON in UTF-8: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInput(f"expected a JSON object with 'content', got {type(value).__name__}")
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Python would keep the last of two values for one name, and lose the other without a word.
    if len(found := dict(pairs)) < len(pairs):
        raise InvalidInput("an object gives the same name twice")
    return found


def _refuse_constant(constant: str) -> Any:
    raise InvalidInput(f"{constant} is not JSON")


def _draft(given: dict[str, Any]) -> EvidenceDraft:
    fields: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    for key, value in given.items():
        place, key = (fields, _FIELDS[key]) if key in _FIELDS else (metadata, key)
        if key in place:
            raise InvalidInput(f"{key} is given twice, in snake_case and in camelCase")
        place[key] = value
    fields = {"source": "jsonl"} | {key: value for key, value in fields.items() if value is not None}
    require_text(fields.get("content", ""), what="content")
    require_json(given, what="the line", max_bytes=MAX_LINE_BYTES)
    for key in _TIMES:
        if key in fields:
            fields[key] = _time(fields[key], key)
    fields["metadata"] = _merged(fields.get("metadata", {}), metadata)
    try:
        return EvidenceDraft.model_validate(fields)
    except ValidationError as error:
        raise InvalidInput(_explained(error)) from None


def _time(value: Any, key: str) -> datetime:
    """An ISO 8601 time with its offset. A number is refused: whether it counts seconds or milliseconds is a guess."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None:
        raise InvalidInput(f"{key} must be ISO 8601 text with an offset, such as 2026-01-10T09:00:00+01:00")
    return require_aware(moment)


def _merged(given: Any, unknown: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise InvalidInput(f"metadata must be an object, not {type(given).__name__}")
    if both := given.keys() & unknown.keys():
        raise InvalidInput(f"{sorted(both)[0][:80]!r} is given twice, in the object and in its metadata")
    return given | unknown


def _explained(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:3])
