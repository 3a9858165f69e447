"""What waits for a person."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from muniment.canonical import access, activity
from muniment.canonical.rows import HeldClaim
from muniment.model.access import AccessRule
from muniment.model.ids import new_id
from muniment.store.answer import Answer, Row
from muniment.store.database import Tx
from muniment.store.statements import sql


def find(
    tx: Tx, *, review_id: UUID | None = None, decided: bool | None = None, after: UUID | None = None, most: int
) -> Answer[list[Row]]:
    """Reviews that the session's own grants may see, whatever the reach, oldest first."""
    parameters = {"review_id": review_id, "decided": decided, "after": after, "most": most}
    return Answer(tx, "reviews", parameters, list)


def decide(tx: Tx, review_id: UUID, verdict: str, *, by: str, reason: str, actor: str, at: datetime) -> None:
    """Stores who decided what, and why."""
    activity_id = activity.record(tx, "decide", actor=actor, at=at, used={"review": str(review_id), "verdict": verdict})
    row = {"review_id": review_id, "verdict": verdict, "by": by, "reason": reason, "activity_id": activity_id}
    tx.execute(sql("insert_review_decision"), row)


def insert(
    tx: Tx, claim_id: UUID, rivals: Sequence[HeldClaim], reason: str, *, rule: AccessRule, actor: str, at: datetime
) -> UUID:
    """Opens a review that only those see whose grants satisfy `rule`."""
    review_id = new_id()
    row = {
        "review_id": review_id,
        "claim_id": claim_id,
        "rivals": [rival.claim_id for rival in rivals],
        "reason": reason,
        "access_id": access.intern(tx, rule),
        "activity_id": activity.record(tx, "review", actor=actor, at=at, used={"claim": str(claim_id)}),
    }
    tx.execute(sql("insert_review"), row)
    return review_id
