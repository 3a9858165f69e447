"""Deciding history again under a changed policy: the same gate, beside the decisions in force, or in their place.

Every claim that the policy speaks about and that nobody rejected or retracted is judged again by its evidence, in the
order in which the claims were made, and admitted against the others as if it came now. `try_policy` throws the outcome
away; `apply_policy` stores it as new versions, known from now on. What a person confirmed stays confirmed, unless the
policy asks for what no person can replace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from uuid import UUID

from muniment.canonical import activity, claims, policies, subjects
from muniment.canonical.rows import HeldClaim
from muniment.model.claim import LinkKind, Outcome, Status
from muniment.model.policy import PredicatePolicy, policy_for
from muniment.model.trial import PolicyChange, PolicyTrial
from muniment.model.validation import Person
from muniment.promote.admit import admit
from muniment.promote.define import put_in_force
from muniment.promote.edit import Edit
from muniment.promote.neighbourhood import gather
from muniment.promote.ports import Desk
from muniment.promote.sources import Source, of_claims
from muniment.promote.turn import Turn, in_turn
from muniment.promote.values import slot_of
from muniment.store.database import Tx

_DECIDABLE = (Status.CANDIDATE, Status.VALIDATED, Status.UNSUPPORTED)


def try_policy(desk: Desk, policy: PredicatePolicy) -> PolicyTrial:
    """What would change. Writes nothing. Raises `InvalidInput` when a stored value is not of the declared type."""

    def work(tx: Tx, turn: Turn) -> PolicyTrial:
        return _trial(policy, list(_decide_all(tx, turn, policy)))

    return in_turn(desk, work, whole=True)


def apply_policy(desk: Desk, policy: PredicatePolicy) -> PolicyTrial:
    """Puts the policy in force, and decides again what it speaks about; all of it or nothing."""

    def work(tx: Tx, turn: Turn) -> PolicyTrial:
        decided = []
        prepared = desk.follower.prepare()
        now = activity.server_now(tx).get()
        for again in _decide_all(tx, turn, policy):
            again.edit.write(tx, desk, "apply_policy", now=now, prepared=prepared)
            decided.append(again)
        in_force = put_in_force(tx, desk, policy)
        return _trial(in_force, decided).model_copy(update={"applied": True})

    return in_turn(desk, work, whole=True)


@dataclass(frozen=True, slots=True)
class _Again:
    """The claims of one subject, with those that are one with it, decided again."""

    edit: Edit
    decided: int


def _decide_all(tx: Tx, turn: Turn, policy: PredicatePolicy) -> Iterator[_Again]:
    asked_now, asked_policies = activity.server_now(tx), policies.open_policies(tx)
    asked_merged = subjects.components(tx, shared=True)
    now, before, merged = asked_now.get(), asked_policies.get(), asked_merged.get()
    after = [held for held in before if held.predicate != policy.predicate] + [policy]
    concerned = [
        claim
        for claim in claims.held_of_pattern(tx, _like(policy.predicate)).get().values()
        if claim.status in _DECIDABLE and policy_for(claim.predicate, after, claim.memory_type) is policy
    ]

    def person(claim: HeldClaim) -> str:
        return min(merged.get(claim.subject_id, {claim.subject_id}))

    concerned.sort(key=lambda claim: (person(claim), claim.claim_id))
    for _, group in groupby(concerned, key=person):
        members = list(group)
        known_as = merged.get(members[0].subject_id, frozenset({members[0].subject_id}))
        yield _decide_again(tx, turn, members, known_as, policy, after, now)


def _like(pattern: str) -> str | None:
    """The predicate when the pattern names exactly one, so that an index can find its claims."""
    return None if "*" in pattern or ":" in pattern else pattern


def _decide_again(
    tx: Tx, turn: Turn, group: Sequence[HeldClaim], known_as: frozenset[str], policy: PredicatePolicy,
    after: Sequence[PredicatePolicy], now: datetime,
) -> _Again:  # fmt: skip
    ids = [claim.claim_id for claim in group]
    asked_places, asked_confirmed = of_claims(tx, ids), claims.confirmed_by_people(tx, ids)
    near = gather(tx, slots={claim.slot for claim in group}, turn=turn, policies=after, group=known_as)
    edit = Edit.of(near, requested=now)
    places, confirmed = asked_places.get(), asked_confirmed.get()
    # It is the tenant that decides again, whatever the caller may see of it.
    edit.near.claims |= {key: replace(claim, visible=True) for key, claim in edit.near.claims.items()}
    for claim in group:
        _take_out(edit, edit.near.claims[claim.claim_id], policy)
    for claim_id in ids:
        waiting = edit.near.claims[claim_id]
        _decide_one(edit, waiting, policy, places.get(claim_id, []), by_person=claim_id in confirmed)
    edit.settle("decided again under a changed policy")
    return _Again(edit, len(group))


def _take_out(edit: Edit, claim: HeldClaim, policy: PredicatePolicy) -> None:
    """Puts the claim back to where it waited, in the slot that the policy gives it, and forgets whom the timeline made
    it take over from; what somebody named stays named."""
    slot = slot_of(claim.subject_id, claim.predicate, claim.scope, claim.value, policy)
    waiting = replace(
        claim, slot=slot, cardinality=policy.cardinality.value, status=Status.CANDIDATE, valid=claim.asserted
    )
    edit.put(waiting, "waits again under a changed policy")
    edit.disconnect([
        link for link in edit.near.active_links(LinkKind.SUPERSEDES)
        if link.from_claim == claim.claim_id and not link.named
    ])  # fmt: skip


def _decide_one(
    edit: Edit, claim: HeldClaim, policy: PredicatePolicy, places: Sequence[Source], *, by_person: bool
) -> None:
    backings = [place.backing(edit.near.group, policy) for place in places]
    waits = policy.waits_for(backings, person=Person("somebody") if by_person else None)
    if waits is not None:
        edit.put(claim, waits)
        return
    verdict = admit(edit, claim, policy, reason="validated under a changed policy", targets=_named_targets(edit, claim))
    if verdict.outcome is Outcome.CONFLICT and verdict.rivals:
        edit.put(claim, verdict.reason)
        for rival in verdict.rivals:
            edit.connect(
                LinkKind.CONFLICTS_WITH, claim.claim_id, rival.claim_id, scope=claim.scope,
                effective_from=claim.asserted.start,
            )  # fmt: skip
    elif verdict.rivals:
        edit.put(claim, verdict.reason)


def _named_targets(edit: Edit, claim: HeldClaim) -> list[UUID]:
    return [
        link.to_claim for link in edit.near.active_links(LinkKind.SUPERSEDES)
        if link.from_claim == claim.claim_id and link.named
    ]  # fmt: skip


def _trial(policy: PredicatePolicy, decided: Sequence[_Again]) -> PolicyTrial:
    changed = [(again.edit.loaded[claim.claim_id], claim) for again in decided for claim in again.edit.changed()]
    moved = [(before, claim) for before, claim in changed if _moved(before, claim)]
    shown = [(before, claim) for before, claim in moved if before.visible]
    return PolicyTrial(
        policy=policy,
        decided=sum(again.decided for again in decided),
        changes=tuple(_change(before, claim) for before, claim in shown),
        hidden=len(moved) - len(shown),
    )


def _moved(before: HeldClaim, claim: HeldClaim) -> bool:
    """Whether a reader would see a difference; a claim that only moved to another slot is the same to them."""
    return (before.status, before.valid) != (claim.status, claim.valid)


def _change(before: HeldClaim, claim: HeldClaim) -> PolicyChange:
    return PolicyChange(
        claim_id=str(claim.claim_id),
        subject_id=claim.subject_id,
        predicate=claim.predicate,
        statement=claim.statement,
        status_before=before.status,
        status_after=claim.status,
        valid_before=tuple((part.start, part.end) for part in before.valid.parts),
        valid_after=tuple((part.start, part.end) for part in claim.valid.parts),
        reason=claim.reason,
    )
