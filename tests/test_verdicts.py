"""Editing, merging and undoing in a review: every verdict can be taken back, and the review is open again then."""

from __future__ import annotations

import pytest

import muniment
from muniment.errors import ClaimMovedOn, InvalidInput
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
