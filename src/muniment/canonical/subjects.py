"""Subjects: the identifiers that they go by, and the merges that make several of them one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from muniment.canonical import access, activity
from muniment.model.access import AccessRule
from muniment.model.ids import new_id
from muniment.store.answer import Answer, Row
from muniment.store.database import Tx
from muniment.store.statements import sql


def group(tx: Tx, subject: str, *, known_at: datetime | None = None) -> Answer[list[str]]:
    """The subjects that are one with this one, as far as the session's own grants see it; itself first."""

    def read(rows: list[Row]) -> list[str]:
        return [subject, *sorted(row["subject_id"] for row in rows if row["subject_id"] != subject)]

    return Answer(tx, "group_of_subject", {"subject": subject, "known_at": known_at}, read)


def known(tx: Tx, subjects: Iterable[str], *, known_at: datetime | None = None) -> Answer[set[str]]:
    """Those of these subjects that the tenant knew then."""
    parameters = {"subjects": list(subjects), "known_at": known_at}
    return Answer(tx, "known_subjects", parameters, lambda rows: {row["subject_id"] for row in rows})


def ensure(tx: Tx, subject: str, *, activity_id: UUID) -> None:
    """Makes the subject known."""
    tx.execute(sql("insert_subject"), {"subject": subject, "activity_id": activity_id})


def identities_by_id(
    tx: Tx, external_id: str, *, provider: str | None = None, known_at: datetime | None = None
) -> Answer[list[Row]]:
    """Who goes by an identifier; names and addresses are compared without case."""
    return Answer(
        tx, "identities_by_id", {"external_id": external_id, "provider": provider, "known_at": known_at}, list
    )


def identities_of(tx: Tx, subject: str, *, known_at: datetime | None = None) -> Answer[list[Row]]:
    """The identifiers of a subject and of all that are one with it."""
    return Answer(tx, "identities_of_subject", {"subject": subject, "known_at": known_at}, list)


def insert_identity(
    tx: Tx, *, provider: str, external_id: str, subject: str, method: str, confidence: float | None,
    evidence_id: UUID | None, rule: AccessRule, actor: str, at: datetime,
) -> None:  # fmt: skip
    """Stores that a subject goes by an identifier, known from `at` on."""
    act = activity.record(tx, "identify", actor=actor, at=at, used={"evidence": evidence_id and str(evidence_id)})
    ensure(tx, subject, activity_id=act)
    row = {
        "identity_id": new_id(), "provider": provider, "external_id": external_id, "subject_id": subject,
        "method": method, "confidence": confidence, "evidence_id": evidence_id, "at": at,
        "access_id": access.intern(tx, rule), "activity_id": act,
    }  # fmt: skip
    tx.execute(sql("insert_identity"), row)


def close_identity(tx: Tx, identity_id: UUID, *, actor: str, at: datetime) -> None:
    """Ends an identity: it was known until `at`."""
    activity.record(tx, "unidentify", actor=actor, at=at, used={"identity": str(identity_id)})
    tx.execute(sql("close_identity"), {"identity_id": identity_id, "at": at})


def merges_of(tx: Tx, subjects: Sequence[str], *, known_at: datetime | None = None) -> Answer[list[Row]]:
    """The merges that say of one of these subjects that it is another one."""
    return Answer(tx, "merges_of", {"subjects": list(subjects), "known_at": known_at}, list)


def merge_by_id(tx: Tx, merge_id: UUID) -> Answer[list[Row]]:
    """A merge that the session's own grants may see, open or closed."""
    return Answer(tx, "merge_by_id", {"merge_id": merge_id}, list)


def insert_merge(
    tx: Tx, *, from_subject: str, into_subject: str, method: str, confidence: float | None, evidence_id: UUID | None,
    reason: str, rule: AccessRule, actor: str, at: datetime,
) -> UUID:  # fmt: skip
    """Stores that one subject is another one, known from `at` on; returns the merge's id."""
    merge_id = new_id()
    used = {"merge": str(merge_id), "evidence": evidence_id and str(evidence_id), "reason": reason}
    row = {
        "merge_id": merge_id, "from_subject": from_subject, "into_subject": into_subject, "method": method,
        "confidence": confidence, "evidence_id": evidence_id, "at": at, "access_id": access.intern(tx, rule),
        "activity_id": activity.record(tx, "merge", actor=actor, at=at, used=used),
    }  # fmt: skip
    tx.execute(sql("insert_merge"), row)
    return merge_id


def close_merge(tx: Tx, merge_id: UUID, *, reason: str, actor: str, at: datetime) -> None:
    """Ends a merge: it was believed until `at`."""
    activity.record(tx, "unmerge", actor=actor, at=at, used={"merge": str(merge_id), "reason": reason})
    tx.execute(sql("close_merge"), {"merge_id": merge_id, "at": at})


def components(tx: Tx, *, known_at: datetime | None = None, shared: bool = False) -> Answer[dict[str, frozenset[str]]]:
    """Every subject of the tenant that is merged with others, and all those that are one with it; by the merges that
    the session's own grants see, or only by those that everybody may see (`shared`)."""

    def read(rows: list[Row]) -> dict[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for row in rows:
            ends = (row["from_subject"], row["into_subject"])
            joined = frozenset().union(*(found.get(end, frozenset({end})) for end in ends))
            found.update(dict.fromkeys(joined, joined))
        return found

    return Answer(tx, "open_merges", {"known_at": known_at, "shared": shared}, read)
