"""What waits for a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

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


def decide(
    tx: Tx, review_id: UUID, verdict: str, *, by: str, reason: str, actor: str, at: datetime,
    effects: Mapping[str, Any] | None = None,
) -> None:  # fmt: skip
    """Stores who decided what, and why; `effects` are the ids of what it made."""
    activity_id = activity.record(tx, "decide", actor=actor, at=at, used={"review": str(review_id), "verdict": verdict})
    row = {
        "review_id": review_id, "verdict": verdict, "by": by, "reason": reason, "activity_id": activity_id,
        "effects": Jsonb(dict(effects or {})),
    }  # fmt: skip
    tx.execute(sql("insert_review_decision"), row)


def open_of(tx: Tx, claims: Iterable[UUID], subjects: Iterable[str] = ()) -> Answer[list[Row]]:
    """Reviews, not decided yet, of these claims or about these subjects."""
    return Answer(tx, "open_reviews_of", {"claims": list(claims), "subjects": list(subjects)}, list)


def asked_before(tx: Tx, subjects: Sequence[str]) -> Answer[bool]:
    """Whether a review, open or decided, asks which of exactly these subjects are one."""
    return Answer(tx, "reviews_of_subjects", {"subjects": list(subjects)}, bool)


def insert(
    tx: Tx, claim_id: UUID | None, rivals: Sequence[HeldClaim], reason: str, *, rule: AccessRule, actor: str,
    at: datetime, kind: str = "claim", subjects: Sequence[str] = (),
) -> UUID:  # fmt: skip
    """Opens a review that only those see whose grants satisfy `rule`: of a claim that waits, of a conflict between
    claims that hold, or of a merge of two `subjects` (then without a claim)."""
    review_id = new_id()
    row = {
        "review_id": review_id,
        "kind": kind,
        "claim_id": claim_id,
        "rivals": [rival.claim_id for rival in rivals],
        "subjects": list(subjects),
        "reason": reason,
        "access_id": access.intern(tx, rule),
        "activity_id": activity.record(tx, "review", actor=actor, at=at, used={"claim": claim_id and str(claim_id)}),
    }
    tx.execute(sql("insert_review"), row)
    return review_id
