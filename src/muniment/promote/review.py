"""Deciding a review: the claim is approved over its rivals, or turned down. A preview does the same, unwritten."""

from __future__ import annotations

from uuid import UUID

from muniment.canonical import reviews
from muniment.errors import ClaimMovedOn, InvalidInput, NotFound, PolicyUnmet, RivalTruth
from muniment.model.claim import Decision, Outcome, Status
from muniment.model.review import Consequence
from muniment.promote.decide import Opened, decision_of, end, make_live, open_claim, require, require_policy
from muniment.promote.ports import Desk
from muniment.promote.turn import Turn, in_turn
from muniment.store.answer import Row
from muniment.store.database import Tx

VERDICTS = {"approve": "approved", "reject": "rejected"}


def decide_review(desk: Desk, review_id: UUID, verdict: str, *, by: str, reason: str) -> Decision:
    """`approve`: the claim holds, and takes over from its rivals where both assert. `reject`: it does not.

    Of two reviewers the first decides; the second gets `ClaimMovedOn`, as does whoever decides about a claim that is no
    candidate any more. Raises `NotFound`, `InvalidInput` (no such verdict), `PolicyUnmet`, `RivalTruth`.
    """
    if verdict not in VERDICTS:
        raise InvalidInput(f"there is no verdict {verdict!r}; there are {', '.join(VERDICTS)}")

    def work(tx: Tx, turn: Turn) -> Decision:
        row, held = _load(tx, turn, review_id)
        text = f"{VERDICTS[verdict]} by {by}" + (f": {reason}" if reason else "")
        if verdict == "approve":
            require_policy(tx, held, by, ())
            outcome, why = make_live(held, text, over=_live(held, row["rivals"]))
        else:
            end(held, Status.REJECTED, text)
            outcome, why = Outcome.REJECTED, text
        at = held.edit.write(tx, desk, "decide", now=held.now, prepared=desk.follower.prepare())
        reviews.decide(tx, review_id, verdict, by=by, reason=reason, actor=desk.access.actor, at=held.now)
        return decision_of(held, outcome, why, at)

    return in_turn(desk, work)


def preview(desk: Desk, review_id: UUID, *, by: str) -> tuple[Consequence, ...]:
    """What approving would change, as far as the session may see it; nothing when it could not be approved."""

    def work(tx: Tx, turn: Turn) -> tuple[Consequence, ...]:
        row, held = _load(tx, turn, review_id)
        try:
            require_policy(tx, held, by, ())
            make_live(held, f"approved by {by}", over=_live(held, row["rivals"]))
        except (PolicyUnmet, RivalTruth):
            return ()
        loaded = held.edit.loaded
        return tuple(
            Consequence(
                claim_id=str(claim.claim_id), statement=claim.statement, status_before=loaded[claim.claim_id].status,
                status_after=claim.status, reason=claim.reason,
            )
            for claim in held.edit.changed() if claim.visible
        )  # fmt: skip

    return in_turn(desk, work)


def _load(tx: Tx, turn: Turn, review_id: UUID) -> tuple[Row, Opened]:
    missing = NotFound("no review with this id that this session may see")
    rows = reviews.find(tx, review_id=review_id, most=1).get()
    if not rows:
        raise missing
    held = open_claim(tx, turn, rows[0]["claim_id"])
    # Read again under the lock of the subject: another reviewer may have been faster.
    (row,) = reviews.find(tx, review_id=review_id, most=1).get()
    if row["verdict"] is not None:
        raise ClaimMovedOn(f"{row['decided_by']} decided this review already ({row['verdict']}); read it again")
    require(held.claim, Status.CANDIDATE)
    return row, held


def _live(held: Opened, rivals: list[UUID]) -> list[UUID]:
    """Those of the rivals that still hold something."""
    return [rival for rival in rivals if rival in held.edit.near.claims and held.edit.near.claims[rival].live]
