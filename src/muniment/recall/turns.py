"""Reading the flight recorder."""

from __future__ import annotations

from uuid import UUID

from muniment.errors import BadFilter, NotFound
from muniment.model.ids import parse_id
from muniment.model.turn import Flight, FlightPage
from muniment.recall.read import MAX_LIMIT
from muniment.store.answer import Answer
from muniment.store.database import Tx
from muniment.store.statements import sql


def read_turns(tx: Tx, *, run: str | None, thread: str | None, limit: int, cursor: str | None) -> FlightPage:
    """A page of envelopes, the newest first. Raises `BadFilter`."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
        raise BadFilter(f"limit lies between 1 and {MAX_LIMIT}")
    try:
        before = None if cursor is None else UUID(cursor)
    except (ValueError, AttributeError, TypeError):
        raise BadFilter("this is no cursor that turns gave out; start without one") from None
    found = _find(tx, run=run, thread=thread, before=before, most=limit + 1)
    more = len(found) > limit
    return FlightPage(items=tuple(found[:limit]), next_cursor=found[limit - 1].turn_id if more else None)


def read_turn(tx: Tx, turn_id: str) -> Flight:
    """One envelope. Raises `NotFound`."""
    found = _find(tx, turn_id=parse_id(turn_id, what="turn"), most=1)
    if not found:
        raise NotFound("no turn with this id that this session may see")
    return found[0]


def _find(
    tx: Tx, *, turn_id: UUID | None = None, run: str | None = None, thread: str | None = None,
    before: UUID | None = None, most: int,
) -> list[Flight]:  # fmt: skip
    parameters = {"turn_id": turn_id, "run": run, "thread": thread, "before": before, "most": most}
    flights = Answer(tx, "turns", parameters, lambda rows: [Flight.model_validate(row["used"]) for row in rows]).get()
    named = {UUID(one) for flight in flights for one in _named(flight)}
    rows = tx.execute(sql("existing_sources"), {"ids": list(named)}).fetchall() if named else []
    seen = {str(found) for (found,) in rows}
    return [_as_seen(flight, seen) for flight in flights]


def _named(flight: Flight) -> set[str]:
    promoted = {one.claim_id for one in flight.promoted if one.claim_id is not None}
    return {*flight.read, *flight.sources, *promoted, *(end for pair in flight.conflicts for end in pair)}


def _as_seen(flight: Flight, seen: set[str]) -> Flight:
    """Who sees the message need not see all that the agent saw."""
    return flight.model_copy(
        update={
            "read": tuple(one for one in flight.read if one in seen),
            "sources": tuple(one for one in flight.sources if one in seen),
            "conflicts": tuple(pair for pair in flight.conflicts if set(pair) <= seen),
            "promoted": tuple(one for one in flight.promoted if one.claim_id is None or one.claim_id in seen),
        }
    )
