"""Candidates that stood in conflict with a claim which is gone are judged again: what they waited for has happened."""

from __future__ import annotations

from collections.abc import Iterable

from muniment.canonical.rows import HeldLink
from muniment.model.claim import LinkKind, Status
from muniment.promote.admit import admit
from muniment.promote.edit import Edit
from muniment.promote.sources import of_claims
from muniment.store.database import Tx


def readmit(tx: Tx, edit: Edit, ended: Iterable[HeldLink], why: str, *, known_as: Iterable[str] | None = None) -> None:
    """Of the ends of these links, which stand no longer: the candidates whose evidence validates them hold, unless
    something else stands in their way; then they are in conflict with that. `known_as`: only claims about these."""
    among = None if known_as is None else set(known_as)
    waiting = {
        end for link in ended if link.kind == LinkKind.CONFLICTS_WITH for end in (link.from_claim, link.to_claim)
        if end in edit.near.claims and edit.near.claims[end].status is Status.CANDIDATE
        and (among is None or edit.near.claims[end].subject_id in among)
    }  # fmt: skip
    places = of_claims(tx, waiting).get() if waiting else {}
    for claim_id in sorted(waiting):
        claim = edit.near.claims[claim_id]
        policy, known = edit.near.policy_of(claim), edit.near.group | {claim.subject_id}
        if policy.waits_for([place.backing(known, policy) for place in places.get(claim_id, [])]) is not None:
            continue
        for rival in admit(edit, claim, policy, reason=why).rivals:
            if rival.visible:
                edit.connect(
                    LinkKind.CONFLICTS_WITH, claim_id, rival.claim_id, scope=claim.scope,
                    effective_from=claim.asserted.start,
                )  # fmt: skip
