"""Feedback: an edited draft, a thumb down. Evidence, and at most a narrow candidate; what is repeated may widen.

One edited sentence proves no preference: it may correct a fact, fit one recipient, or the mood of a day. So what
feedback says is claimed in the narrow scope in which it was given, and waits. Where the policy says `widen_after = n`,
it holds there once n different drafts were corrected so, and in the scope around, with the evidence of all, once it
holds in n scopes side by side; and so on outwards. Somebody's word (`confirm`, `widen`) does the same at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from muniment.canonical import claims, evidence
from muniment.canonical.rows import HeldClaim
from muniment.errors import BadScope, InvalidInput, RivalTruth
from muniment.model.claim import Decision, Status
from muniment.model.evidence import Evidence, EvidenceDraft
from muniment.model.memory_type import require_value_of
from muniment.model.remember import FeedbackKind, Remembered
from muniment.model.scope import EVERYWHERE, covering, covers, parse_scope
from muniment.model.text import require_json, require_name, require_text
from muniment.promote.admit import same_value
from muniment.promote.decide import confirm, decision_of, make_live, open_claim
from muniment.promote.ports import Desk
from muniment.promote.preserve import preserve, read_back
from muniment.promote.proposal import MAX_STATEMENT_BYTES, Citation, Proposal, make_proposal
from muniment.promote.propose import propose
from muniment.promote.sources import look_up, of_claims
from muniment.promote.turn import Turn, in_turn
from muniment.promote.values import MAX_VALUE_BYTES
from muniment.store.database import Tx

_FIELDS = {"subject", "predicate", "value", "statement", "memory_type"}


@dataclass(frozen=True, slots=True)
class Note:
    """One piece of feedback: about what, of which kind, given in which scope, meaning which claims."""

    about: str
    kind: FeedbackKind
    scope: str
    claims: Sequence[Mapping[str, Any]]


def feedback(desk: Desk, draft: EvidenceDraft, note: Note) -> Remembered:
    """Stores the feedback, claims narrowly what it means, and widens what was said often enough.

    Raises what `add` raises, `BadScope` for a claim without a narrow scope, and `InvalidInput`, before anything is
    stored. A thumb down about a claim stands among its evidence as a contradiction, and changes nothing else.
    """
    for claim in note.claims:
        _check(claim)
    if note.claims and parse_scope(note.scope) == EVERYWHERE:
        raise BadScope("feedback is claimed where it was given: name a scope such as 'email/janet', or a thread")
    metadata = {**draft.metadata, "about": note.about, "feedback": note.kind}
    (outcome,) = preserve(desk, [draft.model_copy(update={"metadata": metadata})])
    if outcome.error is not None:
        raise outcome.error
    stored = read_back(desk, outcome)
    if note.kind == "thumb_down":
        _contradict(desk, note.about, stored)
    decisions, widened = [], []
    for claim in note.claims:
        first = propose(desk, _narrow(stored, note.scope, claim))
        here, further = _grow(desk, first)
        decisions.append(here)
        widened += further
    return Remembered(evidence=stored, decisions=tuple(decisions), widened=tuple(widened))


def widen(desk: Desk, claim_id: UUID, scope: str, *, by: str, reason: str) -> Decision:
    """Says that a claim holds in a wider scope: a claim there, with the same evidence, on somebody's word. Raises
    `BadScope`, `NotFound`, `RivalTruth`, `PolicyUnmet`."""
    parse_scope(scope)

    def work(tx: Tx, turn: Turn) -> Proposal:
        claim = open_claim(tx, turn, claim_id).claim
        if scope == claim.scope or not covers(scope, claim.scope):
            raise BadScope(f"{scope!r} does not lie around {claim.scope!r}; name a wider scope")
        return _in_scope(tx, [claim], scope)

    decision = propose(desk, in_turn(desk, work))
    if decision.status is not Status.CANDIDATE:
        return decision
    return confirm(desk, UUID(decision.claim_id), by=by, reason=reason, citations=())


def _check(claim: Mapping[str, Any]) -> None:
    """Raises `InvalidInput` for a claim that could not be proposed."""
    if not isinstance(claim, Mapping) or not {"subject", "predicate", "value"} <= set(claim) <= _FIELDS:
        raise InvalidInput(f"a claim of feedback is a mapping with subject, predicate, value, of {sorted(_FIELDS)}")
    if claim["value"] is None:
        raise InvalidInput("a claim of feedback has a value; null says nothing")
    for name in ("subject", "predicate"):
        require_name(claim[name], what=name)
    memory_type = require_name(claim.get("memory_type", "persona"), what="memory_type")
    require_value_of(memory_type, require_json(claim["value"], what="the value", max_bytes=MAX_VALUE_BYTES))
    if claim.get("statement") is not None:
        require_text(claim["statement"], what="statement", max_bytes=MAX_STATEMENT_BYTES)


def _narrow(stored: Evidence, scope: str, claim: Mapping[str, Any]) -> Proposal:
    """The claim where the feedback was given. The whole evidence is cited: an edit is no statement of a preference, so
    no quote of it validates anything."""
    return make_proposal(
        subject=claim["subject"], predicate=claim["predicate"], value=claim["value"], evidence=stored, scope=scope,
        statement=claim.get("statement"), memory_type=claim.get("memory_type", "persona"), valid_from=None,
        valid_to=None, confidence=None, premises=(), supersedes=None, correction=False, access=None,
    )  # fmt: skip


def _contradict(desk: Desk, about: str, stored: Evidence) -> None:
    """Cites the feedback against the claim that it is about, if that is one."""
    try:
        claim_id = UUID(about)
    except ValueError:
        return
    citation = Citation(UUID(stored.evidence_id), 0, None)

    def work(tx: Tx, turn: Turn) -> None:
        known = claims.held_claims(tx, [claim_id]).get().get(claim_id)
        if known is None or not known.visible:
            return
        held = open_claim(tx, turn, claim_id)
        ((_, source),) = look_up(tx, [citation]).get().spans
        held.edit.cite(claim_id, citation, source, stance="contradicts")
        held.edit.write(tx, desk, "feedback", now=held.now, prepared=desk.follower.prepare())

    in_turn(desk, work)


def _grow(desk: Desk, first: Decision) -> tuple[Decision, list[Decision]]:
    """Lets a claim hold that was repeated often enough, and then, scope by scope, the ones around it."""
    here = _hold_if_repeated(desk, first)
    further: list[Decision] = []
    current = here
    while (proposal := _around(desk, UUID(current.claim_id))) is not None:
        current = _hold_if_repeated(desk, propose(desk, proposal))
        further.append(current)
    return here, further


def _hold_if_repeated(desk: Desk, decision: Decision) -> Decision:
    """Validates a candidate once its policy's number of different drafts was corrected so; otherwise says how many."""
    claim_id = UUID(decision.claim_id)

    def work(tx: Tx, turn: Turn) -> Decision:
        held = open_claim(tx, turn, claim_id)
        wanted = held.policy.widen_after
        if held.claim.status is not Status.CANDIDATE or wanted is None:
            return decision
        said = evidence.feedback_count(tx, claim_id).get()
        if said < wanted:
            return decision.model_copy(update={"reason": f"{decision.reason}; repeated {said} of {wanted} times"})
        outcome, reason = make_live(held, f"repeated in feedback on {said} drafts")
        at = held.edit.write(tx, desk, "feedback", now=held.now, prepared=desk.follower.prepare())
        return decision_of(held, outcome, reason, at)

    try:
        return in_turn(desk, work)
    except RivalTruth as error:
        return decision.model_copy(update={"reason": f"{decision.reason}; {error}"})


