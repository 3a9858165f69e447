"""Dates are read against the moment they were said, in its offset; what is no date is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.errors import NaiveDatetime
from muniment.extract.dates import When, find_dates, resolve

EAST = timezone(timedelta(hours=8))
SAID = datetime(2023, 5, 8, 19, 17, tzinfo=EAST)  # a Monday
thorough = settings(max_examples=200, deadline=None)


def only(text: str, said: datetime = SAID) -> When:
    found = find_dates(text, said)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "start", "end", "grain"),
    [
        ("last week", "2023-05-01", "2023-05-08", "week"),
        ("this week", "2023-05-08", "2023-05-15", "week"),
        ("two weeks ago", "2023-04-24", "2023-05-01", "week"),
        ("in 3 months", "2023-08-01", "2023-09-01", "month"),
        ("next year", "2024-01-01", "2025-01-01", "year"),
        ("a couple of days ago", "2023-05-06", "2023-05-07", "day"),
        ("yesterday", "2023-05-07", "2023-05-08", "day"),
        ("the day before yesterday", "2023-05-06", "2023-05-07", "day"),
        ("tomorrow", "2023-05-09", "2023-05-10", "day"),
        ("next Friday", "2023-05-12", "2023-05-13", "day"),
        ("next Monday", "2023-05-15", "2023-05-16", "day"),
        ("last Monday", "2023-05-01", "2023-05-02", "day"),
        ("last Friday", "2023-05-05", "2023-05-06", "day"),
        ("2027-12-22", "2027-12-22", "2027-12-23", "day"),
        ("22.12.2027", "2027-12-22", "2027-12-23", "day"),
        ("22/12/2027", "2027-12-22", "2027-12-23", "day"),
        ("2027年12月22日", "2027-12-22", "2027-12-23", "day"),
        ("22 December 2027", "2027-12-22", "2027-12-23", "day"),
        ("December 22nd, 2027", "2027-12-22", "2027-12-23", "day"),
        ("3 May", "2023-05-03", "2023-05-04", "day"),
        ("Jan 2", "2023-01-02", "2023-01-03", "day"),
        ("29 February", "2024-02-29", "2024-03-01", "day"),
        ("in March", "2023-03-01", "2023-04-01", "month"),
        ("in December", "2022-12-01", "2023-01-01", "month"),
        ("next March", "2024-03-01", "2024-04-01", "month"),
        ("March 2021", "2021-03-01", "2021-04-01", "month"),
        ("in 2019", "2019-01-01", "2020-01-01", "year"),
    ],
)  # fmt: skip
def test_an_expression_is_an_interval_of_its_grain(text: str, start: str, end: str, grain: str) -> None:
    found = only(f"So, {text}, it began.")
    assert (found.start, found.end) == (
        datetime.fromisoformat(start).replace(tzinfo=EAST),
        datetime.fromisoformat(end).replace(tzinfo=EAST),
    )
    assert found.grain == grain
    assert f"So, {text}, it began."[slice(*found.span)] == text
    assert resolve(text, SAID) == When(found.start, found.end, found.grain, (0, len(text)), found.relative)


@pytest.mark.parametrize(
    "text",
    [
        "we met in room 2024", "99999999 days ago", "999999999 years ago", "in 999999999 weeks", "I may go to 12 shops", "version 3.11 of sat nav",
        "the second one, sun or moon", "I paid 2,000 for 5 items", "30 February 2023", "3/4/2027", "in 2000 people", "item 2019", "10.12.13.2024",
        "May 50", "on Friday", "2027-13-01", "in 2019-2020", "0 of may be", "march on", "2023-02-30", "the number 19:17", "in 2019%", "call 2027-12-221",
    ],
)  # fmt: skip
def test_what_is_no_date_is_none(text: str) -> None:
    assert find_dates(text, SAID) == []
    assert resolve(text, SAID) is None


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("19:17+08:00", "2023-05-08T19:17+08:00"),
        ("09:00-05:00", "2023-05-08T09:00-05:00"),
        ("2027-12-22T09:00+02:00", "2027-12-22T09:00+02:00"),
        ("2027-12-22T09:00:30Z", "2027-12-22T09:00:30+00:00"),
        ("2027-12-22 09:00", "2027-12-22T09:00+08:00"),
        ("last Friday at 5:30 pm", "2023-05-05T17:30+08:00"),
        ("two hours ago", "2023-05-08T17:17+08:00"),
    ],
)  # fmt: skip
def test_a_time_keeps_the_offset_it_was_written_in(text: str, start: str) -> None:
    found = only(text)
    assert found.start.isoformat() == datetime.fromisoformat(start).isoformat()
    assert found.grain == "minute"


def test_the_same_words_of_another_year_mean_another_week() -> None:
    assert only("last week", SAID.replace(year=2011)).start.year == 2011


def test_the_day_is_the_speakers_day_not_the_one_of_utc() -> None:
    late = datetime(2023, 5, 8, 1, 0, tzinfo=EAST)
    assert only("today", late).start.isoformat() == "2023-05-08T00:00:00+08:00"
    assert only("today", late.astimezone(UTC)).start.isoformat() == "2023-05-07T00:00:00+00:00"


def test_only_what_depends_on_the_moment_is_relative() -> None:
    assert [only(text).relative for text in ("yesterday", "3 May", "in March", "3 May 2020", "in 2019")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_resolve_wants_nothing_but_the_date() -> None:
    assert resolve("on the 3rd of May.", SAID) is not None
    assert resolve("two weeks before 3 May", SAID) is None
    assert resolve("yesterday or tomorrow", SAID) is None


def test_a_naive_moment_is_refused() -> None:
    with pytest.raises(NaiveDatetime):
        find_dates("yesterday", datetime(2023, 5, 8))  # noqa: DTZ001


@pytest.mark.parametrize(
    "text",
    [
        "in " * 300_000,
        "1" * 1_000_000,
        "a couple of " * 80_000,
        " " * 1_000_000,
        "in" + " " * 1_000_000,
        "May 5 " * 100_000,
    ],
)
def test_long_text_does_no_harm(text: str) -> None:
    find_dates(text, SAID)


PARTS = st.lists(
    st.sampled_from(
        [
            "yesterday",
            "next",
            "last",
            "Friday",
            "3",
            "May",
            "2027-12-22",
            "in",
            "2019",
            "ago",
            "weeks",
            "999999999",
            "0",
            "31",
            "February",
            "19:17",
            "+08:00",
            "Z",
            "at",
            "pm",
            "12",
            "of",
            ",",
            "the",
            "day",
            "before",
            "year",
            "9999",
        ]
    ),
    max_size=8,
).map(" ".join)


@thorough
@given(PARTS | st.text(max_size=60), st.datetimes(timezones=st.timezones()))
def test_whatever_the_text_spans_are_inside_in_order_and_times_are_aware(text: str, said: datetime) -> None:
    try:
        said.astimezone(UTC)
    except OverflowError:
        return
    place = 0
    for found in find_dates(text, said):
        assert place <= found.span[0] < found.span[1] <= len(text)
        place = found.span[1]
        assert found.start.tzinfo is not None
        assert found.end is None or found.start < found.end
    resolve(text, said)
