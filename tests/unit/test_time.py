"""Intervals against a set of integers, and what is refused as a moment."""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.errors import InvalidTime, NaiveDatetime
from muniment.time import Interval, Intervals, require_aware
from tests.unit.moments import ANY, LAST, MOMENTS, SPAN_LISTS, Model, Span, intervals, model_of, spans_of

Operation = Callable[[Any, Any], Any]
thorough = settings(max_examples=120, deadline=None)


def model(value: Intervals[int]) -> Model:
    return model_of(spans_of(value))


def in_normal_form(value: Intervals[int]) -> bool:
    """Sorted, disjoint and non-adjoining: between two parts there is a gap."""
    return all(
        before.end is not None and after.start is not None and before.end < after.start
        for before, after in zip(value.parts, value.parts[1:], strict=False)
    )


@thorough
@given(SPAN_LISTS)
def test_a_set_holds_the_moments_of_its_parts_and_no_other(spans: list[Span]) -> None:
    built = intervals(spans)
    assert model(built) == model_of(spans)
    assert {moment for moment in MOMENTS if moment in built} == model_of(spans)
    assert bool(built) == bool(model_of(spans))
    assert in_normal_form(built)


@thorough
@given(ANY)
def test_equal_sets_are_equal_values_however_they_were_built(value: Intervals[int]) -> None:
    alone = {-1: (None, 0), LAST: (LAST, None)}
    assert intervals(alone.get(moment, (moment, moment + 1)) for moment in sorted(model(value), reverse=True)) == value


@pytest.mark.parametrize("operation", [operator.or_, operator.and_, operator.sub])
@thorough
@given(a=ANY, b=ANY)
def test_set_operations_act_on_every_moment(operation: Operation, a: Intervals[int], b: Intervals[int]) -> None:
    result = operation(a, b)
    assert model(result) == operation(model(a), model(b))
    assert in_normal_form(result)


LAWS: dict[str, Callable[[Intervals[int], Intervals[int], Intervals[int]], tuple[Intervals[int], Intervals[int]]]] = {
    "union commutes": lambda a, b, c: (a | b, b | a),
    "intersection commutes": lambda a, b, c: (a & b, b & a),
    "union is associative": lambda a, b, c: ((a | b) | c, a | (b | c)),
    "intersection is associative": lambda a, b, c: ((a & b) & c, a & (b & c)),
    "intersection distributes over union": lambda a, b, c: (a & (b | c), (a & b) | (a & c)),
    "union distributes over intersection": lambda a, b, c: (a | (b & c), (a | b) & (a | c)),
    "taking two away is taking their union away": lambda a, b, c: ((a - b) - c, a - (b | c)),
    "what is left and what is shared make the whole": lambda a, b, c: ((a - b) | (a & b), a),
    "what is left shares nothing with what was taken": lambda a, b, c: ((a - b) & b, Intervals()),
    "taking away what is left leaves what is shared": lambda a, b, c: (a - (a - b), a & b),
    "union with itself changes nothing": lambda a, b, c: (a | a, a),
    "intersection with itself changes nothing": lambda a, b, c: (a & a, a),
}


@pytest.mark.parametrize("law", LAWS)
@settings(max_examples=40, deadline=None)
@given(a=ANY, b=ANY, c=ANY)
def test_the_laws_of_sets_hold(law: str, a: Intervals[int], b: Intervals[int], c: Intervals[int]) -> None:
    left, right = LAWS[law](a, b, c)
    assert left == right


@thorough
@given(ANY, st.none() | st.integers(0, LAST))
def test_since_keeps_what_is_not_before_the_moment(value: Intervals[int], moment: int | None) -> None:
    assert model(value.since(moment)) == {m for m in model(value) if moment is None or m >= moment}


@thorough
@given(ANY, st.sampled_from(MOMENTS))
def test_the_part_at_a_moment_is_the_only_part_that_holds_it(value: Intervals[int], moment: int) -> None:
    assert [part for part in value.parts if moment in part] == [
        part for part in [value.part_at(moment)] if part is not None
    ]


