"""What waits for a person is listed with both sides, decided once, and takes effect as announced."""

from __future__ import annotations

import threading

import psycopg
import pytest

import muniment
from muniment.errors import BadFilter, ClaimMovedOn, InvalidInput, MunimentError, NotFound, PolicyUnmet
from tests.helpers import at, single_valued, tell, values


@pytest.fixture
def dispute(session: muniment.Session) -> tuple[muniment.Decision, muniment.Decision]:
    """Two values from one moment: the first holds, the second stands in conflict."""
    single_valued(session, "fee")
    first, second = tell(session, "acme", "fee", 4, "2026-01-01"), tell(session, "acme", "fee", 6, "2026-01-01")
    assert second.outcome == "conflict"
    return first, second


Dispute = tuple[muniment.Decision, muniment.Decision]


def test_a_review_shows_both_sides_and_what_approving_would_change(session: muniment.Session, dispute: Dispute) -> None:
    first, second = dispute
    (listed,) = session.reviews().items
    assert (listed.review_id, listed.claim and listed.claim.value) == (second.review_id, 6)
    assert [rival.value for rival in listed.rivals] == [4]
    shown = session.review(listed.review_id)
    assert {(c.claim_id, c.status_after.value) for c in shown.consequences} == {
        (first.claim_id, "superseded"), (second.claim_id, "validated"),
    }  # fmt: skip
    assert values(session.claims("acme", "fee")) == [4]  # looking changes nothing
    assert len(session.history(second.claim_id)) == 1


def test_approving_makes_the_claim_hold_over_its_rival_and_closes_the_review(
    session: muniment.Session, dispute: Dispute
) -> None:
    first, second = dispute
    assert second.review_id is not None
    decided = session.decide(second.review_id, "approve", by="ada", reason="the contract says so")
    assert decided.decision is not None
    assert (decided.decision.outcome, decided.decision.claim_id) == ("superseded_other", second.claim_id)
    assert values(session.claims("acme", "fee")) == [6]
    assert session.recall("What is the fee of acme?", subject="acme").conflicts == ()
    assert session.reviews().items == ()
    (closed,) = session.reviews("decided").items
    (decision,) = closed.decisions
    assert (closed.verdict, decision.by, decision.reason) == ("approve", "ada", "the contract says so")
    assert closed.consequences == ()
    assert session.history(second.claim_id)[-1].reason == "approved by ada: the contract says so"
    # Taking it back brings back what stood there before.
    session.retract(second.claim_id, reason="it was another contract")
    assert values(session.claims("acme", "fee")) == [4]
    assert session.history(first.claim_id)[-1].status == "validated"


def test_rejecting_leaves_the_rival_and_ends_the_conflict(session: muniment.Session, dispute: Dispute) -> None:
    _, second = dispute
    assert second.review_id is not None
    session.decide(second.review_id, "reject", by="ada", reason="a typing error")
    assert values(session.claims("acme", "fee")) == [4]
    assert session.history(second.claim_id)[-1].status == "rejected"
    assert session.recall("What is the fee of acme?", subject="acme").conflicts == ()


def test_approving_says_which_dependants_lose_what_they_rest_on(session: muniment.Session) -> None:
    single_valued(session, "home")
    single_valued(session, "commute", depends_on=["home"])
    tell(session, "ken", "home", "Kyoto", "2026-01-01")
    commute = tell(session, "ken", "commute", 20, "2026-02-01")
    other = tell(session, "ken", "home", "Osaka", "2026-01-01")
    assert other.review_id is not None
    changes = {c.claim_id: c.status_after.value for c in session.review(other.review_id).consequences}
    assert changes[commute.claim_id] == "unsupported"
    session.decide(other.review_id, "approve", by="ada")
    assert session.history(commute.claim_id)[-1].status == "unsupported"


def test_of_two_reviewers_the_first_decides_and_the_second_is_told(
    session: muniment.Session, tenant: str, dispute: Dispute, admin: psycopg.Connection
) -> None:
    _, second = dispute
    review = second.review_id
    assert review is not None
    answers: list[object] = []

    def decide(verdict: str) -> None:
        try:
            answers.append(session.decide(review, verdict, by=verdict).verdict)
        except MunimentError as error:
            answers.append(error.code)

    with admin.transaction():
        # Both wait at the subject; neither has read whether it is decided.
        admin.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s || chr(31) || 'acme', 0))", [tenant])
        threads = [threading.Thread(target=decide, args=(verdict,)) for verdict in ("approve", "reject")]
        for thread in threads:
            thread.start()
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        for _ in range(2000):
            found = admin.execute(waiting).fetchone()
            if found and found[0] >= 2:
                break
        else:
            pytest.fail("the reviewers never came to the lock")
    for thread in threads:
        thread.join(30)
    assert answers.count("claim_moved_on") == 1
    assert len(session.reviews("decided").items) == 1


