"""Labels: who may see what within one tenant, and what a write says about rows that its writer may not see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

import muniment
from muniment.errors import InvalidInput, NotFound, RivalTruth, VersionConflict
from tests.helpers import at, single_valued, values

As = Callable[..., muniment.Session]


@pytest.fixture
def holding(memory: muniment.Memory, tenant: str) -> As:
    """A session that holds these labels."""

    def open_session(*grants: str, **named: Any) -> muniment.Session:
        return memory.session(tenant=tenant, grants=grants, **named)

    return open_session


def sees(session: muniment.Session, evidence: muniment.Evidence) -> bool:
    """Whether the evidence can be read, searched for and recalled; the three must agree."""
    try:
        session.evidence(evidence.evidence_id)
        read = True
    except NotFound:
        read = False
    for routes in (["lexical"], ["semantic"]):
        hits = session.search(evidence.content, routes=routes, kinds=["evidence"])
        assert (evidence.evidence_id in [hit.id for hit in hits]) == read
    recalled = {item.evidence_id for item in session.recall(evidence.content).evidence}
    assert (evidence.evidence_id in recalled) == read
    return read


# ---- evidence -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["user", "agent", "thread"])
def test_what_a_principal_stores_carries_its_label_and_only_it_sees_it(holding: As, kind: str) -> None:
    note = holding(**{kind: "jane"}).add("Jane keeps bees on the roof.")
    assert note.authorization_scope == f"{kind}:jane"
    assert sees(holding(**{kind: "jane"}), note)
    assert sees(holding(f"{kind}:jane"), note)
    for other in ({kind: "john"}, {kind: "jan"}, {kind: "janet"}, {kind: "JANE"}, {}):
        assert not sees(holding(**other), note)
    others = {"user", "agent", "thread"} - {kind}
    assert not any(sees(holding(**{other: "jane"}), note) for other in others)


def test_user_agent_and_thread_together_are_all_needed(holding: As) -> None:
    note = holding(user="jane", agent="scout", thread="t1").add("Jane keeps bees on the roof.")
    assert note.authorization_scope == "agent:scout + thread:t1 + user:jane"
    assert note.thread == "t1"
    assert sees(holding("user:jane", "agent:scout", "thread:t1", "more"), note)
    for missing in ("user:jane", "agent:scout", "thread:t1"):
        assert not sees(holding(*({"user:jane", "agent:scout", "thread:t1"} - {missing})), note)


def test_evidence_with_two_labels_needs_both(holding: As) -> None:
    note = holding("a", "b").add("The roof has bees on it.", access={"a", "b"})
    readers = [("a", "b"), ("a", "b", "c"), ("a",), ("b",), ("c",), (), ("a + b",), ("a,b",), ("ab",)]
    assert [sees(holding(*grants), note) for grants in readers] == [True, True] + [False] * 7


def test_unlabelled_evidence_is_everybodys_in_its_tenant(holding: As) -> None:
    note = holding("a").add("The roof has bees on it.")
    assert note.authorization_scope is None
    assert sees(holding(), note)
    assert sees(holding(user="jane"), note)


def test_labels_with_separators_in_them_are_not_taken_apart(holding: As) -> None:
    joined = holding("a + b").add("one label with a plus", access={"a + b"})
    comma = holding("a,b").add("one label with a comma", access={"a,b"})
    quoted = holding('"a"').add("one label with quotes", access={'"a"', "{a}", "NULL"})
    for note in (joined, comma, quoted):
        assert not sees(holding("a", "b"), note)
    assert sees(holding("a + b"), joined)
    assert sees(holding("a,b"), comma)
    assert sees(holding('"a"', "{a}", "NULL"), quoted)


def test_a_label_that_is_a_right_cannot_be_put_on_evidence(session: muniment.Session) -> None:
    with pytest.raises(InvalidInput):
        session.add("bees", access={"muniment:import"})


def test_a_label_that_is_a_right_cannot_be_put_on_a_claim(session: muniment.Session) -> None:
    note = session.add("bees")
    with pytest.raises(InvalidInput):
        session.propose("roof", "has", "bees", evidence=note, access={"muniment:import"})


@pytest.mark.parametrize("access", ["secret", [""], [" "], ["a\x00"], ["x" * 257], [1], [None]])
def test_unusable_labels_are_refused(session: muniment.Session, access: Any) -> None:
    with pytest.raises(InvalidInput):
        session.add("bees", access=access)
    note = session.add("bees")
    with pytest.raises(InvalidInput):
        session.propose("roof", "has", "bees", evidence=note, access=access)


def test_a_writer_without_the_label_gets_its_evidence_back_and_cannot_read_it_afterwards(holding: As) -> None:
    writer = holding()
    note = writer.add("The roof has bees on it.", source_id="n", access={"secret"}, author="Jane")
    assert (note.content, note.author, note.authorization_scope) == ("The roof has bees on it.", "Jane", "secret")
    assert not sees(writer, note)
    assert sees(holding("secret"), note)
    with pytest.raises(NotFound):
        writer.propose("roof", "has", "bees", evidence=note.quote("bees"))
    assert writer.add("The roof has bees on it.", source_id="n", access={"secret"}).evidence_id == note.evidence_id


@pytest.mark.parametrize(("first", "again"), [((), ("a",)), (("a",), ()), (("a",), ("b",)), (("a",), ("a", "b"))])
def test_the_same_content_again_with_other_labels_is_a_version_conflict(
    holding: As, first: tuple[str, ...], again: tuple[str, ...]
) -> None:
    session = holding("a", "b")
    note = session.add("The roof has bees on it.", source_id="n", access=first)
    with pytest.raises(VersionConflict):
        session.add("The roof has bees on it.", source_id="n", access=again)
    with pytest.raises(VersionConflict):
        holding(user="jane").add("The roof has bees on it.", source_id="n", access=first)
    assert session.evidence(note.evidence_id).authorization_scope == note.authorization_scope


def test_whoever_repeats_hidden_content_learns_nothing_that_was_stored_with_it(holding: As) -> None:
    holding("secret").add(
        "bees", source_id="n", access={"secret"}, author="Jane", thread="private", uri="https://example.org/private",
        metadata={"phone": "0123"}, occurred_at=at("2026-01-01"),
    )  # fmt: skip
    repeated = holding().add("bees", source_id="n", access={"secret"})
    assert (repeated.author, repeated.thread, repeated.uri, repeated.metadata) == (None, None, None, {})


# ---- claims ---------------------------------------------------------------------------------------------------------


def test_a_claim_is_for_those_who_may_see_its_evidence(holding: As) -> None:
    session = holding("a")
    single_valued(session, "hobby")
    note = session.add("Jane keeps bees.", access={"a"})
    claim = session.propose("jane", "hobby", "bees", evidence=note.quote("bees"))
    assert session.why(claim.claim_id).claim.authorization_scope == "a"
    assert values(holding("a").claims("jane")) == ["bees"]
    assert values(holding("b").claims("jane")) == []


@pytest.fixture
def twice_supported(holding: As) -> str:
    """`jane hobby bees`, said once under `a` and once under `b`."""
    single_valued(holding(), "hobby")
    first = holding("a").add("Jane keeps bees, said A.", access={"a"}, occurred_at=at("2026-01-01"))
    second = holding("b").add("Jane keeps bees, said B.", access={"b"}, occurred_at=at("2026-01-02"))
    claim = holding("a").propose("jane", "hobby", "bees", evidence=first.quote("keeps bees, said A"))
    again = holding("b").propose("jane", "hobby", "bees", evidence=second.quote("keeps bees, said B"))
    assert again.claim_id == claim.claim_id
    return claim.claim_id


@pytest.mark.parametrize(
    ("grants", "quotes"),
    [(("a",), ["keeps bees, said A"]), (("b",), ["keeps bees, said B"]),
     (("a", "b"), ["keeps bees, said A", "keeps bees, said B"])],
)  # fmt: skip
def test_a_claim_with_two_supporters_is_for_holders_of_either_with_the_quotes_they_may_see(
    holding: As, twice_supported: str, grants: tuple[str, ...], quotes: list[str]
) -> None:
    reader = holding(*grants)
    why = reader.why(twice_supported)
    assert sorted(quote.quote for quote in why.quotes) == quotes
    assert why.claim.authorization_scope == "a | b"
    assert len(why.claim.evidence_ids) == len(quotes)
    assert values(reader.claims("jane")) == ["bees"]
    assert [claim.value for claim in reader.timeline("jane")] == ["bees"]
    assert [hit.id for hit in reader.search("jane hobby bees", kinds=["claim"])] == [twice_supported]
    payload = reader.recall("What is the hobby of jane?", subject="jane")
    quoted = {item.quote for item in payload.evidence if item.retrieval_reason == "supports a claim"}
    assert quoted == set(quotes)


def test_a_claim_with_two_supporters_stays_hidden_from_others(holding: As, twice_supported: str) -> None:
    for grants in ((), ("c",), ("a | b",)):
        with pytest.raises(NotFound):
            holding(*grants).why(twice_supported)
        assert values(holding(*grants).claims("jane", status=None)) == []
        assert holding(*grants).search("jane hobby bees") == []


def test_whoever_says_the_same_as_a_hidden_claim_is_told_what_a_first_speaker_is_told(holding: As) -> None:
    single_valued(holding(), "hobby")
    first = holding("a").add("Jane keeps bees, said A.", access={"a"}, occurred_at=at("2026-01-01"))
    second = holding("b").add("Jane keeps bees, said B.", access={"b"}, occurred_at=at("2026-01-01"))
    alone = holding("b").propose("june", "hobby", "bees", evidence=second.quote("bees"))
    holding("a").propose("jane", "hobby", "bees", evidence=first.quote("bees"))
    beside = holding("b").propose("jane", "hobby", "bees", evidence=second.quote("bees"))
    told = {"outcome", "version", "status", "reason", "policy_version", "links", "review_id"}
    assert beside.model_dump(include=told) == alone.model_dump(include=told)


def test_the_statement_of_a_hidden_claim_is_not_shown_to_whoever_says_the_same(holding: As) -> None:
    single_valued(holding(), "hobby")
    first = holding("a").add("Jane keeps bees, said A.", access={"a"}, occurred_at=at("2026-01-01"))
    second = holding("b").add("Jane keeps bees, said B.", access={"b"}, occurred_at=at("2026-01-01"))
    holding("a").propose(
        "jane",
        "hobby",
        "bees",
        evidence=first.quote("bees"),
        statement="Jane told A in confidence that she keeps bees.",
    )
    said = holding("b").propose("jane", "hobby", "bees", evidence=second.quote("bees"))
    assert "confidence" not in holding("b").why(said.claim_id).claim.statement
    assert not [hit for hit in holding("b").search("told in confidence") if "confidence" in hit.text]


def test_several_evidences_in_one_proposal_need_all_their_labels(holding: As) -> None:
    both = holding("a", "b")
    single_valued(both, "hobby")
    first = both.add("Jane keeps", access={"a"})
    second = both.add("bees on the roof", access={"b"})
    claim = both.propose("jane", "hobby", "bees", evidence=[first.quote("Jane keeps"), second.quote("bees")])
    assert both.why(claim.claim_id).claim.authorization_scope == "a + b"
    assert values(holding("a", "b").claims("jane")) == ["bees"]
    for grants in (("a",), ("b",), ()):
        assert values(holding(*grants).claims("jane", status=None)) == []
        with pytest.raises(NotFound):
            holding(*grants).why(claim.claim_id)


def test_labels_given_to_a_proposal_are_needed_beside_those_of_its_evidence(holding: As) -> None:
    session = holding("a", "b")
    single_valued(session, "hobby")
    note = session.add("Jane keeps bees.", access={"a"})
    claim = session.propose("jane", "hobby", "bees", evidence=note.quote("bees"), access={"b"})
    assert session.why(claim.claim_id).claim.authorization_scope == "a + b"
    assert values(holding("a").claims("jane")) == []


def test_a_claim_that_rests_on_a_labelled_premise_needs_its_label(holding: As) -> None:
    session = holding("a")
    single_valued(session, "home", "commute")
    home = session.add("Ken lives in Kyoto.", access={"a"}, occurred_at=at("2026-01-01"))
    premise = session.propose("ken", "home", "Kyoto", evidence=home.quote("Kyoto"))
    ride = session.add("Twenty minutes by train.", occurred_at=at("2026-01-02"))
    session.propose("ken", "commute", 20, evidence=ride.quote("Twenty"), premises=[premise.claim_id])
    assert values(session.claims("ken", "commute")) == [20]
    assert values(holding().claims("ken", "commute")) == []


def test_a_premise_by_policy_that_the_caller_may_not_see_is_not_named_to_it(holding: As) -> None:
    single_valued(holding(), "home")
    single_valued(holding(), "commute", depends_on=["home"])
    home = holding("a").add("Ken lives in Kyoto.", access={"a"}, occurred_at=at("2026-01-01"))
    hidden = holding("a").propose("ken", "home", "Kyoto", evidence=home.quote("Kyoto"))
    ride = holding().add("Twenty minutes by train.", occurred_at=at("2026-01-02"))
    decision = holding().propose("ken", "commute", 20, evidence=ride.quote("Twenty"))
    assert hidden.claim_id not in str(decision)
    assert hidden.claim_id not in str(holding().claims("ken", status=None))


# ---- a rival that the caller may not see ----------------------------------------------------------------------------


@pytest.fixture
def rivals(holding: As) -> tuple[str, muniment.Decision]:
    """`jane hobby`: bees, known under `a`; then chess, proposed by somebody who holds only `b`."""
    single_valued(holding(), "hobby")
    first = holding("a").add("Jane keeps bees.", access={"a"}, occurred_at=at("2026-01-01"))
    second = holding("b").add("Jane plays chess.", access={"b"}, occurred_at=at("2026-02-01"))
    hidden = holding("a").propose("jane", "hobby", "bees", evidence=first.quote("bees"))
    proposed = holding("b").propose("jane", "hobby", "chess", evidence=second.quote("chess"))
    return hidden.claim_id, proposed


def test_a_hidden_rival_turns_a_proposal_into_a_candidate_that_waits_for_review(
    holding: As, rivals: tuple[str, muniment.Decision]
) -> None:
    hidden, proposed = rivals
    assert (proposed.outcome, proposed.status, proposed.reason) == ("candidate", "candidate", "waits for review")
    assert proposed.links == ()
    assert hidden not in str(proposed)
    assert "bees" not in str(proposed)
    why = holding("b").why(proposed.claim_id)
    assert hidden not in str(why)
    assert (why.links, why.claim.superseded_by, why.claim.supersedes) == ((), (), ())
    payload = holding("b").recall("What is the hobby of jane?", subject="jane")
    assert hidden not in str(payload)
    assert payload.conflicts == ()


def test_a_review_is_open_for_those_who_may_see_both_sides(
    admin: psycopg.Connection, tenant: str, holding: As, rivals: tuple[str, muniment.Decision]
) -> None:
    hidden, proposed = rivals
    (row,) = admin.execute(
        "SELECT r.review_id::text, r.claim_id::text, r.rivals::text[], array_agg(a.labels) FROM canonical.review r "
        "JOIN canonical.access_rule a USING (tenant_id, access_id) WHERE r.tenant_id = %s GROUP BY 1, 2, 3",
        (tenant,),
    ).fetchall()
    review_id, claim_id, stands_in_the_way, labels = row
    assert (review_id, claim_id, stands_in_the_way) == (proposed.review_id, proposed.claim_id, [hidden])
    assert [sorted(alternative) for alternative in labels] == [["a", "b"]]


def test_the_owner_of_the_hidden_rival_is_unaffected(holding: As, rivals: tuple[str, muniment.Decision]) -> None:
    hidden, proposed = rivals
    owner = holding("a")
    (claim,) = owner.claims("jane").items
    assert (claim.claim_id, claim.status, claim.valid_to, claim.superseded_by) == (hidden, "validated", None, ())
    assert len(owner.history(hidden)) == 1
    assert proposed.claim_id not in str(owner.why(hidden))
    with pytest.raises(NotFound):
        owner.why(proposed.claim_id)


def test_a_candidate_with_a_hidden_rival_cannot_be_confirmed_past_it(
    holding: As, rivals: tuple[str, muniment.Decision]
) -> None:
    hidden, proposed = rivals
    with pytest.raises(RivalTruth) as raised:
        holding("b").confirm(proposed.claim_id, by="b")
    assert hidden not in str(raised.value)
    assert [version.status for version in holding("b").history(proposed.claim_id)] == ["candidate"]
    assert values(holding("a").claims("jane")) == ["bees"]


def test_who_may_see_both_sides_can_settle_it(holding: As, rivals: tuple[str, muniment.Decision]) -> None:
    hidden, proposed = rivals
    both = holding("a", "b")
    settled = both.confirm(proposed.claim_id, by="reviewer")
    assert settled.outcome == "superseded_other"
    assert values(both.claims("jane")) == ["chess"]
    assert values(holding("b").claims("jane")) == ["chess"]
    assert hidden not in str(holding("b").why(proposed.claim_id))
    assert hidden not in str(holding("b").claims("jane", scope="", status="validated"))


def test_a_narrower_proposal_beside_a_hidden_wider_claim_names_nothing_of_it(holding: As) -> None:
    single_valued(holding(), "hobby")
    first = holding("a").add("Jane keeps bees.", access={"a"}, occurred_at=at("2026-01-01"))
    second = holding().add("Jane plays chess at work.", occurred_at=at("2026-02-01"))
    hidden = holding("a").propose("jane", "hobby", "bees", evidence=first.quote("bees"))
    narrower = holding().propose("jane", "hobby", "chess", evidence=second.quote("chess"), scope="work")
    assert hidden.claim_id not in str(narrower)
    assert [claim.claim_id for claim in holding().claims("jane", scope="work").items] == [narrower.claim_id]
    both = {claim.claim_id: claim.status for claim in holding("a").claims("jane", scope="work").items}
    assert both == {narrower.claim_id: "validated", hidden.claim_id: "superseded"}
