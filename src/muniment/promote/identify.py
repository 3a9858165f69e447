"""Identifiers of subjects. One that belongs to another subject is never moved: a review asks whether both are one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from muniment.canonical import activity, reviews, subjects
from muniment.errors import NotFound
from muniment.model.access import AccessRule
from muniment.model.identity import NAME, Identity
from muniment.promote.ports import Desk
from muniment.promote.proposal import Citation
from muniment.promote.sources import joint_rule, look_up
from muniment.promote.turn import Turn, in_turn
from muniment.store.answer import Row
from muniment.store.database import Tx


def identify(
    desk: Desk, provider: str, external_id: str, subject: str, *, method: str, confidence: float | None,
    citations: Sequence[Citation],
) -> Identity:  # fmt: skip
    """Says that `subject` goes by `external_id` at `provider`; the same again changes nothing.

    Several subjects may share a name. Any other identifier that another subject holds stays with that one: a review
    opens, and the answer says that the link waits. Raises `NotFound`, `UnknownSpan`, `EvidenceWithdrawn`.
    """

    def work(tx: Tx, turn: Turn) -> Identity:
        asked_group, asked_now = turn.take(tx, subject), activity.server_now(tx)
        found = subjects.identities_by_id(tx, external_id, provider=provider).get()
        group, now = asked_group.get(), asked_now.get()
        rule, evidence_id = rule_of(tx, desk, citations), first_of(citations)
        new = Identity(
            provider=provider, external_id=external_id, subject_id=subject, method=method, confidence=confidence,
            evidence_id=None if evidence_id is None else str(evidence_id), known_from=now,
        )  # fmt: skip
        shared_by_one = provider != NAME
        mine = [r for r in found if r["subject_id"] == subject or (shared_by_one and r["subject_id"] in group)]
        if seen := [row for row in mine if row["visible"]]:
            return identity_of(seen[0])
        holder = next(iter(found), None) if shared_by_one and not mine else None
        if holder is None:
            for hidden in mine:
                # Said before, where this session may not see it: from now on both may see it.
                rule = joint_rule(tx, [hidden["access_id"]]).either(rule)
                subjects.close_identity(tx, hidden["identity_id"], actor=desk.access.actor, at=now)
            subjects.insert_identity(
                tx, provider=provider, external_id=external_id, subject=subject, method=method, confidence=confidence,
                evidence_id=evidence_id, rule=rule, actor=desk.access.actor, at=now,
            )  # fmt: skip
            return new
        review_id = _ask_whether_one(tx, desk, holder, subject, rule, now)
        waits = "waits for review: somebody has to say whose identifier this is"
        return new.model_copy(update={"waits": waits, "review_id": review_id if holder["visible"] else None})

    return in_turn(desk, work, whole=True)


def unidentify(desk: Desk, provider: str, external_id: str, subject: str) -> Identity:
    """Says that `subject` does not go by the identifier any more. Raises `NotFound`."""

    def work(tx: Tx, turn: Turn) -> Identity:
        turn.take(tx, subject).get()
        asked_now = activity.server_now(tx)
        found = subjects.identities_by_id(tx, external_id, provider=provider).get()
        mine = next((row for row in found if row["subject_id"] == subject and row["visible"]), None)
        if mine is None:
            raise NotFound("this subject goes by no such identifier that this session may see")
        subjects.close_identity(tx, mine["identity_id"], actor=desk.access.actor, at=asked_now.get())
        return identity_of(mine)

    return in_turn(desk, work, whole=True)


def rule_of(tx: Tx, desk: Desk, citations: Sequence[Citation]) -> AccessRule:
    """Who may see what rests on this evidence; without any, on the session's own word. Raises as `look_up` does."""
    if not citations:
        return desk.access.rule_for(())
    return joint_rule(tx, look_up(tx, citations).get().access_ids)


def first_of(citations: Sequence[Citation]) -> UUID | None:
    """The evidence that is named on the row."""
    return citations[0].evidence_id if citations else None


def identity_of(row: Row) -> Identity:
    """The public form."""
    return Identity(
        provider=row["provider"], external_id=row["external_id"], subject_id=row["subject_id"], method=row["method"],
        confidence=row["confidence"], evidence_id=row["evidence_id"] and str(row["evidence_id"]),
        known_from=row["known_from"],
    )  # fmt: skip


def _ask_whether_one(tx: Tx, desk: Desk, holder: Row, subject: str, rule: AccessRule, now: datetime) -> str | None:
    pair = [holder["subject_id"], subject]
    standing = [r["review_id"] for r in reviews.open_of(tx, (), pair).get() if set(r["subjects"]) == set(pair)]
    if standing or reviews.asked_before(tx, pair).get():
        # Somebody is asked already, or said that they are two.
        return str(standing[0]) if standing else None
    act = activity.record(tx, "identify", actor=desk.access.actor, at=now)
    subjects.ensure(tx, subject, activity_id=act)
    both = joint_rule(tx, [holder["access_id"]]).both(rule)
    reason = f"{subject} is said to go by {holder['provider']} {holder['external_id']!r}, which is {pair[0]}'s"
    return str(
        reviews.insert(
            tx, None, (), reason, rule=both, actor=desk.access.actor, at=now, kind="merge", subjects=pair
        )
    )  # fmt: skip