def test_a_claim_that_was_decided_elsewhere_is_not_decided_again(session: muniment.Session, dispute: Dispute) -> None:
    _, second = dispute
    assert second.review_id is not None
    session.reject(second.claim_id, by="bob")
    with pytest.raises(ClaimMovedOn):
        session.decide(second.review_id, "approve", by="ada")
    assert session.review(second.review_id).consequences == ()


def test_a_review_is_seen_by_those_who_may_see_both_sides(memory: muniment.Memory, tenant: str) -> None:
    both = memory.session(tenant=tenant, grants={"board", "sales"})
    single_valued(both, "fee")
    board, sales = (memory.session(tenant=tenant, grants={label}) for label in ("board", "sales"))
    tell(board, "acme", "fee", 4, "2026-01-01", access={"board"})
    hidden = tell(sales, "acme", "fee", 6, "2026-01-01", access={"sales"})
    assert hidden.status == "candidate"
    (review,) = both.reviews().items
    for session in (board, sales, memory.session(tenant=f"{tenant} other", grants={"board", "sales"})):
        assert session.reviews(None).items == ()
        with pytest.raises(NotFound):
            session.review(review.review_id)
        with pytest.raises(NotFound):
            session.decide(review.review_id, "approve", by="x")
    both.decide(review.review_id, "approve", by="ada")
    assert values(sales.claims("acme", "fee")) == [6]
    assert values(both.claims("acme", "fee", valid_at=at("2026-02-01"))) == [6]


def test_reviews_come_in_pages(session: muniment.Session) -> None:
    single_valued(session, "fee")
    for number in range(3):
        tell(session, f"s{number}", "fee", 1, "2026-01-01")
        tell(session, f"s{number}", "fee", 2, "2026-01-01")
    seen, cursor = [], None
    while True:
        page = session.reviews(limit=2, cursor=cursor)
        seen += [review.claim.subject_id for review in page.items if review.claim]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == ["s0", "s1", "s2"]


def test_bad_input_is_refused(session: muniment.Session, dispute: Dispute) -> None:
    review = dispute[1].review_id
    assert review is not None
    with pytest.raises(InvalidInput):
        session.decide(review, "maybe", by="ada")
    with pytest.raises(InvalidInput):
        session.decide(review, "approve", by="")
    with pytest.raises(BadFilter):
        session.reviews("odd")
    with pytest.raises(BadFilter):
        session.reviews(limit=0)
    with pytest.raises(BadFilter):
        session.reviews(cursor="x")
    with pytest.raises(NotFound):
        session.review("x")
    assert len(session.reviews().items) == 1


def test_what_waits_for_review_by_policy_is_in_the_queue_and_approving_validates_it(session: muniment.Session) -> None:
    session.define({"predicate": "fee", "cardinality": "one", "validation": {"all": ["quoted", "review"]}})
    waiting = tell(session, "acme", "fee", 4, "2026-01-01")
    assert (waiting.outcome, waiting.reason) == ("candidate", "waits for review")
    (review,) = session.reviews().items
    assert (review.review_id, review.rivals) == (waiting.review_id, ())
    decided = session.decide(review.review_id, "approve", by="ada").decision
    assert decided is not None
    assert decided.outcome == "validated"
    assert values(session.claims("acme", "fee")) == [4]


def test_a_reviewer_cannot_replace_the_authoritative_source_that_a_policy_asks_for(session: muniment.Session) -> None:
    session.define({"predicate": "fee", "cardinality": "one", "cost_of_error": "critical"})
    waiting = tell(session, "acme", "fee", 4, "2026-01-01")
    assert waiting.review_id is not None
    with pytest.raises(PolicyUnmet):
        session.decide(waiting.review_id, "approve", by="ada")
    assert session.review(waiting.review_id).consequences == ()
    with pytest.raises(PolicyUnmet):
        session.confirm(waiting.claim_id, by="ada")


def test_retracting_one_side_of_a_conflict_lets_the_other_hold(session: muniment.Session, dispute: Dispute) -> None:
    first, second = dispute
    session.retract(first.claim_id, reason="a typing error")
    assert values(session.claims("acme", "fee")) == [6]
    assert session.reviews().items == ()
    assert session.recall("What is the fee of acme?", subject="acme").conflicts == ()
    assert "nothing stands against it any more" in (session.history(second.claim_id)[-1].reason or "")


def test_of_three_in_conflict_each_can_be_approved_in_turn(session: muniment.Session, dispute: Dispute) -> None:
    third = tell(session, "acme", "fee", 8, "2026-01-01")
    for decision, fee in ((dispute[1], 6), (third, 8)):
        assert decision.review_id is not None
        session.decide(decision.review_id, "approve", by="ada")
        assert values(session.claims("acme", "fee")) == [fee]
