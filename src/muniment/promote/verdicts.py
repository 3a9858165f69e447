"""What each verdict about a claim does, and how it is undone. Every function changes the working state of one claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from muniment.canonical.rows import HeldClaim
from muniment.errors import ClaimMovedOn, InvalidInput
from muniment.model.claim import LinkKind, Outcome, Status
from muniment.model.ids import new_id, parse_id
from muniment.model.memory_type import require_value_of
from muniment.promote.decide import Opened, end, make_live, require, require_policy
from muniment.promote.proposal import Citation
from muniment.promote.values import default_statement, require_value, slot_of
from muniment.store.database import Tx


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict as somebody gave it. `value` is for an edit; `into` the rival, or the subject, that a merge goes to."""

    verdict: str
    by: str
    reason: str
    value: Any = None
    into: str | None = None

    def text(self, done: str) -> str:
        """The reason that versions keep."""
        return f"{done} by {self.by}" + (f": {self.reason}" if self.reason else "")


@dataclass(frozen=True, slots=True)
class Ruled:
    """What came of it. `effects`: ids of what was made, for whoever undoes it; `claim_id`: whose decision it is."""

    claim_id: UUID
    outcome: Outcome
    reason: str
    effects: Mapping[str, Any] = field(default_factory=dict)


def approve(tx: Tx, held: Opened, rivals: Sequence[UUID], ruling: Ruling) -> Ruled:
    """The candidate holds, and takes over from its rivals where both assert."""
    require_policy(tx, held, ruling.by, ())
    outcome, why = make_live(held, ruling.text("approved"), over=live_of(held, rivals))
    return Ruled(held.claim.claim_id, outcome, why)


def reject(tx: Tx, held: Opened, rivals: Sequence[UUID], ruling: Ruling) -> Ruled:
    """The candidate does not hold."""
    why = ruling.text("rejected")
    end(held, Status.REJECTED, why)
    return Ruled(held.claim.claim_id, Outcome.REJECTED, why)


def edit(tx: Tx, held: Opened, rivals: Sequence[UUID], ruling: Ruling) -> Ruled:
    """Another value is what the evidence says: a new claim with the same support holds, and the candidate does not."""
    if ruling.value is None:
        raise InvalidInput("an edit needs the value that the evidence gives: value=…")
    require_policy(tx, held, ruling.by, ())
    old = held.claim
    value = require_value(require_value_of(old.memory_type, ruling.value), held.policy)
    slot = slot_of(old.subject_id, old.predicate, old.scope, value, held.policy)
    new = replace(
        old, claim_id=new_id(), version=1, value=value, object_id=None if old.object_id is None else value, slot=slot,
        statement=default_statement(
            old.subject_id, old.predicate, value, old.scope, memory_type=old.memory_type
        ),
        cardinality=held.policy.cardinality.value,
    )  # fmt: skip
    end(held, Status.REJECTED, ruling.text("edited") + f"; see {new.claim_id}")
    held.edit.put(new, "")
    _cite_places(held, new.claim_id, new)
    edited = replace(held, claim=new)
    outcome, why = make_live(edited, ruling.text("edited and approved"), over=live_of(held, rivals))
    return Ruled(new.claim_id, outcome, why, {"claim": str(new.claim_id)})


def merge(tx: Tx, held: Opened, rivals: Sequence[UUID], ruling: Ruling) -> Ruled:
    """The candidate says what a rival says: what supports it supports that one."""
    standing = live_of(held, rivals)
    named = None if ruling.into is None else parse_id(ruling.into, what="claim")
    into = named or (standing[0] if len(standing) == 1 else None)
    if into is None or into not in standing:
        ids = ", ".join(map(str, standing)) or "none holds"
        raise InvalidInput(f"say in `into` which of the claims against it says the same: {ids}")
    rival = held.edit.near.claims[into]
    end(held, Status.REJECTED, ruling.text("merged") + f" into {into}")
    _cite_places(held, into, rival)
    held.edit.put(rival, "")
    cited = sorted({str(place.evidence_id) for place in held.places})
    why = ruling.text(f"merged into {into}")
    return Ruled(into, Outcome.SUPPORTED, why, {"claim": str(into), "evidence": cited})


