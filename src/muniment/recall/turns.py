"""Reading the flight recorder."""

from __future__ import annotations

from uuid import UUID

from muniment.errors import BadFilter, NotFound
from muniment.model.ids import parse_id
from muniment.model.turn import Flight, FlightPage
from muniment.recall.read import MAX_LIMIT
from muniment.store.answer import Answer
from muniment.store.database import Tx


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
    return Answer(tx, "turns", parameters, lambda rows: [Flight.model_validate(row["used"]) for row in rows]).get()
