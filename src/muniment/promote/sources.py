"""The evidence behind a proposal, as the gate sees it: does it exist, who said it, when, and who may see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from uuid import UUID

from muniment.canonical.access import load_rules
from muniment.errors import NotFound, UnknownSpan
from muniment.model.access import AccessRule
from muniment.model.evidence import Trust
from muniment.model.policy import PredicatePolicy
from muniment.promote.proposal import Citation
from muniment.store.answer import Answer, Row
from muniment.store.database import Tx


@dataclass(frozen=True, slots=True)
class Source:
    """One cited evidence."""

    evidence_id: UUID
    length: int
    role: str
    trust: str
    occurred_at: datetime | None
    observed_at: datetime
    access_id: int
    imported: bool
    visible: bool


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

    def waits_for(self, policy: PredicatePolicy) -> str | None:
        """None when one of the citations validates a claim at once; otherwise what it waits for."""
        reasons = [
            policy.validates(quoted=citation.quoted, trust=Trust(source.trust), role=source.role)
            for citation, source in self.spans
        ]
        return None if None in reasons else reasons[0]


def look_up(tx: Tx, citations: Sequence[Citation]) -> Answer[Sources]:
    """The sources. Reading them raises `NotFound` for evidence the caller may not see, `UnknownSpan` for a range
    outside of it."""

    def read(rows: list[Row]) -> Sources:
        found = {row["evidence_id"]: row for row in rows}
        return Sources(tuple((citation, _source(citation, found)) for citation in citations))

    return Answer(tx, "evidence_for_claims", {"ids": list({citation.evidence_id for citation in citations})}, read)


def _source(citation: Citation, found: dict[UUID, Row]) -> Source:
    row = found.get(citation.evidence_id)
    if row is None or not row["visible"]:
        raise NotFound("no evidence with this id that this session may see; add it first")
    if citation.end is not None and not 0 <= citation.start < citation.end <= row["length"]:
        raise UnknownSpan(
            f"[{citation.start}, {citation.end}) is not inside the {row['length']} characters of the evidence"
        )
    return Source(**row)


def joint_rule(tx: Tx, access_ids: Iterable[int]) -> AccessRule:
    """The rule of what is made from all of these together: every one of them must be satisfied."""
    rules = load_rules(tx, sorted(set(access_ids)))
    return reduce(AccessRule.both, rules.values())
