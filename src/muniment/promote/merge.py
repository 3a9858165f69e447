"""Merging subjects that turned out to be one, and taking that back.

A merge moves nothing: every claim keeps the subject of which it was said. While the merge is believed, reads of one
subject read all, and what is proposed about one is compared with what is held about the others. Rival values that both
sides brought along stay, linked as a conflict, each with a review. Taking the merge back ends what it did: the links
that were made across the two sides since then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import product
from uuid import UUID

from muniment.canonical import activity, claims, policies, reviews, subjects
from muniment.canonical.rows import HeldClaim, HeldLink
from muniment.errors import InvalidInput, NotFound
from muniment.model.access import PUBLIC_ID, AccessRule
from muniment.model.claim import LinkKind
from muniment.model.identity import Merge
from muniment.promote.admit import same_value
from muniment.promote.edit import Edit
from muniment.promote.identify import first_of, rule_of
from muniment.promote.neighbourhood import Neighbourhood, gather
from muniment.promote.ports import Desk
from muniment.promote.proposal import Citation
from muniment.promote.readmit import readmit
from muniment.promote.sources import joint_rule
from muniment.promote.turn import Turn, in_turn
from muniment.store.answer import Row
from muniment.store.database import Tx


def merge(
    desk: Desk, from_subject: str, into_subject: str, *, method: str, reason: str, confidence: float | None,
    citations: Sequence[Citation],
) -> Merge:  # fmt: skip
    """Says that two subjects are one, known from now on. Merging what is one already changes nothing.

    Raises `NotFound` for a subject that the tenant does not know, `InvalidInput`.
    """

    def work(tx: Tx, turn: Turn) -> Merge:
        return merge_in(
            tx, turn, desk, from_subject, into_subject, method=method, reason=reason, confidence=confidence,
            citations=citations,
        )  # fmt: skip

    return in_turn(desk, work, whole=True)


def merge_in(
    tx: Tx, turn: Turn, desk: Desk, from_subject: str, into_subject: str, *, method: str, reason: str,
    confidence: float | None, citations: Sequence[Citation], reviewing: Row | None = None,
) -> Merge:  # fmt: skip
    """As `merge`, in a turn that has the whole tenant. `reviewing`: the review that asked whether they are one; who may
    see that may see the merge."""
    if from_subject == into_subject:
        raise InvalidInput("a subject is one with itself; name two")
    ends = (from_subject, into_subject)
    for end in ends:
        turn.take(tx, end).get()
    asked_known, asked_now = subjects.known(tx, ends), activity.server_now(tx)
    sides = [subjects.group(tx, end).get() for end in ends]
    for missing in set(ends) - asked_known.get():
        raise NotFound(f"nothing is known of a subject {missing!r}; check how its id is written")
    pair = set(ends)
    said = [row for row in subjects.merges_of(tx, ends).get() if {row["from_subject"], row["into_subject"]} == pair]
    if said and said[0]["visible"]:
        return merge_of(said[0])
    rule, now = rule_of(tx, desk, citations), asked_now.get()
    if reviewing is not None:
        rule = joint_rule(tx, [reviewing["access_id"]])
    for hidden in said:
        # Somebody said so before, where this session may not see it: from now on both may see it.
        rule = joint_rule(tx, [hidden["access_id"]]).either(rule)
        subjects.close_merge(tx, hidden["merge_id"], reason="said again", actor=desk.access.actor, at=now)
    merge_id = subjects.insert_merge(
        tx, from_subject=from_subject, into_subject=into_subject, method=method, confidence=confidence,
        evidence_id=first_of(citations), reason=reason, rule=rule, actor=desk.access.actor, at=now,
    )  # fmt: skip
    for review in reviews.open_of(tx, (), ends).get():
        if set(review["subjects"]) == pair and (reviewing is None or review["review_id"] != reviewing["review_id"]):
            reviews.decide(
                tx, review["review_id"], "merge", by=desk.access.actor, reason=reason, actor=desk.access.actor, at=now
            )
    return Merge(
        merge_id=str(merge_id), from_subject=from_subject, into_subject=into_subject, method=method,
        confidence=confidence, evidence_id=_text(first_of(citations)), known_from=now, known_to=None,
        merged_by=desk.access.actor,
        reviews=() if into_subject in sides[0] else _set_against(tx, desk, sides, rule, now),
    )  # fmt: skip


def unmerge(desk: Desk, merge_id: UUID, *, reason: str) -> Merge:
    """Takes a merge back, known from now on; again changes nothing. Raises `NotFound`."""

    def work(tx: Tx, turn: Turn) -> Merge:
        return unmerge_in(tx, turn, desk, merge_id, reason=reason)

    return in_turn(desk, work, whole=True)


def unmerge_in(tx: Tx, turn: Turn, desk: Desk, merge_id: UUID, *, reason: str) -> Merge:
    """As `unmerge`, in a turn that has the whole tenant."""
    asked_now = activity.server_now(tx)
    (row,) = subjects.merge_by_id(tx, merge_id).get() or (None,)
    if row is None:
        raise NotFound("no merge with this id that this session may see")
    now = asked_now.get()
    if row["known_to"] is not None:
        return merge_of(row)
    subjects.close_merge(tx, merge_id, reason=reason, actor=desk.access.actor, at=now)
    ends = (row["from_subject"], row["into_subject"])
    shared = [turn.take(tx, end).get() for end in ends]
    sides = shared if row["access_id"] == PUBLIC_ID else [subjects.group(tx, end).get() for end in ends]
    if ends[1] not in sides[0]:
        _part(tx, turn, desk, sides, shared, row, reason, now)
    return merge_of(row).model_copy(update={"known_to": now})


def merge_of(row: Row) -> Merge:
    """The public form."""
    return Merge(
        merge_id=str(row["merge_id"]), from_subject=row["from_subject"], into_subject=row["into_subject"],
        method=row["method"], confidence=row["confidence"], evidence_id=_text(row["evidence_id"]),
        known_from=row["known_from"], known_to=row["known_to"], merged_by=row["merged_by"],
    )  # fmt: skip


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)


def _set_against(tx: Tx, desk: Desk, sides: Sequence[list[str]], rule: AccessRule, now: datetime) -> tuple[str, ...]:
    """Links what the two sides hold against each other, and asks somebody to decide, for those who may see the merge
    too; returns the reviews opened, as far as the session may see both claims."""
    asked_policies = policies.open_policies(tx)
    ours, theirs = (claims.held_about(tx, side).get() for side in sides)
    near = Neighbourhood(ours | theirs, policies=asked_policies.get(), group=frozenset(sides[0]) | frozenset(sides[1]))
    edit = Edit.of(near, requested=now)
    edit.within = rule
    pairs = list(_rival_pairs(near, ours, theirs))
    for later, earlier in pairs:
        edit.connect(
            LinkKind.CONFLICTS_WITH, later.claim_id, earlier.claim_id, scope=later.scope,
            effective_from=max(later.began, earlier.began),
        )  # fmt: skip
    edit.write(tx, desk, "merge", now=now, prepared=desk.follower.prepare())
    opened = []
    for later, earlier in pairs:
        reason = (
            f"{later.subject_id} and {earlier.subject_id} are one now, and hold different values of {later.predicate}"
        )
        both = joint_rule(tx, [later.access_id, earlier.access_id]).both(rule)
        review_id = reviews.insert(
            tx, later.claim_id, [earlier], reason, rule=both, actor=desk.access.actor, at=now, kind="conflict"
        )
        opened += [str(review_id)] if later.visible and earlier.visible else []
    return tuple(opened)


def _rival_pairs(
    near: Neighbourhood, ours: dict[UUID, HeldClaim], theirs: dict[UUID, HeldClaim]
) -> Iterator[tuple[HeldClaim, HeldClaim]]:
    """(later, earlier) of the claims of which only one can hold at a time."""
    by_question: dict[tuple[str, str], list[list[HeldClaim]]] = {}
    for side, held in enumerate((ours, theirs)):
        for claim in held.values():
            if claim.live and claim.cardinality == "one":
                by_question.setdefault((claim.predicate, claim.scope), [[], []])[side].append(claim)
    for left, right in by_question.values():
        for one, other in product(left, right):
            if one.valid & other.valid and not same_value(one, other, near.policy_of(one)):
                yield (one, other) if (one.began, one.claim_id) > (other.began, other.claim_id) else (other, one)


def _part(
    tx: Tx, turn: Turn, desk: Desk, sides: Sequence[list[str]], shared: Sequence[list[str]], merge: Row, reason: str,
    now: datetime,
) -> None:  # fmt: skip
    """Ends the links that the merge led to, lets what they ended come back, and what waited because of them hold."""
    asked_policies = policies.open_policies(tx)
    between = claims.links_between(tx, *sides, since=merge["known_from"]).get()
    concerned = claims.held_about(tx, [*sides[0], *sides[1]]).get()
    near = gather(tx, slots={claim.slot for claim in concerned.values()}, turn=turn, policies=asked_policies.get())
    edit = Edit.of(near, requested=now)
    ended = [link for key, link in near.links.items() if key in between and _owed_to_merge(near, link, merge)]
    edit.disconnect(ended)
    why = f"the subjects are no longer taken for one{': ' + reason if reason else ''}"
    edit.settle(why)
    for side in shared:
        edit.near.group = frozenset(side)
        readmit(tx, edit, ended, why, known_as=side)
    for review in reviews.open_of(tx, concerned).get():
        ends = {review["claim_id"], *review["rivals"]}
        if review["kind"] == "conflict" and any({link.from_claim, link.to_claim} == ends for link in ended):
            reviews.decide(
                tx, review["review_id"], "void", by=desk.access.actor, reason="the subjects are no longer one",
                actor=desk.access.actor, at=now,
            )  # fmt: skip
    edit.write(tx, desk, "unmerge", now=now, prepared=desk.follower.prepare())


def _owed_to_merge(near: Neighbourhood, link: HeldLink, merge: Row) -> bool:
    """Whether a link across the two sides stands only because they were one; what somebody named beyond that stays. A
    merge that not everybody may see has led to conflicts only."""
    source, target = near.claim(link.from_claim), near.claim(link.to_claim)
    if link.kind == LinkKind.CONFLICTS_WITH:
        return True
    if merge["access_id"] != PUBLIC_ID:
        return False
    if link.kind == LinkKind.DERIVED_FROM:
        return target.predicate in near.policy_of(source).depends_on
    return source.predicate == target.predicate
