"""What the gate needs from outside: somebody who keeps the derived layer in step, in the same transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from muniment.canonical.rows import Changes, EvidenceRow
from muniment.extract.port import Extractor
from muniment.model.access import Access
from muniment.store.database import Database, Tx


class Follower(Protocol):
    """Follows canonical writes. `prepare` does the slow work before the transaction opens."""

    def prepare(self, *, evidence: Sequence[EvidenceRow] = (), statements: Sequence[str] = ()) -> object:
        """Computes what the texts need. Raises `EmbedderFailed`; nothing is written then."""
        ...

    def follow(self, tx: Tx, changes: Changes, prepared: object) -> None:
        """Writes the derived rows of `changes` inside the transaction that made them."""
        ...


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a session's writes happen: the database, who writes, who follows, and who reads claims out of texts. Holds
    no state of its own."""

    database: Database
    access: Access
    follower: Follower
    extractor: Extractor | None = None
