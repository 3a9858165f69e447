"""What a caller proposes, checked as far as it can be without the database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from muniment.errors import InvalidInput, InvalidTime
from muniment.model.access import AccessRule
from muniment.model.evidence import Evidence, Span
from muniment.model.ids import parse_id
from muniment.model.memory_type import require_value_of
from muniment.model.scope import parse_scope
from muniment.model.text import require_json, require_name, require_text
from muniment.promote.values import MAX_VALUE_BYTES, default_statement
from muniment.time import require_aware

MAX_STATEMENT_BYTES = 64 * 1024
Support = Span | Evidence


@dataclass(frozen=True, slots=True)
class Citation:
    """A place in evidence. `end` None is the whole of it: a reference, not a quote."""

    evidence_id: UUID
    start: int
    end: int | None

    @property
    def quoted(self) -> bool:
        return self.end is not None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A typed claim with its citations; times are aware, names are clean, ids parse."""

    subject: str
    predicate: str
    value: Any
    scope: str
    statement: str
    memory_type: str
    citations: tuple[Citation, ...]
    valid_from: datetime | None
    valid_to: datetime | None
    confidence: float | None
    premises: tuple[UUID, ...]
    supersedes: UUID | None
    correction: bool
    labels: frozenset[str] | None
    within: AccessRule | None = None
    """Who may see the claim, beside what its evidence and labels ask."""

    def asserted_to(self, start: datetime) -> datetime | None:
        """The end of the asserted period. Raises `InvalidTime` when it does not lie after `start`."""
        if self.valid_to is not None and self.valid_to <= start:
            raise InvalidTime(f"valid_to {self.valid_to.isoformat()} does not lie after the start {start.isoformat()}")
        return self.valid_to


def make_proposal(
    *, subject: str, predicate: str, value: Any, evidence: Support | Sequence[Support], scope: str,
    statement: str | None, memory_type: str, valid_from: datetime | None, valid_to: datetime | None,
    confidence: float | None, premises: Sequence[str], supersedes: str | None, correction: bool,
    access: frozenset[str] | None,
) -> Proposal:  # fmt: skip
    """Checks every argument of `Session.propose`. Raises the coded errors of its parts."""
    require_name(subject, what="subject")
    require_name(predicate, what="predicate")
    require_name(memory_type, what="memory_type")
    parse_scope(scope)
    require_json(value, what="the value", max_bytes=MAX_VALUE_BYTES)
    require_value_of(memory_type, value)
    require_confidence(confidence)
    if isinstance(premises, str) or not isinstance(premises, Iterable):
        raise InvalidInput("premises is a collection of claim ids")
    if statement is not None:
        require_text(statement, what="statement", max_bytes=MAX_STATEMENT_BYTES)
    return Proposal(
        subject=subject,
        predicate=predicate,
        value=value,
        scope=scope,
        statement=statement if statement is not None else "",
        memory_type=memory_type,
        citations=cite(evidence),
        valid_from=None if valid_from is None else require_aware(valid_from),
        valid_to=None if valid_to is None else require_aware(valid_to),
        confidence=confidence,
        premises=tuple(parse_id(premise, what="claim") for premise in premises),
        supersedes=None if supersedes is None else parse_id(supersedes, what="claim"),
        correction=correction,
        labels=access,
    )


def require_confidence(confidence: float | None) -> float | None:
    """Raises `InvalidInput` unless it is a number between 0 and 1, or None."""
    if isinstance(confidence, bool) or (
        confidence is not None and (not isinstance(confidence, int | float) or not 0 <= confidence <= 1)
    ):
        raise InvalidInput("confidence is a number between 0 and 1")
    return confidence


def cite(evidence: Support | Sequence[Support]) -> tuple[Citation, ...]:
    """The citations of one or several spans or whole evidences. Raises `InvalidInput` when there is none."""
    given: object = evidence
    supports = [given] if isinstance(given, Span | Evidence) else list(given) if isinstance(given, list | tuple) else []
    if not supports:
        raise InvalidInput("a claim needs evidence: give a span (evidence.quote('exact words')) or an Evidence")
    for support in supports:
        if not isinstance(support, Span | Evidence):
            raise InvalidInput(
                f"evidence is a Span or an Evidence, not {type(support).__name__}; use evidence.quote(…), where "
                "session.evidence(id) reads one by its id"
            )
    citations = [
        Citation(parse_id(support.evidence_id, what="evidence"), support.start, support.end)
        if isinstance(support, Span)
        else Citation(parse_id(support.evidence_id, what="evidence"), 0, None)
        for support in supports
    ]
    return tuple(dict.fromkeys(citations))


def statement_of(proposal: Proposal) -> str:
    """The given statement, or one made from subject, predicate, value and scope."""
    made = default_statement(
        proposal.subject, proposal.predicate, proposal.value, proposal.scope, memory_type=proposal.memory_type
    )
    return proposal.statement or made[:MAX_STATEMENT_BYTES]
