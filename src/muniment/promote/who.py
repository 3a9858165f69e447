"""Whom an extractor means: the subject that goes by what it wrote. Of several nobody is guessed: a review asks."""

from __future__ import annotations

from collections.abc import Iterable

from muniment.canonical import activity, reviews, subjects
from muniment.model.identity import NAME
from muniment.promote.ports import Desk
from muniment.promote.sources import joint_rule
from muniment.promote.turn import Turn, in_turn
from muniment.store.answer import Row
from muniment.store.database import Tx


def who_is(desk: Desk, named: Iterable[str]) -> dict[str, str]:
    """The subject for each of these names and identifiers, by the identities that the session may see.

    The id of a subject that is known already means that subject. An identifier, or a name that one subject goes by,
    means that one. A name of several stays a subject of its own, and a review asks which of them it is; so does what
    nobody goes by, without a review.
    """
    wanted = sorted(set(named))
    with desk.database.transaction(desk.access) as tx:
        asked_known = subjects.known(tx, wanted)
        asked = [(name, subjects.identities_by_id(tx, name)) for name in wanted]
        known = asked_known.get()
        found = {name: answer.get() for name, answer in asked}
        resolved = {name: _meant(tx, name, rows, known) for name, rows in found.items()}
    for name, meant in resolved.items():
        if len(meant) > 1:
            _ask_which(desk, name, sorted(meant))
    return {name: meant.pop() if len(meant) == 1 else name for name, meant in resolved.items()}


def _meant(tx: Tx, name: str, rows: list[Row], known: set[str]) -> set[str]:
    if name in known and not any(row["provider"] == NAME for row in rows):
        return {name}
    groups = {frozenset(subjects.group(tx, row["subject_id"]).get()): row["subject_id"] for row in rows}
    if len(groups) > 1 and any(name in group for group in groups):
        return {name}  # somebody said which one it is
    return set(groups.values())


def _ask_which(desk: Desk, name: str, candidates: list[str]) -> None:
    """Opens a review, unless one stands already, for those who may see all the identities."""

    def work(tx: Tx, turn: Turn) -> None:
        asked_now = activity.server_now(tx)
        rows = [row for row in subjects.identities_by_id(tx, name).get() if row["visible"]]
        if reviews.asked_before(tx, [*candidates, name]).get():
            return
        now = asked_now.get()
        act = activity.record(tx, "identify", actor=desk.access.actor, at=now)
        subjects.ensure(tx, name, activity_id=act)
        reviews.insert(
            tx, None, (), f"several subjects go by {name!r}; say which one is meant",
            rule=joint_rule(tx, {row["access_id"] for row in rows}), actor=desk.access.actor, at=now, kind="merge",
            subjects=[*candidates, name],
        )  # fmt: skip

    in_turn(desk, work, whole=True)
