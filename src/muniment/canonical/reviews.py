"""What waits for a person."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from muniment.canonical import access, activity
from muniment.canonical.rows import HeldClaim
from muniment.model.access import AccessRule
from muniment.model.ids import new_id
from muniment.store.database import Tx
from muniment.store.statements import sql


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
