"""Feedback is evidence and a narrow candidate; it holds more widely only when it is repeated, or when somebody says so."""

from __future__ import annotations

from typing import Any

import pytest

import muniment
from muniment.errors import BadScope, InvalidInput, NotFound, RivalTruth
from tests.helpers import at, single_valued, tell, values

BRIEF = {"subject": "jane", "predicate": "greeting", "value": "Hi"}


def edit(session: muniment.Session, draft: str, to: str, **more: Any) -> muniment.model.remember.Remembered:
    claims = more.pop("claims", [BRIEF])
    return session.feedback(
        draft,
        kind="edit",
        content=f"Hi {to}, attached are the terms. ({draft})",
        scope=f"email/{to}",
        claims=claims,
        **more,
    )


def test_an_edit_is_evidence_and_a_candidate_for_this_recipient_only(session: muniment.Session) -> None:
    given = edit(session, "draft-1", "janet", author="jane")
    (decision,) = given.decisions
    assert (given.evidence.kind, given.evidence.metadata["about"], decision.status) == (
        "feedback",
        "draft-1",
        "candidate",
    )
    assert given.widened == ()
    (claim,) = session.claims("jane", status=None).items
    assert (claim.scope, claim.memory_type) == ("email/janet", "persona")
    assert session.claims("jane", scope="email/tom").items == ()
    session.confirm(decision.claim_id, by="jane")
    assert values(session.claims("jane", scope="email/janet")) == ["Hi"]
    assert session.claims("jane", scope="email/tom").items == ()


def test_without_a_policy_no_number_of_edits_makes_it_hold(session: muniment.Session) -> None:
    for number in range(6):
        edit(session, f"draft-{number}", "janet")
    assert session.claims("jane").items == ()
    (claim,) = session.claims("jane", status=None).items
    assert (claim.status, len(claim.evidence_ids)) == ("candidate", 6)


def test_repeated_on_enough_drafts_it_holds_there_and_in_enough_scopes_around_them(session: muniment.Session) -> None:
    session.define({"predicate": "greeting", "cardinality": "one", "widen_after": 2})
    assert "repeated 1 of 2 times" in edit(session, "a1", "ann").decisions[0].reason
    assert edit(session, "a1", "ann", source_id="again").decisions[0].status == "candidate"  # the same draft again
    second = edit(session, "a2", "ann")
    assert (second.decisions[0].status, second.widened) == ("validated", ())
    assert session.claims("jane", scope="email/bob").items == ()
    edit(session, "b1", "bob")
    last = edit(session, "b2", "bob")
    assert [(d.status, session.why(d.claim_id).claim.scope) for d in last.widened] == [("validated", "email")]
    assert values(session.claims("jane", scope="email/carl")) == ["Hi"]
    assert session.claims("jane", scope="chat").items == ()
    assert len(session.why(last.widened[0].claim_id).quotes) == 5


def test_the_same_words_on_two_drafts_are_two_pieces_of_feedback(session: muniment.Session) -> None:
    session.define({"predicate": "greeting", "cardinality": "one", "widen_after": 2})
    for draft in ("a1", "a2"):
        given = session.feedback(draft, kind="edit", content="Hi Ann", scope="email/ann", claims=[BRIEF])
    assert given.decisions[0].status == "validated"


def test_it_widens_scope_by_scope_to_everywhere(session: muniment.Session) -> None:
    session.define({"predicate": "greeting", "cardinality": "one", "widen_after": 2})
    for channel in ("email", "chat"):
        for to in ("ann", "bob"):
            for number in range(2):
                session.feedback(
                    f"{channel} {to} {number}", kind="edit", content=f"Hi {to} {number} {channel}",
                    scope=f"{channel}/{to}", claims=[BRIEF],
                )  # fmt: skip
    assert values(session.claims("jane", scope="phone")) == ["Hi"]


def test_what_is_held_otherwise_around_it_is_not_pushed_aside(session: muniment.Session) -> None:
    session.define({"predicate": "greeting", "cardinality": "one", "validation": "quoted", "widen_after": 2})
    tell(session, "jane", "greeting", "Dear", "2026-01-01", scope="email/ann", memory_type="persona")
    for number in range(2):
        edit(session, f"a{number}", "ann", occurred_at=at("2026-01-01"))
    (claim,) = session.claims("jane", scope="email/ann").items
    assert claim.value == "Dear"  # two values from one moment: nobody has decided
    (waiting,) = session.claims("jane", status="candidate").items
    assert waiting.value == "Hi"


