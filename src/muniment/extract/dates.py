"""Dates in a text, resolved against the moment it was said and in that moment's own offset. Never against now.

Languages: English (names of months and weekdays, relative expressions), and the forms that need none (`2027-12-22`,
`2027-12-22T09:00+02:00`, `22.12.2027`, `2027年12月22日`, `19:17+08:00`). `3/4/2027` is read by nobody the same and is
therefore no date here, unless one part is above 12.

Why not a library: `dateparser` was tried. In running text it takes "we" for a Wednesday, "may" for a month, "room 2024"
for a year and "version 3.11 of sat nav" for a day in November; it does not say how exact a date is; and it reads 0.06
MB/s. A wrong date is worse here than none.

Without a year, a date lies near the moment it was said: "3 May" is the nearest such day, "in March" the nearest March.
Weeks begin on Monday. "next Friday" is the first Friday after the day it was said, "last Friday" the last one before.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from functools import cache
from typing import Final, Literal

from muniment.time import require_aware

Grain = Literal["minute", "day", "week", "month", "year"]
MAX_EXPRESSION: Final = 60


@dataclass(frozen=True, slots=True)
class When:
    """[start, end) in aware datetimes, as exact as `grain`; characters [span[0], span[1]) of the text say it.

    `end` None: the calendar ends before it does (the year 9999). `relative`: it depends on when the text was said.
    """

    start: datetime
    end: datetime | None
    grain: Grain
    span: tuple[int, int]
    relative: bool


def resolve(text: str, said_at: datetime) -> When | None:
    """What the text says as a whole, such as a captured group: "next Friday", "on 3 May 2027". None when it is no date
    or has words beside the date. Raises `NaiveDatetime` for a naive `said_at`."""
    bare = text[: MAX_EXPRESSION + 1].strip(" \t\n.,;:!()")
    if len(bare) > MAX_EXPRESSION:
        return None
    found = find_dates(bare, said_at)
    if len(found) != 1:
        return None
    beside = bare[: found[0].span[0]] + bare[found[0].span[1] :]
    if _BESIDE.fullmatch(beside) is None:
        return None
    offset = text.index(bare)
    first, last = found[0].span
    when = found[0]
    return When(when.start, when.end, when.grain, (first + offset, last + offset), when.relative)


def find_dates(text: str, said_at: datetime) -> list[When]:
    """Every date in the text, in order, not overlapping. An impossible one (30 February) is left out. Linear in the
    text. Raises `NaiveDatetime` for a naive `said_at`, and nothing for any text."""
    said = _in_fixed_offset(require_aware(said_at))
    return list(_each(text, said))


def _each(text: str, said: datetime) -> Iterator[When]:
    for match in _ANY().finditer(text):
        name = match.lastgroup or ""
        form, read = _FORMS[int(name.removeprefix("form_"))]
        parts = re.compile(form, re.IGNORECASE).fullmatch(match[0])
        if parts is None:
            continue
        try:
            start, grain, relative = read({key: value or "" for key, value in parts.groupdict().items()}, said)
        except (ValueError, OverflowError):
            continue
        yield When(start, _end(start, grain), grain, match.span(), relative)


def _in_fixed_offset(said: datetime) -> datetime:
    offset = said.utcoffset()
    return said.replace(tzinfo=timezone(offset)) if offset is not None else said


def _end(start: datetime, grain: Grain) -> datetime | None:
    try:
        match grain:
            case "minute":
                return start + timedelta(minutes=1)
            case "day":
                return start + timedelta(days=1)
            case "week":
                return start + timedelta(days=7)
            case "month":
                return _at(_months_from(start.date(), 1), start.tzinfo)
            case "year":
                return start.replace(year=start.year + 1)
    except (ValueError, OverflowError):
        return None


def _at(day: date, zone: tzinfo | None, clock: time = time()) -> datetime:
    return datetime.combine(day, clock, zone)


def _months_from(day: date, months: int) -> date:
    """The same day of another month, or that month's last day."""
    index = day.year * 12 + day.month - 1 + months
    year, month = index // 12, index % 12 + 1
    if not 1 <= year <= 9999:
        raise OverflowError
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def _names(words: str) -> dict[str, int]:
    return {word: number for number, group in enumerate(words.split(), 1) for word in group.split("/")}


MONTHS: Final = _names(
    "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sept/sep october/oct "
    "november/nov december/dec"
)
WEEKDAYS: Final = _names(
    "monday/mon tuesday/tues/tue wednesday/wed thursday/thurs/thu friday/fri saturday/sat sunday/sun"
)
NUMBERS: Final = {
    "a": 1, "an": 1, "the": 1, "one": 1, "two": 2, "a couple of": 2, "couple of": 2, "three": 3, "four": 4, "five": 5,
    "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip

_MONTH = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\.?"
_FULL_MONTH = r"(?P<month>January|February|March|April|May|June|July|August|September|October|November|December)"
_WEEKDAY = r"(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_COUNT = rf"(?P<count>\d{{1,9}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>[12]\d{3})"
_CLOCK = r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:[.,]\d{1,9})?)?"
_ZONE = r"(?P<zone>Z|[+-](?:0\d|1[0-4]):?[0-5]\d)"
_HALF = r"(?:\s?(?P<half>[ap])\.?m\b\.?)"
_AT = rf"(?:(?:,?\s(?:at\s)?){_CLOCK}{_HALF}?)?"

