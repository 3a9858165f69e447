"""The two clocks of a read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from muniment.canonical.activity import server_now
from muniment.errors import InvalidInput
from muniment.store.database import Tx
from muniment.time import require_aware


@dataclass(frozen=True, slots=True)
class AsOf:
    """What the caller asked for: None means now."""

    valid_at: datetime | None = None
    known_at: datetime | None = None

    @classmethod
    def of(cls, valid_at: datetime | None, known_at: datetime | None, as_of: datetime | None) -> AsOf:
        """`as_of` sets both. Raises `NaiveDatetime`, or `InvalidInput` when it is mixed with the others."""
        if as_of is not None and (valid_at is not None or known_at is not None):
            raise InvalidInput("give as_of, or valid_at and known_at, but not both ways")
        for moment in (valid_at, known_at, as_of):
            if moment is not None:
                require_aware(moment)
        return cls(as_of or valid_at, as_of or known_at)

    def resolve(self, tx: Tx) -> Clocks:
        """Fills in now, by the database's clock, which also stamps what is written."""
        now = server_now(tx).get()
        return Clocks(self.valid_at or now, self.known_at or now, self.valid_at)


@dataclass(frozen=True, slots=True)
class Clocks:
    """When it is asked about, and as known when. `until_occurred` leaves out evidence of later events, when the caller
    named a moment of the world: what had not happened then cannot speak about it."""

    valid_at: datetime
    known_at: datetime
    until_occurred: datetime | None

    def parameters(self) -> dict[str, datetime | None]:
        """As the statements take them."""
        return {"valid_at": self.valid_at, "known_at": self.known_at, "until_occurred": self.until_occurred}
