"""Validating a proposal: does its evidence do, by the policy of its predicate, or what does it wait for?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from muniment.model.claim import Status
from muniment.model.validation import Requirement
from muniment.promote.case import Case
from muniment.promote.compare import Comparison


@dataclass(frozen=True, slots=True)
class Judgement:
    """`waits` is None when the evidence validates the claim; the policy version says by which rules."""

    waits: str | None
    requirement: Requirement
    policy_version: int
    sources: int

    def record(self) -> dict[str, Any]:
        """As the activity keeps it."""
        requirement = (
            self.requirement if isinstance(self.requirement, str) else self.requirement.model_dump(mode="json")
        )
        return {
            "requirement": requirement, "policy_version": self.policy_version, "sources": self.sources,
            "waits": self.waits,
        }  # fmt: skip


def validate(case: Case, comparison: Comparison) -> Judgement:
    """Judges the evidence of the proposal, together with what a candidate that says the same rests on already."""
    twin, subjects = comparison.twin, case.edit.near.group
    waiting = twin is not None and twin.status is Status.CANDIDATE
    held = case.held_backings.get(twin.claim_id, []) if waiting and twin is not None else []
    backings = [*(source.backing(subjects, case.policy) for source in held), *case.backings]
    return Judgement(
        case.policy.waits_for(backings), case.policy.requirement, case.policy.version, len({b.origin for b in backings})
    )