def _around(desk: Desk, claim_id: UUID) -> Proposal | None:
    """The same in the scope around, when it holds in enough scopes side by side."""

    def work(tx: Tx, turn: Turn) -> Proposal | None:
        held = open_claim(tx, turn, claim_id)
        wanted = held.policy.widen_after
        if wanted is None or not held.claim.live or held.claim.scope == EVERYWHERE:
            return None
        around = covering(held.claim.scope)[1]
        beside = [
            other for other in claims.held_about(tx, [held.claim.subject_id]).get().values()
            if other.status is Status.VALIDATED and other.visible and other.predicate == held.claim.predicate
            and other.scope != EVERYWHERE and covering(other.scope)[1] == around
            and same_value(other, held.claim, held.policy)
        ]  # fmt: skip
        if len({other.scope for other in beside}) < wanted:
            return None
        return _in_scope(tx, beside, around)

    return in_turn(desk, work)


def _in_scope(tx: Tx, held: Sequence[HeldClaim], scope: str) -> Proposal:
    """One claim in a wider scope, with the evidence of all of these, from the moment on at which the last began."""
    first = held[0]
    places = of_claims(tx, [claim.claim_id for claim in held]).get()
    citations = {
        Citation(place.evidence_id, place.cited_start, place.cited_stop)
        for found in places.values() for place in found if place.visible
    }  # fmt: skip
    return Proposal(
        subject=first.subject_id, predicate=first.predicate, value=first.value, scope=scope, statement="",
        memory_type=first.memory_type, citations=tuple(sorted(citations, key=str)),
        valid_from=max(claim.began for claim in held), valid_to=None, confidence=None, premises=(), supersedes=None,
        correction=False, labels=None,
    )  # fmt: skip
