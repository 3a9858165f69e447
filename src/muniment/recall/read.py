"""The reads of a session that are not searches: claims, history, why, timeline, evidence."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from muniment.canonical import evidence as evidence_rows
from muniment.errors import BadFilter, NotFound
from muniment.model.claim import Claim, ClaimPage, ClaimVersion, Link, LinkKind, Quote, Status, Why
from muniment.model.evidence import Evidence
from muniment.model.ids import parse_id
from muniment.model.scope import covering, parse_scope
from muniment.recall.claims import (
    ClaimRow,
    ask_by_id,
    ask_claims,
    ask_links,
    ask_quotes,
    publish,
    winners_at,
)
from muniment.recall.clocks import AsOf, Clocks
from muniment.recall.due import ask_due
from muniment.store.answer import Answer, Row
from muniment.store.database import Tx
from muniment.store.ranges import from_multirange

MAX_LIMIT = 1000


def read_claims(
    tx: Tx, as_of: AsOf, *, subject: str | None, predicate: str | None, scope: str | None, memory_type: str | None,
    status: str | None, limit: int, cursor: str | None,
) -> ClaimPage:  # fmt: skip
    """A page of claims in id order. With `scope`: those that cover it, the overridden ones marked superseded."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
        raise BadFilter(f"limit lies between 1 and {MAX_LIMIT}")
    scopes = None if scope is None else covering(parse_scope(scope))
    statuses = _statuses(status)
    clocks = as_of.start(tx)
    rows = ask_claims(
        tx, clocks, subject=subject, predicate=predicate, scopes=scopes, memory_type=memory_type, statuses=statuses,
        holding=statuses == (Status.VALIDATED,), after=_after(cursor), most=limit + 1,
    ).get()  # fmt: skip
    page, more = rows[:limit], len(rows) > limit
    overridden = _overridden(tx, clocks, page, scopes) if scopes is not None else {}
    claims = publish_rows(tx, clocks, page, overridden)
    return ClaimPage(items=tuple(claims), next_cursor=str(page[-1].claim_id) if more else None)


def _statuses(status: str | None) -> tuple[Status, ...]:
    if status is None:
        return tuple(s for s in Status if s not in (Status.SUPERSEDED, Status.DUE))
    if status in (Status.SUPERSEDED, Status.DUE):
        raise BadFilter(f"{status} is not stored: it is what reads call a claim. List with status=None, and look")
    try:
        return (Status(status),)
    except ValueError:
        raise BadFilter(f"no status {status!r}; there are {', '.join(s.value for s in Status)}") from None


def _after(cursor: str | None) -> UUID | None:
    try:
        return None if cursor is None else UUID(cursor)
    except (ValueError, AttributeError, TypeError):
        raise BadFilter("this is no cursor that claims() gave out; start without one") from None


def _overridden(tx: Tx, clocks: Clocks, page: Sequence[ClaimRow], scopes: list[str]) -> dict[UUID, ClaimRow]:
    """Who overrides whom, looking beyond the page: the winner may stand on another one."""
    pairs = {(row.subject_id, row.predicate) for row in page if row.cardinality == "one"}
    asked = [
        ask_claims(tx, clocks, subject=subject, predicate=predicate, scopes=scopes, most=MAX_LIMIT)
        for subject, predicate in sorted(pairs)
    ]
    return winners_at(tx, clocks, [row for answer in asked for row in answer.get()])


def publish_rows(tx: Tx, clocks: Clocks, rows: Sequence[ClaimRow], overridden: dict[UUID, ClaimRow]) -> list[Claim]:
    """The public form of some rows, with their links, quotes and due dates."""
    if not rows:
        return []
    ids = [row.claim_id for row in rows]
    links, quotes, due = ask_links(tx, clocks, ids), ask_quotes(tx, clocks, ids), ask_due(tx, clocks, ids)
    return publish(clocks, rows, links=links.get(), quotes=quotes.get(), due=due, overridden=overridden)


