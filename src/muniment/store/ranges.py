"""Between PostgreSQL's ranges and `muniment.time`."""

from __future__ import annotations

from datetime import datetime

from psycopg.types.multirange import Multirange
from psycopg.types.range import Range

from muniment.time import Interval, Intervals

Moments = Intervals[datetime]


def from_multirange(value: Multirange[datetime]) -> Moments:
    """A `tstzmultirange` as `Intervals`."""
    return Intervals.of([Interval(part.lower, part.upper) for part in value])


def to_multirange(value: Moments) -> Multirange[datetime]:
    """`Intervals` as a `tstzmultirange`."""
    return Multirange([Range(part.start, part.end, "[)") for part in value.parts])


def since(moment: datetime, until: datetime | None = None) -> Range[datetime]:
    """The closed-open `tstzrange` [moment, until)."""
    return Range(moment, until, "[)")
