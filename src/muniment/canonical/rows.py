"""The rows that the promotion gate and the derivations hand to each other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from muniment.model.claim import Status
from muniment.store.ranges import Moments

EVER = datetime.min.replace(tzinfo=UTC)
LIVE = (Status.VALIDATED, Status.UNSUPPORTED)
"""Statuses that take part in settling: `unsupported` is a validated claim whose premises are gone for now."""


@dataclass(frozen=True, slots=True)
class HeldClaim:
    """A claim with its open version: what is held about it now."""

    claim_id: UUID
    version: int
    memory_type: str
    subject_id: str
    predicate: str
    value: Any
    object_id: str | None
    statement: str
    scope: str
    slot: UUID
    cardinality: str
    status: Status
    asserted: Moments
    valid: Moments
    known_from: datetime
    confidence: float | None
    access_id: int
    visible: bool
    reason: str | None = None

    @property
    def live(self) -> bool:
        return self.status in LIVE

    @property
    def began(self) -> datetime:
        """When it was asserted to begin; the beginning of time when it was asserted since ever."""
        return self.asserted.start or EVER

    def next(self, **changes: Any) -> HeldClaim:
        """The following version, with `changes`."""
        return replace(self, version=self.version + 1, **changes)


@dataclass(frozen=True, slots=True)
class HeldLink:
    """An open link between two claims."""

    link_id: UUID
    kind: str
    from_claim: UUID
    to_claim: UUID
    scope: str
    effective_from: datetime | None
    correction: bool
    state: str
    named: bool = False
    """Whether somebody named the other claim, rather than the timeline having found it."""


@dataclass(frozen=True, slots=True)
class Said:
    """What one support says of a claim: from when it held (None: only that it is so), and whose word that is."""

    start: datetime | None
    source: str
    trust: str
    origin: str


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One claim version as it stands in canonical memory: what a derived pin repeats."""

    claim_id: UUID
    version: int
    status: str
    valid: Moments
    known_from: datetime
    known_to: datetime | None
    access_id: int


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """The fields of one stored evidence that derivations read."""

    evidence_id: UUID
    version: int
    kind: str
    author: str | None
    content: str
    occurred_at: datetime | None
    observed_at: datetime
    access_id: int


@dataclass(slots=True)
class Changes:
    """What one transaction changed in canonical memory, in the shape that the derivations follow."""

    evidence: list[EvidenceRow] = field(default_factory=list)
    claims: list[HeldClaim] = field(default_factory=list)
    versions: list[VersionRow] = field(default_factory=list)
    new_tenant: bool = False
