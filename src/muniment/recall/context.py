"""From a request to the facts that may answer it: current claims, what they superseded, the words behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from muniment.canonical import subjects
from muniment.derive.engine import Engine
from muniment.model.claim import Claim, LinkKind, Status
from muniment.model.scope import covering, covers
from muniment.recall.claims import (
    ClaimRow,
    ask_by_id,
    ask_claims,
    ask_links,
    ask_quotes,
    publish,
    winners,
)
from muniment.recall.clocks import Clocks
from muniment.recall.due import ask_due
from muniment.recall.routes import SEMANTIC, Candidate
from muniment.recall.search import Found, Question, rank
from muniment.store.answer import Answer, Row
from muniment.store.database import Tx

MIN_COVERAGE = 0.5
"""Found by words alone, a row must hold half of what the question's rare words weigh."""
MIN_TOGETHER = 1.2
"""Or half found by either: its nearness, as a share of the model's floor, and its share of the words add up to this."""
POOL = 40
MAX_MISSING = 20
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
    answered: bool = False
    """Whether anything that was found has to do with the question."""
    dropped: int = 0


@dataclass(slots=True)
class _Known:
    """Claims and links that were asked for on the way, by the claims that a read may need."""

    tx: Tx
    clocks: Clocks
    of_subject: list[ClaimRow]
    asked_rows: Answer[list[ClaimRow]] | None = None
    asked_links: Answer[list[Row]] | None = None

    def ask(self, candidates: Sequence[Candidate]) -> None:
        """Sends for the found claims and the links of all."""
        found = [candidate.source_id for candidate in candidates if candidate.kind == "claim"]
        mine = [row.claim_id for row in self.of_subject]
        self.asked_rows = ask_by_id(self.tx, self.clocks, set(found) - set(mine))
        self.asked_links = ask_links(self.tx, self.clocks, {*found, *mine})

    def rows(self) -> dict[UUID, ClaimRow]:
        """Every claim that was asked for."""
        found = self.asked_rows.get() if self.asked_rows is not None else []
        return {row.claim_id: row for row in (*self.of_subject, *found)}

    def links(self) -> list[Row]:
        """Every link of them."""
        return self.asked_links.get() if self.asked_links is not None else []


def gather_context(
    tx: Tx, engine: Engine, clocks: Clocks, question: Question, *, subject: str | None, scope: str | None
) -> Context:
    """Current claims that answer the question, best first; then what explains them; then the words of evidence."""
    scopes = None if scope is None else covering(scope)
    asked_subject = (
        None if subject is None
        else ask_claims(tx, clocks, subject=subject, scopes=scopes, most=MAX_SUBJECT_CLAIMS)
    )  # fmt: skip
    asked_merged = None if scope is None else subjects.components(tx, known_at=clocks.asked_known)
    asked_ended = None if subject is None else _ask_ended(tx, clocks, subject, scopes)
    known = _Known(tx, clocks, [])

    def alongside(candidates: list[Candidate]) -> None:
        known.of_subject = asked_subject.get() if asked_subject is not None else []
        known.ask(candidates)

    ranking = rank(tx, engine, clocks, question, POOL, alongside=alongside)
    relevant = [found for found in ranking.found if _answers(found, engine)]
    found_ids = [found.row.candidate.source_id for found in relevant if found.row.candidate.kind == "claim"]
    context = Context(dropped=ranking.dropped)
    context.evidence = [found for found in relevant if found.row.candidate.kind == "evidence"]
    rows = _current_rows(known, found_ids, subject=subject, scope=scope)
    merged = {} if asked_merged is None else asked_merged.get()
    _add_claims(context, known, rows, scope=scope, overridden={} if scope is None else winners(rows, merged))
    context.missing += _missing(asked_ended.get()) if asked_ended is not None else []
    context.answered = bool(relevant)
    return context


def _answers(found: Found, engine: Engine) -> bool:
    """Whether a row has to do with the question at all; nearest neighbours always exist, also of nonsense."""
    near = 0.0 if engine.embedder is None else found.routes.get(SEMANTIC, 0.0) / engine.embedder.floor
    return near >= 1 or found.coverage >= MIN_COVERAGE or near + found.coverage >= MIN_TOGETHER


