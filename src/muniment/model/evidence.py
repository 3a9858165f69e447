"""Evidence: one immutable version of one source, and the spans that point into it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import Field

from muniment.errors import UnknownSpan
from muniment.model.base import Instant, Record


class EvidenceKind(StrEnum):
    """What sort of source it is."""

    MESSAGE = "message"
    DOCUMENT = "document"
    EVENT = "event"
    RECORD = "record"
    POLICY = "policy"
    SIGNAL = "signal"
    FEEDBACK = "feedback"
    OUTCOME = "outcome"


class Trust(StrEnum):
    """How far the source may be believed about itself; `model` text is never enough to validate a claim."""

    AUTHORITATIVE = "authoritative"
    FIRST_PARTY = "first_party"
    THIRD_PARTY = "third_party"
    MODEL = "model"


class EvidenceDraft(Record):
    """What a caller or a reader offers to be stored; every field means what the argument of `Session.add` means."""

    content: str
    source: str = "api"
    source_id: str | None = None
    source_version: int = 1
    kind: EvidenceKind = EvidenceKind.MESSAGE
    occurred_at: Instant | None = None
    observed_at: Instant | None = None
    author: str | None = None
    role: str = "user"
    thread: str | None = None
    trust: Trust = Trust.FIRST_PARTY
    access: frozenset[str] = frozenset()
    uri: str | None = None
    media_type: str = "text/plain"
    metadata: Mapping[str, Any] = Field(default_factory=dict)
    replaces: str | None = None


class Evidence(Record):
    """A stored version of a source.

    `occurred_at` is when it was said or written (None: unknown), with `utc_offset` minutes east as the sender had it;
    `observed_at` is when this system learned of it; `recorded_at` is the database's own clock at the insert.
    """

    evidence_id: str
    source: str
    source_id: str
    source_version: int
    kind: EvidenceKind
    content: str
    author: str | None
    role: str
    thread: str | None
    trust: Trust
    uri: str | None
    media_type: str
    metadata: Mapping[str, Any]
    occurred_at: Instant | None
    utc_offset: int | None
    observed_at: Instant
    recorded_at: Instant
    content_sha256: str
    replaces: str | None
    authorization_scope: str | None

    def quote(self, words: str, nth: int = 1) -> Span:
        """The `nth` (from 1) place where exactly these words stand. Raises `UnknownSpan` when there is none."""
        if nth < 1:
            raise UnknownSpan(f"occurrences count from 1, not {nth}")
        start = -1
        for _ in range(nth):
            start = self.content.find(words, start + 1) if words else -1
            if start < 0:
                raise UnknownSpan(
                    f"{words[:80]!r} (occurrence {nth}) is not in evidence {self.evidence_id}; quote it exactly"
                )
        return Span(evidence_id=self.evidence_id, start=start, end=start + len(words))

    def span(self, start: int, end: int) -> Span:
        """Characters [start, end) of the content. Raises `UnknownSpan` when they are not all there."""
        if not 0 <= start < end <= len(self.content):
            raise UnknownSpan(
                f"[{start}, {end}) is not inside the {len(self.content)} characters of evidence {self.evidence_id}"
            )
        return Span(evidence_id=self.evidence_id, start=start, end=end)

    def __repr__(self) -> str:
        return f"Evidence({self.source}:{self.source_id} v{self.source_version}, {self.content[:40]!r})"


class Span(Record):
    """Characters [start, end) of one evidence; the words are read from there and never copied."""

    evidence_id: str
    start: int
    end: int


class Rejection(Record):
    """One item that could not be stored, and why; `item` is its place in the input."""

    item: str
    code: str
    message: str


class AddReport(Record):
    """What became of a batch: stored + repeated + len(rejected) equals the items offered."""

    stored: int
    repeated: int
    rejected: tuple[Rejection, ...] = ()
