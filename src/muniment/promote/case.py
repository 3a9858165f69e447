"""A proposal with everything that its decision depends on, loaded under the lock of its subject."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from muniment.canonical import activity, claims, policies
from muniment.canonical.rows import HeldClaim
from muniment.errors import ClaimMovedOn, NotFound
from muniment.model.access import AccessRule
from muniment.model.claim import Status
from muniment.model.policy import PredicatePolicy, policy_for
from muniment.model.scope import covering, covers
from muniment.model.validation import Backing
from muniment.promote.edit import Edit
from muniment.promote.neighbourhood import Neighbourhood, gather, lock_and_load, resting_on
from muniment.promote.ports import Desk
from muniment.promote.proposal import Proposal
from muniment.promote.sources import Source, Sources, joint_rule, look_up, of_candidates
from muniment.promote.turn import Turn
from muniment.promote.values import normalise, require_value, slot_of
from muniment.store.database import Tx
from muniment.time import Intervals


@dataclass(frozen=True, slots=True)
class Case:
    """A proposal with everything that was loaded to judge it."""

    desk: Desk
    proposal: Proposal
    policy: PredicatePolicy
    sources: Sources
    slot: UUID
    start: datetime
    asserted: Intervals[datetime]
    backings: list[Backing]
    """What the citations of this proposal count for."""
    held_backings: dict[UUID, list[Source]]
    """The places that the candidates of the slot cite already."""
    rule: AccessRule
    edit: Edit
    cited: dict[UUID, set[tuple[UUID, int, int]]]
    target: HeldClaim | None
    premises: tuple[UUID, ...]
    now: datetime

    @property
    def spans(self) -> set[tuple[UUID, int, int]]:
        return {(c.evidence_id, c.start, c.end or source.length) for c, source in self.sources.spans}


def open_case(tx: Tx, turn: Turn, desk: Desk, proposal: Proposal) -> Case:
    """Locks the subject and loads what the decision depends on."""
    asked_group = turn.take(tx, proposal.subject)
    asked_now, asked_policies, asked_sources = (
        activity.server_now(tx), policies.open_policies(tx), look_up(tx, proposal.citations),
    )  # fmt: skip
    now, in_force = asked_now.get(), asked_policies.get()
    policy = policy_for(proposal.predicate, in_force, proposal.memory_type)
    sources, group = asked_sources.get(), asked_group.get()
    proposal = replace(proposal, value=require_value(proposal.value, policy))
    slots = [
        slot_of(subject, proposal.predicate, scope, proposal.value, policy)
        for subject in group for scope in covering(proposal.scope)
    ]  # fmt: skip
    asked_cited = claims.spans_in_slots(tx, slots, [c.evidence_id for c in proposal.citations])
    asked_candidates = of_candidates(tx, slots[:1])
    asked_resting = claims.held_of_subjects(tx, group, policy.depends_on) if policy.depends_on else None
    named_target = [proposal.supersedes] if proposal.supersedes else []
    resting = resting_on(tx, group, proposal.predicate, in_force)
    near = gather(tx, slots=slots, extra=[*named_target, *resting], turn=turn, policies=in_force, group=group)
    target = _target(near, proposal, slots[0], sources, policy)
    named = _named_premises(proposal, lock_and_load(tx, proposal.premises, turn))
    start = _start(proposal, sources, target)
    rule = joint_rule(tx, [*sources.access_ids, *(premise.access_id for premise in named.values())])
    premises = named | {
        key: claim for key, claim in (asked_resting.get() if asked_resting is not None else {}).items()
        if covers(claim.scope, proposal.scope) and start in claim.valid
    }  # fmt: skip
    near.premises |= {key: premise for key, premise in premises.items() if key not in near.claims}
    if proposal.within is not None:
        rule = rule.both(proposal.within)
    edit = Edit.of(near, requested=sources.observed_at if desk.access.may_import and sources.imported else now)
    edit.steps = {"receive": {"citations": len(proposal.citations)}, "identify": {"known_as": group}}
    return Case(
        desk=desk,
        proposal=proposal,
        policy=policy,
        sources=sources,
        slot=slots[0],
        start=start,
        asserted=Intervals.between(start, _end(proposal, start, target)),
        backings=sources.backings(group, policy),
        held_backings=asked_candidates.get(),
        rule=rule if proposal.labels is None else rule.both(AccessRule.of(proposal.labels)),
        edit=edit,
        cited=asked_cited.get(),
        target=target,
        premises=tuple(premises),
        now=now,
    )


def _target(
    near: Neighbourhood, proposal: Proposal, slot: UUID, sources: Sources, policy: PredicatePolicy
) -> HeldClaim | None:
    """The claim to supersede: the one that was named, or for a correction the one that holds when this one begins."""
    if proposal.supersedes is None:
        start = proposal.valid_from or sources.occurred_at
        alike = near.alike(slot, proposal.subject, proposal.predicate, proposal.scope)
        held = [claim for claim in alike if proposal.correction and claim.live and claim.visible]
        said = normalise(proposal.value, policy)
        return next((c for c in held if start in c.valid and normalise(c.value, policy) != said), None)
    target = near.claims.get(proposal.supersedes)
    if target is None or not target.visible:
        raise NotFound("no claim to supersede with this id that this session may see")
    if not proposal.correction and target.status in (Status.RETRACTED, Status.REJECTED):
        raise ClaimMovedOn(f"claim {target.claim_id} is {target.status.value} already; there is nothing to supersede")
    return target


def _start(proposal: Proposal, sources: Sources, target: HeldClaim | None) -> datetime:
    """When the claim begins to hold: as given; for a correction, when the corrected claim began; else as said."""
    if proposal.valid_from is not None:
        return proposal.valid_from
    if proposal.correction and target is not None and target.asserted.start is not None:
        return target.asserted.start
    return sources.occurred_at


def _end(proposal: Proposal, start: datetime, target: HeldClaim | None) -> datetime | None:
    """When it ends to hold: as given; a correction without an end lasts as long as what it corrects."""
    end = proposal.asserted_to(start)
    if end is None and proposal.correction and target is not None and target.asserted.end is not None:
        return max(target.asserted.end, start + timedelta(microseconds=1))
    return end


def _named_premises(proposal: Proposal, held: dict[UUID, HeldClaim]) -> dict[UUID, HeldClaim]:
    visible = {key: claim for key, claim in held.items() if claim.visible}
    if len(visible) < len(set(proposal.premises)):
        raise NotFound("no premise with this id that this session may see")
    return visible