def _current_rows(
    known: _Known, found_ids: Sequence[UUID], *, subject: str | None, scope: str | None
) -> list[ClaimRow]:
    """The found claims in their order, then the subject's other current ones. With a subject, only its claims."""
    rows = known.rows()
    mine = [row.claim_id for row in known.of_subject]
    known_as = {subject, *(row.subject_id for row in known.of_subject)}
    about = [found for found in found_ids if found in rows and (subject is None or rows[found].subject_id in known_as)]
    ordered = dict.fromkeys([*about, *mine])
    return [
        rows[claim_id] for claim_id in ordered
        if claim_id in rows and rows[claim_id].holds(known.clocks.valid_at)
        and (scope is None or covers(rows[claim_id].scope, scope))
    ]  # fmt: skip


def _add_claims(
    context: Context, known: _Known, rows: list[ClaimRow], *, scope: str | None, overridden: dict[UUID, ClaimRow]
) -> None:
    current = [row for row in rows if row.claim_id not in overridden]
    local = [row for row in rows if row.claim_id in overridden]
    ids = {row.claim_id for row in rows}
    links = [link for link in known.links() if {link["from_claim"], link["to_claim"]} & ids]
    others = _explaining(links, {row.claim_id for row in current}) - ids
    tx, clocks = known.tx, known.clocks
    asked_others = ask_by_id(tx, clocks, others) if others else None
    asked_quotes = ask_quotes(tx, clocks, ids | others) if ids | others else None
    due = ask_due(tx, clocks, ids | others)
    everything = [*current, *local, *(asked_others.get() if asked_others is not None else [])]
    quotes = asked_quotes.get() if asked_quotes is not None else []
    context.claims = publish(clocks, everything, links=links, quotes=quotes, due=due, overridden=overridden)
    for quote in quotes:
        context.quotes.setdefault(str(quote["claim_id"]), []).append(quote)
    for claim, row in zip(context.claims, everything, strict=True):
        context.reasons[claim.claim_id] = _reason(claim, row in current, scope)
    context.missing += [
        f"{claim.predicate}: {claim.value!r} was last confirmed too long ago; ask whether it still holds"
        for claim in context.claims
        if claim.status is Status.DUE
    ]
    context.conflicts = _conflicts(links, {row.claim_id for row in everything})


def _explaining(links: Sequence[Row], current: set[UUID]) -> set[UUID]:
    """What the current claims superseded or stand in conflict with: it explains why they are current."""
    active = [link for link in links if link["state"] == "active"]
    superseded = {
        link["to_claim"] for link in active if link["kind"] == LinkKind.SUPERSEDES and link["from_claim"] in current
    }
    disputing = {
        end
        for link in active
        if link["kind"] == LinkKind.CONFLICTS_WITH
        for end in (link["from_claim"], link["to_claim"])
    }
    return superseded | disputing


def _reason(claim: Claim, current: bool, scope: str | None) -> str:
    if claim.status is Status.DUE:
        assert claim.reconfirm_by is not None
        return f"due for confirmation since {claim.reconfirm_by.isoformat()}: do not take it as current"
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


def _ask_ended(tx: Tx, clocks: Clocks, subject: str, scopes: list[str] | None) -> Answer[list[Row]]:
    parameters = {"subject": subject, "scopes": scopes, "most": MAX_MISSING, **clocks.parameters()}
    return Answer(tx, "ended_without_heir", parameters, list)


def _missing(rows: Sequence[Row]) -> list[str]:
    """What was known of the subject and no longer is, with nothing in its place: unknown, and since when."""
    return [
        f"{row['predicate']}: was {row['value']!r} until {row['ended'].isoformat()}, unknown since ({row['reason']})"
        if row["ended"] is not None
        else f"{row['predicate']}: {row['value']!r} has lost what it rests on ({row['reason']})"
        for row in rows
    ]
