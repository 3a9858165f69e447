"""Random decisions about two subjects that become one and two again, against a naive model: claims keep their subject,
links across the two end with the merge, and what was answered as known at some moment is answered again."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import muniment
from muniment.errors import ClaimMovedOn, RivalTruth
from tests.helpers import at, single_valued

DAYS = 8
BEGIN = at("2026-01-01")
days = st.integers(0, DAYS - 1)
steps = st.one_of(
    st.tuples(st.just("propose"), st.sampled_from("xy"), st.sampled_from("abc"), days, st.none() | st.integers(1, 5)),
    st.tuples(st.just("retract"), st.integers(0, 9)),
    st.tuples(st.just("restore"), st.integers(0, 9)),
    st.tuples(st.just("merge")),
    st.tuples(st.just("unmerge")),
)


def moment(day: int) -> datetime:
    return BEGIN + timedelta(days=day)


@dataclass
class Entry:
    subject: str
    value: str
    starts: set[int]
    end: int | None
    live: bool
    waits_for: set[str] = field(default_factory=set)
    """The claims that it stands in conflict with."""

    def covers(self, day: int) -> bool:
        return min(self.starts) <= day and (self.end is None or day < self.end)

    def overlaps(self, other: Entry) -> bool:
        return any(self.covers(day) and other.covers(day) for day in range(-1, DAYS * 3))


@dataclass
class Model:
    """`ended`: (winner, loser) across the two subjects, for as long as they are one."""

    entries: dict[str, Entry] = field(default_factory=dict)
    ended: set[tuple[str, str]] = field(default_factory=set)
    merged: bool = False

    def meet(self, claim_id: str) -> None:
        """A claim that becomes live, or says more, meets what the other subject holds."""
        mine = self.entries[claim_id]
        for other_id, other in self.entries.items() if self.merged else ():
            known = {(claim_id, other_id), (other_id, claim_id)} & self.ended
            rivals = other.subject != mine.subject and other.value != mine.value and other.live
            if rivals and not known and mine.overlaps(other):
                ahead = min(other.starts) > min(mine.starts)
                self.ended.add((other_id, claim_id) if ahead else (claim_id, other_id))

    def on(self, day: int, subject: str) -> list[str]:
        asked = "xy" if self.merged else subject
        return sorted(value for s in asked for value in self._own(day, s))

    def release(self, gone: set[str]) -> None:
        """What stood in conflict with what is gone, or is somebody else's now, holds unless others stand in its way."""
        for claim_id, entry in self.entries.items():
            if not gone & entry.waits_for:
                continue
            entry.waits_for = {
                other_id
                for other_id, other in self.entries.items()
                if other.live and other.value != entry.value and min(other.starts) == min(entry.starts)
                and (self.merged or other.subject == entry.subject)
                and any(self._winner(day, other.subject) == other_id for day in range(3 * DAYS))
            }  # fmt: skip
            entry.live = not entry.waits_for
            if entry.live:
                self.meet(claim_id)

    def _own(self, day: int, subject: str) -> list[str]:
        winner = self._winner(day, subject)
        return [] if winner is None else [self.entries[winner].value]

    def _winner(self, day: int, subject: str) -> str | None:
        covering = [
            (max(start for start in entry.starts if start <= day), claim_id)
            for claim_id, entry in self.entries.items()
            if entry.live and entry.subject == subject and entry.covers(day)
        ]
        if not covering:
            return None
        winner = max(covering)[1]
        over = any(
            loser == winner and self.entries[ender].live and self.entries[ender].covers(day)
            for ender, loser in self.ended
        )
        return None if over else winner


class Runner:
    def __init__(self, session: muniment.Session) -> None:
        self.session, self.model, self.count = session, Model(), 0
        single_valued(session, "p")
        for subject in "xy":
            session.identify("crm", subject, subject)
        self.merge_id: str | None = None
        self.seen: list[tuple[datetime, list[list[list[str]]]]] = []

    def step(self, name: str, *arguments: Any) -> None:
        getattr(self, name)(*arguments)
        answers = self.answers(None)
        assert answers == [[self.model.on(day, subject) for day in range(DAYS)] for subject in "xy"]
        note = self.session.add(f"the clock {self.count} {name} {len(self.seen)}")
        self.seen.append((note.recorded_at, answers))

    def answers(self, known_at: datetime | None) -> list[list[list[str]]]:
        noon = timedelta(hours=12)
        return [
            [
                sorted(
                    c.value for c in self.session.claims(s, "p", valid_at=moment(day) + noon, known_at=known_at).items
                )
                for day in range(DAYS)
            ]
            for s in "xy"
        ]

    def propose(self, subject: str, value: str, start: int, length: int | None) -> None:
        end = None if length is None else start + length
        self.count += 1
        said = self.session.add(f"statement {self.count}: {value}", occurred_at=BEGIN).quote(f": {value}")
        decision = self.session.propose(
            subject, "p", value, evidence=said, valid_from=moment(start), valid_to=None if end is None else moment(end)
        )
        entry = self.model.entries.get(decision.claim_id)
        live = decision.status == "validated"
        if entry is None:
            against = {link.to_claim for link in decision.links if link.kind == "conflicts_with"}
            self.model.entries[decision.claim_id] = Entry(subject, value, {start}, end, live, against)
        else:
            entry.starts.add(start)
            entry.end = None if entry.end is None or end is None else max(entry.end, end)
            entry.live = entry.live or live
        if live:
            self.model.meet(decision.claim_id)

    def pick(self, index: int) -> str | None:
        ids = list(self.model.entries)
        return ids[index % len(ids)] if ids else None

    def retract(self, index: int) -> None:
        claim = self.pick(index)
        if claim is not None:
            self.session.retract(claim, reason="model")
            entry = self.model.entries[claim]
            was_live, entry.live, entry.waits_for = entry.live, False, set()
            if was_live:
                self.model.release({claim})

    def restore(self, index: int) -> None:
        claim = self.pick(index)
        if claim is None:
            return
        try:
            self.session.restore(claim, reason="model")
        except (ClaimMovedOn, RivalTruth):
            return
        self.model.entries[claim].live = True
        self.model.meet(claim)

    def merge(self) -> None:
        self.merge_id = self.session.merge("x", "y", reason="model").merge_id
        self.model.merged = True

    def unmerge(self) -> None:
        if self.merge_id is not None:
            self.session.unmerge(self.merge_id, reason="model")
            self.model.merged = False
            self.model.ended.clear()
            for entry in self.model.entries.values():
                # What the two said of each other is over; of its own subject's claims it may still wait for some.
                self.model.release({c for c in entry.waits_for if self.model.entries[c].subject != entry.subject})


@example([("merge",), ("propose", "x", "a", 1, 2), ("propose", "y", "b", 5, None), ("propose", "x", "a", 1, None)])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(steps, min_size=2, max_size=10))
def test_subjects_that_were_one_for_a_while_answer_as_the_naive_model(
    memory: muniment.Memory, sequence: list[tuple[Any, ...]]
) -> None:
    runner = Runner(memory.session(tenant=f"merge-{uuid.uuid4().hex}"))
    for name, *arguments in sequence:
        runner.step(name, *arguments)
    for known, answers in runner.seen:
        assert runner.answers(known) == answers
