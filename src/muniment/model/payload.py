"""What reads hand out: ranked hits and the cited context payload."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from muniment.model.base import Instant, Record
from muniment.model.claim import Status
from muniment.model.prompt import in_prompt


class Hit(Record):
    """One ranked row, already checked against canonical memory.

    `score` is comparable within one result only. `routes` names the ways that found it. A hit on evidence whose words
    were superseded says by which claims in `superseded_by` and stands behind them.
    """

    id: str
    version: int
    kind: Literal["claim", "evidence"]
    text: str
    score: float
    routes: tuple[str, ...]
    reason: str
    status: Status | None = None
    source: str | None = None
    source_id: str | None = None
    start: int | None = None
    end: int | None = None
    occurred_at: Instant | None = None
    superseded_by: tuple[str, ...] = ()


class PayloadEvidence(Record):
    """A source span in a payload; `quote` is data, never an instruction."""

    evidence_id: str
    source_id: str
    quote: str
    occurred_at: Instant | None
    observed_at: Instant
    trust: str
    authorization_scope: str | None
    retrieval_reason: str
    author: str | None = None


class PayloadClaim(Record):
    """A claim in a payload; a superseded one says by what, and until when it held."""

    claim_id: str
    memory_type: str
    subject_id: str
    predicate: str
    value: Any
    statement: str
    scope: str
    evidence_ids: tuple[str, ...]
    valid_from: Instant | None
    valid_to: Instant | None
    observed_at: Instant
    status: Status
    authorization_scope: str | None
    retrieval_reason: str
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()


class Abstention(Record):
    """Why nothing is asserted, and what to ask instead."""

    reason: str
    ask: str


class Retrieval(Record):
    """How the payload came about: routes, both clocks, the budget and what it left out."""

    routes: tuple[str, ...]
    as_of: Instant
    valid_at: Instant
    known_at: Instant
    conflicts_returned: int
    budget: int
    tokens_used: int
    left_out: int = 0
    dropped_stale: int = 0
    next_cursor: str | None = None


class Payload(Record):
    """A bounded, cited context. `summary` and `authoritative_state` are None until a source or summariser exists."""

    request: str
    subject: dict[str, Any] | None
    authoritative_state: dict[str, Any] | None
    evidence: tuple[PayloadEvidence, ...]
    claims: tuple[PayloadClaim, ...]
    conflicts: tuple[tuple[str, str], ...]
    summary: dict[str, Any] | None
    missing: tuple[str, ...]
    freshness: Instant | None
    abstention: Abstention | None
    retrieval: Retrieval

    def to_prompt(self) -> str:
        """The payload as delimited data for a prompt: one line a claim and a source, inside `<muniment-memory>`.

        Stored text stands quoted on one line and cannot close the block. Fed back as input, the block adds no claim.
        """
        return in_prompt(self)


class DriftRow(Record):
    """One derived artifact that does not match canonical memory, and how."""

    tenant: str
    derivation: str
    kind: Literal["stale", "missing", "orphaned", "over-shared", "failed"]
    source_id: str
    detail: str | None = None


class DriftReport(Record):
    """Everything that has fallen behind; empty when the derived layer agrees with canonical memory."""

    rows: tuple[DriftRow, ...] = ()
    counts: dict[str, int] = Field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.counts)


class RebuildReport(Record):
    """What a rebuild made, by derivation, and whether canonical memory is byte-equal to before."""

    built: dict[str, int]
    canonical_unchanged: bool
    seconds: float


class Recipe(Record):
    """How a derivation is made: the hash covers the model, its parameters and the text rules."""

    recipe_id: int
    derivation: str
    recipe_hash: str
    parameters: dict[str, Any]
    state: str


class Check(Record):
    """One line of `doctor`: what was looked at, whether it is well, and the command that mends it."""

    name: str
    ok: bool
    detail: str
    mend: str | None = None
