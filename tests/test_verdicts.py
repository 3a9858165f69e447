"""Editing, merging and undoing in a review: every verdict can be taken back, and the review is open again then."""

from __future__ import annotations

import pytest

import muniment
from muniment.errors import ClaimMovedOn, EvidenceWithdrawn, InvalidInput
from tests.helpers import at, single_valued, tell, values


@pytest.fixture
def disputed(session: muniment.Session) -> tuple[str, str, str]:
    """A fee that holds, one that stands against it, and the review."""
    single_valued(session, "fee")
    first, second = tell(session, "acme", "fee", 4, "2026-01-01"), tell(session, "acme", "fee", 6, "2026-01-01")
    assert second.review_id is not None
    return first.claim_id, second.claim_id, second.review_id


Disputed = tuple[str, str, str]


def test_an_edit_makes_a_new_claim_from_the_same_words_and_turns_the_candidate_down(
    session: muniment.Session, disputed: Disputed
) -> None:
    first, second, review = disputed
    decided = session.decide(review, "edit", by="ada", value=5, reason="six was a typing error")
    assert decided.decision is not None
    new = decided.decision.claim_id
    assert new not in (first, second)
    assert values(session.claims("acme", "fee")) == [5]
    assert [q.quote for q in session.why(new).quotes] == [q.quote for q in session.why(second).quotes] == ["6"]
    assert session.history(second)[-1].status == "rejected"
    assert new in (session.history(second)[-1].reason or "")
    assert session.history(new)[-1].reason is not None
    assert session.claims("acme", "fee", valid_at=at("2025-12-31")).items == ()


def test_an_edit_obeys_the_policys_type_and_needs_a_value(session: muniment.Session) -> None:
    session.define({"predicate": "fee", "cardinality": "one", "validation": "quoted", "value_type": "number"})
    tell(session, "acme", "fee", 4, "2026-01-01")
    review = tell(session, "acme", "fee", 6, "2026-01-01").review_id
    assert review is not None
    for value in (None, "five"):
        with pytest.raises(InvalidInput):
            session.decide(review, "edit", by="ada", value=value)
    assert len(session.reviews().items) == 1


def test_merging_gives_the_candidates_support_to_the_claim_that_says_the_same(
    session: muniment.Session, disputed: Disputed
) -> None:
    first, second, review = disputed
    session.decide(review, "merge", by="ada", reason="six percent of the half is four of the whole")
    assert values(session.claims("acme", "fee")) == [4]
    assert sorted(q.quote for q in session.why(first).quotes) == ["4", "6"]
    assert session.history(second)[-1].status == "rejected"
    session.decide(review, "undo", by="bob", reason="no")
    assert [q.quote for q in session.why(first).quotes] == ["4"]
    assert session.history(second)[-1].status == "candidate"


@pytest.mark.parametrize("verdict", ["approve", "reject", "edit", "merge"])
def test_a_verdict_undone_leaves_everything_as_it_was_and_can_be_decided_again(
    session: muniment.Session, disputed: Disputed, verdict: str
) -> None:
    first, second, review = disputed
    session.decide(review, verdict, by="ada", value=5)
    session.decide(review, "undo", by="bob", reason="read it again")
    assert values(session.claims("acme", "fee")) == [4]
    current = session.claims("acme", "fee").items[0]
    assert (current.claim_id, current.conflicts_with) == (first, (second,))
    (open_again,) = session.reviews().items
    assert [(d.verdict, d.by) for d in open_again.decisions] == [(verdict, "ada"), ("undo", "bob")]
    with pytest.raises(ClaimMovedOn):
        session.decide(review, "undo", by="bob")
    session.decide(review, "approve", by="ada")
    assert values(session.claims("acme", "fee")) == [6]
    (closed,) = session.reviews("decided").items
    assert (closed.verdict, len(closed.decisions)) == ("approve", 3)


def test_undoing_an_approval_brings_back_what_rested_on_the_rival(session: muniment.Session) -> None:
    single_valued(session, "home")
    single_valued(session, "commute", depends_on=["home"])
    tell(session, "ken", "home", "Kyoto", "2026-01-01")
    tell(session, "ken", "commute", 20, "2026-02-01")
    review = tell(session, "ken", "home", "Osaka", "2026-01-01").review_id
    assert review is not None
    session.decide(review, "approve", by="ada")
    assert values(session.claims("ken", "commute")) == []
    session.decide(review, "undo", by="ada")
    assert values(session.claims("ken", "commute")) == [20]
    assert values(session.claims("ken", "home")) == ["Kyoto"]


def test_what_was_decided_about_the_claim_since_is_not_undone(session: muniment.Session, disputed: Disputed) -> None:
    _, second, review = disputed
    session.decide(review, "approve", by="ada")
    session.retract(second, reason="another contract")
    with pytest.raises(ClaimMovedOn):
        session.decide(review, "undo", by="bob")