def settle_conflict(tx: Tx, held: Opened, rivals: Sequence[UUID], ruling: Ruling) -> Ruled:
    """Of two claims that both held, one does where both assert."""
    near, claim = held.edit.near, held.claim
    for rival in live_of(held, rivals):
        sides = (claim.claim_id, rival) if ruling.verdict == "approve" else (rival, claim.claim_id)
        winner = near.claims[sides[0]]
        held.edit.disconnect(_links(held, LinkKind.CONFLICTS_WITH, rival))
        held.edit.connect(
            LinkKind.SUPERSEDES, *sides, scope=claim.scope, effective_from=winner.asserted.start, named=True
        )
    why = ruling.text("approved" if ruling.verdict == "approve" else "rejected")
    held.edit.settle(why)
    outcome = Outcome.SUPERSEDED_OTHER if ruling.verdict == "approve" else Outcome.REJECTED
    return Ruled(claim.claim_id, outcome, why)


VERDICTS = {
    "claim": {"approve": approve, "reject": reject, "edit": edit, "merge": merge},
    "conflict": {"approve": settle_conflict, "reject": settle_conflict},
}


def undo(held: Opened, rivals: Sequence[UUID], undone: str, effects: Mapping[str, Any], ruling: Ruling) -> Ruled:
    """Puts the claim back to where it waited. Raises `ClaimMovedOn` when somebody decided about it since."""
    why = ruling.text("decision undone")
    expected = {"approve": (Status.VALIDATED, Status.UNSUPPORTED)}.get(undone, (Status.REJECTED,))
    require(held.claim, *expected)
    made = None if undone != "edit" else held.edit.near.claims.get(UUID(effects["claim"]))
    if undone == "edit":
        if made is None or not made.live:
            raise ClaimMovedOn(f"claim {effects['claim']}, which the edit made, is held no longer; read its history")
        end(replace(held, claim=made), Status.RETRACTED, why)
    if undone == "approve":
        end(held, Status.CANDIDATE, why)
    waiting = held.edit.near.claims[held.claim.claim_id]
    held.edit.put(replace(waiting, status=Status.CANDIDATE, valid=waiting.asserted), why)
    held.edit.settle(why)
    for rival in live_of(held, rivals):
        if held.edit.near.claims[rival].visible:
            held.edit.connect(
                LinkKind.CONFLICTS_WITH, held.claim.claim_id, rival, scope=held.claim.scope,
                effective_from=held.claim.asserted.start,
            )  # fmt: skip
    return Ruled(held.claim.claim_id, Outcome.CANDIDATE, why)


def undo_conflict(held: Opened, rivals: Sequence[UUID], ruling: Ruling) -> Ruled:
    """Both hold again, in conflict."""
    why = ruling.text("decision undone")
    for rival in live_of(held, rivals):
        named = [link for link in _links(held, LinkKind.SUPERSEDES, rival) if link.named]
        held.edit.disconnect(named)
        held.edit.connect(
            LinkKind.CONFLICTS_WITH, held.claim.claim_id, rival, scope=held.claim.scope,
            effective_from=held.claim.asserted.start,
        )  # fmt: skip
    held.edit.settle(why)
    return Ruled(held.claim.claim_id, Outcome.CONFLICT, why)


def live_of(held: Opened, rivals: Sequence[UUID]) -> list[UUID]:
    """Those of the rivals that still hold something."""
    return [rival for rival in rivals if rival in held.edit.near.claims and held.edit.near.claims[rival].live]


def _links(held: Opened, kind: LinkKind, rival: UUID) -> list[Any]:
    ends = {held.claim.claim_id, rival}
    return [link for link in held.edit.near.active_links(kind) if {link.from_claim, link.to_claim} == ends]


def _cite_places(held: Opened, claim_id: UUID, claim: HeldClaim) -> None:
    """What supports the candidate supports this claim, from when the candidate began."""
    start = held.claim.asserted.start or claim.asserted.start
    for place in held.places:
        citation = Citation(place.evidence_id, place.cited_start, place.cited_stop)
        held.edit.cite(claim_id, citation, place, asserted_from=start)
