"""The two clocks of a read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from muniment.errors import InvalidInput
from muniment.store.answer import Answer, Row
from muniment.store.database import Tx
from muniment.time import require_aware


@dataclass(frozen=True, slots=True)
class AsOf:
    """What the caller asked for: None means now."""

    valid_at: datetime | None = None
    known_at: datetime | None = None
    names_moment: bool = True
    """Whether `valid_at` was named by the caller; a continued payload carries the now of its first part."""

    @classmethod
    def of(cls, valid_at: datetime | None, known_at: datetime | None, as_of: datetime | None) -> AsOf:
        """`as_of` sets both. Raises `NaiveDatetime`, or `InvalidInput` when it is mixed with the others."""
        if as_of is not None and (valid_at is not None or known_at is not None):
            raise InvalidInput("give as_of, or valid_at and known_at, but not both ways")
        for moment in (valid_at, known_at, as_of):
            if moment is not None:
                require_aware(moment)
        return cls(as_of or valid_at, as_of or known_at)

    def start(self, tx: Tx) -> Clocks:
        """The clocks of one transaction. Now is the transaction's own beginning, by the database's clock, which also
        stamps what is written; every statement of the read sees the same now."""
        until = self.valid_at if self.names_moment else None
        return Clocks(self.valid_at, self.known_at, until, Answer(tx, "transaction_now", {}, _now))


def _now(rows: list[Row]) -> datetime:
    now: datetime = rows[0]["now"]
    return now


@dataclass(slots=True)
class Clocks:
    """When it is asked about, and as known when. `until_occurred` leaves out evidence of later events, when the caller
    named a moment of the world: what had not happened then cannot speak about it."""

    asked_valid: datetime | None
    asked_known: datetime | None
    until_occurred: datetime | None
    _asked_now: Answer[datetime]
    _now: datetime | None = None

    @property
    def valid_at(self) -> datetime:
        """The moment of the world."""
        return self.asked_valid or self._read_now()

    @property
    def known_at(self) -> datetime:
        """The moment of this system's knowledge."""
        return self.asked_known or self._read_now()

    def _read_now(self) -> datetime:
        if self._now is None:
            self._now = self._asked_now.get()
        return self._now

    def parameters(self) -> dict[str, datetime | None]:
        """As the statements take them; None is the transaction's now."""
        return {"valid_at": self.asked_valid, "known_at": self.asked_known, "until_occurred": self.until_occurred}
