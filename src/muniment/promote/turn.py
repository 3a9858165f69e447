"""Writers take turns: a transaction with tenant-wide reach, run again when two of them locked each other out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import psycopg

from muniment.errors import RivalTruth
from muniment.promote.ports import Desk
from muniment.store.database import Tx

_ATTEMPTS = 5
T = TypeVar("T")


def in_turn(desk: Desk, work: Callable[[Tx], T]) -> T:
    """Runs `work` in a transaction with tenant-wide reach. Two writers that locked each other out are told apart by
    PostgreSQL, and the loser runs again. Raises `RivalTruth` when a rival got past the locks."""
    for attempt in range(_ATTEMPTS):
        try:
            with desk.database.transaction(desk.access, reach="tenant") as tx:
                return work(tx)
        except psycopg.errors.DeadlockDetected:
            if attempt == _ATTEMPTS - 1:
                raise
        except psycopg.errors.ExclusionViolation as error:
            raise RivalTruth(
                "another validated claim holds the same slot at the same time; nothing was changed. Read the claims of "
                "this subject again, then correct or supersede the one that no longer holds"
            ) from error
    raise AssertionError("unreachable")
