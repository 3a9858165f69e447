"""Proposing a typed claim: support what is held, change it, correct it, narrow it, or wait for somebody to decide."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from muniment.canonical import reviews
from muniment.canonical.rows import HeldClaim
from muniment.model.claim import Decision, LinkKind, Outcome, Status
from muniment.model.ids import new_id
from muniment.model.policy import ValueType
from muniment.model.validation import asks_for_review
from muniment.promote.admit import Verdict, admit, order_across
from muniment.promote.case import Case, open_case
from muniment.promote.compare import compare
from muniment.promote.ports import Desk
from muniment.promote.proposal import Proposal, statement_of
from muniment.promote.sources import joint_rule
from muniment.promote.turn import Turn, in_turn
from muniment.promote.validate import Judgement, validate
from muniment.promote.values import says_no_more
from muniment.store.database import Tx

VALIDATED_REASON = "validated, by its evidence"


def propose(desk: Desk, proposal: Proposal) -> Decision:
    """Decides what becomes of `proposal` and writes it. Repeating it changes nothing.

    Raises `NotFound` for evidence, premises or a superseded claim that the caller may not see; `UnknownSpan`,
    `InvalidInput`, `ClaimMovedOn` (the claim to correct is no longer held), `RivalTruth`, `CyclicPremises`.
    """
    prepared = desk.follower.prepare(statements=[statement_of(proposal)])

    def work(tx: Tx, turn: Turn) -> Decision:
        case = open_case(tx, turn, desk, proposal)
        comparison = compare(case)
        judgement = validate(case, comparison)
        case.edit.steps |= {"compare": comparison.record(), "validate": judgement.record()}
        if comparison.twin is None:
            return _assert_new(tx, case, judgement, prepared)
        return _support(tx, case, comparison.twin, judgement, prepared)

    return in_turn(desk, work)


def _support(tx: Tx, case: Case, twin: HeldClaim, judgement: Judgement, prepared: object) -> Decision:
    """The same value again: one more support, perhaps seen by more people, perhaps enough to validate a candidate."""
    if twin.status in (Status.REJECTED, Status.RETRACTED):
        reason = f"the same words were {twin.status.value} before; restore the claim, or give other evidence"
        return _decision(case, twin, Outcome.REJECTED, reason)
    reason = _add_support(tx, case, twin)
    outcome = Outcome.SUPPORTED
    if twin.status is Status.CANDIDATE:
        verdict = _admit_candidate(case, case.edit.near.claims[twin.claim_id], judgement)
        outcome, reason = verdict.outcome, verdict.reason
    else:
        outcome, reason = _end_target(case, twin, reason)
        if twin.live:
            order_across(case.edit, case.edit.near.claims[twin.claim_id], case.policy)
        case.edit.settle("the earlier claim reaches further back")
    at = case.edit.write(tx, case.desk, "support", now=case.now, prepared=prepared)
    decision = _decision(case, twin, outcome, reason, at=at)
    if twin.visible:
        return decision
    # "supported", or a second version, would betray that somebody the caller may not see said it before.
    seen = Outcome.VALIDATED if outcome is Outcome.SUPPORTED else outcome
    return decision.model_copy(update={"outcome": seen, "version": 1, "reason": VALIDATED_REASON, "links": ()})


def _add_support(tx: Tx, case: Case, twin: HeldClaim) -> str:
    """Ties the new spans to the claim in the working state; says what came of it."""
    cited = case.cited.get(twin.claim_id, set())
    new = [(c, s) for c, s in case.sources.spans if (c.evidence_id, c.start, c.end or s.length) not in cited]
    if not new:
        case.edit.put(twin, "")
        if case.start in twin.valid:
            return "the same value is held already; nothing changed"
        return "these words were taken into account already, and something later took over; nothing changed"
    for citation, source in new:
        case.edit.cite(twin.claim_id, citation, source, asserted_from=case.start)
    reason = "the same value, one more support"
    if says_no_more(twin, statement_of(case.proposal)):
        twin = case.edit.widened(tx, twin, case.rule)
    case.edit.put(twin, reason)
    return reason


def _admit_candidate(case: Case, twin: HeldClaim, judgement: Judgement) -> Verdict:
    """What one more support does to a candidate: a quote may be what it waited for."""
    if judgement.waits is not None:
        return Verdict(Outcome.CANDIDATE, judgement.waits)
    _end_target(case, twin, "")
    targets = () if case.target is None else (case.target.claim_id,)
    return admit(case.edit, twin, case.policy, reason=VALIDATED_REASON, targets=targets)


def _end_target(case: Case, twin: HeldClaim, reason: str) -> tuple[Outcome, str]:
    """What was named to be superseded or corrected ends, also when the new value is held already."""
    target = case.target
    if target is None or target.claim_id == twin.claim_id or not target.live:
        return Outcome.SUPPORTED, reason
    if case.proposal.correction:
        case.edit.put(replace(target, status=Status.RETRACTED), f"corrected: it never was; see {twin.claim_id}")
    _link_target(case, twin, state="active")
    return Outcome.SUPERSEDED_OTHER, f"{reason}; the named claim ends"


def _assert_new(tx: Tx, case: Case, judgement: Judgement, prepared: object) -> Decision:
    """A claim that nobody made before: validated at once, or a candidate that says what it waits for."""
    claim = _new_claim(case)
    edit, waits = case.edit, judgement.waits
    if case.rule.access_id != 0:
        edit.rules.add(case.rule)
    edit.put(claim, waits or VALIDATED_REASON)
    for citation, source in case.sources.spans:
        edit.cite(claim.claim_id, citation, source, asserted_from=case.start)
    for premise in case.premises:
        edit.connect(LinkKind.DERIVED_FROM, claim.claim_id, premise, scope=claim.scope, effective_from=case.start)
    if waits is not None:
        verdict = Verdict(Outcome.CANDIDATE, waits)
        if case.target is not None:
            _link_target(case, claim, state="proposed")
    else:
        verdict = _admit_new(case, claim)
        if verdict.rivals:
            edit.reasons[claim.claim_id] = verdict.reason
    for rival in verdict.rivals:
        if rival.visible:
            edit.connect(
                LinkKind.CONFLICTS_WITH, claim.claim_id, rival.claim_id, scope=claim.scope, effective_from=case.start
            )
    at = edit.write(tx, case.desk, "propose", now=case.now, prepared=prepared)
    waits_for_person = waits is not None and asks_for_review(case.policy.requirement)
    review_id = _open_review(tx, case, claim, verdict) if verdict.rivals or waits_for_person else None
    return _decision(case, claim, verdict.outcome, verdict.reason, at=at, review_id=review_id)


def _admit_new(case: Case, claim: HeldClaim) -> Verdict:
    target = case.target
    if target is not None:
        if case.proposal.correction:
            case.edit.put(replace(target, status=Status.RETRACTED), f"corrected: it never was; see {claim.claim_id}")
        _link_target(case, claim, state="active")
    verdict = admit(
        case.edit, claim, case.policy, targets=() if target is None else (target.claim_id,),
        reason=f"{'corrects what never was' if case.proposal.correction else 'validated'}, by its evidence",
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


def _link_target(case: Case, claim: HeldClaim, *, state: str) -> None:
    assert case.target is not None
    case.edit.connect(
        LinkKind.SUPERSEDES, claim.claim_id, case.target.claim_id, scope=claim.scope, effective_from=case.start,
        state=state, correction=case.proposal.correction, named=True,
    )  # fmt: skip


def _new_claim(case: Case) -> HeldClaim:
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


def _open_review(tx: Tx, case: Case, claim: HeldClaim, verdict: Verdict) -> str:
    """A review for those who may see both the claim and what stands in its way."""
    rivals = [rival.access_id for rival in verdict.rivals]
    rule = joint_rule(tx, rivals).both(case.rule) if rivals else case.rule
    actor = case.desk.access.actor
    return str(reviews.insert(tx, claim.claim_id, verdict.rivals, verdict.reason, rule=rule, actor=actor, at=case.now))


def _decision(
    case: Case,
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