@pytest.mark.parametrize(
    ("whole", "hole", "left"),
    [
        ([(1, 12)], [(3, 4)], [(1, 3), (4, 12)]),
        ([(1, 12)], [(3, 4), (6, 8)], [(1, 3), (4, 6), (8, 12)]),
        ([(1, 12)], [(1, 4)], [(4, 12)]),
        ([(1, 12)], [(4, 12)], [(1, 4)]),
        ([(1, 12)], [(0, 13)], []),
        ([(1, 12)], [(1, 12)], []),
        ([(1, 12)], [(12, 20)], [(1, 12)]),
        ([(4, 12)], [(1, 4)], [(4, 12)]),
        ([(1, 12)], [], [(1, 12)]),
        ([], [(1, 12)], []),
        ([(1, None)], [(5, None)], [(1, 5)]),
        ([(1, None)], [(5, 7)], [(1, 5), (7, None)]),
        ([(None, 12)], [(None, 5)], [(5, 12)]),
        ([(None, None)], [(3, 4)], [(None, 3), (4, None)]),
        ([(None, None)], [(None, None)], []),
        ([(1, 3), (5, 9)], [(2, 6)], [(1, 2), (6, 9)]),
    ],
)
def test_a_hole_leaves_the_pieces_on_its_two_sides(whole: list[Span], hole: list[Span], left: list[Span]) -> None:
    assert spans_of(intervals(whole) - intervals(hole)) == left


@pytest.mark.parametrize(
    ("parts", "joined"),
    [
        ([(3, 4), (1, 3)], [(1, 4)]),
        ([(1, 2), (3, 4)], [(1, 2), (3, 4)]),
        ([(1, 9), (2, 3)], [(1, 9)]),
        ([(5, None), (1, 5)], [(1, None)]),
        ([(2, 4), (None, 1), (None, 2)], [(None, 4)]),
        ([(None, 3), (2, None)], [(None, None)]),
        ([], []),
    ],
)
def test_parts_that_touch_become_one(parts: list[Span], joined: list[Span]) -> None:
    assert spans_of(intervals(parts)) == joined


@pytest.mark.parametrize(
    ("spans", "start", "end"),
    [([(3, 4), (8, 9)], 3, 9), ([(None, 4), (8, 9)], None, 9), ([(3, 4), (8, None)], 3, None), ([], None, None)],
)
def test_start_and_end_are_the_outermost_bounds(spans: list[Span], start: int | None, end: int | None) -> None:
    assert (intervals(spans).start, intervals(spans).end) == (start, end)


@pytest.mark.parametrize("bounds", [(1, 1), (2, 1)])
def test_an_interval_is_never_empty(bounds: tuple[int, int]) -> None:
    with pytest.raises(InvalidTime):
        Interval(*bounds)
    with pytest.raises(InvalidTime):
        Intervals.between(*bounds)


def test_datetimes_are_compared_as_moments_whatever_their_offset() -> None:
    nine_in_london = datetime(2026, 1, 10, 9, tzinfo=UTC)
    kyoto = timezone(timedelta(hours=9))
    assert nine_in_london in Intervals.between(
        datetime(2026, 1, 10, 18, tzinfo=kyoto), datetime(2026, 1, 10, 19, tzinfo=kyoto)
    )
    assert nine_in_london not in Intervals.between(
        datetime(2026, 1, 10, 17, tzinfo=kyoto), datetime(2026, 1, 10, 18, tzinfo=kyoto)
    )


class NoOffset(tzinfo):
    """A time zone that does not know its offset: Python calls such a datetime naive too."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return None

    def dst(self, moment: datetime | None) -> timedelta | None:
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        return None


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(datetime(2026, 1, 10, 14, 20), id="no zone"),  # noqa: DTZ001 - this is what is refused
        pytest.param(datetime(2026, 1, 10, tzinfo=NoOffset()), id="a zone without an offset"),
    ],
)
def test_a_datetime_without_an_offset_is_refused(value: datetime) -> None:
    with pytest.raises(NaiveDatetime, match="no offset"):
        require_aware(value)


@pytest.mark.parametrize("value", [None, "2026-01-10T14:20:00+00:00", 1768054800, date(2026, 1, 10), UTC])
def test_what_is_no_datetime_is_refused(value: Any) -> None:
    with pytest.raises(InvalidTime):
        require_aware(value)


EAST, WEST = timezone(timedelta(minutes=1)), timezone(-timedelta(minutes=1))


@pytest.mark.parametrize("value", [datetime.min.replace(tzinfo=EAST), datetime.max.replace(tzinfo=WEST)])
def test_a_moment_outside_the_years_1_to_9999_in_utc_is_refused(value: datetime) -> None:
    with pytest.raises(InvalidTime, match="9999"):
        require_aware(value)


@pytest.mark.parametrize(
    "value",
    [
        datetime.min.replace(tzinfo=UTC),
        datetime.min.replace(tzinfo=WEST),
        datetime.max.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=EAST),
        datetime(2026, 1, 10, 14, 20, tzinfo=timezone(timedelta(hours=5, minutes=45))),
    ],
)
def test_an_aware_datetime_comes_back_unchanged(value: datetime) -> None:
    assert require_aware(value) is value
