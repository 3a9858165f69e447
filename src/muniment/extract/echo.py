"""What muniment itself wrote, found again in a text: recalled memory that comes back as a turn must add nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_KEYS: Final = frozenset(
    {
        "request", "subject", "authoritativeState", "authoritative_state", "evidence", "claims", "conflicts",
        "summary", "missing", "freshness", "abstention", "retrieval"
    }
)  # fmt: skip
_ALL_OF: Final = frozenset({"evidence", "claims", "retrieval"})
_KEYS_OF_A_TORN_ONE: Final = 3

_BLOCK: Final = r"<muniment-memory(?=[\s>]|$)[^>]{0,1000}+>?"
_TAG: Final = re.compile(_BLOCK, re.IGNORECASE)
_OPENING: Final = re.compile(
    rf"{_BLOCK}|(?P<object>\{{\s{{0,100}}+[\"'](?:{'|'.join(sorted(_KEYS))})[\"']\s{{0,20}}+:)",
    re.IGNORECASE,
)
_CLOSING: Final = re.compile(r"</muniment-memory\s{0,20}+>", re.IGNORECASE)
# A string that is not closed on its line ends with the line. Possessive, so that no text makes it look twice.
_TOKEN: Final = re.compile(
    r'"(?P<double>(?:[^"\\\n]|\\[^\n])*+)(?:"|\\?(?=\n|\Z))'
    r"|'(?P<single>(?:[^'\\\n]|\\[^\n])*+)(?:'|\\?(?=\n|\Z))"
    r"|[{}]"
)
_COLON: Final = re.compile(r"\s{0,20}+:")


def without_echoes(content: str) -> list[tuple[int, int]]:
    """The ranges [start, end) of `content` that muniment did not write, in order, none empty.

    Left out are blocks of `Payload.to_prompt()` and payloads as JSON (or as the `repr` of their dict), whatever stands
    round them. One that is not closed runs to the end. Linear in the text; never raises.
    """
    kept, place = [], 0
    for start, end in sorted(_echoes(content)):
        if place < start:
            kept.append((place, start))
        place = max(place, end)
    if place < len(content):
        kept.append((place, len(content)))
    return kept


def _echoes(content: str) -> Iterator[tuple[int, int]]:
    place, opening = 0, _OPENING
    while (match := opening.search(content, place)) is not None:
        if match.re is _TAG or match["object"] is None:
            closing = _CLOSING.search(content, match.end())
            place = closing.end() if closing else len(content)
            yield match.start(), place
            continue
        found, end = _payloads(content, match.start())
        yield from found
        if end is None:  # every object up to the end has been looked at, once; blocks may still follow
            place, opening = match.end(), _TAG
        else:
            place = end


@dataclass(slots=True)
class _Object:
    start: int
    keys: set[str] = field(default_factory=set)


def _payloads(content: str, start: int) -> tuple[list[tuple[int, int]], int | None]:
    """The payloads in the object that begins at `start`, itself or nested, and where it ends; None: nowhere."""
    nested: list[_Object] = []
    found: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(content, start):
        if token[0] == "{":
            nested.append(_Object(token.start()))
        elif token[0] == "}":
            closed = nested.pop()
            if closed.keys >= _ALL_OF:
                _add(found, closed.start, token.end())
            if not nested:
                return found, token.end()
        else:
            key = token["double"] if token["double"] is not None else token["single"]
            if key in _KEYS and _COLON.match(content, token.end()):
                nested[-1].keys.add(key)
    torn = next((one for one in nested if len(one.keys) >= _KEYS_OF_A_TORN_ONE and one.keys & _ALL_OF), None)
    if torn is not None:
        _add(found, torn.start, len(content))
    return found, None


def _add(found: list[tuple[int, int]], start: int, end: int) -> None:
    while found and found[-1][0] >= start:
        found.pop()
    found.append((start, end))
