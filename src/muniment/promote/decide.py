"""Decisions about a claim that exists: confirm, reject, retract, restore."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from muniment.canonical import activity, claims, policies
from muniment.canonical.rows import HeldClaim, HeldLink
from muniment.errors import ClaimMovedOn, EvidenceWithdrawn, NotFound, PolicyUnmet, RivalTruth
from muniment.model.claim import Decision, LinkKind, Outcome, Status
from muniment.model.policy import PredicatePolicy, policy_for
from muniment.model.validation import Person
from muniment.promote.admit import admit
from muniment.promote.edit import Edit
from muniment.promote.neighbourhood import gather, resting_on
from muniment.promote.ports import Desk
from muniment.promote.proposal import Citation
from muniment.promote.readmit import readmit
from muniment.promote.sources import Source, joint_rule, look_up, of_candidates
from muniment.promote.turn import Turn, in_turn
from muniment.promote.values import says_no_more, slot_of
from muniment.store.database import Tx


@dataclass(frozen=True, slots=True)
class Opened:
    """One claim, loaded with its neighbourhood and locked."""

    claim: HeldClaim
    policy: PredicatePolicy
    edit: Edit
    places: list[Source]
    """Where its evidence says it, while it is a candidate."""
    links: dict[UUID, HeldLink]
    """The links of the neighbourhood as they were loaded."""
    now: datetime


def confirm(desk: Desk, claim_id: UUID, *, by: str, reason: str, citations: Sequence[Citation]) -> Decision:
    """Validates a candidate. Raises `ClaimMovedOn` when it is no longer one, `RivalTruth` when another validated claim
    holds its slot from the same moment, `PolicyUnmet` when the policy asks for more than a person's word, `NotFound`.
    Confirming what is validated changes nothing, unless its policy asks to have it confirmed again now and then."""

    def decide(tx: Tx, held: Opened) -> tuple[Outcome, str]:
        text = f"confirmed by {by}" + (f": {reason}" if reason else "")
        if held.claim.status is Status.VALIDATED:
            if held.policy.reconfirm_after is None:
                return Outcome.VALIDATED, "validated already; nothing changed"
            held.edit.renew(held.claim, text)
            return Outcome.VALIDATED, text
        require(held.claim, Status.CANDIDATE)
        require_policy(tx, held, by, citations)
        return make_live(held, text)

    return _decide(desk, claim_id, "confirm", citations, "supports", decide)


def reject(desk: Desk, claim_id: UUID, *, by: str, reason: str) -> Decision:
    """Turns a candidate down; it stays readable in the history. Raises `ClaimMovedOn`, `NotFound`."""

    def decide(tx: Tx, held: Opened) -> tuple[Outcome, str]:
        text = f"rejected by {by}" + (f": {reason}" if reason else "")
        if held.claim.status is not Status.REJECTED:
            require(held.claim, Status.CANDIDATE)
            end(held, Status.REJECTED, text)
        return Outcome.REJECTED, text

    return _decide(desk, claim_id, "reject", (), "contradicts", decide)


def retract(desk: Desk, claim_id: UUID, *, reason: str, citations: Sequence[Citation]) -> Decision:
    """Says that the claim should never have been held; what it had superseded comes back, what rests on it ends.
    Retracting what is retracted changes nothing. Raises `ClaimMovedOn`, `NotFound`."""

    def decide(tx: Tx, held: Opened) -> tuple[Outcome, str]:
        text = "retracted" + (f": {reason}" if reason else "")
        if held.claim.status is not Status.RETRACTED:
            require(held.claim, Status.VALIDATED, Status.UNSUPPORTED, Status.CANDIDATE)
            end(held, Status.RETRACTED, text)
        return Outcome.RETRACTED, text

    return _decide(desk, claim_id, "retract", citations, "contradicts", decide)


def restore(desk: Desk, claim_id: UUID, *, reason: str) -> Decision:
    """Holds a retracted or rejected claim again. Raises `ClaimMovedOn`, `RivalTruth`, `NotFound`."""

    def decide(tx: Tx, held: Opened) -> tuple[Outcome, str]:
        require(held.claim, Status.RETRACTED, Status.REJECTED)
        return make_live(held, "restored" + (f": {reason}" if reason else ""))

    return _decide(desk, claim_id, "restore", (), "supports", decide)


def _decide(
    desk: Desk, claim_id: UUID, kind: str, citations: Sequence[Citation], stance: str,
    decide: Callable[[Tx, Opened], tuple[Outcome, str]],
) -> Decision:  # fmt: skip
    """Loads, lets `decide` change the working state, writes."""

    def work(tx: Tx, turn: Turn) -> Decision:
        held = open_claim(tx, turn, claim_id)
        outcome, reason = decide(tx, held)
        if citations:
            _cite(tx, desk, held, citations, stance)
        release(tx, held)
        at = held.edit.write(tx, desk, kind, now=held.now, prepared=desk.follower.prepare())
        return decision_of(held, outcome, reason, at)

    return in_turn(desk, work)


def release(tx: Tx, held: Opened) -> None:
    """What waited only because of a claim that somebody decided against is judged again."""
    if held.edit.near.claims[held.claim.claim_id].live or not held.claim.live:
        return
    ended = [link for key, link in held.links.items() if key not in held.edit.near.links]
    readmit(tx, held.edit, ended, "nothing stands against it any more")


def decision_of(held: Opened, outcome: Outcome, reason: str, at: datetime | None) -> Decision:
    """The public answer, once the edit is written (`at`; None when there was nothing to write)."""
    claim_id = held.claim.claim_id
    moved = any(claim.claim_id == claim_id for claim in held.edit.changed())
    return Decision(
        outcome=outcome,
        claim_id=str(claim_id),
        version=held.claim.version + (1 if moved else 0),
        status=held.edit.near.claims[claim_id].status,
        reason=reason,
        policy_version=held.policy.version,
        links=held.edit.public_links(at) if at is not None else (),
    )


def open_claim(tx: Tx, turn: Turn, claim_id: UUID, *, extra: Sequence[UUID] = (), value: Any = None) -> Opened:
    """Locks the subject and loads the claim with its neighbourhood, that of `extra` claims, and of what holds `value`
    in its place. Raises `NotFound`."""
    missing = NotFound("no claim with this id that this session may see")
    first = claims.held_claims(tx, [claim_id]).get().get(claim_id)
    if first is None or not first.visible:
        raise missing
    asked_group = turn.take(tx, first.subject_id)
    asked_now, asked_policies = activity.server_now(tx), policies.open_policies(tx)
    asked_places, in_force = of_candidates(tx, [first.slot]), asked_policies.get()
    group = asked_group.get()
    slots = slots_alike(first, group, in_force)
    if value is not None:
        policy = policy_for(first.predicate, in_force, first.memory_type)
        slots.add(slot_of(first.subject_id, first.predicate, first.scope, value, policy))
    resting = resting_on(tx, group, first.predicate, in_force)
    near = gather(tx, slots=slots, extra=[*resting, *extra], turn=turn, policies=in_force, group=group)
    claim = near.claims[claim_id]
    if not claim.visible:
        raise missing
    now = asked_now.get()
    return Opened(
        claim,
        near.policy_of(claim),
        Edit.of(near, requested=now),
        asked_places.get().get(claim_id, []),
        dict(near.links),
        now,
    )


def slots_alike(claim: HeldClaim, group: Sequence[str], in_force: Sequence[PredicatePolicy]) -> set[UUID]:
    """The claim's slot, and those in which subjects that are one with its own would hold the same."""
    policy = policy_for(claim.predicate, in_force, claim.memory_type)
    others = [subject for subject in group if subject != claim.subject_id]
    return {claim.slot, *(slot_of(other, claim.predicate, claim.scope, claim.value, policy) for other in others)}


