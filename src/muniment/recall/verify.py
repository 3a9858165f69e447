"""The derived layer finds, the canonical layer authorises: every candidate is read again before it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from muniment.recall.clocks import Clocks
from muniment.recall.routes import Candidate
from muniment.store.answer import Answer, Row
from muniment.store.database import Tx


@dataclass(frozen=True, slots=True)
class Verified:
    """A candidate as canonical memory has it, under the session's own access.

    `superseded_by` is set on evidence all of whose claims have ended: the claims that took their place.
    """

    candidate: Candidate
    text: str
    source: str | None = None
    source_id: str | None = None
    author: str | None = None
    trust: str | None = None
    occurred_at: datetime | None = None
    observed_at: datetime | None = None
    authorization_scope: str | None = None
    ended: bool = False
    superseded_by: tuple[str, ...] = ()


def verify(tx: Tx, clocks: Clocks, candidates: Sequence[Candidate]) -> dict[tuple[UUID, int, int], Verified]:
    """Those of `candidates` that hold, by key; what fell behind or may not be seen is not among them."""
    claims = [c for c in candidates if c.kind == "claim"]
    evidence = [c for c in candidates if c.kind == "evidence"]
    asked_claims: Answer[list[Row]] = Answer(tx, "verify_claims", _claim_parameters(claims, clocks), list)
    asked_evidence: Answer[list[Row]] = Answer(tx, "verify_evidence", _evidence_parameters(evidence, clocks), list)
    asked_support: Answer[list[Row]] = Answer(
        tx, "claims_of_evidence", {"ids": [c.source_id for c in evidence], **clocks.parameters()}, list
    )
    statements = {row["claim_id"]: row["statement"] for row in asked_claims.get()}
    spans = {(row["evidence_id"], row["start"], row["stop"]): row for row in asked_evidence.get()}
    supported: dict[UUID, list[Row]] = {}
    for row in asked_support.get():
        supported.setdefault(row["evidence_id"], []).append(row)
    verified = {c.key: Verified(c, statements[c.source_id]) for c in claims if c.source_id in statements}
    for candidate in evidence:
        if candidate.key in spans:
            verified[candidate.key] = _verified_span(
                candidate, spans[candidate.key], supported.get(candidate.source_id, [])
            )
    return verified


def _claim_parameters(claims: Sequence[Candidate], clocks: Clocks) -> dict[str, object]:
    return {"ids": [c.source_id for c in claims], "versions": [c.version for c in claims], **clocks.parameters()}


def _evidence_parameters(evidence: Sequence[Candidate], clocks: Clocks) -> dict[str, object]:
    return {
        "ids": [c.source_id for c in evidence],
        "versions": [c.version for c in evidence],
        "starts": [c.start for c in evidence],
        "stops": [c.end for c in evidence],
        **clocks.parameters(),
    }


def _verified_span(candidate: Candidate, row: Row, supports: Sequence[Row]) -> Verified:
    here = [s for s in supports if s["start"] < candidate.end and candidate.start < s["stop"]]
    ended = bool(here) and not any(s["holds"] for s in here) and any(s["ended"] for s in here)
    heirs = dict.fromkeys(str(heir) for s in here if s["ended"] for heir in s["heirs"])
    return Verified(
        candidate, row["text"], row["source"], row["source_id"], row["author"], row["trust"], row["occurred_at"],
        row["observed_at"], row["authorization_scope"], ended, tuple(heirs) if ended else (),
    )  # fmt: skip
