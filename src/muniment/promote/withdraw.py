"""Withdrawing evidence: it stays readable, supports nothing any more, and what rested on it alone is unsupported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from muniment.canonical import activity, claims, evidence, policies, subjects
from muniment.canonical.rows import HeldClaim
from muniment.errors import NotFound
from muniment.model.claim import Status, Withdrawal
from muniment.model.validation import Person
from muniment.promote.edit import Edit
from muniment.promote.neighbourhood import gather
from muniment.promote.ports import Desk
from muniment.promote.sources import Source, of_claims
from muniment.promote.turn import Turn, in_turn
from muniment.store.database import Tx


def withdraw(desk: Desk, evidence_id: UUID, *, reason: str) -> Withdrawal:
    """Ends every support by the evidence. A claim that other evidence supports goes on, from when that says that it
    held, as long as its policy is content with what is left; otherwise it waits again. One without any is unsupported,
    and what it had superseded comes back. Withdrawing again changes nothing. Raises `NotFound`."""

    def work(tx: Tx, turn: Turn) -> Withdrawal:
        asked_now, asked_visible = activity.server_now(tx), evidence.visible_ids(tx, [evidence_id])
        asked_policies, asked_merged = policies.open_policies(tx), subjects.components(tx, shared=True)
        now = asked_now.get()
        if evidence_id not in asked_visible.get():
            raise NotFound("no evidence with this id that this session may see")
        act = activity.record(tx, "withdraw", actor=desk.access.actor, at=now, used={"evidence": str(evidence_id)})
        concerned = evidence.withdraw(tx, evidence_id, reason, at=now, activity_id=act)
        if not concerned:
            return Withdrawal(evidence_id=str(evidence_id), claims=(), reason=reason)
        # Loaded after the supports ended: what is read is what is left.
        asked_places, asked_confirmed = of_claims(tx, concerned), claims.confirmed_by_people(tx, concerned)
        near = gather(tx, slots=(), extra=concerned, turn=turn, policies=asked_policies.get())
        edit = Edit.of(near, requested=now)
        places, confirmed = asked_places.get(), asked_confirmed.get()
        merged = asked_merged.get()
        for claim in (near.claims[claim_id] for claim_id in concerned):
            known_as = merged.get(claim.subject_id, frozenset({claim.subject_id}))
            at, by_person = places.get(claim.claim_id, []), claim.claim_id in confirmed
            _weigh(edit, claim, at, known_as, reason, by_person=by_person)
        edit.settle(f"its evidence was withdrawn: {reason}")
        edit.write(tx, desk, "withdraw", now=now, prepared=desk.follower.prepare())
        changed = {claim.claim_id for claim in edit.changed() if claim.visible}
        return Withdrawal(evidence_id=str(evidence_id), claims=tuple(map(str, sorted(changed))), reason=reason)

    return in_turn(desk, work, whole=True)


def _weigh(
    edit: Edit, claim: HeldClaim, places: Sequence[Source], known_as: frozenset[str], reason: str, *, by_person: bool
) -> None:
    """What the claim is worth with the evidence that is left."""
    if claim.status not in (Status.VALIDATED, Status.UNSUPPORTED) or not places:
        return
    starts = [said.start for said in edit.near.said.get(claim.claim_id, ()) if said.start is not None]
    left = claim.asserted.since(min(starts)) if starts else claim.asserted
    policy = edit.near.policy_of(claim)
    backings = [place.backing(known_as, policy) for place in places]
    waits = policy.waits_for(backings, person=Person("somebody") if by_person else None)
    why = f"evidence was withdrawn: {reason}"
    if waits is not None:
        edit.put(replace(claim, status=Status.CANDIDATE), f"{why}; {waits}")
    elif left != claim.asserted:
        edit.put(replace(claim, asserted=left, valid=claim.valid & left), why)
