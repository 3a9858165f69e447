"""What a policy asks for decides what is held: requirements, authority, cost, typed values, and deciding again."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

import muniment
from muniment.errors import CyclicPremises, InvalidInput, PolicyUnmet
from tests.helpers import at, tell, values


def say(
    session: muniment.Session, subject: str, predicate: str, value: Any, words: str, *, when: str | None = None,
    source: str = "mail", author: str | None = None, trust: str = "first_party", role: str = "user", **proposal: Any,
) -> muniment.Decision:  # fmt: skip
    """Adds a message and proposes a claim with the whole of its words as the quote."""
    stored = session.add(
        words, source=source, source_id=f"{words}|{when}|{author}|{trust}|{role}", author=author, trust=trust, role=role,
        occurred_at=None if when is None else at(when),
    )  # fmt: skip
    return session.propose(subject, predicate, value, evidence=stored.quote(words), **proposal)


def define(session: muniment.Session, predicate: str, validation: Any = "quoted", **policy: Any) -> None:
    session.define({"predicate": predicate, "cardinality": "one", "validation": validation, **policy})


def test_two_independent_sources_are_two_people_not_one_person_twice(session: muniment.Session) -> None:
    define(session, "city", {"independent_sources": 2})
    first = say(session, "acme", "city", "Oslo", "Acme sits in Oslo.", when="2026-01-01", author="ada")
    assert (first.outcome, first.reason) == ("candidate", "waits for 2 independent sources: 1 so far")
    again = say(session, "acme", "city", "Oslo", "Acme is still in Oslo.", when="2026-01-02", author="ada")
    assert (again.outcome, again.claim_id) == ("candidate", first.claim_id)
    other = say(session, "acme", "city", "Oslo", "Their office is in Oslo.", when="2026-01-03", author="bob")
    assert (other.outcome, other.claim_id) == ("validated", first.claim_id)
    assert len(session.why(first.claim_id).quotes) == 3


def test_only_the_subject_confirms_what_asks_for_the_subject(session: muniment.Session) -> None:
    define(session, "diet", "confirmed_by_subject")
    hearsay = say(session, "ken", "diet", "vegan", "Ken eats vegan.", when="2026-01-01", author="ada")
    assert (hearsay.outcome, hearsay.reason) == ("candidate", "waits for the subject's own confirmation")
    with pytest.raises(PolicyUnmet, match="waits for the subject's own confirmation"):
        session.confirm(hearsay.claim_id, by="ada")
    own = say(session, "ken", "diet", "vegan", "I eat vegan.", when="2026-01-02", author="ken")
    assert (own.outcome, own.claim_id) == ("validated", hearsay.claim_id)
    other = say(session, "mia", "diet", "none", "Mia eats everything.", author="ada")
    assert session.confirm(other.claim_id, by="mia").outcome == "validated"


def test_nobody_confirms_what_asks_for_an_authoritative_source(session: muniment.Session) -> None:
    define(session, "fee", "authoritative")
    mail = say(session, "acme", "fee", 6, "The fee is 6 percent.", when="2026-01-01")
    with pytest.raises(PolicyUnmet, match="authoritative source"):
        session.confirm(mail.claim_id, by="ada")
    assert session.history(mail.claim_id)[-1].status == "candidate"
    contract = session.add("Fee: 6 percent", source="contract", trust="authoritative", kind="document")
    assert session.confirm(mail.claim_id, by="ada", evidence=contract).outcome == "validated"


def test_requirements_are_combined_with_all_and_any(session: muniment.Session) -> None:
    define(session, "limit", {"any": ["authoritative", {"all": [{"independent_sources": 2}, "confirmed_by_subject"]}]})
    one = say(session, "ken", "limit", 5, "Ken's limit is 5.", when="2026-01-01", author="ada")
    assert one.reason == "waits for an authoritative source or waits for 2 independent sources: 1 so far"
    both = say(session, "ken", "limit", 5, "My limit is 5.", when="2026-01-02", author="ken")
    assert both.outcome == "validated"
    record = session.add("limit=7", source="crm", trust="authoritative", role="tool", occurred_at=at("2026-02-01"))
    assert session.propose("mia", "limit", 7, evidence=record).outcome == "validated"


@pytest.mark.parametrize(
    ("cost", "outcome"),
    [("low", "validated"), ("medium", "candidate"), ("high", "candidate"), ("critical", "candidate")],
)
def test_the_dearer_an_error_the_more_a_claim_needs(session: muniment.Session, cost: str, outcome: str) -> None:
    session.define({"predicate": "p", "cardinality": "one", "cost_of_error": cost})
    assert say(session, "s", "p", 1, "It is 1.").outcome == outcome


def test_a_later_mail_does_not_take_over_from_a_signed_contract(session: muniment.Session) -> None:
    define(session, "fee", sources=["contract", "mail"])
    signed = say(session, "acme", "fee", 6, "The fee is 6 percent.", when="2026-01-01", source="contract")
    mail = say(session, "acme", "fee", 4, "We pay 4 percent.", when="2026-06-01", source="mail")
    assert (mail.outcome, mail.review_id) == ("conflict", None)
    assert f"outranked by {signed.claim_id}" in mail.reason
    assert values(session.claims("acme", "fee")) == [6]
    # It comes into its own when the contract turns out never to have been signed.
    session.retract(signed.claim_id, reason="it was a draft")
    assert values(session.claims("acme", "fee")) == [4]


def test_authority_decides_whichever_arrives_first(session: muniment.Session) -> None:
    define(session, "fee", sources=["contract", "mail"])
    say(session, "acme", "fee", 4, "We pay 4 percent.", when="2026-06-01", source="mail")
    signed = say(
        session,
        "acme",
        "fee",
        6,
        "The fee is 6 percent.",
        when="2026-01-01",
        source="contract",
        valid_to=at("2026-09-01"),
    )
    assert signed.outcome == "superseded_other"
    assert [
        values(session.claims("acme", "fee", valid_at=at(day))) for day in ("2026-03-01", "2026-07-01", "2026-10-01")
    ] == [[6], [6], [4]]


def test_an_unlisted_source_has_the_least_authority_and_naming_the_claim_overrides(session: muniment.Session) -> None:
    define(session, "fee", sources=["contract"])
    signed = say(session, "acme", "fee", 6, "The fee is 6 percent.", when="2026-01-01", source="contract")
    say(session, "acme", "fee", 4, "We pay 4 percent.", when="2026-06-01", source="slack")
    assert values(session.claims("acme", "fee")) == [6]
    amended = say(
        session,
        "acme",
        "fee",
        5,
        "Amended to 5 percent.",
        when="2026-07-01",
        source="slack",
        supersedes=signed.claim_id,
    )
    assert amended.outcome == "superseded_other"
    assert values(session.claims("acme", "fee")) == [5]


def test_where_an_error_is_dear_a_less_trusted_class_never_takes_over(session: muniment.Session) -> None:
    define(session, "dose", "quoted", cost_of_error="high")
    say(session, "rossi", "dose", 5, "Dose 5 mg.", when="2026-01-01", trust="authoritative")
    say(session, "rossi", "dose", 9, "Dose 9 mg.", when="2026-02-01", trust="first_party")
    assert values(session.claims("rossi", "dose")) == [5]


def test_where_an_error_is_critical_a_change_is_said_to_be_one(session: muniment.Session) -> None:
    define(session, "dose", "quoted", cost_of_error="critical")
    first = say(session, "rossi", "dose", 5, "Dose 5 mg.", when="2026-01-01")
    second = say(session, "rossi", "dose", 9, "Dose 9 mg.", when="2026-02-01")
    assert second.outcome == "conflict"
    assert second.review_id is not None
    assert values(session.claims("rossi", "dose")) == [5]
    third = say(session, "rossi", "dose", 7, "Dose now 7 mg.", when="2026-03-01", supersedes=first.claim_id)
    assert third.outcome == "superseded_other"
    assert values(session.claims("rossi", "dose")) == [7]


def test_an_old_and_confident_preference_does_not_survive_an_explicit_change(session: muniment.Session) -> None:
    define(session, "order")
    say(session, "janet", "order", "summary", "Send a summary.", when="2026-01-10", confidence=0.99)
    say(session, "janet", "order", "call", "Call me.", when="2026-07-18", confidence=0.4)
    assert values(session.claims("janet", "order")) == ["call"]


def test_more_independent_sources_settle_a_tie_where_an_error_is_cheap(session: muniment.Session) -> None:
    define(session, "floor", "quoted", cost_of_error="low")
    say(session, "acme", "floor", 3, "Third floor.", when="2026-01-01", author="ada")
    second = say(session, "acme", "floor", 4, "Fourth floor.", when="2026-01-01", author="bob")
    assert second.outcome == "conflict"
    third = say(session, "acme", "floor", 4, "It is the fourth.", when="2026-01-01", author="cem")
    assert third.outcome == "superseded_other"
    assert values(session.claims("acme", "floor")) == [4]
    assert not [link for link in session.why(third.claim_id).links if link.kind == "conflicts_with"]


@pytest.mark.parametrize(
    ("policy", "values_"),
    [
        ({"value_type": "money"}, ["EUR 100", "100 EUR", {"amount": 100, "currency": "EUR"}, "EUR 100.00"]),
        ({"value_type": "number", "unit": "km"}, [20, "20 km", {"amount": "20.0", "unit": "km"}, {"amount": 20}]),
        ({"value_type": "date"}, ["2027-01-15", " 2027-01-15 "]),
        ({"value_type": {"type": "object", "required": ["a"]}}, [{"a": 1}, {"a": 1.0}]),
    ],
)
def test_typed_values_meet_in_one_claim_however_they_are_written(
    session: muniment.Session, policy: dict[str, Any], values_: list[Any]
) -> None:
    define(session, "p", **policy)
    decisions = [say(session, "s", "p", value, f"said {n}", when="2026-01-01") for n, value in enumerate(values_)]
    assert len({decision.claim_id for decision in decisions}) == 1


@pytest.mark.parametrize(
    ("policy", "value"),
    [
        ({"value_type": "money"}, 100),
        ({"value_type": "money"}, "100"),
        ({"value_type": "money"}, "EUR ten"),
        ({"value_type": "money"}, {"amount": 1, "currency": "EUR", "more": 1}),
        ({"value_type": "number", "unit": "km"}, "20 mi"),
        ({"value_type": "number", "unit": "km"}, "km"),
        ({"value_type": {"type": "object", "required": ["a"]}}, {"b": 1}),
    ],
)
def test_a_value_of_another_type_is_refused(session: muniment.Session, policy: dict[str, Any], value: Any) -> None:
    define(session, "p", **policy)
    with pytest.raises(InvalidInput, match=r"policy|currency|amount"):
        say(session, "s", "p", value, "said")
    assert session.claims("s", status=None).items == ()


def test_trying_a_policy_shows_what_would_change_and_changes_nothing(session: muniment.Session) -> None:
    for city, day in (("Oslo", "2026-01-01"), ("Rome", "2026-02-01")):
        session.confirm(tell(session, "acme", "city", city, day).claim_id, by="ada")
    assert sorted(values(session.claims("acme", "city"))) == ["Oslo", "Rome"]
    before = session.claims("acme", status=None)
    trial = session.try_policy({"predicate": "city", "cardinality": "one"})
    assert (trial.decided, trial.applied) == (2, False)
    (change,) = trial.changes
    assert (change.statement, change.valid_after[0][1]) == ("acme city: Oslo", at("2026-02-01"))
    assert session.claims("acme", status=None) == before
    assert session.policies() == []


def test_applying_a_policy_decides_again_as_known_from_now_on(session: muniment.Session) -> None:
    claim = session.confirm(tell(session, "acme", "city", "Oslo", "2026-01-01").claim_id, by="ada")
    session.confirm(tell(session, "acme", "city", "Rome", "2026-02-01").claim_id, by="ada")
    then = session.history(claim.claim_id)[-1].known_from
    applied = session.apply_policy({"predicate": "city", "cardinality": "one"})
    assert applied.applied
    assert values(session.claims("acme", "city")) == ["Rome"]
    later = max(version.known_from for version in session.history(claim.claim_id))
    assert later > then
    tell(session, "acme", "city", "Bern", "2026-03-01")
    assert sorted(values(session.claims("acme", "city", known_at=then.replace(year=then.year + 1)))) in (
        ["Rome"],
        ["Bern"],
    )
    assert [values(session.claims("acme", "city", valid_at=at(d))) for d in ("2026-01-15", "2026-02-15")] == [
        ["Oslo"],
        ["Rome"],
    ]
    assert session.apply_policy({"predicate": "city", "cardinality": "one"}).changes == ()


def test_a_stronger_policy_takes_back_what_it_would_not_have_accepted(session: muniment.Session) -> None:
    define(session, "fee")
    mail = say(session, "acme", "fee", 4, "We pay 4 percent.", when="2026-01-01")
    confirmed = say(session, "beta", "fee", 5, "It is 5 percent, maybe", when="2026-01-01", role="assistant")
    session.confirm(confirmed.claim_id, by="ada")
    define_again = {"predicate": "fee", "cardinality": "one", "validation": {"independent_sources": 2}}
    trial = session.try_policy(define_again)
    assert [(c.claim_id, c.status_after) for c in trial.changes] == [(mail.claim_id, "candidate")]
    session.apply_policy(define_again)
    assert session.history(mail.claim_id)[-1].reason == "waits for 2 independent sources: 1 so far"
    assert values(session.claims("beta", "fee")) == [5]  # somebody stood for it
    session.apply_policy({"predicate": "fee", "cardinality": "one", "validation": "quoted"})
    assert values(session.claims("acme", "fee")) == [4]


def test_new_authority_reorders_what_time_had_ordered(session: muniment.Session) -> None:
    define(session, "fee")
    say(session, "acme", "fee", 6, "The fee is 6 percent.", when="2026-01-01", source="contract")
    say(session, "acme", "fee", 4, "We pay 4 percent.", when="2026-06-01", source="mail")
    assert values(session.claims("acme", "fee")) == [4]
    session.apply_policy(
        {"predicate": "fee", "cardinality": "one", "validation": "quoted", "sources": ["contract", "mail"]}
    )
    assert values(session.claims("acme", "fee")) == [6]
    session.apply_policy({"predicate": "fee", "cardinality": "one", "validation": "quoted"})
    assert values(session.claims("acme", "fee")) == [4]


def test_two_values_from_one_moment_become_a_conflict_when_only_one_may_hold(session: muniment.Session) -> None:
    for city in ("Oslo", "Rome"):
        session.confirm(tell(session, "acme", "city", city, "2026-01-01").claim_id, by="ada")
    session.apply_policy({"predicate": "city", "cardinality": "one"})
    held = session.claims("acme", "city")
    assert values(held) == ["Oslo"]
    (conflict,) = [link for link in session.why(held.items[0].claim_id).links if link.kind == "conflicts_with"]
    assert conflict.to_claim == held.items[0].claim_id


def test_what_rests_on_a_claim_that_is_decided_again_follows(session: muniment.Session) -> None:
    define(session, "home")
    define(session, "commute", depends_on=["home"])
    say(session, "ken", "home", "Kyoto", "Ken lives in Kyoto.", when="2026-01-01")
    say(session, "ken", "commute", 20, "It takes 20 minutes.", when="2026-01-02")
    session.apply_policy({"predicate": "home", "cardinality": "one", "validation": "authoritative"})
    assert values(session.claims("ken", "commute")) == []
    session.apply_policy({"predicate": "home", "cardinality": "one", "validation": "quoted"})
    assert values(session.claims("ken", "commute")) == [20]


def test_what_a_session_may_not_see_is_decided_and_only_counted(memory: muniment.Memory, tenant: str) -> None:
    board = memory.session(tenant=tenant, grants={"board"})
    clerk = memory.session(tenant=tenant)
    for city, day in (("Oslo", "2026-01-01"), ("Rome", "2026-02-01")):
        board.confirm(tell(board, "acme", "city", city, day, access={"board"}).claim_id, by="ada")
    trial = clerk.try_policy({"predicate": "city", "cardinality": "one"})
    assert (trial.changes, trial.hidden) == ((), 1)
    clerk.apply_policy({"predicate": "city", "cardinality": "one"})
    assert values(board.claims("acme", "city")) == ["Rome"]


@pytest.mark.parametrize(
    "policy",
    [
        {"validation": "believe"},
        {"validation": {"independent_sources": 0}},
        {"validation": {"all": []}},
        {"validation": {"any": ["quoted", {"none": ["quoted"]}]}},
        {"validation": {"all": ["quoted"], "any": ["quoted"]}},
        {"sources": {"a", "b"}},
        {"sources": ["a", "a"]},
        {"sources": "crm"},
        {"reconfirm_after": "soon"},
        {"reconfirm_after": "0 days"},
        {"reconfirm_after": "999999 weeks"},
        {"unit": "km"},
        {"unit": "km", "value_type": "money"},
        {"value_type": {"type": "nonsense"}},
        {"value_type": {"a": 1}},
        {"hedged": "sometimes"},
    ],
)
def test_a_policy_that_means_nothing_is_refused(session: muniment.Session, policy: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        session.define({"predicate": "p", **policy})
    assert session.policies() == []


def test_a_policy_comes_back_as_it_was_declared(session: muniment.Session) -> None:
    declared = session.define({
        "predicate": "persona:*", "validation": {"any": ["quoted", {"all": ["review", {"independent_sources": 3}]}]},
        "sources": ["crm", "mail"], "reconfirm_after": "180 days", "value_type": {"type": "string"},
    })  # fmt: skip
    assert session.policies() == [declared]
    assert declared.to_json()["validation"] == {"any": ["quoted", {"all": ["review", {"independentSources": 3}]}]}


def test_a_policy_of_a_memory_type_rules_its_claims_only(session: muniment.Session) -> None:
    session.define({"predicate": "persona:*", "cardinality": "one", "validation": "quoted"})
    persona = say(session, "ken", "tone", "dry", "Dry, please.", memory_type="persona")
    entity = say(session, "ken", "tone", "grey", "Grey tone.")
    assert (persona.outcome, entity.outcome) == ("validated", "candidate")


def test_what_was_not_confirmed_for_long_does_not_pass_as_current(session: muniment.Session) -> None:
    define(session, "phone", reconfirm_after="180 days")
    phone = say(session, "ken", "phone", "+47 1", "My phone is +47 1.", when="2026-01-01")
    say(session, "mia", "phone", "+47 2", "My phone is +47 2.", when="2026-01-01")

    def status(day: str, subject: str = "ken") -> list[str]:
        return [claim.status.value for claim in session.claims(subject, "phone", valid_at=at(day)).items]

    assert (status("2026-06-29"), status("2026-07-01")) == (["validated"], ["due"])
    payload = session.recall("What is the phone of ken?", subject="ken", valid_at=at("2026-07-02"))
    assert [claim.status for claim in payload.claims] == ["due"]
    assert payload.claims[0].retrieval_reason.startswith("due for confirmation since 2026-06-30")
    assert payload.missing == ("phone: '+47 1' was last confirmed too long ago; ask whether it still holds",)
    say(session, "ken", "phone", "+47 1", "Still +47 1.", when="2026-06-01")
    assert status("2026-07-01") == ["validated"]
    assert session.confirm(phone.claim_id, by="ken").outcome == "validated"
    assert session.history(phone.claim_id)[-1].reason == "confirmed by ken"
    assert status("2027-04-01") == ["validated"]
    assert status("2027-04-01", "mia") == ["due"]
    assert status("2028-01-01") == ["due"]


def test_predicates_that_would_depend_on_each_other_are_refused(session: muniment.Session) -> None:
    define(session, "a", depends_on=["b"])
    define(session, "b", depends_on=["c"])
    for policy in ({"predicate": "c", "depends_on": ["a"]}, {"predicate": "d*", "depends_on": ["day"]}):
        with pytest.raises(CyclicPremises, match="depend on itself"):
            session.define(policy)
    assert [policy.predicate for policy in session.policies()] == ["a", "b"]


def test_every_step_of_a_decision_is_on_record(
    session: muniment.Session, tenant: str, admin: psycopg.Connection
) -> None:
    define(session, "home")
    kyoto = say(session, "ken", "home", "Kyoto", "Ken lives in Kyoto.", when="2026-01-01")
    osaka = say(session, "ken", "home", "Osaka", "Ken lives in Osaka.", when="2026-02-01")
    steps = [
        row[0]
        for row in admin.execute(
            "SELECT used -> 'steps' FROM canonical.activity WHERE tenant_id = %s AND kind = 'propose' ORDER BY recorded_at",
            [tenant],
        ).fetchall()
    ]
    assert [list(step) for step in steps] == [["follow", "compare", "promote", "receive", "identify", "validate"]] * 2
    assert steps[1]["compare"] == {"same": None, "others": [kyoto.claim_id]}
    assert steps[1]["validate"] == {"requirement": "quoted", "policy_version": 1, "sources": 1, "waits": None}
    assert steps[1]["promote"] == {kyoto.claim_id: "validated", osaka.claim_id: "validated"}
    assert "Kyoto" not in str(steps)
