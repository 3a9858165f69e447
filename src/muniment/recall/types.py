"""Reading by memory type: enumerated types in full and in order, outcomes counted, episodes with their pins."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from muniment.errors import BadFilter, NotFound
from muniment.model.claim import Claim
from muniment.model.ids import parse_id
from muniment.model.memory_type import MEMORY_TYPES, Outcomes, Pin
from muniment.model.scope import covering, parse_scope
from muniment.recall.claims import ClaimRow, ask_by_id, ask_claims, winners_at
from muniment.recall.clocks import AsOf, Clocks
from muniment.recall.read import MAX_LIMIT, publish_rows
from muniment.store.answer import Answer
from muniment.store.database import Tx


def enumerate_type(tx: Tx, as_of: AsOf, memory_type: str, *, subject: str | None, scope: str | None) -> list[Claim]:
    """Every claim of an enumerated type that holds, in its order. With `scope`: those that cover it, without the ones
    that a more specific one overrides. Raises `BadFilter` for a type that is searched."""
    declared = MEMORY_TYPES.get(memory_type)
    if declared is None or declared.read != "enumerated":
        names = ", ".join(name for name, one in MEMORY_TYPES.items() if one.read == "enumerated")
        raise BadFilter(f"{memory_type!r} is not enumerated; {names} are. Use claims() or search() for the others")
    scopes = None if scope is None else covering(parse_scope(scope))
    clocks = as_of.start(tx)
    rows = _all_rows(tx, clocks, memory_type, subject, scopes)
    overridden = winners_at(tx, clocks, rows) if scopes is not None else {}
    left = [row for row in rows if row.claim_id not in overridden]
    left.sort(key=lambda row: (declared.order(row.value), row.predicate, row.scope, str(row.claim_id)))
    claims: list[Claim] = []
    for start in range(0, len(left), MAX_LIMIT):
        claims += publish_rows(tx, clocks, left[start : start + MAX_LIMIT], {})
    return claims


def _all_rows(
    tx: Tx, clocks: Clocks, memory_type: str, subject: str | None, scopes: list[str] | None
) -> list[ClaimRow]:
    rows: list[ClaimRow] = []
    after: UUID | None = None
    while True:
        page = ask_claims(
            tx, clocks, subject=subject, scopes=scopes, memory_type=memory_type, after=after, most=MAX_LIMIT
        ).get()
        rows += page
        if len(page) < MAX_LIMIT:
            return rows
        after = page[-1].claim_id


def read_outcomes(tx: Tx, as_of: AsOf, claim_id: str) -> Outcomes:
    """How a claim fared, by the outcomes known then. Raises `NotFound`."""
    wanted, clocks = _seen(tx, as_of, claim_id)
    parameters = {"ids": [str(wanted)], **clocks.parameters()}
    rows: Sequence[Outcomes] = Answer(
        tx, "outcomes_of", parameters, lambda found: [Outcomes(**row | {"claim_id": claim_id}) for row in found]
    ).get()
    return rows[0] if rows else Outcomes(claim_id=claim_id, successes=0, failures=0, last_at=None)


def read_pins(tx: Tx, as_of: AsOf, claim_id: str) -> list[Pin]:
    """The evidence versions that a claim rests on. Raises `NotFound`."""
    wanted, clocks = _seen(tx, as_of, claim_id)
    parameters = {"claim_id": wanted, **clocks.parameters()}
    return Answer(
        tx, "pinned_evidence", parameters,
        lambda rows: [Pin(**row | {"evidence_id": str(row["evidence_id"])}) for row in rows],
    ).get()  # fmt: skip


def _seen(tx: Tx, as_of: AsOf, claim_id: str) -> tuple[UUID, Clocks]:
    wanted, clocks = parse_id(claim_id, what="claim"), as_of.start(tx)
    if not ask_by_id(tx, clocks, [wanted]).get():
        raise NotFound("no claim with this id that this session may see")
    return wanted, clocks
