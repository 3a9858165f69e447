"""Who is who: identifiers that belong to subjects, and subjects that turned out to be one."""

from __future__ import annotations

from muniment.model.base import Instant, Record

NAME = "name"
"""The provider of names that people go by. Several subjects may share one; any other identifier belongs to one."""


class Identity(Record):
    """That a subject goes by an identifier: `external_id` as `provider` has it, how that is known, and since when.

    `waits` says why the link was not made: the identifier belongs to another subject, and `review_id` (where the
    session may see both) asks whether the two are one.
    """

    provider: str
    external_id: str
    subject_id: str
    method: str
    confidence: float | None
    evidence_id: str | None
    known_from: Instant
    waits: str | None = None
    review_id: str | None = None


class Merge(Record):
    """That two subjects are one, as believed from `known_from` on. `reviews` opened because both held rival values."""

    merge_id: str
    from_subject: str
    into_subject: str
    method: str
    confidence: float | None
    evidence_id: str | None
    known_from: Instant
    known_to: Instant | None
    merged_by: str
    reviews: tuple[str, ...] = ()


class Subject(Record):
    """A subject with all that is known to be one with it at the clock of the read.

    `known_as` are the subject ids, itself first, `identities` the identifiers of all of them, `merges` what ties them.
    """

    subject_id: str
    known_as: tuple[str, ...]
    identities: tuple[Identity, ...]
    merges: tuple[Merge, ...]


class Resolution(Record):
    """Who a name or an identifier may mean. Subjects that are one count once; with several, nobody is guessed."""

    asked: str
    subjects: tuple[str, ...]

    @property
    def subject(self) -> str | None:
        """The one subject that is meant; None when there is none, or more than one."""
        return self.subjects[0] if len(self.subjects) == 1 else None

    @property
    def ambiguous(self) -> bool:
        """Whether several subjects go by this."""
        return len(self.subjects) > 1