def read_history(tx: Tx, claim_id: str) -> list[ClaimVersion]:
    """Every version that was ever held and that the session may see. Raises `NotFound`."""
    rows: list[Row] = Answer(tx, "history", {"claim_id": parse_id(claim_id, what="claim")}, list).get()
    if not rows:
        raise _no_claim()
    return [
        ClaimVersion(
            **row
            | {
                "claim_id": str(row["claim_id"]),
                "status": Status(row["status"]),
                "valid": tuple((part.start, part.end) for part in from_multirange(row["valid"]).parts),
            }
        )
        for row in rows
    ]


def read_why(tx: Tx, as_of: AsOf, claim_id: str) -> Why:
    """What a claim rests on and what rests on it. Raises `NotFound`."""
    wanted = parse_id(claim_id, what="claim")
    clocks = as_of.start(tx)
    asked_row, asked_links = ask_by_id(tx, clocks, [wanted]), ask_links(tx, clocks, [wanted])
    asked_quotes, due = ask_quotes(tx, clocks, [wanted]), ask_due(tx, clocks, [wanted])
    rows, links, quotes = asked_row.get(), asked_links.get(), asked_quotes.get()
    if not rows:
        raise _no_claim()
    ends = {end for link in links for end in (link["from_claim"], link["to_claim"])} - {wanted}
    others = {row.claim_id: row for row in ask_by_id(tx, clocks, ends).get()} if ends else {}
    seen = [link for link in links if {link["from_claim"], link["to_claim"]} - {wanted} <= set(others)]
    resting = [link for link in seen if link["kind"] == LinkKind.DERIVED_FROM]
    premises = [others[link["to_claim"]] for link in resting if link["from_claim"] == wanted]
    dependants = [others[link["from_claim"]] for link in resting if link["to_claim"] == wanted]
    (claim,) = publish(clocks, rows, links=seen, quotes=quotes, due=due)
    return Why(
        claim=claim,
        quotes=_quotes(quotes),
        links=tuple(_link(link) for link in seen),
        premises=tuple(publish_rows(tx, clocks, premises, {})),
        dependants=tuple(publish_rows(tx, clocks, dependants, {})),
        history=tuple(read_history(tx, claim_id)),
    )


def _quotes(rows: Sequence[Row]) -> tuple[Quote, ...]:
    return tuple(
        Quote(
            evidence_id=str(row["evidence_id"]), source=row["source"], source_id=row["source_id"], quote=row["quote"],
            start=row["start"], end=row["stop"], stance=row["stance"], author=row["author"], trust=row["trust"],
            occurred_at=row["occurred_at"], observed_at=row["observed_at"],
            authorization_scope=row["authorization_scope"],
        )
        for row in rows
    )  # fmt: skip


def _link(row: Row) -> Link:
    return Link(
        link_id=str(row["link_id"]), kind=LinkKind(row["kind"]), from_claim=str(row["from_claim"]),
        to_claim=str(row["to_claim"]), scope=row["scope"], effective_from=row["effective_from"], state=row["state"],
        known_from=row["known_from"], known_to=row["known_to"],
    )  # fmt: skip


def read_timeline(tx: Tx, as_of: AsOf, subject: str) -> list[Claim]:
    """Everything that was validated about a subject, in the order in which it began to hold."""
    clocks = as_of.start(tx)
    rows = ask_claims(
        tx, clocks, subject=subject, statuses=(Status.VALIDATED, Status.UNSUPPORTED), holding=False, most=MAX_LIMIT
    ).get()
    claims = publish_rows(tx, clocks, rows, {})
    return sorted(
        claims, key=lambda claim: (claim.predicate, claim.valid_from is not None, claim.valid_from or claim.observed_at)
    )


def read_evidence(tx: Tx, evidence_id: str) -> Evidence:
    """One evidence. Raises `NotFound`."""
    wanted = parse_id(evidence_id, what="evidence")
    found = evidence_rows.load(tx, [wanted]).get(wanted)
    if found is None:
        raise NotFound("no evidence with this id that this session may see")
    return found


def _no_claim() -> NotFound:
    return NotFound("no claim with this id that this session may see")