Parts = dict[str, str]
Read = tuple[datetime, Grain, bool]


def _with_clock(day: date, parts: Parts, said: datetime, *, relative: bool) -> Read:
    if not parts.get("hour"):
        return _at(day, said.tzinfo), "day", relative
    hour = int(parts["hour"])
    if half := parts.get("half", "").lower():
        if not 1 <= hour <= 12:
            raise ValueError(hour)
        hour = hour % 12 + (12 if half == "p" else 0)
    clock = time(hour, int(parts.get("minute") or 0), int(parts.get("second") or 0))
    return _at(day, _zone(parts.get("zone", "")) or said.tzinfo, clock), "minute", relative


def _zone(text: str) -> timezone | None:
    if not text:
        return None
    if text in "Zz":
        return timezone(timedelta())
    hours, minutes = int(text[1:3]), int(text[-2:])
    return timezone((1 if text[0] == "+" else -1) * timedelta(hours=hours, minutes=minutes))


def _calendar_day(parts: Parts, said: datetime) -> Read:
    month = MONTHS[parts["month"].lower()] if parts["month"].isalpha() else int(parts["month"])
    day = int(parts["day"])
    if parts.get("year"):
        return _with_clock(date(int(parts["year"]), month, day), parts, said, relative=False)
    near = [date(year, month, day) for year in range(said.year - 1, said.year + 2) if _exists(year, month, day)]
    return _with_clock(min(near, key=lambda one: abs(one - said.date())), parts, said, relative=True)


def _exists(year: int, month: int, day: int) -> bool:
    return 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]


def _slashes(parts: Parts, said: datetime) -> Read:
    a, b = int(parts["a"]), int(parts["b"])
    if (a > 12) == (b > 12) and a != b:
        raise ValueError("day and month cannot be told apart")
    day, month = (a, b) if a > 12 else (b, a)
    return _with_clock(date(int(parts["year"]), month, day), parts, said, relative=False)


def _month(parts: Parts, said: datetime) -> Read:
    month = MONTHS[parts["month"].lower()]
    if parts.get("year"):
        return _at(date(int(parts["year"]), month, 1), said.tzinfo), "month", False
    here = said.year * 12 + said.month - 1
    which = (parts.get("which") or "").lower()
    ahead = (month - said.month) % 12
    if which == "next":
        step = ahead or 12
    elif which == "last":
        step = ahead - 12
    elif which == "this":
        return _at(date(said.year, month, 1), said.tzinfo), "month", True
    else:
        step = ahead if ahead <= 6 else ahead - 12
    return _at(date((here + step) // 12, month, 1), said.tzinfo), "month", True


def _year(parts: Parts, said: datetime) -> Read:
    return _at(date(int(parts["year"]), 1, 1), said.tzinfo), "year", False


def _named_day(parts: Parts, said: datetime) -> Read:
    steps = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1, "this": 0, "last": -1, "the day before": -2}
    name = " ".join(parts["name"].lower().split())
    step = (
        -2 if name.startswith("the day before") else 2 if name.startswith("the day after") else steps[name.split()[0]]
    )
    return _with_clock(said.date() + timedelta(days=step), parts, said, relative=True)


def _weekday(parts: Parts, said: datetime) -> Read:
    ahead = (WEEKDAYS[parts["weekday"].lower()] - 1 - said.weekday()) % 7
    which = (parts.get("which") or "").lower()
    if which in ("last", "past", "previous"):
        ahead -= 7
    elif which in ("next", "coming"):
        ahead = ahead or 7
    elif which == "this":
        ahead = WEEKDAYS[parts["weekday"].lower()] - 1 - said.weekday()
    else:
        raise ValueError("a weekday alone may be any week's")
    return _with_clock(said.date() + timedelta(days=ahead), parts, said, relative=True)


def _whole(parts: Parts, said: datetime) -> Read:
    """Last, this or next week, month or year."""
    step = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1}[
        parts["which"].lower()
    ]
    return _unit(said.date(), parts["unit"].lower(), step, said, whole=True)


def _ago(parts: Parts, said: datetime) -> Read:
    count = NUMBERS.get(" ".join(parts["count"].lower().split())) or int(parts["count"])
    back = bool(parts.get("ago"))
    unit = parts["unit"].lower().removesuffix("s")
    if unit in ("minute", "hour"):
        step = timedelta(**{f"{unit}s": count})
        moment = said - step if back else said + step
        return moment.replace(second=0, microsecond=0), "minute", True
    return _unit(said.date(), unit, -count if back else count, said, whole=False)


