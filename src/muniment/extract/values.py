"""Captured words as typed values. What cannot be read as its type is an `Unreadable`, never a guess."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final

from muniment.extract.dates import When, resolve

_NUMBER = r"(?P<sign>[+\-−]?)(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d{1,15})?|\d{1,15}(?:[.,]\d{1,15})?)"
_WITH_UNIT = re.compile(rf"{_NUMBER}\s{{0,3}}(?P<unit>[^\W\d][^\d]{{0,29}}|[%°‰][^\d]{{0,5}})?")
_MONEY = re.compile(rf"(?P<before>[A-Z]{{3}}|[€£¥])?\s?{_NUMBER}\s?(?P<after>[A-Z]{{3}}|[€£¥])?")
_CURRENCIES: Final = {"€": "EUR", "£": "GBP", "¥": "JPY"}
_BOOLEANS: Final = {
    **dict.fromkeys(("yes", "true", "on", "enabled", "allowed", "active"), True),
    **dict.fromkeys(("no", "false", "off", "disabled", "not allowed", "inactive", "forbidden"), False),
}


class Unreadable(Exception):
    """The words do not say a value of the type asked for."""


def said_in_offset(occurred_at: datetime | None, utc_offset: int | None) -> datetime | None:
    """The moment in the offset (minutes east) in which it was said."""
    if occurred_at is None or utc_offset is None:
        return occurred_at
    try:
        return occurred_at.astimezone(timezone(timedelta(minutes=utc_offset)))
    except (ValueError, OverflowError):
        return occurred_at


def date_in(text: str, said_at: datetime | None) -> When:
    """The one date that the text is. Raises `Unreadable`, also for a relative one said nobody knows when."""
    when = resolve(text, said_at or datetime(2000, 1, 1, tzinfo=UTC))
    if when is None:
        raise Unreadable(f"{text[:80]!r} is no date that can be read")
    if when.relative and said_at is None:
        raise Unreadable(f"{text[:80]!r} depends on when it was said, and this evidence has no occurred_at")
    return when


def typed(text: str, value_type: str, said_at: datetime | None) -> Any:
    """`text` as a value of the type (one of `VALUE_TYPES`). Raises `Unreadable`."""
    return VALUE_TYPES[value_type](text, said_at)


def _text(text: str, said_at: datetime | None) -> str:
    return text


def _number(text: str, said_at: datetime | None) -> int | float:
    match = _WITH_UNIT.fullmatch(text.strip())
    if match is None:
        raise Unreadable(f"{text[:80]!r} is no number that can be read")
    return _amount(match)


def _quantity(text: str, said_at: datetime | None) -> dict[str, Any]:
    match = _WITH_UNIT.fullmatch(text.strip())
    if match is None or match["unit"] is None:
        raise Unreadable(f"{text[:80]!r} is no amount with a unit")
    return {"amount": _amount(match), "unit": match["unit"].strip()}


def _money(text: str, said_at: datetime | None) -> dict[str, Any]:
    match = _MONEY.fullmatch(text.strip())
    if match is None or (match["before"] is None) == (match["after"] is None):
        raise Unreadable(f"{text[:80]!r} is no amount with one currency; '$' names several")
    mark = match["before"] or match["after"]
    return {"amount": _amount(match), "currency": _CURRENCIES.get(mark, mark)}


def _amount(match: re.Match[str]) -> int | float:
    digits = match["digits"]
    # "1,250" is a thousand, as in English; a comma before one, two or four digits can only be a decimal one.
    digits = (
        digits.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits) else digits.replace(",", ".")
    )
    number = float(digits) if "." in digits else int(digits)
    number = -number if match["sign"] in ("-", "−") else number
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _date(text: str, said_at: datetime | None) -> str:
    when = date_in(text, said_at)
    if when.grain not in ("day", "minute"):
        raise Unreadable(f"{text[:80]!r} is a {when.grain}, not a day")
    return when.start.date().isoformat()


def _boolean(text: str, said_at: datetime | None) -> bool:
    value = _BOOLEANS.get(" ".join(text.casefold().split()))
    if value is None:
        raise Unreadable(f"{text[:80]!r} is neither yes nor no")
    return value


def _list(text: str, said_at: datetime | None) -> list[str]:
    parts = [part.strip() for part in re.split(r"[,;]\s*(?:and\s|or\s)?|\s(?:and|or|&)\s", text)]
    return [part for part in parts if part]


VALUE_TYPES: Final[Mapping[str, Callable[[str, datetime | None], Any]]] = {
    "text": _text,
    "subject": _text,
    "number": _number,
    "quantity": _quantity,
    "money": _money,
    "date": _date,
    "boolean": _boolean,
    "list": _list,
}
