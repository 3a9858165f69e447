"""What a changed policy would decide otherwise."""

from __future__ import annotations

from muniment.model.base import Instant, Record
from muniment.model.claim import Status
from muniment.model.policy import PredicatePolicy

Period = tuple[Instant | None, Instant | None]


class PolicyChange(Record):
    """One claim that a policy decides otherwise: its status, and the periods of the world for which it holds."""

    claim_id: str
    subject_id: str
    predicate: str
    statement: str
    status_before: Status
    status_after: Status
    valid_before: tuple[Period, ...]
    valid_after: tuple[Period, ...]
    reason: str | None


class PolicyTrial(Record):
    """A policy beside the one in force: the claims that were decided again, and those that come out otherwise.

    `hidden` counts changes to claims that the session may not see. `applied` says whether it was put in force.
    """

    policy: PredicatePolicy
    decided: int
    changes: tuple[PolicyChange, ...]
    hidden: int = 0
    applied: bool = False
