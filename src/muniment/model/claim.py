"""Claims: what is claimed, what we held about it and when, and how claims bear on each other."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from muniment.model.base import Instant, Record


class Status(StrEnum):
    """What is held about a claim. Two are never stored: a validated claim is called `superseded` once another one has
    ended its validity in the scope and at the time asked for, and `due` once its policy asks to have it confirmed
    again: neither passes as current."""

    CANDIDATE = "candidate"
    VALIDATED = "validated"
    UNSUPPORTED = "unsupported"
    REJECTED = "rejected"
    RETRACTED = "retracted"
    SUPERSEDED = "superseded"
    DUE = "due"


class LinkKind(StrEnum):
    """How one claim bears on another: `from_claim` does this to `to_claim`."""

    SUPPORTS = "supports"
    REFINES = "refines"
    SUPERSEDES = "supersedes"
    CONFLICTS_WITH = "conflicts_with"
    DERIVED_FROM = "derived_from"


class Outcome(StrEnum):
    """What became of a proposal, or of a claim that somebody decided about."""

    VALIDATED = "validated"
    CANDIDATE = "candidate"
    SUPPORTED = "supported"
    SUPERSEDED_OTHER = "superseded_other"
    CONFLICT = "conflict"
    REJECTED = "rejected"
    RETRACTED = "retracted"


class Claim(Record):
    """A claim as held at the clocks of the read that returned it.

    `valid_from` and `valid_to` bound the period of validity that holds `valid_at` (or all of it, when none does);
    `observed_at` is since when this claim has been held at all, `version` counts what was held about it. By
    `reconfirm_by` its policy asks to have it said or confirmed again. With those in `conflicts_with` it cannot hold at
    the same time, and nobody has decided.
    """

    claim_id: str
    version: int
    memory_type: str
    subject_id: str
    predicate: str
    value: Any
    statement: str
    scope: str
    status: Status
    valid_from: Instant | None
    valid_to: Instant | None
    observed_at: Instant
    confidence: float | None
    evidence_ids: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    authorization_scope: str | None = None
    reason: str | None = None
    reconfirm_by: Instant | None = None


class ClaimVersion(Record):
    """One version of what was held: `valid` as (from, to) pairs in world time, `known` in this system's time."""

    claim_id: str
    version: int
    status: Status
    valid: tuple[tuple[Instant | None, Instant | None], ...]
    known_from: Instant
    known_to: Instant | None
    recorded_at: Instant
    confidence: float | None
    decided_by: str
    reason: str | None


class Link(Record):
    """A relation between two claims, with the scope and the moment from which it takes effect."""

    link_id: str
    kind: LinkKind
    from_claim: str
    to_claim: str
    scope: str
    effective_from: Instant | None
    state: str
    known_from: Instant
    known_to: Instant | None


class Quote(Record):
    """The words that support or contradict a claim, read from the evidence itself."""

    evidence_id: str
    source: str
    source_id: str
    quote: str
    start: int
    end: int
    stance: str
    author: str | None
    trust: str
    occurred_at: Instant | None
    observed_at: Instant
    authorization_scope: str | None = None


class Decision(Record):
    """What a proposal, a confirmation, a correction or a retraction led to, and why."""

    outcome: Outcome
    claim_id: str
    version: int
    status: Status
    reason: str
    policy_version: int
    links: tuple[Link, ...] = ()
    review_id: str | None = None


class Withdrawal(Record):
    """What came of withdrawing evidence: the claims, as far as the session may see them, that it changed."""

    evidence_id: str
    claims: tuple[str, ...]
    reason: str


class Why(Record):
    """Everything a claim rests on and everything that rests on it, as far as the session may see."""

    claim: Claim
    quotes: tuple[Quote, ...]
    links: tuple[Link, ...]
    premises: tuple[Claim, ...]
    dependants: tuple[Claim, ...]
    history: tuple[ClaimVersion, ...]


class ClaimPage(Record):
    """Some claims and, when there are more, the cursor that continues."""

    items: tuple[Claim, ...]
    next_cursor: str | None = None