def test_somebodys_word_widens_at_once(session: muniment.Session) -> None:
    (decision,) = edit(session, "draft-1", "janet").decisions
    wide = session.widen(decision.claim_id, "email", by="jane", reason="always")
    assert wide.status == "validated"
    assert values(session.claims("jane", scope="email/tom")) == ["Hi"]
    assert session.widen(decision.claim_id, "email", by="jane").claim_id == wide.claim_id
    for scope in ("email/janet", "chat", "email/janet/x"):
        with pytest.raises(BadScope):
            session.widen(decision.claim_id, scope, by="jane")
    with pytest.raises(NotFound):
        session.widen("0" * 32, "", by="jane")


def test_widening_against_what_holds_from_the_same_moment_is_refused(session: muniment.Session) -> None:
    single_valued(session, "greeting")
    tell(session, "jane", "greeting", "Dear", "2026-01-01", scope="email")
    (decision,) = edit(session, "draft-1", "janet", occurred_at=at("2026-01-01")).decisions
    with pytest.raises(RivalTruth):
        session.widen(decision.claim_id, "email", by="jane")


def test_a_thumb_down_stands_against_the_claim_and_changes_nothing_else(session: muniment.Session) -> None:
    single_valued(session, "city")
    held = tell(session, "jane", "city", "Bergen", "2026-01-01")
    session.feedback(held.claim_id, kind="thumb_down", content="she moved long ago")
    assert values(session.claims("jane", "city")) == ["Bergen"]
    assert [q.stance for q in session.why(held.claim_id).quotes] == ["supports", "contradicts"]
    assert len(session.history(held.claim_id)) == 1
    session.feedback("some draft of ours", kind="thumb_down", content="no")
    session.feedback("0" * 8 + "-0000-0000-0000-" + "0" * 12, kind="thumb_down", content="no such claim")


def test_the_thread_is_the_narrow_scope_where_none_is_named(memory: muniment.Memory, tenant: str) -> None:
    session = memory.session(tenant=tenant, thread="t-9")
    (decision,) = session.feedback("d", kind="edit", content="Hi", claims=[BRIEF]).decisions
    assert session.why(decision.claim_id).claim.scope == "thread/t-9"


@pytest.mark.parametrize("scope", ["", None])
def test_a_claim_of_feedback_needs_a_narrow_scope_and_nothing_is_stored_without(
    session: muniment.Session, scope: str | None
) -> None:
    with pytest.raises(BadScope):
        session.feedback("d", kind="edit", content="Hi", claims=[BRIEF], scope=scope)
    assert session.search("Hi") == []


@pytest.mark.parametrize(
    "bad", [{"subject": "jane"}, {**BRIEF, "evidence": "x"}, "jane likes tea", {**BRIEF, "value": float("nan")}]
)
def test_claims_of_feedback_are_checked(session: muniment.Session, bad: Any) -> None:
    with pytest.raises(InvalidInput):
        session.feedback("d", kind="edit", content="Hi", claims=[bad], scope="email/janet")
    assert session.search("Hi") == []
    with pytest.raises(InvalidInput):
        session.feedback("d", kind="shrug", content="Hi")  # type: ignore[arg-type]


def test_feedback_that_the_session_may_not_see_does_not_count(memory: muniment.Memory, tenant: str) -> None:
    everyone, board = memory.session(tenant=tenant), memory.session(tenant=tenant, grants={"board"})
    everyone.define({"predicate": "greeting", "cardinality": "one", "widen_after": 2})
    edit(board, "a1", "ann", access={"board"})
    given = edit(everyone, "a2", "ann")
    assert given.decisions[0].status == "candidate"
    assert "2 drafts" not in given.decisions[0].reason
    assert edit(everyone, "a3", "ann").decisions[0].status == "validated"


@pytest.mark.parametrize("claims", [5, "jane", None, {"subject": "jane"}, [BRIEF | {"value": None}]])
def test_claims_that_are_none_are_refused_before_anything_is_stored(session: muniment.Session, claims: Any) -> None:
    with pytest.raises(InvalidInput):
        session.feedback("d", kind="edit", content="a lonely word", claims=claims, scope="email/janet")
    assert session.search("lonely") == []
