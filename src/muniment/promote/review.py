"""Deciding reviews, once, by one reviewer; undoing what was decided. A preview does the same, unwritten."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from muniment.canonical import activity, evidence, reviews, subjects
from muniment.canonical.rows import HeldClaim
from muniment.errors import ClaimMovedOn, InvalidInput, NotFound, PolicyUnmet, RivalTruth
from muniment.model.claim import Status
from muniment.model.review import Consequence, Verdict
from muniment.promote.decide import Opened, decision_of, open_claim, require
from muniment.promote.merge import merge_in, unmerge_in
from muniment.promote.ports import Desk
from muniment.promote.turn import Turn, in_turn
from muniment.promote.verdicts import VERDICTS, Ruled, Ruling, live_of, undo, undo_conflict
from muniment.store.answer import Row
from muniment.store.database import Tx

_ALL = {**{kind: (*verdicts, "undo") for kind, verdicts in VERDICTS.items()}, "merge": ("merge", "reject", "undo")}


def decide_review(desk: Desk, review_id: UUID, ruling: Ruling) -> Verdict:
    """Decides. Of two reviewers the first does; the second gets `ClaimMovedOn`, as does whoever decides about a claim
    that somebody decided about otherwise. Raises `NotFound`, `InvalidInput` (no such verdict), `PolicyUnmet`,
    `RivalTruth`."""

    def work(tx: Tx, turn: Turn) -> Verdict:
        row = _read(tx, review_id)
        if ruling.verdict not in _ALL[row["kind"]]:
            raise InvalidInput(
                f"there is no verdict {ruling.verdict!r} on a review of a {row['kind']}; there are "
                + ", ".join(_ALL[row["kind"]])
            )
        if row["kind"] == "merge":
            return _decide_merge(tx, turn, desk, row, ruling)
        return _decide_claim(tx, turn, desk, row, ruling)

    return in_turn(desk, work)


def preview(desk: Desk, review_id: UUID, *, by: str) -> tuple[Consequence, ...]:
    """What approving would change, as far as the session may see it; nothing when it could not be approved."""

    def work(tx: Tx, turn: Turn) -> tuple[Consequence, ...]:
        row = _read(tx, review_id)
        held = open_claim(tx, turn, row["claim_id"], extra=_beside(row))
        ruling = Ruling("approve", by, "")
        try:
            VERDICTS[row["kind"]]["approve"](tx, held, row["rivals"], ruling)
        except (PolicyUnmet, RivalTruth):
            return ()
        loaded = held.edit.loaded
        return tuple(
            Consequence(
                claim_id=str(claim.claim_id), statement=claim.statement,
                status_before=_at(loaded[claim.claim_id], held.now), status_after=_at(claim, held.now),
                reason=claim.reason,
            )
            for claim in held.edit.changed() if claim.visible
        )  # fmt: skip

    return in_turn(desk, work)


def _beside(row: Row) -> list[UUID]:
    """Rivals that the claim's own slot does not lead to: those of another subject."""
    return list(row["rivals"]) if row["kind"] == "conflict" else []


def _at(claim: HeldClaim, now: datetime) -> Status:
    """What the claim is called now: one of which another has taken the present is superseded."""
    ended = claim.status is Status.VALIDATED and now not in claim.valid and now in claim.asserted
    return Status.SUPERSEDED if ended else claim.status


def _read(tx: Tx, review_id: UUID) -> Row:
    rows = reviews.find(tx, review_id=review_id, most=1).get()
    if not rows:
        raise NotFound("no review with this id that this session may see")
    return rows[0]


def _reread(tx: Tx, review_id: UUID, ruling: Ruling) -> Row:
    """The review under the lock of its subject: another reviewer may have been faster."""
    row = _read(tx, review_id)
    if ruling.verdict == "undo" and row["verdict"] is None:
        raise ClaimMovedOn("this review is open; there is nothing to undo")
    if ruling.verdict != "undo" and row["verdict"] is not None:
        raise ClaimMovedOn(
            f"{row['decisions'][-1]['by']} decided this review already ({row['verdict']}); read it again, or undo that"
        )
    return row


