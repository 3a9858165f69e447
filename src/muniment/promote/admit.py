"""Making a claim live: compare it with its rivals, and let the timeline settle, or say why it has to wait."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

from muniment.canonical.rows import HeldClaim
from muniment.model.claim import LinkKind, Outcome, Status
from muniment.model.policy import Cardinality, Cost, PredicatePolicy
from muniment.model.scope import covers
from muniment.promote.edit import Edit
from muniment.promote.values import normalise


@dataclass(frozen=True, slots=True)
class Verdict:
    """What admitting led to. `rivals` are those that stand in the way, when any do."""

    outcome: Outcome
    reason: str
    rivals: tuple[HeldClaim, ...] = ()


def same_value(a: HeldClaim, b: HeldClaim, policy: PredicatePolicy) -> bool:
    """Whether two claims say the same, by normalised typed value."""
    return normalise(a.value, policy) == normalise(b.value, policy)


def admit(
    edit: Edit, claim: HeldClaim, policy: PredicatePolicy, *, reason: str, targets: Collection[UUID] = ()
) -> Verdict:
    """Makes `claim` validated in the working state, or leaves it out and says why.

    A rival that the caller may not see stands in the way, because even the outcome would betray it; so does one that no
    rule settles (`_unsettled`). Otherwise the timeline settles by authority, then by time. `targets` are rivals
    that the caller declared superseded.
    """
    rivals = [
        other
        for other in edit.near.rivals_of(claim)
        if other.live and other.asserted & claim.asserted
        and (not other.visible or not same_value(other, claim, policy))
    ]  # fmt: skip
    hidden = tuple(rival for rival in rivals if not rival.visible)
    if hidden:
        return Verdict(Outcome.CANDIDATE, "waits for review", hidden)
    weaker = [
        rival for rival in rivals if rival.claim_id not in targets and _has_less_evidence(edit, rival, claim, policy)
    ]
    open_rivals = [rival for rival in rivals if rival.claim_id not in targets and rival not in weaker and rival.valid]
    stuck = tuple(rival for rival in open_rivals if _unsettled(edit, claim, rival, policy))
    if stuck:
        reason = f"conflicts with {stuck[0].claim_id}: {_unsettled(edit, claim, stuck[0], policy)}; both are kept"
        return Verdict(Outcome.CONFLICT, reason, stuck)
    edit.put(replace(claim, status=Status.VALIDATED, valid=claim.asserted), reason)
    edit.disconnect([
        link for link in edit.near.active_links(LinkKind.CONFLICTS_WITH)
        if claim.claim_id in (link.from_claim, link.to_claim)
    ])  # fmt: skip
    for rival in weaker:
        edit.connect(
            LinkKind.SUPERSEDES, claim.claim_id, rival.claim_id, scope=claim.scope,
            effective_from=claim.asserted.start, named=True,
        )  # fmt: skip
    _tie_dependants(edit, claim)
    order_across(edit, claim, policy, targets)
    before = {rival.claim_id: rival.valid for rival in rivals if rival.slot == claim.slot}
    edit.settle(f"superseded from {_moment(claim.asserted.start)}")
    _link_rivals(edit, claim, before)
    _link_wider_scopes(edit, claim, policy)
    ended = _ended_by(edit, claim)
    above = next((r for r in rivals if edit.near.authority(r) > edit.near.authority(claim)), None)
    if above is not None and above.claim_id not in targets:
        reason += f"; outranked by {above.claim_id}, whose source has more authority: it holds where that says nothing"
        if not edit.near.claims[claim.claim_id].valid:
            return Verdict(Outcome.CONFLICT, reason)
    if not ended:
        return Verdict(Outcome.VALIDATED, reason)
    where = f" in {claim.scope}" if claim.scope else ""
    return Verdict(
        Outcome.SUPERSEDED_OTHER,
        f"{reason}; supersedes {len(ended)} claim(s) from {_moment(claim.asserted.start)}{where}",
    )


def blocking(edit: Edit, claim: HeldClaim, policy: PredicatePolicy) -> list[UUID]:
    """The live rivals, visible to the caller, that no rule settles the claim against."""
    return [
        other.claim_id for other in edit.near.rivals_of(claim)
        if other.live and other.visible and other.valid and other.asserted & claim.asserted
        and not same_value(other, claim, policy) and _unsettled(edit, claim, other, policy)
    ]  # fmt: skip


def _unsettled(edit: Edit, claim: HeldClaim, rival: HeldClaim, policy: PredicatePolicy) -> str | None:
    """Why neither authority, nor time, nor evidence says which of the two holds; None when one of them does."""
    if edit.near.authority(rival) != edit.near.authority(claim):
        return None
    if rival.asserted.start == claim.asserted.start:
        return "it holds another value from the same moment"
    if policy.cost_of_error is Cost.CRITICAL and rival.began < claim.began:
        return "an error is critical here, and nobody said that the new value replaces it (supersedes)"
    return None


def _has_less_evidence(edit: Edit, rival: HeldClaim, claim: HeldClaim, policy: PredicatePolicy) -> bool:
    """Whether, from the same moment on and where an error is cheap, fewer independent sources back the rival."""
    return (
        policy.cost_of_error is Cost.LOW
        and rival.asserted.start == claim.asserted.start
        and edit.near.authority(rival) == edit.near.authority(claim)
        and edit.near.origins(rival) < edit.near.origins(claim)
    )


def _tie_dependants(edit: Edit, claim: HeldClaim) -> None:
    """Claims that were made before what they depend on was known: they rest on what held when they began."""
    premises = {
        link.from_claim for link in edit.near.active_links(LinkKind.DERIVED_FROM)
        if edit.near.claim(link.to_claim).predicate == claim.predicate
    }  # fmt: skip
    for other in list(edit.near.claims.values()):
        if (
            other.live and other.claim_id not in premises and edit.near.same_subject(other, claim)
            and claim.predicate in edit.near.policy_of(other).depends_on and covers(claim.scope, other.scope)
            and other.began in claim.asserted
        ):  # fmt: skip
            edit.connect(
                LinkKind.DERIVED_FROM, other.claim_id, claim.claim_id, scope=other.scope, effective_from=other.began
            )


def order_across(edit: Edit, claim: HeldClaim, policy: PredicatePolicy, targets: Collection[UUID] = ()) -> None:
    """Rivals of another subject that is one with the claim's share no slot with it: a link says who takes over."""
    for rival in edit.near.rivals_of(claim):
        apart = rival.slot == claim.slot or not rival.live or not rival.asserted & claim.asserted
        if apart or same_value(rival, claim, policy):
            continue
        ahead = (edit.near.authority(rival), rival.began) > (edit.near.authority(claim), claim.began)
        winner, loser = (rival, claim) if ahead and rival.claim_id not in targets else (claim, rival)
        if not _ends(edit, loser, winner):
            edit.connect(
                LinkKind.SUPERSEDES, winner.claim_id, loser.claim_id, scope=claim.scope,
                effective_from=winner.asserted.start,
            )  # fmt: skip


