"""Closed-open interval arithmetic, and the rules for datetimes that come from outside. Pure: no clock, no database.

Bounds are any ordered values (datetimes in use, integers in tests). `None` as a start means "since ever", `None` as an
end means "until further notice", as in PostgreSQL ranges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, Protocol, Self, TypeVar

from muniment.errors import InvalidTime, NaiveDatetime


class Ordered(Protocol):
    """What a bound must be able to do."""

    def __lt__(self, other: Any, /) -> bool: ...


T = TypeVar("T", bound=Ordered)


def require_aware(value: datetime) -> datetime:
    """`value` unchanged. Raises `NaiveDatetime` when it has no UTC offset."""
    if not isinstance(value, datetime):
        raise InvalidTime(f"expected a datetime with an offset, got {type(value).__name__}")
    if value.tzinfo is None or value.utcoffset() is None:
        raise NaiveDatetime(
            f"{value.isoformat()} has no offset, so its moment is unknown; write e.g. {value.isoformat()}+00:00"
        )
    try:
        value.astimezone(UTC)
    except OverflowError:
        raise InvalidTime(f"{value.isoformat()} lies outside the years 1 to 9999 in UTC") from None
    return value


@dataclass(frozen=True, slots=True)
class Interval(Generic[T]):
    """[start, end): the start belongs to it, the end does not. Never empty."""

    start: T | None
    end: T | None

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and not self.start < self.end:
            raise InvalidTime(f"an interval ends after it starts; got [{self.start}, {self.end})")

    def __contains__(self, moment: T) -> bool:
        after_start = self.start is None or not moment < self.start
        return after_start and (self.end is None or moment < self.end)


def _later(a: T | None, b: T | None) -> T | None:
    """The later of two starts."""
    if a is None or b is None:
        return b if a is None else a
    return b if a < b else a


def _earlier(a: T | None, b: T | None) -> T | None:
    """The earlier of two ends."""
    if a is None or b is None:
        return b if a is None else a
    return a if a < b else b


def _overlap(a: Interval[T], b: Interval[T]) -> Interval[T] | None:
    start, end = _later(a.start, b.start), _earlier(a.end, b.end)
    if start is not None and end is not None and not start < end:
        return None
    return Interval(start, end)


def _pieces(whole: Interval[T], hole: Interval[T]) -> Iterator[Interval[T]]:
    """What is left of `whole` when `hole` is taken out."""
    if _overlap(whole, hole) is None:
        yield whole
        return
    if hole.start is not None and (whole.start is None or whole.start < hole.start):
        yield Interval(whole.start, hole.start)
    if hole.end is not None and (whole.end is None or hole.end < whole.end):
        yield Interval(hole.end, whole.end)


def _touch(a: Interval[T], b: Interval[T]) -> bool:
    """Whether `b`, which does not start before `a`, overlaps or adjoins it."""
    return a.end is None or b.start is None or not a.end < b.start


@dataclass(frozen=True, slots=True)
class Intervals(Generic[T]):
    """A set of moments as sorted, disjoint, non-adjoining intervals: PostgreSQL's multirange."""

    parts: tuple[Interval[T], ...] = ()

    @classmethod
    def of(cls, parts: Iterable[Interval[T]]) -> Self:
        """The normal form of any intervals."""
        unbounded = [p for p in parts if p.start is None]
        bounded = sorted((p for p in parts if p.start is not None), key=lambda p: p.start)  # type: ignore[arg-type, return-value]
        merged: list[Interval[T]] = []
        for part in (*unbounded, *bounded):
            if merged and _touch(merged[-1], part):
                last = merged.pop()
                end = None if last.end is None or part.end is None else (part.end if last.end < part.end else last.end)
                part = Interval(last.start, end)
            merged.append(part)
        return cls(tuple(merged))

    @classmethod
    def between(cls, start: T | None, end: T | None) -> Self:
        """The one interval [start, end)."""
        return cls((Interval(start, end),))

    def __bool__(self) -> bool:
        return bool(self.parts)

    def __contains__(self, moment: T) -> bool:
        return any(moment in part for part in self.parts)

    def __or__(self, other: Intervals[T]) -> Intervals[T]:
        return Intervals.of((*self.parts, *other.parts))

    def __and__(self, other: Intervals[T]) -> Intervals[T]:
        overlaps = (_overlap(a, b) for a in self.parts for b in other.parts)
        return Intervals.of([overlap for overlap in overlaps if overlap is not None])

    def __sub__(self, other: Intervals[T]) -> Intervals[T]:
        left = list(self.parts)
        for hole in other.parts:
            left = [piece for part in left for piece in _pieces(part, hole)]
        return Intervals.of(left)

    @property
    def start(self) -> T | None:
        """The first moment; None when empty or unbounded (ask `bool` first)."""
        return self.parts[0].start if self.parts else None

    @property
    def end(self) -> T | None:
        """The first moment after all of it; None when empty or unbounded."""
        return self.parts[-1].end if self.parts else None

    def since(self, moment: T | None) -> Intervals[T]:
        """The part from `moment` on."""
        return self if moment is None else self & Intervals.between(moment, None)

    def part_at(self, moment: T) -> Interval[T] | None:
        """The interval that holds `moment`."""
        return next((part for part in self.parts if moment in part), None)