def _unit(day: date, unit: str, step: int, said: datetime, *, whole: bool) -> Read:
    match unit:
        case "day":
            return _at(day + timedelta(days=step), said.tzinfo), "day", True
        case "week" if whole:
            monday = day - timedelta(days=day.weekday())
            return _at(monday + timedelta(days=7 * step), said.tzinfo), "week", True
        case "week":
            then = day + timedelta(days=7 * step)
            return _at(then - timedelta(days=then.weekday()), said.tzinfo), "week", True
        case "month":
            return _at(_months_from(day, step).replace(day=1), said.tzinfo), "month", True
        case _:
            return _at(date(day.year + step, 1, 1), said.tzinfo), "year", True


def _clock_only(parts: Parts, said: datetime) -> Read:
    """A time of the day it was said, in the offset it names: "19:17+08:00" stays an evening at +08:00."""
    zone = _zone(parts.get("zone", ""))
    day = said.astimezone(zone).date() if zone else said.date()
    return _with_clock(day, parts, said, relative=True)


_SINCE = r"in|during|since|until|till|by|from|before|after"
_NAMED = (
    r"(?P<name>the\sday\sbefore\syesterday|the\sday\safter\stomorrow|yesterday|today|tonight|tomorrow"
    r"|this\s(?:morning|afternoon|evening)|last\snight)"
)
# "in 2000 people": a number of things is no year.
_NO_COUNT = (
    r"(?![\w%€$£]|[.,:/-]\d|\s(?:%|percent|people|users|euros?|dollars?|items|ways|steps|cases|tokens|kg|km|units|files"
    r"|rows|days|hours|minutes|seconds|meters|metres|words|points|pages))"
)
_ISO = r"(?P<year>[12]\d{3})-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-3]\d)"
# In order of preference where several begin at the same place. Single spaces stand for short runs of white space.
_FORMS: Final[list[tuple[str, Callable[[Parts, datetime], Read]]]] = [
    (pattern.replace(r"\s", r"[ \t\n\xa0]{1,3}").replace(r"{1,3}?", "{0,3}"), read)
    for pattern, read in (
        (rf"{_ISO}[T\s]{_CLOCK}(?:{_ZONE})?".replace(r"[T\s]", "[T ]"), _calendar_day),
        (_ISO, _calendar_day),
        (r"(?P<year>[12]\d{3})年(?P<month>1[0-2]|0?[1-9])月(?P<day>[0-3]?\d)日", _calendar_day),
        (r"(?P<day>[0-3]?\d)\.(?P<month>0?[1-9]|1[0-2])\.(?P<year>[12]\d{3})", _calendar_day),
        (r"(?P<a>[0-3]?\d)/(?P<b>[0-3]?\d)/(?P<year>[12]\d{3})", _slashes),
        (rf"{_DAY}\s(?:of\s)?{_MONTH},?\s{_YEAR}{_AT}", _calendar_day),
        (rf"{_MONTH}\s{_DAY},?\s{_YEAR}{_AT}", _calendar_day),
        (rf"{_MONTH},?\s(?:of\s)?{_YEAR}", _month),
        (rf"{_DAY}\s(?:of\s)?{_MONTH}{_AT}", _calendar_day),
        (rf"{_MONTH}\s{_DAY}(?![.:/]?\d){_AT}", _calendar_day),
        (rf"{_NAMED}{_AT}", _named_day),
        (rf"(?P<which>last|past|previous|next|coming|this)\s{_WEEKDAY}{_AT}", _weekday),
        (r"(?P<which>last|past|previous|next|coming|this|current)\s(?P<unit>week|month|year)", _whole),
        (rf"(?:{_SINCE}|of|(?P<which>last|next|this))\s{_FULL_MONTH}(?!\s\d)", _month),
        (rf"{_COUNT}\s(?P<unit>minutes?|hours?|days?|weeks?|months?|years?)\s(?P<ago>ago|earlier)", _ago),
        (rf"in\s{_COUNT}\s(?P<unit>minutes?|hours?|days?|weeks?|months?|years?)", _ago),
        (rf"(?:{_SINCE}|throughout|circa|(?:the\s)?year)\s{_YEAR}{_NO_COUNT}", _year),
        (rf"{_CLOCK}\s?{_ZONE}", _clock_only),
    )
]  # fmt: skip
_BESIDE = re.compile(r"[\s,.]*(?:(?:on|at|since|from|until|till|by|the|in)[\s,.]*){0,3}", re.IGNORECASE)


@cache
def _ANY() -> re.Pattern[str]:  # noqa: N802 - compiled at the first use, so that importing stays cheap
    named = re.compile(r"\(\?P<\w+>")
    forms = (f"(?P<form_{number}>{named.sub('(?:', form)})" for number, (form, _) in enumerate(_FORMS))
    return re.compile(rf"(?<![\w.,:/+-])(?:{'|'.join(forms)})(?![\w%]|[.,:/-]\d)", re.IGNORECASE)
