"""Claims at two clocks, resolved by scope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from muniment.canonical import subjects
from muniment.model.claim import Claim, LinkKind, Status
from muniment.model.scope import covers, depth
from muniment.recall.clocks import Clocks
from muniment.recall.due import Due
from muniment.store.answer import Answer, Row
from muniment.store.database import Tx
from muniment.store.ranges import Moments, from_multirange


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim as held at the clocks of a read, before it is made public."""

    claim_id: UUID
    version: int
    memory_type: str
    subject_id: str
    predicate: str
    value: Any
    statement: str
    scope: str
    cardinality: str
    status: Status
    valid: Moments
    confidence: float | None
    authorization_scope: str | None
    reason: str | None
    observed_at: datetime

    def holds(self, moment: datetime) -> bool:
        """Whether it was validated and valid at `moment`."""
        return self.status is Status.VALIDATED and moment in self.valid


def _rows(rows: list[Row]) -> list[ClaimRow]:
    return [ClaimRow(**row | {"status": Status(row["status"]), "valid": from_multirange(row["valid"])}) for row in rows]


def ask_claims(
    tx: Tx, clocks: Clocks, *, subject: str | None = None, predicate: str | None = None,
    scopes: list[str] | None = None, memory_type: str | None = None,
    statuses: Sequence[Status] = (Status.VALIDATED,), holding: bool = True, after: UUID | None = None, most: int,
) -> Answer[list[ClaimRow]]:  # fmt: skip
    """Claims in id order. `holding`: only those valid at the clock."""
    parameters = {
        "subject": subject, "predicate": predicate, "scopes": scopes, "memory_type": memory_type,
        "statuses": [status.value for status in statuses], "holding": holding, "after": after, "most": most,
        **clocks.parameters(),
    }  # fmt: skip
    return Answer(tx, "claims_as_of", parameters, _rows)


def ask_by_id(tx: Tx, clocks: Clocks, ids: Iterable[UUID]) -> Answer[list[ClaimRow]]:
    """These claims, in whatever status they were."""
    return Answer(tx, "claims_by_id", {"ids": list(ids), **clocks.parameters()}, _rows)


def ask_links(tx: Tx, clocks: Clocks, ids: Iterable[UUID]) -> Answer[list[Row]]:
    """The links of these claims that were open at the clock."""
    return Answer(tx, "links_as_of", {"ids": list(ids), **clocks.parameters()}, lambda rows: rows)


def ask_quotes(tx: Tx, clocks: Clocks, ids: Iterable[UUID]) -> Answer[list[Row]]:
    """The words behind these claims, as far as the session may see them."""
    return Answer(tx, "quotes_as_of", {"ids": list(ids), **clocks.parameters()}, lambda rows: rows)


def winners(rows: Iterable[ClaimRow], merged: Mapping[str, frozenset[str]]) -> dict[UUID, ClaimRow]:
    """For each claim that a more specific one overrides with another value: the one that does. All must hold and cover
    one scope. `merged`: the subjects that are one, by each of them."""
    groups: dict[tuple[str, str], list[ClaimRow]] = {}
    for row in rows:
        if row.cardinality == "one":
            person = min(merged.get(row.subject_id, {row.subject_id}))
            groups.setdefault((person, row.predicate), []).append(row)
    overridden: dict[UUID, ClaimRow] = {}
    for group in groups.values():
        deepest = max(depth(row.scope) for row in group)
        best = max((row for row in group if depth(row.scope) == deepest), key=lambda row: row.valid.start is not None)
        overridden |= {row.claim_id: best for row in group if depth(row.scope) < deepest and row.value != best.value}
    return overridden


def winners_at(tx: Tx, clocks: Clocks, rows: Sequence[ClaimRow]) -> dict[UUID, ClaimRow]:
    """`winners`, with the subjects that were one at the clocks."""
    return winners(rows, subjects.components(tx, known_at=clocks.asked_known).get())


def publish(
    clocks: Clocks, rows: Sequence[ClaimRow], *, links: Sequence[Row], quotes: Sequence[Row],
    due: Due, overridden: dict[UUID, ClaimRow] | None = None,
) -> list[Claim]:  # fmt: skip
    """The public form: periods at the clock, links that matter here, evidence ids, who may see it."""
    overridden = overridden or {}
    evidence: dict[UUID, list[str]] = {}
    for quote in quotes:
        if quote["stance"] == "supports":
            ids = evidence.setdefault(quote["claim_id"], [])
            ids += [str(quote["evidence_id"])] if str(quote["evidence_id"]) not in ids else []
    by = due.by([(row.claim_id, row.predicate, row.memory_type) for row in rows])
    return [
        _claim(row, clocks, links, overridden.get(row.claim_id), evidence.get(row.claim_id, []), by.get(row.claim_id))
        for row in rows
    ]


def _claim(
    row: ClaimRow, clocks: Clocks, links: Sequence[Row], winner: ClaimRow | None, evidence: list[str],
    due: datetime | None,
) -> Claim:  # fmt: skip
    valid_from, valid_to = _period(row.valid, clocks.valid_at)
    superseding = [link for link in links if link["kind"] == LinkKind.SUPERSEDES and link["state"] == "active"]
    ended_by = [
        link for link in superseding
        if link["to_claim"] == row.claim_id and (winner is not None or covers(link["scope"], row.scope))
        and (link["effective_from"] is None or link["effective_from"] <= clocks.valid_at)
    ]  # fmt: skip
    superseded_by = [str(link["from_claim"]) for link in ended_by]
    status = row.status
    if winner is not None:
        superseded_by = list(dict.fromkeys([*superseded_by, str(winner.claim_id)]))
        starts = [moment for moment in (winner.valid.start, valid_to) if moment is not None]
        valid_to = min(starts) if starts else None
    if winner is not None or (status is Status.VALIDATED and superseded_by and not row.holds(clocks.valid_at)):
        status = Status.SUPERSEDED
    elif status is Status.VALIDATED and due is not None and due <= clocks.valid_at:
        status = Status.DUE
    return Claim(
        claim_id=str(row.claim_id),
        version=row.version,
        memory_type=row.memory_type,
        subject_id=row.subject_id,
        predicate=row.predicate,
        value=row.value,
        statement=row.statement,
        scope=row.scope,
        status=status,
        valid_from=valid_from,
        valid_to=valid_to,
        observed_at=row.observed_at,
        confidence=row.confidence,
        evidence_ids=tuple(evidence),
        supersedes=tuple(str(link["to_claim"]) for link in superseding if link["from_claim"] == row.claim_id),
        superseded_by=tuple(superseded_by),
        conflicts_with=_conflicting(row.claim_id, links),
        authorization_scope=row.authorization_scope,
        reason=row.reason,
        reconfirm_by=due,
    )


def _conflicting(claim_id: UUID, links: Sequence[Row]) -> tuple[str, ...]:
    ends = [
        (link["from_claim"], link["to_claim"]) for link in links
        if link["kind"] == LinkKind.CONFLICTS_WITH and link["state"] == "active"
    ]  # fmt: skip
    return tuple(str(b if a == claim_id else a) for a, b in ends if claim_id in (a, b))


def _period(valid: Moments, moment: datetime) -> tuple[datetime | None, datetime | None]:
    """The period that holds `moment`; when none does, from the first start to the last end."""
    part = valid.part_at(moment)
    return (part.start, part.end) if part is not None else (valid.start, valid.end)
