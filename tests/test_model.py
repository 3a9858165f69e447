"""Random sequences of decisions against a naive model: at every moment of the world the latest start wins, and what was
answered as known at some moment is answered again, for ever."""

from __future__ import annotations

import itertools
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import muniment
from muniment.errors import ClaimMovedOn, RivalTruth
from tests.helpers import at, single_valued, values

DAYS = 12
BEGIN = at("2026-01-01")

days = st.integers(0, DAYS - 1)
steps = st.one_of(
    st.tuples(st.just("propose"), st.sampled_from("abc"), days, st.none() | st.integers(1, 6)),
    st.tuples(st.just("retract"), st.integers(0, 9)),
    st.tuples(st.just("restore"), st.integers(0, 9)),
    st.tuples(st.just("correct"), st.integers(0, 9), st.sampled_from("abc")),
)


@dataclass
class Entry:
    """One claim as the model sees it: asserted on [min(starts), end) of day numbers, at each of `starts` anew."""

    value: str
    starts: set[int]
    end: int | None
    live: bool = True
    corrects: str | None = None
    waits_for: set[str] = field(default_factory=set)
    """The claims that it stands in conflict with."""

    def covers(self, day: int) -> bool:
        return min(self.starts) <= day and (self.end is None or day < self.end)


@dataclass
class Model:
    """The claims of one slot, in the order in which they were made."""

    entries: dict[str, Entry] = field(default_factory=dict)

    def value_on(self, day: int) -> str | None:
        """Of the live claims that cover the day, the one that was asserted last up to it; of equal ones the younger."""
        covering = [
            (max(start for start in entry.starts if start <= day), claim_id, entry.value)
            for claim_id, entry in self.entries.items()
            if entry.live and entry.covers(day)
        ]
        return max(covering)[2] if covering else None

    def holder(self, day: int) -> str | None:
        covering = [
            (max(start for start in entry.starts if start <= day), claim_id)
            for claim_id, entry in self.entries.items()
            if entry.live and entry.covers(day)
        ]
        return max(covering)[1] if covering else None

    def release(self, gone: str) -> None:
        """What stood in conflict with a claim that is gone holds, unless something else stands in its way."""
        for entry in self.entries.values():
            if gone in entry.waits_for:
                holders = {self.holder(day) for day in range(2 * DAYS)}
                entry.waits_for = {
                    claim_id
                    for claim_id, other in self.entries.items()
                    if other.live and other.value != entry.value and min(other.starts) == min(entry.starts)
                    and claim_id in holders
                }  # fmt: skip
                entry.live = not entry.waits_for


def moment(day: int) -> datetime:
    return BEGIN + timedelta(days=day)


class Runner:
    """Takes each step in the database and in the model."""

    def __init__(self, session: muniment.Session) -> None:
        self.session, self.model, self.count = session, Model(), 0
        single_valued(session, "p")
        self.seen: list[tuple[datetime, list[list[Any]]]] = []

    def step(self, name: str, *arguments: Any) -> None:
        getattr(self, name)(*arguments)
        answers = self.answers(None)
        assert answers == [[value] if (value := self.model.value_on(day)) is not None else [] for day in range(DAYS)]
        known = max((v.known_from for c in self.model.entries for v in self.session.history(c)), default=BEGIN)
        self.seen.append((known, answers))

    def answers(self, known_at: datetime | None) -> list[list[Any]]:
        noon = timedelta(hours=12)
        return [
            values(self.session.claims("s", "p", valid_at=moment(day) + noon, known_at=known_at)) for day in range(DAYS)
        ]

    def span(self, value: str) -> muniment.Span:
        self.count += 1
        return self.session.add(f"statement {self.count}: {value}", occurred_at=BEGIN).quote(f": {value}")

    def propose(self, value: str, start: int, length: int | None) -> None:
        end = None if length is None else start + length
        decision = self.session.propose(
            "s",
            "p",
            value,
            evidence=self.span(value),
            valid_from=moment(start),
            valid_to=None if end is None else moment(end),
        )
        self.note(decision, value, start, end, None)

    def note(self, decision: muniment.Decision, value: str, start: int, end: int | None, corrects: str | None) -> None:
        entry = self.model.entries.get(decision.claim_id)
        if entry is not None:
            assert entry.value == value
            entry.starts.add(start)
            entry.end = None if entry.end is None or end is None else max(entry.end, end)
            entry.corrects = entry.corrects or corrects
            # One that waited in a conflict holds once the other one is corrected to the same.
            entry.live = entry.live or decision.status == "validated"
            return
        if decision.outcome == "conflict":
            assert any(e.live and min(e.starts) == start and e.value != value for e in self.model.entries.values())
        live = decision.status == "validated"
        against = {link.to_claim for link in decision.links if link.kind == "conflicts_with"}
        self.model.entries[decision.claim_id] = Entry(value, {start}, end, live, corrects, against)

    def pick(self, index: int) -> str | None:
        ids = list(self.model.entries)
        return ids[index % len(ids)] if ids else None

    def retract(self, index: int) -> None:
        claim = self.pick(index)
        if claim is None:
            return
        entry = self.model.entries[claim]
        self.session.retract(claim, reason="model")
        if entry.live and entry.corrects is not None:
            self.model.entries[entry.corrects].live = True
        was_live, entry.live, entry.waits_for = entry.live, False, set()
        if was_live:
            self.model.release(claim)

    def restore(self, index: int) -> None:
        claim = self.pick(index)
        if claim is None:
            return
        try:
            self.session.restore(claim, reason="model")
        except (ClaimMovedOn, RivalTruth):
            return
        entry = self.model.entries[claim]
        entry.live = True
        if entry.corrects is not None:
            self.model.entries[entry.corrects].live = False

    def correct(self, index: int, value: str) -> None:
        claim = self.pick(index)
        if claim is None:
            return
        old = self.model.entries[claim]
        try:
            decision = self.session.correct(claim, value, evidence=self.span(value))
        except ClaimMovedOn:
            assert not old.live
            return
        ended = decision.outcome == "superseded_other"
        if ended:
            old.live = False
        self.note(decision, value, min(old.starts), old.end, claim if ended else None)


@example([("propose", "a", 0, None), ("propose", "b", 0, None), ("correct", 0, "b")])
@example(
    [("propose", "a", 0, None), ("propose", "b", 0, None), ("propose", "c", 0, None), ("retract", 0), ("retract", 1)]
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(steps, min_size=1, max_size=9))
def test_any_sequence_of_decisions_answers_as_the_naive_model_and_never_rewrites_an_answer(
    memory: muniment.Memory, sequence: list[tuple[Any, ...]]
) -> None:
    tenant = f"model-{uuid.uuid4().hex}"
    runner = Runner(memory.session(tenant=tenant))
    for name, *arguments in sequence:
        runner.step(name, *arguments)
    for known, answers in runner.seen:
        assert runner.answers(known) == answers
    for claim in runner.model.entries:
        versions = runner.session.history(claim)
        assert [v.version for v in versions] == list(range(1, len(versions) + 1))
        assert all(a.known_to == b.known_from for a, b in itertools.pairwise(versions))
