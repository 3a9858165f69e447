"""Proposing a typed claim: support what is held, change it, correct it, narrow it, or wait for somebody to decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

import psycopg

from muniment.canonical import activity, claims, policies, reviews
from muniment.canonical.rows import HeldClaim
from muniment.errors import ClaimMovedOn, NotFound, RivalTruth
from muniment.model.access import AccessRule
from muniment.model.claim import Decision, LinkKind, Outcome, Status
from muniment.model.ids import new_id
from muniment.model.policy import PredicatePolicy, ValueType, policy_for
from muniment.model.scope import EVERYWHERE, covers
from muniment.promote.admit import Verdict, admit, same_value
from muniment.promote.edit import Edit
from muniment.promote.neighbourhood import Neighbourhood, gather, lock_and_load, lock_subject
from muniment.promote.ports import Desk
from muniment.promote.proposal import Proposal, statement_of
from muniment.promote.sources import Sources, joint_rule, look_up
from muniment.promote.values import normalise, require_value, says_no_more, slot_of
from muniment.store.database import Tx
from muniment.time import Intervals

_ATTEMPTS = 5
VALIDATED_REASON = "validated, by an exact quote"
T = TypeVar("T")


def in_turn(desk: Desk, work: Callable[[Tx], T]) -> T:
    """Runs `work` in a transaction with tenant-wide reach. Two writers that locked each other out are told apart by
    PostgreSQL, and the loser runs again. Raises `RivalTruth` when a rival got past the locks."""
    for attempt in range(_ATTEMPTS):
        try:
            with desk.database.transaction(desk.access, reach="tenant") as tx:
                return work(tx)
        except psycopg.errors.DeadlockDetected:
            if attempt == _ATTEMPTS - 1:
                raise
        except psycopg.errors.ExclusionViolation as error:
            raise RivalTruth(
                "another validated claim holds the same slot at the same time; nothing was changed. Read the claims of "
                "this subject again, then correct or supersede the one that no longer holds"
            ) from error
    raise AssertionError("unreachable")


@dataclass(frozen=True, slots=True)
class _Case:
    """A proposal with everything that was loaded to judge it."""

    desk: Desk
    proposal: Proposal
    policy: PredicatePolicy
    sources: Sources
    slot: UUID
    start: datetime
    asserted: Intervals[datetime]
    rule: AccessRule
    edit: Edit
    cited: dict[UUID, set[tuple[UUID, int, int]]]
    target: HeldClaim | None
    premises: tuple[UUID, ...]
    now: datetime

    @property
    def spans(self) -> set[tuple[UUID, int, int]]:
        return {(c.evidence_id, c.start, c.end or source.length) for c, source in self.sources.spans}


def propose(desk: Desk, proposal: Proposal) -> Decision:
    """Decides what becomes of `proposal` and writes it. Repeating it changes nothing.

    Raises `NotFound` for evidence, premises or a superseded claim that the caller may not see; `UnknownSpan`,
    `InvalidInput`, `ClaimMovedOn` (the claim to correct is no longer held), `RivalTruth`, `CyclicPremises`.
    """
    prepared = desk.follower.prepare(statements=[statement_of(proposal)])

    def work(tx: Tx) -> Decision:
        case = _open(tx, desk, proposal)
        twin = _already_corrected(case) or _twin(case)
        if twin is None and proposal.correction and case.target is None:
            raise NotFound("no claim with another value holds then that this session may see; name it in supersedes")
        if twin is None or (not twin.visible and not says_no_more(twin, statement_of(proposal))):
            return _assert_new(tx, case, prepared)
        return _support(tx, case, twin, prepared)

    return in_turn(desk, work)


def _open(tx: Tx, desk: Desk, proposal: Proposal) -> _Case:
    """Locks the subject and loads what the decision depends on."""
    lock_subject(tx, proposal.subject)
    asked_now, asked_policies, asked_sources = (
        activity.server_now(tx), policies.open_policies(tx), look_up(tx, proposal.citations),
    )  # fmt: skip
    now, policy = asked_now.get(), policy_for(proposal.predicate, asked_policies.get())
    sources = asked_sources.get()
    proposal = replace(proposal, value=require_value(proposal.value, policy))
    slots = [
        slot_of(proposal.subject, proposal.predicate, scope, proposal.value, policy)
        for scope in _scopes(proposal.scope)
    ]
    asked_cited = claims.spans_in_slots(tx, slots, [c.evidence_id for c in proposal.citations])
    asked_resting = claims.held_of_subject(tx, proposal.subject, policy.depends_on)
    locked = {proposal.subject}
    near = gather(tx, slots=slots, extra=[proposal.supersedes] if proposal.supersedes else [], locked=locked)
    target = _target(near, proposal, slots[0], sources, policy)
    named = _named_premises(proposal, lock_and_load(tx, proposal.premises, locked))
    start = _start(proposal, sources, target)
    rule = joint_rule(tx, [*sources.access_ids, *(premise.access_id for premise in named.values())])
    premises = named | {
        key: claim for key, claim in asked_resting.get().items()
        if covers(claim.scope, proposal.scope) and start in claim.valid
    }  # fmt: skip
    near.premises |= {key: premise for key, premise in premises.items() if key not in near.claims}
    return _Case(
        desk=desk,
        proposal=proposal,
        policy=policy,
        sources=sources,
        slot=slots[0],
        start=start,
        asserted=Intervals.between(start, _end(proposal, start, target)),
        rule=rule if proposal.labels is None else rule.both(AccessRule.of(proposal.labels)),
        edit=Edit.of(near, requested=sources.observed_at if desk.access.may_import else now),
        cited=asked_cited.get(),
        target=target,
        premises=tuple(premises),
        now=now,
    )


def _scopes(scope: str) -> list[str]:
    """The scope itself, then every wider one that covers it, down to everywhere."""
    parts = scope.split("/") if scope else []
    return ["/".join(parts[:size]) for size in range(len(parts), 0, -1)] + [EVERYWHERE]


def _target(
    near: Neighbourhood, proposal: Proposal, slot: UUID, sources: Sources, policy: PredicatePolicy
) -> HeldClaim | None:
    """The claim to supersede: the one that was named, or for a correction the one that holds when this one begins."""
    if proposal.supersedes is None:
        start = proposal.valid_from or sources.occurred_at
        held = [claim for claim in near.in_slot(slot) if proposal.correction and claim.live and claim.visible]
        said = normalise(proposal.value, policy.value_type)
        return next((c for c in held if start in c.valid and normalise(c.value, policy.value_type) != said), None)
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


def _already_corrected(case: _Case) -> HeldClaim | None:
    """The claim that this same correction made before; raises `ClaimMovedOn` when the target is gone otherwise."""
    target = case.target
    if (
        not case.proposal.correction
        or target is None
        or target.status in (Status.VALIDATED, Status.CANDIDATE, Status.UNSUPPORTED)
    ):
        return None
    for link in case.edit.near.active_links(LinkKind.SUPERSEDES):
        heir = case.edit.near.claims.get(link.from_claim)
        if (
            link.correction
            and link.to_claim == target.claim_id
            and heir is not None
            and heir.live
            and _says_same(case, heir)
        ):
            return heir
    raise ClaimMovedOn(
        f"claim {target.claim_id} is {target.status.value} already; read its history, then correct what holds now"
    )


def _says_same(case: _Case, claim: HeldClaim) -> bool:
    probe = replace(claim, value=case.proposal.value)
    return claim.slot == case.slot and same_value(probe, claim, case.policy)


def _twin(case: _Case) -> HeldClaim | None:
    """The claim that says the same already, for the moment at which this one starts."""
    for claim in case.edit.near.in_slot(case.slot):
        if not _says_same(case, claim):
            continue
        repeated = case.spans <= case.cited.get(claim.claim_id, set())
        if claim.live and case.start in claim.asserted and (repeated or case.start in claim.valid or not claim.valid):
            # Said again for longer: what started later still takes over from it.
            return replace(claim, asserted=claim.asserted | case.asserted)
        if claim.live and _reaches_back(case, claim):
            return replace(claim, asserted=claim.asserted | case.asserted)
        if claim.status is Status.CANDIDATE and (repeated or case.start in claim.asserted):
            return claim
        if claim.status is Status.REJECTED and repeated:
            return claim
    return None


def _reaches_back(case: _Case, claim: HeldClaim) -> bool:
    """Whether the same was true earlier already, with nothing else said in between."""
    first = claim.asserted.start
    if first is None or case.start >= first or case.proposal.valid_to is not None:
        return False
    others = [c for c in case.edit.near.in_slot(case.slot) if c.live and c.claim_id != claim.claim_id]
    return not any(c.asserted.start is None or case.start <= c.asserted.start <= first for c in others)


def _support(tx: Tx, case: _Case, twin: HeldClaim, prepared: object) -> Decision:
    """The same value again: one more support, perhaps seen by more people, perhaps enough to validate a candidate."""
    if twin.status is Status.REJECTED:
        return _decision(case, twin, Outcome.REJECTED, "the same words were rejected; restore the claim to hold it")
    reason = _add_support(tx, case, twin)
    outcome = Outcome.SUPPORTED
    if twin.status is Status.CANDIDATE:
        verdict = _admit_candidate(case, case.edit.near.claims[twin.claim_id])
        outcome, reason = verdict.outcome, verdict.reason
    else:
        case.edit.settle("the earlier claim reaches further back")
    at = case.edit.write(tx, case.desk, "support", now=case.now, prepared=prepared)
    decision = _decision(case, twin, outcome, reason, at=at)
    if twin.visible:
        return decision
    # "supported", or a second version, would betray that somebody the caller may not see said it before.
    seen = Outcome.VALIDATED if outcome is Outcome.SUPPORTED else outcome
    return decision.model_copy(update={"outcome": seen, "version": 1, "reason": VALIDATED_REASON, "links": ()})


def _add_support(tx: Tx, case: _Case, twin: HeldClaim) -> str:
    """Ties the new spans to the claim in the working state; says what came of it."""
    cited = case.cited.get(twin.claim_id, set())
    new = [(c, s) for c, s in case.sources.spans if (c.evidence_id, c.start, c.end or s.length) not in cited]
    if not new:
        case.edit.put(twin, "")
        return "the same value is held already; nothing changed"
    for citation, source in new:
        case.edit.cite(twin.claim_id, citation, source)
    reason = "the same value, one more support"
    if says_no_more(twin, statement_of(case.proposal)):
        twin = case.edit.widened(tx, twin, case.rule)
    case.edit.put(twin, reason)
    return reason


def _admit_candidate(case: _Case, twin: HeldClaim) -> Verdict:
    """What one more support does to a candidate: a quote may be what it waited for."""
    waits = case.sources.waits_for(case.policy)
    if waits is not None:
        return Verdict(Outcome.CANDIDATE, waits)
    return admit(case.edit, twin, case.policy, reason=VALIDATED_REASON, target=None)


def _assert_new(tx: Tx, case: _Case, prepared: object) -> Decision:
    """A claim that nobody made before: validated at once, or a candidate that says what it waits for."""
    claim = _new_claim(case)
    edit, waits = case.edit, case.sources.waits_for(case.policy)
    if case.rule.access_id != 0:
        edit.rules.add(case.rule)
    edit.put(claim, waits or VALIDATED_REASON)
    for citation, source in case.sources.spans:
        edit.cite(claim.claim_id, citation, source)
    for premise in case.premises:
        edit.connect(LinkKind.DERIVED_FROM, claim.claim_id, premise, scope=claim.scope, effective_from=case.start)
    if waits is not None:
        verdict = Verdict(Outcome.CANDIDATE, waits)
        if case.target is not None:
            _link_target(case, claim, state="proposed")
    else:
        verdict = _admit_new(case, claim)
    for rival in verdict.rivals:
        if rival.visible:
            edit.connect(
                LinkKind.CONFLICTS_WITH, claim.claim_id, rival.claim_id, scope=claim.scope, effective_from=case.start
            )
    at = edit.write(tx, case.desk, "propose", now=case.now, prepared=prepared)
    review_id = _open_review(tx, case, claim, verdict) if verdict.rivals else None
    return _decision(case, claim, verdict.outcome, verdict.reason, at=at, review_id=review_id)


def _admit_new(case: _Case, claim: HeldClaim) -> Verdict:
    target = case.target
    if target is not None:
        if case.proposal.correction:
            case.edit.put(replace(target, status=Status.RETRACTED), f"corrected: it never was; see {claim.claim_id}")
        _link_target(case, claim, state="active")
    verdict = admit(
        case.edit, claim, case.policy, target=None if target is None else target.claim_id,
        reason=f"{'corrects what never was' if case.proposal.correction else 'validated'}, by an exact quote",
    )  # fmt: skip
    if verdict.rivals and target is not None:
        # It waits after all, and so does what it would have done to the other one.
        case.edit.put(case.edit.loaded[target.claim_id], "")
        case.edit.links[:] = [link for link in case.edit.links if link.kind != LinkKind.SUPERSEDES]
        case.edit.near.links = {
            k: v
            for k, v in case.edit.near.links.items()
            if v.from_claim != claim.claim_id or v.kind != LinkKind.SUPERSEDES
        }
        _link_target(case, claim, state="proposed")
    return verdict


def _link_target(case: _Case, claim: HeldClaim, *, state: str) -> None:
    assert case.target is not None
    case.edit.connect(
        LinkKind.SUPERSEDES, claim.claim_id, case.target.claim_id, scope=claim.scope, effective_from=case.start,
        state=state, correction=case.proposal.correction,
    )  # fmt: skip


def _new_claim(case: _Case) -> HeldClaim:
    proposal = case.proposal
    is_subject = case.policy.value_type is ValueType.SUBJECT
    return HeldClaim(
        claim_id=new_id(),
        version=1,
        memory_type=proposal.memory_type,
        subject_id=proposal.subject,
        predicate=proposal.predicate,
        value=proposal.value,
        object_id=proposal.value if is_subject else None,
        statement=statement_of(proposal),
        scope=proposal.scope,
        slot=case.slot,
        cardinality=case.policy.cardinality.value,
        status=Status.CANDIDATE,
        asserted=case.asserted,
        valid=case.asserted,
        known_from=case.now,
        confidence=proposal.confidence,
        access_id=case.rule.access_id,
        visible=True,
    )


def _open_review(tx: Tx, case: _Case, claim: HeldClaim, verdict: Verdict) -> str:
    """A review for those who may see both the claim and what stands in its way."""
    rule = joint_rule(tx, [rival.access_id for rival in verdict.rivals]).both(case.rule)
    actor = case.desk.access.actor
    return str(reviews.insert(tx, claim.claim_id, verdict.rivals, verdict.reason, rule=rule, actor=actor, at=case.now))


def _decision(
    case: _Case,
    claim: HeldClaim,
    outcome: Outcome,
    reason: str,
    *,
    at: datetime | None = None,
    review_id: str | None = None,
) -> Decision:
    held = case.edit.near.claims.get(claim.claim_id, claim)
    version = held.version
    if (
        at is not None
        and claim.claim_id in case.edit.loaded
        and any(c.claim_id == claim.claim_id for c in case.edit.changed())
    ):
        version += 1
    if at is not None and at > case.edit.requested:
        reason += f"; known from {at.isoformat()}, since later knowledge was written before it arrived"
    return Decision(
        outcome=outcome,
        claim_id=str(claim.claim_id),
        version=version,
        status=held.status,
        reason=reason,
        policy_version=case.policy.version,
        links=case.edit.public_links(at) if at is not None else (),
        review_id=review_id,
    )
