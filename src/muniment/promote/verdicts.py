"""What each verdict about a claim does, and how it is undone. Every function changes the working state of one claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from muniment.canonical.rows import HeldClaim
from muniment.errors import InvalidInput
from muniment.model.claim import LinkKind, Outcome, Status
from muniment.model.ids import new_id, parse_id
from muniment.model.memory_type import require_value_of
from muniment.promote.admit import blocking, same_value
from muniment.promote.decide import Opened, end, make_live, require, require_policy
from muniment.promote.proposal import Citation
from muniment.promote.sources import of_claims
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
    outcome, why = make_live(held, ruling.text("approved"), over=_over(held, held.claim, rivals))
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
    twin = next((c for c in held.edit.near.in_slot(slot) if c.live and same_value(c, new, held.policy)), None)
    if twin is not None:
        return _give_to(tx, held, twin, ruling.text("edited: it says what another claim says"))
    end(held, Status.REJECTED, ruling.text("edited") + f"; see {new.claim_id}")
    held.edit.put(new, "")
    given = _give_places(tx, held, new)
    outcome, why = make_live(
        replace(held, claim=new), ruling.text("edited and approved"), over=_over(held, new, rivals)
    )
    return Ruled(new.claim_id, outcome, why, {"claim": str(new.claim_id), "supports": given})


def merge(tx: Tx, held: Opened, rivals: Sequence[UUID], ruling: Ruling) -> Ruled:
    """The candidate says what a rival says: what supports it supports that one."""
    standing = live_of(held, rivals)
    named = None if ruling.into is None else parse_id(ruling.into, what="claim")
    into = named or (standing[0] if len(standing) == 1 else None)
    if into is None or into not in standing:
        ids = ", ".join(map(str, standing)) or "none holds"
        raise InvalidInput(f"say in `into` which of the claims against it says the same: {ids}")
    return _give_to(tx, held, held.edit.near.claims[into], ruling.text("merged into a claim that says the same"))


def _give_to(tx: Tx, held: Opened, other: HeldClaim, why: str) -> Ruled:
    """The candidate ends, and what supports it supports a claim that holds."""
    end(held, Status.REJECTED, why)
    given = _give_places(tx, held, held.edit.near.claims[other.claim_id])
    held.edit.put(held.edit.near.claims[other.claim_id], "")
    return Ruled(other.claim_id, Outcome.SUPPORTED, why, {"claim": str(other.claim_id), "supports": given})


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
    if "claim" in effects and (made := held.edit.near.claims.get(UUID(effects["claim"]))) is not None and made.live:
        said = held.edit.near.said.get(made.claim_id)
        if not said:
            end(replace(held, claim=made), Status.RETRACTED, why)
        elif starts := [one.start for one in said if one.start is not None]:
            # Others say it too: it goes on from when they say that it held.
            left = made.asserted.since(min(starts))
            held.edit.put(replace(made, asserted=left, valid=made.valid & left), why)
    if undone == "approve":
        end(held, Status.CANDIDATE, why)
    waiting = held.edit.near.claims[held.claim.claim_id]
    held.edit.put(replace(waiting, status=Status.CANDIDATE, valid=waiting.asserted), why)
    held.edit.settle(why)
    opposed = {other.claim_id for other in held.edit.near.rivals_of(waiting)}
    for rival in live_of(held, rivals):
        if held.edit.near.claims[rival].visible and rival in opposed:
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


def _over(held: Opened, claim: HeldClaim, rivals: Sequence[UUID]) -> list[UUID]:
    """What an approved claim takes over from: its rivals, and what stands against it by now."""
    return list(dict.fromkeys([*live_of(held, rivals), *blocking(held.edit, claim, held.policy)]))


def live_of(held: Opened, rivals: Sequence[UUID]) -> list[UUID]:
    """Those of the rivals that still hold something."""
    return [rival for rival in rivals if rival in held.edit.near.claims and held.edit.near.claims[rival].live]


def _links(held: Opened, kind: LinkKind, rival: UUID) -> list[Any]:
    ends = {held.claim.claim_id, rival}
    return [link for link in held.edit.near.active_links(kind) if {link.from_claim, link.to_claim} == ends]


def _give_places(tx: Tx, held: Opened, claim: HeldClaim) -> list[tuple[str, int, int]]:
    """Lets what supports the candidate support this claim too, from when the candidate began; says what it did not cite
    before."""
    cited = {
        (place.evidence_id, place.cited_start, place.cited_stop)
        for place in of_claims(tx, [claim.claim_id]).get().get(claim.claim_id, [])
    }
    start = held.claim.asserted.start or claim.asserted.start
    given = [place for place in held.places if (place.evidence_id, place.cited_start, place.cited_stop) not in cited]
    for place in given:
        citation = Citation(place.evidence_id, place.cited_start, place.cited_stop)
        held.edit.cite(claim.claim_id, citation, place, asserted_from=start)
    return [(str(place.evidence_id), place.cited_start, place.cited_stop or place.length) for place in given]