def _decide_claim(tx: Tx, turn: Turn, desk: Desk, row: Row, ruling: Ruling) -> Verdict:
    held = open_claim(tx, turn, row["claim_id"], extra=_beside(row), value=ruling.value)
    row = _reread(tx, row["review_id"], ruling)
    if ruling.verdict == "undo":
        held = _without_given(tx, turn, held, row)
    held.edit.reviewing = row["review_id"]
    ruled = _undo(tx, held, row, ruling) if ruling.verdict == "undo" else _rule(tx, held, row, ruling)
    at = held.edit.write(tx, desk, "decide", now=held.now, prepared=desk.follower.prepare())
    _record(tx, desk, row, ruling, held, ruled)
    subject = replace(held, claim=held.edit.loaded.get(ruled.claim_id, held.edit.near.claims[ruled.claim_id]))
    return Verdict(
        review_id=str(row["review_id"]), verdict=ruling.verdict, reason=ruled.reason,
        decision=decision_of(subject, ruled.outcome, ruled.reason, at),
    )  # fmt: skip


def _rule(tx: Tx, held: Opened, row: Row, ruling: Ruling) -> Ruled:
    if row["kind"] == "claim":
        require(held.claim, Status.CANDIDATE)
    elif not (held.claim.live and live_of(held, row["rivals"])):
        raise ClaimMovedOn("one of the two claims is held no longer, so they are in conflict no more")
    return VERDICTS[row["kind"]][ruling.verdict](tx, held, row["rivals"], ruling)


def _undo(tx: Tx, held: Opened, row: Row, ruling: Ruling) -> Ruled:
    if row["verdict"] == "void":
        raise ClaimMovedOn("this review became void when its subjects were taken apart; there is nothing to undo")
    if row["kind"] == "conflict":
        one = set(subjects.group(tx, held.claim.subject_id).get())
        if not {held.edit.near.claims[rival].subject_id for rival in row["rivals"]} <= one:
            raise ClaimMovedOn("their subjects are no longer one, so these claims are in conflict no more")
        return undo_conflict(held, row["rivals"], ruling)
    return undo(held, row["rivals"], row["verdict"], row["effects"], ruling)


def _without_given(tx: Tx, turn: Turn, held: Opened, row: Row) -> Opened:
    """The claim with the one that the decision made or merged into, loaded anew once what the decision gave to that one
    supports it no more."""
    effects = row["effects"] or {}
    if "claim" not in effects:
        return held
    evidence.end_supports(tx, UUID(effects["claim"]), effects["supports"], at=held.now)
    return open_claim(tx, turn, row["claim_id"], extra=[UUID(effects["claim"])])


def _decide_merge(tx: Tx, turn: Turn, desk: Desk, row: Row, ruling: Ruling) -> Verdict:
    """Whether two subjects are one."""
    turn.require(set(row["subjects"]))
    row = _reread(tx, row["review_id"], ruling)
    *others, source = row["subjects"]
    merged, effects = None, {}
    if ruling.verdict == "merge":
        into = ruling.into or (others[0] if len(others) == 1 else None)
        if into is None or into not in others:
            raise InvalidInput(f"say in `into` which subject {source!r} is: {', '.join(others)}")
        standing = {str(made["merge_id"]) for made in subjects.merges_of(tx, [source]).get()}
        merged = merge_in(
            tx, turn, desk, source, into, method="review", reason=ruling.reason, confidence=None, citations=(),
            reviewing=row,
        )  # fmt: skip
        # A merge that somebody else made is not this decision's to undo.
        effects = {} if merged.merge_id in standing else {"merge": merged.merge_id}
    elif ruling.verdict == "undo" and "merge" in (row["effects"] or {}):
        merged = unmerge_in(tx, turn, desk, UUID(row["effects"]["merge"]), reason=ruling.reason)
    now = activity.server_now(tx).get()
    reviews.decide(
        tx, row["review_id"], ruling.verdict, by=ruling.by, reason=ruling.reason, actor=desk.access.actor, at=now,
        effects=effects,
    )  # fmt: skip
    reason = ruling.text("decided" if ruling.verdict != "undo" else "decision undone")
    return Verdict(review_id=str(row["review_id"]), verdict=ruling.verdict, reason=reason, merge=merged)


def _record(tx: Tx, desk: Desk, row: Row, ruling: Ruling, held: Opened, ruled: Ruled) -> None:
    reviews.decide(
        tx, row["review_id"], ruling.verdict, by=ruling.by, reason=ruling.reason, actor=desk.access.actor, at=held.now,
        effects=ruled.effects,
    )  # fmt: skip
