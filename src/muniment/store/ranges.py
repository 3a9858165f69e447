"""Between PostgreSQL's ranges and `muniment.time`."""

from __future__ import annotations

from datetime import UTC, datetime

from psycopg.types.multirange import Multirange

from muniment.time import Interval, Intervals

Moments = Intervals[datetime]


def from_multirange(value: Multirange[datetime]) -> Moments:
    """A `tstzmultirange` as `Intervals`."""
    return Intervals.of([Interval(part.lower, part.upper) for part in value])


def multirange_text(value: Moments) -> str:
    """`Intervals` as PostgreSQL writes a `tstzmultirange`, for rows that travel as JSON."""
    return "{" + ",".join(f"[{_bound(part.start)},{_bound(part.end)})" for part in value.parts) + "}"


def range_text(start: datetime, end: datetime | None) -> str:
    """[start, end) as PostgreSQL writes a `tstzrange`."""
    return f"[{_bound(start)},{_bound(end)})"


def _bound(moment: datetime | None) -> str:
    # In UTC: PostgreSQL refuses offsets of sixteen hours and more.
    return "" if moment is None else moment.astimezone(UTC).isoformat()