def test_a_conflict_of_merged_subjects_can_be_decided_undone_and_decided_again(session: muniment.Session) -> None:
    single_valued(session, "city")
    tell(session, "contact_1", "city", "Bergen", "2026-01-01")
    tell(session, "contact_2", "city", "Oslo", "2026-03-01")
    (review,) = session.merge("contact_2", "contact_1", reason="same person").reviews
    session.decide(review, "approve", by="ada")
    session.decide(review, "undo", by="bob")
    assert sorted(values(session.claims("contact_1", "city"))) == ["Bergen", "Oslo"]
    assert all(claim.conflicts_with for claim in session.claims("contact_1", "city").items)
    session.decide(review, "reject", by="ada")
    assert values(session.claims("contact_1", "city")) == ["Bergen"]


def test_undoing_a_merge_of_subjects_takes_them_apart(session: muniment.Session) -> None:
    session.identify("email", "j@example.com", "contact_1")
    review = session.identify("email", "j@example.com", "contact_2").review_id
    assert review is not None
    session.decide(review, "merge", by="ada")
    session.decide(review, "undo", by="bob")
    assert session.subject("contact_1").known_as == ("contact_1",)
    assert [r.review_id for r in session.reviews().items] == [review]


def test_each_kind_of_review_names_its_verdicts(session: muniment.Session, disputed: Disputed) -> None:
    with pytest.raises(InvalidInput, match="approve, reject, edit, merge, undo"):
        session.decide(disputed[2], "maybe", by="ada")
    session.identify("email", "j@example.com", "contact_1")
    review = session.identify("email", "j@example.com", "contact_2").review_id
    assert review is not None
    with pytest.raises(InvalidInput, match="merge, reject, undo"):
        session.decide(review, "approve", by="ada")


def test_what_a_verdict_gave_is_taken_back_and_no_more(session: muniment.Session) -> None:
    single_valued(session, "fee")
    note = session.add("It is 4, or it is 6.", occurred_at=at("2026-01-01"))
    first = session.propose("acme", "fee", 4, evidence=note.quote("4"))
    second = session.propose("acme", "fee", 6, evidence=note.quote("6"))
    assert second.review_id is not None
    session.decide(second.review_id, "merge", by="ada")
    session.decide(second.review_id, "undo", by="ada")
    assert [q.quote for q in session.why(first.claim_id).quotes] == ["4"]
    made = session.decide(second.review_id, "edit", by="ada", value=5).decision
    assert made is not None
    tell(session, "acme", "fee", 5, "2026-02-01")  # somebody else says so too
    session.decide(second.review_id, "undo", by="ada")
    assert values(session.claims("acme", "fee")) == [5]
    assert values(session.claims("acme", "fee", valid_at=at("2026-01-15"))) == [4]
    assert [q.quote for q in session.why(made.claim_id).quotes] == ["5"]


def test_an_edit_to_what_holds_already_supports_that(session: muniment.Session) -> None:
    session.define({"predicate": "skill", "validation": {"all": ["quoted", "review"]}})
    chess = tell(session, "ada", "skill", "chess", "2026-01-01")
    typo = tell(session, "ada", "skill", "ches", "2026-01-01")
    assert chess.review_id is not None
    assert typo.review_id is not None
    session.decide(chess.review_id, "approve", by="x")
    session.decide(typo.review_id, "edit", by="x", value="chess")
    assert values(session.claims("ada", "skill")) == ["chess"]
    assert sorted(q.quote for q in session.why(chess.claim_id).quotes) == ["'ches'", "'chess'"]
    session.decide(typo.review_id, "undo", by="x")
    assert [q.quote for q in session.why(chess.claim_id).quotes] == ["'chess'"]


@pytest.mark.parametrize(("verb", "verdict"), [("confirm", "approve"), ("reject", "reject"), ("retract", "void")])
def test_what_is_decided_about_the_claim_itself_closes_its_review(
    session: muniment.Session, verb: str, verdict: str
) -> None:
    session.define({"predicate": "fee", "cardinality": "one", "validation": {"all": ["quoted", "review"]}})
    waiting = tell(session, "acme", "fee", 4, "2026-01-01")
    arguments = {"reason": "so"} if verb == "retract" else {"by": "ada", "reason": "so"}
    getattr(session, verb)(waiting.claim_id, **arguments)
    assert session.reviews().items == ()
    assert [r.verdict for r in session.reviews("decided").items] == [verdict]


def test_what_rests_on_withdrawn_words_is_not_approved(session: muniment.Session) -> None:
    session.define({"predicate": "fee", "cardinality": "one", "validation": {"all": ["quoted", "review"]}})
    waiting = tell(session, "acme", "fee", 4, "2026-01-01")
    assert waiting.review_id is not None
    session.withdraw(session.why(waiting.claim_id).quotes[0].evidence_id, reason="forged")
    with pytest.raises(EvidenceWithdrawn):
        session.decide(waiting.review_id, "approve", by="ada")
    session.decide(waiting.review_id, "reject", by="ada")


def test_an_undo_after_the_policy_allows_both_sets_nothing_against_each_other(
    session: muniment.Session, disputed: Disputed
) -> None:
    review = disputed[2]
    session.decide(review, "reject", by="ada")
    session.apply_policy({"predicate": "fee", "cardinality": "many", "validation": "quoted"})
    session.decide(review, "undo", by="ada")
    assert all(c.conflicts_with == () for c in session.claims("acme", "fee", status=None).items)
