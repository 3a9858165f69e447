"""Reading reviews: what waits for a person, and what was decided."""

from __future__ import annotations

from uuid import UUID

from muniment.canonical import reviews
from muniment.errors import BadFilter, NotFound
from muniment.model.ids import parse_id
from muniment.model.review import Review, ReviewDecision, ReviewPage
from muniment.recall.claims import ask_by_id
from muniment.recall.clocks import AsOf
from muniment.recall.read import MAX_LIMIT, publish_rows
from muniment.store.answer import Row
from muniment.store.database import Tx

_STATES = {"open": False, "decided": True, None: None}


def read_reviews(tx: Tx, state: str | None, *, limit: int, cursor: str | None) -> ReviewPage:
    """A page of reviews, oldest first. Raises `BadFilter`."""
    if state not in _STATES:
        raise BadFilter(f"no state {state!r}; there are open and decided, and None for both")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
        raise BadFilter(f"limit lies between 1 and {MAX_LIMIT}")
    try:
        after = None if cursor is None else UUID(cursor)
    except (ValueError, AttributeError, TypeError):
        raise BadFilter("this is no cursor that reviews gave out; start without one") from None
    rows = reviews.find(tx, decided=_STATES[state], after=after, most=limit + 1).get()
    page = rows[:limit]
    return ReviewPage(items=_publish(tx, page), next_cursor=str(page[-1]["review_id"]) if len(rows) > limit else None)


def read_review(tx: Tx, review_id: str) -> Review:
    """One review. Raises `NotFound`."""
    rows = reviews.find(tx, review_id=parse_id(review_id, what="review"), most=1).get()
    if not rows:
        raise NotFound("no review with this id that this session may see")
    return _publish(tx, rows)[0]


def _publish(tx: Tx, rows: list[Row]) -> tuple[Review, ...]:
    ids = {row["claim_id"] for row in rows if row["claim_id"] is not None} | {
        rival for row in rows for rival in row["rivals"]
    }
    clocks = AsOf().start(tx)
    found = ask_by_id(tx, clocks, ids).get() if ids else []
    claims = {claim.claim_id: claim for claim in publish_rows(tx, clocks, found, {})}
    return tuple(
        Review(
            review_id=str(row["review_id"]), kind=row["kind"], reason=row["reason"],
            claim=claims.get(str(row["claim_id"])), subjects=tuple(row["subjects"]),
            rivals=tuple(claims[str(rival)] for rival in row["rivals"] if str(rival) in claims),
            opened_at=row["opened_at"], verdict=row["verdict"],
            decisions=tuple(ReviewDecision(**decision) for decision in row["decisions"]),
        )
        for row in rows
    )  # fmt: skip
