"""Comparing a proposal with what is held: the same again, something new, or a correction that was made already."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from muniment.canonical.rows import HeldClaim
from muniment.errors import ClaimMovedOn, NotFound
from muniment.model.claim import LinkKind, Status
from muniment.promote.admit import same_value
from muniment.promote.case import Case
from muniment.promote.proposal import statement_of
from muniment.promote.values import says_no_more


@dataclass(frozen=True, slots=True)
class Comparison:
    """`twin` is the claim that says the same, as it would be with the proposal; `others` hold something else in the
    slot."""

    twin: HeldClaim | None
    others: tuple[UUID, ...]

    def record(self) -> dict[str, Any]:
        """As the activity keeps it: ids."""
        same = None if self.twin is None else str(self.twin.claim_id)
        return {"same": same, "others": [str(other) for other in self.others]}


def compare(case: Case) -> Comparison:
    """Compares by normalised typed value within subject, predicate, scope and time; never by similarity.

    Raises `NotFound` when a correction finds nothing to correct, `ClaimMovedOn` when the claim to correct is held no
    longer.
    """
    twin = _already_corrected(case) or _twin(case)
    if twin is None and case.proposal.correction and case.target is None:
        raise NotFound("no claim with another value holds then that this session may see; name it in supersedes")
    if twin is not None and not twin.visible and not says_no_more(twin, statement_of(case.proposal)):
        # Somebody said it in words that this caller may not see: it becomes a claim of its own.
        twin = None
    others = (c for c in _alike(case) if c.live and not _says_same(case, c))
    return Comparison(twin, tuple(other.claim_id for other in others))


def _already_corrected(case: Case) -> HeldClaim | None:
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


def _alike(case: Case) -> list[HeldClaim]:
    proposal = case.proposal
    return case.edit.near.alike(case.slot, proposal.subject, proposal.predicate, proposal.scope)


def _says_same(case: Case, claim: HeldClaim) -> bool:
    probe = replace(claim, value=case.proposal.value)
    return claim.slot == case.slot and same_value(probe, claim, case.policy)


def _twin(case: Case) -> HeldClaim | None:
    """The claim that says the same already, for the moment at which this one starts."""
    decided: HeldClaim | None = None
    for claim in case.edit.near.in_slot(case.slot):
        if not _says_same(case, claim):
            continue
        if claim.live and not case.edit.near.said.get(claim.claim_id):
            # All its evidence was withdrawn: it begins anew with what this one says.
            return replace(claim, asserted=case.asserted)
        repeated = case.spans <= case.cited.get(claim.claim_id, set())
        if claim.live and case.start in claim.asserted and (repeated or case.start in claim.valid or not claim.valid):
            # Said again for longer: what started later still takes over from it.
            return replace(claim, asserted=claim.asserted | case.asserted)
        if claim.live and _reaches_back(case, claim):
            return replace(claim, asserted=claim.asserted | case.asserted)
        if claim.status is Status.CANDIDATE and (repeated or case.start in claim.asserted):
            return claim
        decided = decided or (claim if claim.status in (Status.REJECTED, Status.RETRACTED) and repeated else None)
    # Only when nothing holds: the same words do not bring back what somebody decided against.
    return decided


def _reaches_back(case: Case, claim: HeldClaim) -> bool:
    """Whether the same was true earlier already, with nothing else said in between."""
    first = claim.asserted.start
    if first is None or case.start >= first or case.proposal.valid_to is not None:
        return False
    others = [c for c in _alike(case) if c.live and c.claim_id != claim.claim_id]
    return not any(c.asserted.start is None or case.start <= c.asserted.start <= first for c in others)
