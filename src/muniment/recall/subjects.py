"""Who is who, as known at a clock: what a subject goes by, and whom a name may mean."""

from __future__ import annotations

from datetime import datetime

from muniment.canonical import subjects
from muniment.errors import NotFound
from muniment.model.identity import Resolution, Subject
from muniment.promote.identify import identity_of
from muniment.promote.merge import merge_of
from muniment.promote.who import meant_by
from muniment.store.database import Tx


def read_subject(tx: Tx, subject: str, *, known_at: datetime | None) -> Subject:
    """A subject with all that is one with it. Raises `NotFound`."""
    asked_group = subjects.group(tx, subject, known_at=known_at)
    asked_identities = subjects.identities_of(tx, subject, known_at=known_at)
    asked_known = subjects.known(tx, [subject], known_at=known_at)
    group = asked_group.get()
    if not asked_known.get():
        raise NotFound(f"nothing is known of a subject {subject!r}; resolve() finds subjects by name")
    merges = subjects.merges_of(tx, group, known_at=known_at).get()
    return Subject(
        subject_id=subject, known_as=tuple(group), identities=tuple(map(identity_of, asked_identities.get())),
        merges=tuple(merge_of(row | {"known_to": None}) for row in merges if row["visible"]),
    )  # fmt: skip


def resolve(tx: Tx, name: str, *, provider: str | None, known_at: datetime | None) -> Resolution:
    """The subjects that go by a name or an identifier, or the one whose id it is. Subjects that are one count once, by
    the one that the others were merged into."""
    meant = meant_by(tx, name, provider=provider, known_at=known_at)
    tops = {_top(tx, subject, known_at) for subject in meant}
    return Resolution(asked=name, subjects=tuple(sorted(tops)))


def _top(tx: Tx, subject: str, known_at: datetime | None) -> str:
    """Of the subjects that are one, one that was merged into no other, the first by id."""
    group = sorted(subjects.group(tx, subject, known_at=known_at).get())
    taken = {row["from_subject"] for row in subjects.merges_of(tx, group, known_at=known_at).get() if row["visible"]}
    return next((member for member in group if member not in taken), group[0])
