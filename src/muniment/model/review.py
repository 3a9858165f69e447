"""Reviews: what waits for a person, what deciding would do, and what was decided."""

from __future__ import annotations

from typing import Literal

from muniment.model.base import Instant, Record
from muniment.model.claim import Claim, Decision, Status
from muniment.model.identity import Merge

Kind = Literal["claim", "conflict", "merge"]


class Consequence(Record):
    """One claim that approving would change."""

    claim_id: str
    statement: str
    status_before: Status
    status_after: Status
    reason: str | None


class ReviewDecision(Record):
    """One decision about a review: the verdict, whose it was, why, and when."""

    verdict: str
    by: str
    reason: str
    at: Instant


class Review(Record):
    """Something that waits for a person. By `kind`:

    - `claim`: a candidate that stands against `rivals`, or whose policy asks for a person. Verdicts: approve, reject,
      edit (another value, from the same evidence), merge (it says the same as a rival);
    - `conflict`: a claim and a rival that both hold, since their subjects turned out to be one. Verdicts: approve (the
      claim holds), reject (the rival does);
    - `merge`: whether the last of `subjects` is the one before it, or which one of those; no claim. Verdicts: merge,
      reject.

    `claim` is None also when it is held no longer. `verdict` is None while the review is open; `decisions` are all that
    were made about it, those undone included. `consequences` is filled by `Session.review`: what approving would
    change, the claim itself included.
    """

    review_id: str
    kind: Kind
    reason: str
    claim: Claim | None
    rivals: tuple[Claim, ...]
    subjects: tuple[str, ...]
    opened_at: Instant
    verdict: str | None = None
    decisions: tuple[ReviewDecision, ...] = ()
    consequences: tuple[Consequence, ...] = ()


class ReviewPage(Record):
    """Some reviews, oldest first, and when there are more, the cursor that continues."""

    items: tuple[Review, ...]
    next_cursor: str | None = None


class Verdict(Record):
    """What deciding a review led to: for the claim in question (of an edit: the new one), or the merge of subjects."""

    review_id: str
    verdict: str
    reason: str
    decision: Decision | None = None
    merge: Merge | None = None
