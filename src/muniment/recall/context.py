"""From a request to the facts that may answer it: current claims, what they superseded, the words behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from muniment.derive.engine import Engine
from muniment.model.claim import Claim, LinkKind, Status
from muniment.model.scope import covers
from muniment.recall.claims import (
    ClaimRow,
    ask_by_id,
    ask_claims,
    ask_links,
    ask_quotes,
    publish,
    scopes_covering,
    winners,
)
from muniment.recall.clocks import Clocks
from muniment.recall.routes import SEMANTIC
from muniment.recall.search import Found, Question, rank
from muniment.store.answer import Row
from muniment.store.database import Tx

MIN_COVERAGE = 0.5
"""Found by words alone, a row must hold half of what the question's rare words weigh."""
POOL = 40
MAX_SUBJECT_CLAIMS = 500


@dataclass(slots=True)
class Context:
    """Everything that was found, before the budget: claims in order of use, with reasons, quotes and conflicts."""

    claims: list[Claim] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    quotes: dict[str, list[Row]] = field(default_factory=dict)
    evidence: list[Found] = field(default_factory=list)
    conflicts: list[tuple[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    dropped: int = 0


def gather_context(
    tx: Tx, engine: Engine, clocks: Clocks, question: Question, *, subject: str | None, scope: str | None
) -> Context:
    """Current claims that answer the question, best first; then what explains them; then the words of evidence."""
    asked_subject = (
        ask_claims(
            tx, clocks, subject=subject, scopes=None if scope is None else scopes_covering(scope), holding=False,
            most=MAX_SUBJECT_CLAIMS,
        )
        if subject is not None else None
    )  # fmt: skip
    ranking = rank(tx, engine, clocks, question, POOL)
    relevant = [found for found in ranking.found if _answers(found, engine)]
    of_subject = asked_subject.get() if asked_subject is not None else []
    found_ids = [found.row.candidate.source_id for found in relevant if found.row.candidate.kind == "claim"]
    rows = _current_rows(tx, clocks, of_subject, found_ids, subject=subject, scope=scope)
    context = Context(dropped=ranking.dropped)
    context.evidence = [f for f in relevant if f.row.candidate.kind == "evidence"]
    _add_claims(tx, clocks, context, rows, scope=scope)
    context.missing += _ended_without_heir(of_subject, clocks)
    return context


def _answers(found: Found, engine: Engine) -> bool:
    """Whether a row has to do with the question at all; nearest neighbours always exist, also of nonsense."""
    near = engine.embedder is not None and found.routes.get(SEMANTIC, 0.0) >= engine.embedder.floor
    return near or found.coverage >= MIN_COVERAGE


def _current_rows(
    tx: Tx,
    clocks: Clocks,
    of_subject: Sequence[ClaimRow],
    found_ids: Sequence[UUID],
    *,
    subject: str | None,
    scope: str | None,
) -> list[ClaimRow]:
    """The found claims in their order, then the subject's other current ones."""
    known = {row.claim_id: row for row in of_subject}
    others = [claim_id for claim_id in found_ids if claim_id not in known]
    if subject is None and others:
        known |= {row.claim_id: row for row in ask_by_id(tx, clocks, others).get()}
    ordered = [known[claim_id] for claim_id in found_ids if claim_id in known]
    ordered += [row for row in of_subject if row.claim_id not in set(found_ids)]
    return [row for row in ordered if row.holds(clocks.valid_at) and (scope is None or covers(row.scope, scope))]


def _add_claims(tx: Tx, clocks: Clocks, context: Context, rows: list[ClaimRow], *, scope: str | None) -> None:
    overridden = winners(rows) if scope is not None else {}
    current = [row for row in rows if row.claim_id not in overridden]
    links = ask_links(tx, clocks, [row.claim_id for row in rows]).get() if rows else []
    explaining = _explaining(tx, clocks, rows, links, overridden)
    everything = [*current, *explaining]
    quotes = ask_quotes(tx, clocks, [row.claim_id for row in everything]).get() if everything else []
    context.claims = publish(tx, clocks, everything, links=links, quotes=quotes, overridden=overridden)
    for quote in quotes:
        context.quotes.setdefault(str(quote["claim_id"]), []).append(quote)
    held = {row.claim_id for row in current}
    for claim, row in zip(context.claims, everything, strict=True):
        context.reasons[claim.claim_id] = _reason(claim, row.claim_id in held, scope)
    context.conflicts = _conflicts(links, {row.claim_id for row in everything})


def _explaining(
    tx: Tx, clocks: Clocks, rows: Sequence[ClaimRow], links: Sequence[Row], overridden: dict[UUID, ClaimRow]
) -> list[ClaimRow]:
    """What the current claims superseded or stand in conflict with: it explains why they are current."""
    current = {row.claim_id for row in rows if row.claim_id not in overridden}
    wanted = {
        link["to_claim"] for link in links
        if link["from_claim"] in current and link["kind"] == LinkKind.SUPERSEDES and link["state"] == "active"
    } | {
        end for link in links if link["kind"] == LinkKind.CONFLICTS_WITH and link["state"] == "active"
        for end in (link["from_claim"], link["to_claim"])
    }  # fmt: skip
    local = [row for row in rows if row.claim_id in overridden]
    others = wanted - current - {row.claim_id for row in local}
    return [*local, *(ask_by_id(tx, clocks, others).get() if others else [])]


def _reason(claim: Claim, current: bool, scope: str | None) -> str:
    if current:
        return f"holds in {claim.scope}" if scope is not None and claim.scope else "holds at the time asked about"
    if claim.status is Status.RETRACTED:
        return "explains a correction: it never was"
    if claim.status is Status.CANDIDATE:
        return "stands in conflict; nobody has decided"
    return "explains what changed"


def _conflicts(links: Iterable[Row], present: set[UUID]) -> list[tuple[str, str]]:
    return [
        (str(link["from_claim"]), str(link["to_claim"]))
        for link in links
        if link["kind"] == LinkKind.CONFLICTS_WITH and link["state"] == "active"
        and {link["from_claim"], link["to_claim"]} <= present
    ]  # fmt: skip


def _ended_without_heir(rows: Sequence[ClaimRow], clocks: Clocks) -> list[str]:
    """What was known of the subject and no longer is, with nothing in its place: unknown, and since when."""
    held = {(row.predicate, row.scope) for row in rows if row.holds(clocks.valid_at)}
    return [
        f"{row.predicate}: was {row.value!r} until {row.valid.end.isoformat()}, unknown since ({row.reason})"
        for row in rows
        if row.valid.end is not None and row.valid.end <= clocks.valid_at and (row.predicate, row.scope) not in held
    ]
