"""From what was said to what is held: whose words count, how they were meant, and what comes back as an echo."""

from __future__ import annotations

import muniment
from muniment.extract.rules import RulesExtractor
from tests.helpers import at, values

RULES = RulesExtractor.of([
    {"pattern": r"(?P<who>[A-Z][a-z]+) works at (?P<value>[A-Z][a-z]+)", "subject": "{who}", "predicate": "employer"},
    {"pattern": r"(?P<who>[A-Z][a-z]+) is responsible for (?P<value>[a-z]+)", "subject": "{who}", "predicate": "duty"},
    {"pattern": r"Patient (?P<who>[A-Z][a-z]+) weighs (?P<value>\d+) kg", "subject": "{who}", "predicate": "weight",
     "value_type": "number"},
    {"pattern": r"contract ends on (?P<value>\d{4}-\d\d-\d\d)", "subject": "contract", "predicate": "end",
     "value_type": "date"},
    {"pattern": r"(?:I drink|my drink is) (?P<value>[a-z]+)", "subject": "{author}", "predicate": "drink"},
])  # fmt: skip


def reader(memory: muniment.Memory, tenant: str) -> muniment.Session:
    """A session that reads claims by the rules above, each single-valued and validated by a quote."""
    session = muniment.Session(memory._store.database, memory._engine, memory.session(tenant=tenant).access, RULES)
    for predicate in ("employer", "duty", "weight", "end", "drink"):
        session.define({"predicate": predicate, "cardinality": "one", "validation": "quoted"})
    return session


def test_one_kind_of_fact_leaves_another_untouched(memory: muniment.Memory, tenant: str) -> None:
    session = reader(memory, tenant)
    session.remember("Xenia works at Acme.", author="ada", occurred_at=at("2026-01-01"))
    session.remember("Xenia is responsible for billing.", author="ada", occurred_at=at("2026-02-01"))
    assert (values(session.claims("Xenia", "employer")), values(session.claims("Xenia", "duty"))) == (
        ["Acme"],
        ["billing"],
    )


def test_one_patient_does_not_retire_another(memory: muniment.Memory, tenant: str) -> None:
    session = reader(memory, tenant)
    session.remember("Patient Rossi weighs 70 kg.", author="dr", occurred_at=at("2026-01-01"))
    session.remember("Patient Bianchi weighs 95 kg.", author="dr", occurred_at=at("2026-02-01"))
    assert [values(session.claims(who, "weight")) for who in ("Rossi", "Bianchi")] == [[70], [95]]


def test_an_end_date_is_a_value_and_no_start(memory: muniment.Memory, tenant: str) -> None:
    session = reader(memory, tenant)
    session.remember("The contract ends on 2027-12-22.", author="ada", occurred_at=at("2026-01-01"))
    (claim,) = session.claims("contract", "end").items
    assert (claim.value, claim.valid_from) == ("2027-12-22", at("2026-01-01"))


def test_a_fact_restated_49_times_is_one_claim_with_49_supports_recalled_once(
    memory: muniment.Memory, tenant: str
) -> None:
    session = reader(memory, tenant)
    for minute in range(49):
        session.remember("I drink coffee.", author="ken", occurred_at=at(f"2026-01-01T10:{minute:02}"))
    (claim,) = session.claims("ken").items
    assert len(session.why(claim.claim_id).quotes) == 49
    payload = session.recall("What does ken drink?", subject="ken")
    assert [c.value for c in payload.claims] == ["coffee"]


def test_a_recalled_payload_that_comes_back_adds_nothing(memory: muniment.Memory, tenant: str) -> None:
    session = reader(memory, tenant)
    session.remember("I drink coffee.", author="ken", occurred_at=at("2026-01-01"))
    session.remember("I drink tea.", author="ken", occurred_at=at("2026-02-01"))
    before = session.claims("ken", status=None)
    payload = session.recall("What does ken drink?", subject="ken")
    for echo in (payload.to_prompt(), payload.model_dump_json(by_alias=True, indent=2)):
        done = session.remember(f"Here is what I know:\n{echo}\nThanks.", author="ken", occurred_at=at("2026-03-01"))
        assert done.decisions == ()
    assert session.claims("ken", status=None) == before
    assert values(session.claims("ken", "drink")) == ["tea"]


def test_what_is_not_stated_does_not_displace_what_is(memory: muniment.Memory, tenant: str) -> None:
    session = reader(memory, tenant)
    session.remember("I drink coffee.", author="ken", occurred_at=at("2026-01-01"))
    for number, words in enumerate((
        "What if I drink tea?", "Suppose I drink tea tomorrow.", "Maybe I drink tea.", "I think my drink is tea.",
        "It is not true that I drink tea.", 'She said: "I drink tea"',
    ), start=2):  # fmt: skip
        session.remember(words, author="ken", occurred_at=at(f"2026-02-{number:02}"))
    assert values(session.claims("ken", "drink")) == ["coffee"]


def test_a_hedge_and_then_a_statement_are_one_claim_with_both_as_evidence(memory: muniment.Memory, tenant: str) -> None:
    session = reader(memory, tenant)
    (hedge,) = session.remember("I think my drink is tea.", author="ken", occurred_at=at("2026-01-01")).decisions
    assert (hedge.outcome, "hedge" in hedge.reason) == ("candidate", True)
    (stated,) = session.remember(
        "My colleagues know: I drink tea.", author="ken", occurred_at=at("2026-01-02")
    ).decisions
    assert (stated.outcome, stated.claim_id) == ("validated", hedge.claim_id)
    assert len(session.why(hedge.claim_id).quotes) == 2


def test_words_of_assistants_tools_and_pages_are_nobodys_claim(memory: muniment.Memory, tenant: str) -> None:
    session = reader(memory, tenant)
    for number, (role, trust) in enumerate(
        (("assistant", "first_party"), ("tool", "first_party"), ("user", "third_party"), ("user", "model"))
    ):
        session.remember("I drink tea.", author="ken", role=role, trust=trust, occurred_at=at(f"2026-01-0{number + 1}"))
    assert session.claims("ken", status=None).items == ()


def test_three_speakers_keep_their_own_facts(memory: muniment.Memory, tenant: str) -> None:
    session = reader(memory, tenant)
    for who, drink in (("ada", "tea"), ("bob", "coffee"), ("cem", "water")):
        session.remember(f"I drink {drink}.", author=who, occurred_at=at("2026-01-01"))
    assert [values(session.claims(who, "drink")) for who in ("ada", "bob", "cem")] == [["tea"], ["coffee"], ["water"]]


def test_what_a_guest_says_of_himself_waits_when_it_is_proposed_of_the_owner(session: muniment.Session) -> None:
    session.define({"predicate": "allergy", "cardinality": "one", "validation": "quoted"})
    own = session.add("I am allergic to nuts.", author="guest")
    session.propose("guest", "allergy", "nuts", evidence=own.quote("allergic to nuts"))
    wrong = session.propose("owner", "allergy", "nuts", evidence=own.quote("allergic to nuts"))
    assert (wrong.outcome, wrong.reason) == (
        "candidate", "waits for confirmation: the author speaks of themselves, not of the subject",
    )  # fmt: skip
    named = session.add("I know that owner is allergic to nuts.", author="guest")
    assert (
        session.propose("owner", "allergy", "nuts", evidence=named.quote("owner is allergic to nuts")).outcome
        == "validated"
    )