def require(claim: HeldClaim, *statuses: Status) -> None:
    if claim.status not in statuses:
        raise ClaimMovedOn(
            f"claim {claim.claim_id} is {claim.status.value} now, not {' or '.join(s.value for s in statuses)}; "
            "read its history, then decide again"
        )


def require_policy(tx: Tx, held: Opened, by: str, citations: Sequence[Citation]) -> None:
    """Raises `PolicyUnmet` when neither the evidence nor this person's decision is what the policy asks for."""
    subjects = held.edit.near.group | {held.claim.subject_id}
    places = [*held.places, *(source for _, source in look_up(tx, citations).get().spans)]
    if not places:
        raise EvidenceWithdrawn(
            "all evidence of this claim was withdrawn: nothing is left to decide by; reject it, or give other evidence"
        )
    backings = [place.backing(subjects, held.policy) for place in places]
    missing = held.policy.waits_for(backings, person=Person(by, is_subject=by in subjects))
    if missing is not None:
        raise PolicyUnmet(
            f"the policy of {held.claim.predicate!r} asks for more than a person's word: it {missing}. Give the "
            "evidence it asks for, or propose the claim again with it"
        )


def make_live(held: Opened, reason: str, *, over: Sequence[UUID] = ()) -> tuple[Outcome, str]:
    """Admits the claim, with what it was proposed to supersede or correct, and over the rivals that somebody decided
    against."""
    edit, claim = held.edit, held.claim
    proposed = [
        link for link in edit.near.links.values()
        if link.from_claim == claim.claim_id and link.kind == LinkKind.SUPERSEDES and link.state == "proposed"
    ]  # fmt: skip
    edit.disconnect(proposed)
    for rival in over:
        edit.connect(
            LinkKind.SUPERSEDES,
            claim.claim_id,
            rival,
            scope=claim.scope,
            effective_from=claim.asserted.start,
            named=True,
        )
    targets = list(over)
    for link in proposed:
        target = link.to_claim
        targets.append(target)
        if link.correction:
            corrected = edit.near.claims[target]
            require(corrected, Status.VALIDATED, Status.UNSUPPORTED, Status.CANDIDATE)
            edit.put(replace(corrected, status=Status.RETRACTED), f"corrected: it never was; see {claim.claim_id}")
        edit.connect(
            LinkKind.SUPERSEDES, claim.claim_id, target, scope=link.scope, effective_from=link.effective_from,
            correction=link.correction, named=link.named,
        )  # fmt: skip
    verdict = admit(edit, claim, held.policy, reason=reason, targets=targets)
    if verdict.rivals:
        raise RivalTruth(
            "another validated claim holds this slot from the same moment, or one that this session may not see; "
            "nothing was changed. Retract or correct the other one first, or ask who may see both"
        )
    return verdict.outcome, verdict.reason


