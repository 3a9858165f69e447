"""Reviews: what waits for a person, what deciding would do, and what was decided."""

from __future__ import annotations

from muniment.model.base import Instant, Record
from muniment.model.claim import Claim, Status


class Consequence(Record):
    """One claim that approving would change."""

    claim_id: str
    statement: str
    status_before: Status
    status_after: Status
    reason: str | None


class Review(Record):
    """A claim that stands against `rivals` and waits for a decision; `claim` None when it is held no longer.

    `verdict`, `decided_by` and `decision_reason` are None while it is open. `consequences` is filled by
    `Session.review`: what approving would change, the claim itself included.
    """

    review_id: str
    reason: str
    claim: Claim | None
    rivals: tuple[Claim, ...]
    opened_at: Instant
    verdict: str | None = None
    decided_by: str | None = None
    decision_reason: str | None = None
    consequences: tuple[Consequence, ...] = ()


class ReviewPage(Record):
    """Some reviews, oldest first, and when there are more, the cursor that continues."""

    items: tuple[Review, ...]
    next_cursor: str | None = None
