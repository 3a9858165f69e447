"""The evidence behind a proposal, as the gate sees it: does it exist, who said it, when, how it was meant, and who may
see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from uuid import UUID

from muniment.canonical.access import load_rules
from muniment.errors import EvidenceWithdrawn, NotFound, UnknownSpan
from muniment.model.access import AccessRule
from muniment.model.evidence import Trust
from muniment.model.policy import PredicatePolicy
from muniment.model.text import MAX_CONTENT_BYTES
from muniment.model.validation import Backing
from muniment.promote.meant import waits_for
from muniment.promote.proposal import Citation
from muniment.store.answer import Answer, Row
from muniment.store.database import Tx


@dataclass(frozen=True, slots=True)
class Source:
    """One cited place: its evidence, and the words around it (None where the whole evidence is cited)."""

    evidence_id: UUID
    length: int
    role: str
    trust: str
    source: str
    author: str | None
    occurred_at: datetime | None
    observed_at: datetime
    access_id: int
    imported: bool
    visible: bool
    words: str | None
    words_start: int
    cited_start: int
    cited_stop: int | None
    speaks_for: list[str]
    withdrawn: bool

    def backing(self, subjects: Iterable[str], policy: PredicatePolicy) -> Backing:
        """What this place counts for as support of a claim about a subject (`subjects`: all that it is known as)."""
        known_as = set(subjects)
        by_subject = self.author in known_as or not known_as.isdisjoint(self.speaks_for)
        stranger = not by_subject and bool(self.speaks_for)
        return Backing(
            origin=self.author or self.source,
            quoted=self.words is not None,
            trust=Trust(self.trust),
            role=self.role,
            by_subject=by_subject,
            waits_for=None if self.words is None else waits_for(
                self.words, self.cited_start - self.words_start, self._stop(), hedged=policy.hedged,
                others=known_as if stranger else None,
            ),
        )  # fmt: skip

    def _stop(self) -> int:
        assert self.words is not None
        assert self.cited_stop is not None
        return min(self.cited_stop - self.words_start, len(self.words))


@dataclass(frozen=True, slots=True)
class Sources:
    """All evidence of one proposal with its citations resolved to character ranges."""

    spans: tuple[tuple[Citation, Source], ...]

    @property
    def occurred_at(self) -> datetime:
        """The earliest moment at which any of it was said; when unknown, observed."""
        return min(source.occurred_at or source.observed_at for _, source in self.spans)

    @property
    def observed_at(self) -> datetime:
        """The moment from which all of it was known."""
        return max(source.observed_at for _, source in self.spans)

    @property
    def imported(self) -> bool:
        """Whether all of it was stored with an observation time of its own, earlier than its storing."""
        return all(source.imported for _, source in self.spans)

    @property
    def access_ids(self) -> list[int]:
        return sorted({source.access_id for _, source in self.spans})

    def backings(self, subjects: Iterable[str], policy: PredicatePolicy) -> list[Backing]:
        """What each citation counts for."""
        return [source.backing(subjects, policy) for _, source in self.spans]


def look_up(tx: Tx, citations: Sequence[Citation]) -> Answer[Sources]:
    """The sources. Reading them raises `NotFound` for evidence the caller may not see, `UnknownSpan` for a range
    outside of it."""

    places = [_place(citation) for citation in citations]

    def read(rows: list[Row]) -> Sources:
        found = {(row["evidence_id"], row["cited_start"], row["cited_stop"]): row for row in rows}
        pairs = zip(citations, places, strict=True)
        return Sources(tuple((citation, _source(citation, found.get(place))) for citation, place in pairs))

    ids, starts, stops = ([place[n] for place in places] for n in range(3))
    return Answer(tx, "cited", {"ids": ids, "starts": starts, "stops": stops}, read)


def _place(citation: Citation) -> tuple[UUID, int, int | None]:
    """What to read; of a range that cannot be one, only the evidence, to say how long it is."""
    if citation.end is not None and 0 <= citation.start < citation.end <= MAX_CONTENT_BYTES:
        return citation.evidence_id, citation.start, citation.end
    return citation.evidence_id, 0, None


def _source(citation: Citation, row: Row | None) -> Source:
    if row is None or not row["visible"]:
        raise NotFound("no evidence with this id that this session may see; add it first")
    if row["withdrawn"]:
        raise EvidenceWithdrawn("this evidence was withdrawn and supports nothing any more; cite other evidence")
    if citation.end is not None and not 0 <= citation.start < citation.end <= row["length"]:
        raise UnknownSpan(
            f"[{citation.start}, {citation.end}) is not inside the {row['length']} characters of the evidence"
        )
    return Source(**row)


def of_candidates(tx: Tx, slots: Iterable[UUID]) -> Answer[dict[UUID, list[Source]]]:
    """By candidate of these slots, the places that support it already."""

    return Answer(tx, "cited_by_candidates", {"slots": list(slots)}, _by_claim)


def of_claims(tx: Tx, claim_ids: Iterable[UUID]) -> Answer[dict[UUID, list[Source]]]:
    """By claim, the places that support it."""
    return Answer(tx, "cited_by_claims", {"ids": list(claim_ids)}, _by_claim)


def _by_claim(rows: list[Row]) -> dict[UUID, list[Source]]:
    found: dict[UUID, list[Source]] = {}
    for row in rows:
        fields = dict(row)
        found.setdefault(fields.pop("claim_id"), []).append(Source(**fields))
    return found


def joint_rule(tx: Tx, access_ids: Iterable[int]) -> AccessRule:
    """The rule of what is made from all of these together: every one of them must be satisfied."""
    rules = load_rules(tx, sorted(set(access_ids)))
    return reduce(AccessRule.both, rules.values())
