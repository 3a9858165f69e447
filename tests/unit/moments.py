"""The naive model of intervals: a few integers, each in the set or not.

Bounds lie between 0 and `LAST`, so the moments -1 and `LAST` stand for everything before and after them.
"""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from muniment.time import Interval, Intervals

LAST = 9
MOMENTS = range(-1, LAST + 1)

Span = tuple[int | None, int | None]
Model = frozenset[int]

SPANS: st.SearchStrategy[Span] = st.sampled_from(
    [
        (start, end)
        for start in (*range(LAST), None)
        for end in (*range(1, LAST + 1), None)
        if start is None or end is None or start < end
    ]
)
SPAN_LISTS = st.lists(SPANS, max_size=5)


def intervals(spans: Iterable[Span]) -> Intervals[int]:
    """The normal form of these spans."""
    return Intervals.of([Interval(start, end) for start, end in spans])


def spans_of(value: Intervals[int]) -> list[Span]:
    """The parts as they are written in cases."""
    return [(part.start, part.end) for part in value.parts]


def model_of(spans: Iterable[Span]) -> Model:
    """Every moment that some span holds."""
    return frozenset(
        moment
        for start, end in spans
        for moment in MOMENTS
        if (start is None or start <= moment) and (end is None or moment < end)
    )


ANY = SPAN_LISTS.map(intervals)