def _conflicts(edit: Edit, claim: HeldClaim) -> list[HeldLink]:
    return [
        link
        for link in edit.near.active_links(LinkKind.CONFLICTS_WITH)
        if claim.claim_id in (link.from_claim, link.to_claim)
    ]


def end(held: Opened, status: Status, reason: str) -> None:
    """Takes a claim out of the timeline, and ends what it did to others."""
    edit, claim = held.edit, held.claim
    edit.put(replace(claim, status=status), reason)
    ending = [link for link in edit.near.links.values() if link.from_claim == claim.claim_id and link.state == "active"]
    superseding = [link for link in ending if link.kind == LinkKind.SUPERSEDES]
    edit.disconnect(
        [*superseding, *(link for link in ending if link.kind == LinkKind.REFINES), *_conflicts(edit, claim)]
    )
    for link in superseding:
        # Kept as a proposal: restoring the claim does all of it again.
        edit.connect(
            LinkKind.SUPERSEDES, claim.claim_id, link.to_claim, scope=link.scope, effective_from=link.effective_from,
            state="proposed", correction=link.correction, named=link.named,
        )  # fmt: skip
        if link.correction and edit.near.claims[link.to_claim].status is Status.RETRACTED:
            corrected = edit.near.claims[link.to_claim]
            back = replace(corrected, status=Status.VALIDATED, valid=corrected.asserted)
            edit.put(back, "came back: its correction is no longer held")
    edit.settle("came back: what had superseded it is no longer held")


def _cite(tx: Tx, desk: Desk, held: Opened, citations: Sequence[Citation], stance: str) -> None:
    sources = look_up(tx, citations).get()
    for citation, source in sources.spans:
        held.edit.cite(held.claim.claim_id, citation, source, stance=stance)
    current = held.edit.near.claims[held.claim.claim_id]
    if stance == "supports" and says_no_more(current):
        rule = joint_rule(tx, sources.access_ids)
        held.edit.near.claims[current.claim_id] = held.edit.widened(tx, current, rule)