def _ends(edit: Edit, winner: HeldClaim, loser: HeldClaim) -> bool:
    pair = (winner.claim_id, loser.claim_id)
    return any((x.from_claim, x.to_claim) == pair for x in edit.near.active_links(LinkKind.SUPERSEDES))


def _link_rivals(edit: Edit, claim: HeldClaim, before: Mapping[UUID, object]) -> None:
    """Who took over from whom, as links."""
    for rival_id, valid in before.items():
        rival = edit.near.claims[rival_id]
        if rival.valid != valid:
            winner, loser = claim, rival
        elif (edit.near.authority(rival), rival.began) > (edit.near.authority(claim), claim.began):
            winner, loser = rival, claim
        else:
            continue
        edit.connect(
            LinkKind.SUPERSEDES,
            winner.claim_id,
            loser.claim_id,
            scope=claim.scope,
            effective_from=winner.asserted.start,
        )


def _link_wider_scopes(edit: Edit, claim: HeldClaim, policy: PredicatePolicy) -> None:
    """A claim in a narrower scope leaves the wider one its interval; the link says where and since when it yields."""
    for wider in list(edit.near.claims.values()):
        if not (
            wider.live and wider.visible and wider.scope != claim.scope and covers(wider.scope, claim.scope)
            and edit.near.same_subject(wider, claim) and wider.predicate == claim.predicate
            and wider.valid & claim.asserted
        ):  # fmt: skip
            continue
        if same_value(wider, claim, policy):
            kind = LinkKind.REFINES
        elif policy.cardinality is Cardinality.ONE:
            kind = LinkKind.SUPERSEDES
        else:
            continue
        edit.connect(kind, claim.claim_id, wider.claim_id, scope=claim.scope, effective_from=claim.asserted.start)


def _ended_by(edit: Edit, claim: HeldClaim) -> list[UUID]:
    return [link.to_claim for link in edit.near.active_links(LinkKind.SUPERSEDES) if link.from_claim == claim.claim_id]


def _moment(start: datetime | None) -> str:
    return "the beginning" if start is None else start.astimezone(UTC).isoformat().replace("+00:00", "Z")
