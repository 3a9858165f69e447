"""Changes over time, in and out of order; retraction, restoration; premises."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

import muniment
from muniment.errors import ClaimMovedOn, NotFound, RivalTruth
from tests.helpers import at, single_valued, tell, values


def held(session: muniment.Session, subject: str, predicate: str, day: str) -> list[object]:
    return values(session.claims(subject, predicate, valid_at=at(day)))


@pytest.fixture
def drinks(session: muniment.Session) -> muniment.Session:
    single_valued(session, "drink")
    return session


def test_coffee_tea_coffee_are_three_periods_and_the_last_is_current(drinks: muniment.Session) -> None:
    tell(drinks, "ada", "drink", "coffee", "2026-01-01")
    tell(drinks, "ada", "drink", "tea", "2026-02-01")
    tell(drinks, "ada", "drink", "coffee", "2026-03-01")
    assert [held(drinks, "ada", "drink", day) for day in ("2026-01-15", "2026-02-15", "2026-03-15")] == [
        ["coffee"], ["tea"], ["coffee"],
    ]  # fmt: skip
    assert values(drinks.claims("ada", "drink")) == ["coffee"]
    assert len(drinks.timeline("ada")) == 3


def test_an_older_statement_that_is_learned_later_never_replaces_the_newer_one(drinks: muniment.Session) -> None:
    newer = tell(drinks, "ada", "drink", "tea", "2026-02-01")
    older = tell(drinks, "ada", "drink", "coffee", "2026-01-01")
    assert held(drinks, "ada", "drink", "2026-01-15") == ["coffee"]
    assert held(drinks, "ada", "drink", "2026-02-15") == ["tea"]
    (link,) = [link for link in older.links if link.kind == "supersedes"]
    assert (link.from_claim, link.to_claim) == (newer.claim_id, older.claim_id)


def test_a_claim_with_an_end_takes_a_piece_out_of_the_middle(drinks: muniment.Session) -> None:
    tell(drinks, "ada", "drink", "coffee", "2026-01-01")
    tell(drinks, "ada", "drink", "water", "2026-02-01", valid_to=at("2026-02-08"))
    days = ("2026-01-15", "2026-02-04", "2026-02-15")
    assert [held(drinks, "ada", "drink", day) for day in days] == [["coffee"], ["water"], ["coffee"]]


def test_retracting_brings_back_what_had_been_superseded(drinks: muniment.Session) -> None:
    tell(drinks, "ada", "drink", "coffee", "2026-01-01")
    tea = tell(drinks, "ada", "drink", "tea", "2026-02-01")
    drinks.retract(tea.claim_id, reason="said in jest")
    assert values(drinks.claims("ada", "drink")) == ["coffee"]
    drinks.restore(tea.claim_id, reason="no, in earnest")
    assert values(drinks.claims("ada", "drink")) == ["tea"]


def test_asserting_again_after_a_retraction_holds_it_again(drinks: muniment.Session) -> None:
    first = tell(drinks, "ada", "drink", "coffee", "2026-01-01")
    drinks.retract(first.claim_id, reason="unsure")
    assert values(drinks.claims("ada", "drink")) == []
    tell(drinks, "ada", "drink", "coffee", "2026-01-05")
    assert values(drinks.claims("ada", "drink")) == ["coffee"]


def test_what_was_known_before_a_retraction_still_answers_as_known_then(drinks: muniment.Session) -> None:
    coffee = tell(drinks, "ada", "drink", "coffee", "2026-01-01")
    before = drinks.history(coffee.claim_id)[0].known_from
    drinks.retract(coffee.claim_id, reason="wrong person")
    assert values(drinks.claims("ada", "drink", known_at=before)) == ["coffee"]
    assert values(drinks.claims("ada", "drink")) == []


def test_the_same_value_is_one_claim_with_one_more_support(drinks: muniment.Session) -> None:
    first = tell(drinks, "ada", "drink", "coffee", "2026-01-01")
    for day in range(2, 11):
        again = tell(drinks, "ada", "drink", "Coffee ", f"2026-01-{day:02}")
        assert (again.outcome, again.claim_id) == ("supported", first.claim_id)
    assert len(drinks.why(first.claim_id).quotes) == 10
    assert len(drinks.claims("ada", "drink", status=None).items) == 1


def test_repeating_a_proposal_changes_nothing(drinks: muniment.Session) -> None:
    first = tell(drinks, "ada", "drink", "coffee", "2026-01-01")
    for _ in range(3):
        tell(drinks, "ada", "drink", "coffee", "2026-01-01")
    assert len(drinks.history(first.claim_id)) == 1
    assert len(drinks.why(first.claim_id).quotes) == 1


def test_rival_values_from_the_same_moment_are_a_conflict_and_both_are_kept(drinks: muniment.Session) -> None:
    coffee = tell(drinks, "ada", "drink", "coffee", "2026-01-01")
    tea = tell(drinks, "ada", "drink", "tea", "2026-01-01")
    assert (tea.outcome, tea.status) == ("conflict", "candidate")
    assert tea.review_id is not None
    payload = drinks.recall("What does ada drink?", subject="ada")
    assert payload.conflicts == ((tea.claim_id, coffee.claim_id),)
    assert payload.abstention is not None
    with pytest.raises(RivalTruth):
        drinks.confirm(tea.claim_id, by="somebody")


def test_without_a_policy_a_claim_is_a_candidate_until_confirmed(session: muniment.Session) -> None:
    waiting = tell(session, "ada", "hobby", "chess")
    assert waiting.outcome == "candidate"
    assert session.claims("ada").items == ()
    assert session.search("ada hobby chess", kinds=["claim"]) == []
    confirmed = session.confirm(waiting.claim_id, by="ada", reason="asked her")
    assert (confirmed.outcome, confirmed.version) == ("validated", 2)
    assert values(session.claims("ada")) == ["chess"]
    assert [hit.id for hit in session.search("ada hobby chess", kinds=["claim"])] == [waiting.claim_id]
    assert session.confirm(waiting.claim_id, by="ada").version == 2


def test_a_rejected_candidate_stays_readable_and_is_not_proposed_anew_by_the_same_words(
    session: muniment.Session,
) -> None:
    waiting = tell(session, "ada", "hobby", "chess", "2026-01-01")
    session.reject(waiting.claim_id, by="ada")
    assert tell(session, "ada", "hobby", "chess", "2026-01-01").outcome == "rejected"
    assert [version.status for version in session.history(waiting.claim_id)] == ["candidate", "rejected"]
    with pytest.raises(ClaimMovedOn):
        session.confirm(waiting.claim_id, by="ada")


@pytest.fixture
def commute(session: muniment.Session) -> muniment.Session:
    """Home in Kyoto from January; the commute of 20 minutes rests on it."""
    single_valued(session, "home")
    single_valued(session, "commute", depends_on=["home"])
    tell(session, "ken", "home", "Kyoto", "2026-01-01")
    tell(session, "ken", "commute", "20 minutes", "2026-02-01")
    return session


def test_when_the_home_moves_the_commute_is_unknown_from_then_on(commute: muniment.Session) -> None:
    tell(commute, "ken", "home", "Osaka", "2026-05-03")
    assert held(commute, "ken", "commute", "2026-02-20") == ["20 minutes"]
    assert held(commute, "ken", "commute", "2026-05-04") == []
    payload = commute.recall("How long is ken's commute?", subject="ken")
    assert [c.value for c in payload.claims if c.status == "validated"] == ["Osaka"]
    (missing,) = payload.missing
    assert "'20 minutes' until 2026-05-03" in missing
    assert "premises" in missing


def test_when_the_move_is_undone_the_commute_is_back(commute: muniment.Session) -> None:
    osaka = tell(commute, "ken", "home", "Osaka", "2026-05-03")
    commute.retract(osaka.claim_id, reason="it was a rumour")
    assert held(commute, "ken", "commute", "2026-06-01") == ["20 minutes"]


def test_when_the_premise_never_held_the_conclusion_is_unsupported(commute: muniment.Session) -> None:
    (home,) = commute.claims("ken", "home").items
    commute.retract(home.claim_id, reason="wrong ken")
    assert held(commute, "ken", "commute", "2026-02-20") == []
    (unsupported,) = commute.claims("ken", "commute", status="unsupported").items
    assert [p.claim_id for p in commute.why(unsupported.claim_id).premises] == [home.claim_id]
    commute.restore(home.claim_id, reason="it was him")
    assert held(commute, "ken", "commute", "2026-02-20") == ["20 minutes"]


def test_premises_given_by_the_caller_carry_through_several_levels(session: muniment.Session) -> None:
    single_valued(session, "a", "b", "c")
    first = tell(session, "x", "a", 1, "2026-01-01")
    second = tell(session, "y", "b", 2, "2026-01-01", premises=[first.claim_id])
    tell(session, "z", "c", 3, "2026-01-01", premises=[second.claim_id])
    tell(session, "x", "a", 10, "2026-03-01")
    assert held(session, "z", "c", "2026-02-01") == [3]
    assert held(session, "z", "c", "2026-04-01") == []


def test_a_premise_that_does_not_exist_is_refused(session: muniment.Session) -> None:
    single_valued(session, "a")
    with pytest.raises(NotFound):
        tell(session, "x", "a", 1, premises=["01900000-0000-7000-8000-000000000000"])


def test_an_observation_out_of_order_is_known_only_after_what_was_already_answered(drinks: muniment.Session) -> None:
    tea = tell(drinks, "ada", "drink", "tea", "2026-02-01", observed="2026-03-01")
    late = tell(drinks, "ada", "drink", "coffee", "2026-01-01", observed="2026-02-10")
    (version,) = drinks.history(late.claim_id)
    assert version.known_from >= drinks.history(tea.claim_id)[0].known_from
    assert "known from" in late.reason
    assert values(drinks.claims("ada", known_at=at("2026-02-20"), valid_at=at("2026-01-15"))) == []


def test_supersession_can_be_declared_across_values_of_a_many_valued_predicate(session: muniment.Session) -> None:
    session.define({"predicate": "team", "cardinality": "many", "validation": "quoted"})
    red = tell(session, "ada", "team", "red", "2026-01-01")
    tell(session, "ada", "team", "blue", "2026-01-01")
    moved = tell(session, "ada", "team", "green", "2026-02-01", supersedes=red.claim_id)
    assert moved.outcome == "superseded_other"
    assert sorted(map(str, values(session.claims("ada", "team")))) == ["blue", "green"]


def test_facts_of_other_predicates_and_subjects_are_left_alone(session: muniment.Session) -> None:
    single_valued(session, "works_at", "responsible_for", "weight", "age", "manages")
    for subject, predicate, value in [
        ("x", "works_at", "Acme"), ("x", "responsible_for", "Y"), ("Patient Rossi", "weight", "70 kg"),
        ("Patient Bianchi", "weight", "95 kg"), ("x", "age", 41), ("x", "manages", "Z"),
    ]:  # fmt: skip
        assert tell(session, subject, predicate, value).outcome == "validated"
    assert len(session.claims("x").items) == 4
    assert values(session.claims("Patient Rossi")) == ["70 kg"]


def test_valid_times_come_from_the_evidence_and_keep_the_senders_offset(session: muniment.Session) -> None:
    single_valued(session, "mood")
    evening = datetime.fromisoformat("2026-03-01T19:17:00+08:00")
    mail = session.add("I am cheerful", occurred_at=evening)
    assert mail.utc_offset == 480
    claim = session.propose("li", "mood", "cheerful", evidence=mail.quote("cheerful"))
    (version,) = session.history(claim.claim_id)
    assert version.valid[0][0] == evening


def test_a_period_said_again_without_an_end_goes_on(drinks: muniment.Session) -> None:
    tell(drinks, "ada", "drink", "coffee", "2026-01-01", valid_to=at("2026-02-01"))
    assert held(drinks, "ada", "drink", "2026-03-01") == []
    assert tell(drinks, "ada", "drink", "coffee", "2026-01-15").outcome == "supported"
    assert held(drinks, "ada", "drink", "2026-03-01") == ["coffee"]


def test_a_correction_finds_the_claim_that_holds_and_refuses_when_none_does(drinks: muniment.Session) -> None:
    tell(drinks, "ada", "drink", "green tea", "2026-01-01")
    tell(drinks, "ada", "drink", "milk", "2026-02-01", correction=True)
    assert held(drinks, "ada", "drink", "2026-01-15") == ["milk"]
    with pytest.raises(NotFound):
        tell(drinks, "bob", "drink", "milk", "2026-02-01", correction=True)


def test_a_retracted_claim_cannot_be_superseded(drinks: muniment.Session) -> None:
    coffee = tell(drinks, "ada", "drink", "coffee", "2026-01-01")
    drinks.retract(coffee.claim_id, reason="no")
    with pytest.raises(ClaimMovedOn):
        tell(drinks, "ada", "drink", "tea", "2026-02-01", supersedes=coffee.claim_id)


def test_a_slot_with_many_changes_keeps_every_period(session: muniment.Session) -> None:
    single_valued(session, "counter")
    message = session.add(" ".join(f"value{number}" for number in range(1001)))
    for number in range(0, 1001, 25):
        day = at("2026-01-01") + timedelta(days=number)
        session.propose("meter", "counter", f"value{number}", evidence=message.quote(f"value{number}"), valid_from=day)
    assert len(session.timeline("meter")) == 41
    assert values(session.claims("meter", valid_at=at("2026-01-01") + timedelta(days=30))) == ["value25"]


def test_a_claim_said_again_takes_over_again_whatever_arrives_first(drinks: muniment.Session) -> None:
    for subject, order in (
        ("ada", ["coffee 01", "coffee 04", "tea 03"]),
        ("bob", ["coffee 01", "tea 03", "coffee 04"]),
    ):
        for said in order:
            value, month = said.split()
            tell(drinks, subject, "drink", value, f"2026-{month}-01")
        days = ("2026-02-01", "2026-03-15", "2026-05-01")
        assert [held(drinks, subject, "drink", day) for day in days] == [["coffee"], ["tea"], ["coffee"]]


def test_the_same_words_do_not_bring_back_what_was_retracted(drinks: muniment.Session) -> None:
    coffee = tell(drinks, "ada", "drink", "coffee", "2026-01-01")
    drinks.retract(coffee.claim_id, reason="wrong person")
    assert tell(drinks, "ada", "drink", "coffee", "2026-01-01").outcome == "rejected"
    assert values(drinks.claims("ada")) == []


def test_a_named_claim_ends_also_when_the_new_value_is_held_already(session: muniment.Session) -> None:
    session.define({"predicate": "team", "cardinality": "many", "validation": "quoted"})
    red, _ = (tell(session, "ada", "team", colour, "2026-01-01") for colour in ("red", "green"))
    message = session.add("Not red, green.", occurred_at=at("2026-02-01"))
    assert session.correct(red.claim_id, "green", evidence=message.quote("green")).outcome == "superseded_other"
    assert values(session.claims("ada", "team")) == ["green"]


def test_retracting_a_correction_brings_the_corrected_claim_back_and_restoring_it_corrects_again(
    drinks: muniment.Session,
) -> None:
    coffee = tell(drinks, "ada", "drink", "coffee", "2026-01-01")
    tea = drinks.correct(coffee.claim_id, "tea", evidence=drinks.add("No, it was tea.").quote("tea"))
    drinks.retract(tea.claim_id, reason="no, it was coffee")
    assert values(drinks.claims("ada")) == ["coffee"]
    drinks.restore(tea.claim_id, reason="tea after all")
    assert values(drinks.claims("ada")) == ["tea"]


def test_declared_supersession_survives_a_retraction_and_a_restoration(session: muniment.Session) -> None:
    session.define({"predicate": "team", "cardinality": "many", "validation": "quoted"})
    red = tell(session, "ada", "team", "red", "2026-01-01")
    green = tell(session, "ada", "team", "green", "2026-02-01", supersedes=red.claim_id)
    session.retract(green.claim_id, reason="unsure")
    assert values(session.claims("ada", "team")) == ["red"]
    session.restore(green.claim_id, reason="sure")
    assert values(session.claims("ada", "team")) == ["green"]


def test_of_two_waiting_corrections_only_one_can_be_confirmed(session: muniment.Session) -> None:
    session.define({"predicate": "team", "cardinality": "many"})
    red = tell(session, "ada", "team", "red", "2026-01-01")
    session.confirm(red.claim_id, by="x")
    spans = {colour: session.add(f"No, {colour}.").quote(colour) for colour in ("green", "blue")}
    first, second = (session.correct(red.claim_id, colour, evidence=span) for colour, span in spans.items())
    session.confirm(first.claim_id, by="x")
    with pytest.raises(ClaimMovedOn):
        session.confirm(second.claim_id, by="x")
    assert values(session.claims("ada", "team")) == ["green"]


def test_a_claim_rests_on_what_it_depends_on_also_when_that_is_learned_later(session: muniment.Session) -> None:
    single_valued(session, "home")
    single_valued(session, "commute", depends_on=["home"])
    tell(session, "ken", "commute", 20, "2026-03-01")
    osaka = tell(session, "ken", "home", "Osaka", "2026-05-03")
    assert held(session, "ken", "commute", "2026-06-01") == [20]  # it began before Osaka, and may rest on anything
    tell(session, "ken", "home", "Kyoto", "2026-01-01")
    assert held(session, "ken", "commute", "2026-04-01") == [20]
    assert held(session, "ken", "commute", "2026-06-01") == []
    session.retract(osaka.claim_id, reason="he did not move")
    assert held(session, "ken", "commute", "2026-06-01") == [20]


def test_a_premise_that_is_confirmed_later_carries_what_depends_on_it(session: muniment.Session) -> None:
    session.define({"predicate": "home", "cardinality": "one"})
    single_valued(session, "commute", depends_on=["home"])
    tell(session, "ken", "commute", 20, "2026-03-01")
    kyoto = session.confirm(tell(session, "ken", "home", "Kyoto", "2026-01-01").claim_id, by="ken")
    session.retract(kyoto.claim_id, reason="never")
    assert held(session, "ken", "commute", "2026-06-01") == []
    session.restore(kyoto.claim_id, reason="it was so")
    assert held(session, "ken", "commute", "2026-06-01") == [20]
