"""Whom an extractor means: the subject that goes by what it wrote. Of several nobody is guessed: a review asks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from muniment.canonical import activity, reviews, subjects
from muniment.model.access import PUBLIC_ID, AccessRule
from muniment.model.identity import NAME
from muniment.promote.ports import Desk
from muniment.promote.sources import joint_rule
from muniment.promote.turn import Turn, in_turn
from muniment.store.database import Tx

_ADDRESS = re.compile(r"<([^<>]+)>$")
"""The address of an author as a mail's header writes it: Janet Okafor <janet@example.com>."""


@dataclass(frozen=True, slots=True)
class Meant:
    """The subject that a name means, and who may know that it does (None: everyone)."""

    subject: str
    within: AccessRule | None = None


def who_is(desk: Desk, named: Iterable[str]) -> dict[str, Meant]:
    """The subject for each of these names and identifiers, by the identities that the session may see.

    The id of a subject that is known already means that subject. An identifier, or a name that one subject goes by,
    means that one. A name of several stays a subject of its own, and a review asks which of them it is; so does what
    nobody goes by, without a review.
    """
    wanted = sorted(set(named))
    with desk.database.transaction(desk.access) as tx:
        resolved = {name: meant_by(tx, name) for name in wanted}
        rules = {rule: joint_rule(tx, [rule]) for meant in resolved.values() for rule in meant.values() if rule}
    for name, meant in resolved.items():
        if len(meant) > 1:
            _ask_which(desk, name, sorted(meant))
    one = {name: next(iter(meant.items())) for name, meant in resolved.items() if len(meant) == 1}
    return {name: Meant(one[name][0], rules.get(one[name][1])) if name in one else Meant(name) for name in resolved}


def meant_by(tx: Tx, name: str, *, provider: str | None = None, known_at: datetime | None = None) -> dict[str, int]:
    """The subjects that a name or an identifier may mean, with the id of the rule of who may know; of those that are
    one, one. A subject whose own id it is and which no name contradicts, or which somebody said to be one of them, is
    meant alone."""
    asked_known = subjects.known(tx, [name] if provider is None else [], known_at=known_at)
    found = subjects.identities_by_id(tx, name, provider=provider, known_at=known_at).get()
    if not found and (address := _ADDRESS.search(name)) and provider in (None, "email"):
        found = subjects.identities_by_id(tx, address[1], provider="email", known_at=known_at).get()
    # What everyone may know comes last, and so stands.
    rows = sorted((row for row in found if row["visible"]), key=lambda row: row["access_id"] == PUBLIC_ID)
    groups = {
        frozenset(subjects.group(tx, row["subject_id"], known_at=known_at).get()): (row["subject_id"], row["access_id"])
        for row in rows
    }
    named = any(row["provider"] == NAME for row in rows)
    if asked_known.get() and (not named or any(name in group for group in groups)):
        return {name: PUBLIC_ID}
    return dict(groups.values())


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
