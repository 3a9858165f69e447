"""Writers take turns: one at a time on a subject, or one on the whole tenant.

Most decisions stay within one subject: they share the tenant and lock the subject. A decision that turns out to reach
other subjects (through premises) starts again and takes the tenant alone. So nobody ever waits for a second lock while
holding one that others want, and there is nothing to deadlock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import psycopg

from muniment.errors import RivalTruth
from muniment.promote.ports import Desk
from muniment.store.answer import Answer, Row
from muniment.store.database import Tx
from muniment.store.statements import sql

T = TypeVar("T")


class WholeTenantNeeded(Exception):
    """The decision reaches subjects that were not locked."""


@dataclass(slots=True)
class Turn:
    """What the transaction has locked."""

    whole: bool
    subjects: set[str] = field(default_factory=set)

    def take(self, tx: Tx, subject: str) -> Answer[list[str]]:
        """Locks the subject with all that are one with it, and answers who they are, as far as everybody may know;
        itself first. Also keeps rebuilds from writing a page back until the transaction ends, so that what is stamped
        next is not held up by one."""

        def read(rows: list[Row]) -> list[str]:
            self.subjects.update(rows[0]["members"])
            return [subject, *sorted(set(rows[0]["shared"]) - {subject})]

        asked = Answer(tx, "lock_subject", {"subject": subject}, read)
        tx.execute(sql("share_derived"))
        return asked

    def require(self, subjects: set[str]) -> None:
        """Raises `WholeTenantNeeded` unless all of them are locked."""
        if not self.whole and not subjects <= self.subjects:
            raise WholeTenantNeeded


def in_turn(desk: Desk, work: Callable[[Tx, Turn], T], *, whole: bool = False) -> T:
    """Runs `work` in a transaction with tenant-wide reach; `whole` takes the tenant alone from the start. Raises
    `RivalTruth` when a rival got past the locks."""
    try:
        try:
            return _run(desk, work, whole=whole)
        except WholeTenantNeeded:
            return _run(desk, work, whole=True)
    except psycopg.errors.ExclusionViolation as error:
        raise RivalTruth(
            "another validated claim holds the same slot at the same time; nothing was changed. Read the claims of "
            "this subject again, then correct or supersede the one that no longer holds"
        ) from error


def _run(desk: Desk, work: Callable[[Tx, Turn], T], *, whole: bool) -> T:
    with desk.database.transaction(desk.access, reach="tenant") as tx:
        tx.execute(sql("lock_tenant" if whole else "share_tenant"))
        return work(tx, Turn(whole))
