"""Pins: the filters of a search, one row a version of a source, repeated from canonical memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from muniment.canonical.rows import EvidenceRow, VersionRow
from muniment.store.ranges import Moments, from_multirange, multirange_text, range_text
from muniment.time import Intervals

_ALWAYS: Moments = Intervals.between(None, None)


@dataclass(frozen=True, slots=True)
class Pin:
    """One version of one source: when it held, when it was known, who may see it."""

    kind: str
    source_id: UUID
    version: int
    status: str
    valid: Moments
    known_from: datetime
    known_to: datetime | None
    occurred_at: datetime | None
    access_id: int

    @classmethod
    def of_evidence(cls, row: EvidenceRow) -> Pin:
        """Evidence is known from its observation on, and has no validity of its own."""
        return cls(
            "evidence",
            row.evidence_id,
            row.version,
            "evidence",
            _ALWAYS,
            row.observed_at,
            None,
            row.occurred_at,
            row.access_id,
        )

    @classmethod
    def of_version(cls, row: VersionRow) -> Pin:
        """A claim version, with both of its clocks."""
        return cls(
            "claim", row.claim_id, row.version, row.status, row.valid, row.known_from, row.known_to, None, row.access_id
        )

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Pin:
        """As stored."""
        return cls(
            row["source_kind"], row["source_id"], row["version"], row["status"], from_multirange(row["valid"]),
            row["known"].lower, row["known"].upper, row["occurred_at"], row["access_id"],
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """As `derived.put_pins` takes it."""
        return {
            "kind": self.kind,
            "id": str(self.source_id),
            "version": self.version,
            "status": self.status,
            "valid": multirange_text(self.valid),
            "known": range_text(self.known_from, self.known_to),
            "occurred_at": None if self.occurred_at is None else self.occurred_at.astimezone(UTC).isoformat(),
            "access_id": self.access_id,
        }
