"""Who is who: identifiers, names that several people share, subjects that are one and taken apart again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

import muniment
from muniment.errors import ClaimMovedOn, InvalidInput, NotFound
from muniment.extract.port import Candidate, Extraction
from muniment.model.evidence import Evidence
from muniment.providers.local import LocalEmbedder
from tests.conftest import Databases
from tests.helpers import at, single_valued, tell, values


def now() -> datetime:
    return datetime.now(UTC)


def held(session: muniment.Session, subject: str, predicate: str, **clocks: Any) -> list[Any]:
    return values(session.claims(subject, predicate, **clocks))


def known(session: muniment.Session, *subjects: str) -> None:
    for subject in subjects:
        tell(session, subject, "seen", f"{subject} was seen", "2026-01-01")


# ---- identifiers and names ---------------------------------------------------------------------------------------------


def test_an_identifier_finds_its_subject_and_the_same_again_changes_nothing(session: muniment.Session) -> None:
    first = session.identify("crm", "0031", "contact_1842")
    again = session.identify("crm", "0031", "contact_1842")
    assert (first.subject_id, again.known_from) == ("contact_1842", first.known_from)
    assert session.resolve("0031").subject == "contact_1842"
    assert session.resolve("0031", provider="billing").subjects == ()


def test_addresses_and_names_are_found_however_they_are_spelled(session: muniment.Session) -> None:
    session.identify("email", "Janet.Liu@example.com", "contact_1842")
    session.identify("name", "Janet Liu", "contact_1842")
    session.identify("name", "刘珍妮", "contact_1842")
    for asked in ("janet.liu@EXAMPLE.com", "janet liu", "刘珍妮", "contact_1842"):
        assert session.resolve(asked).subject == "contact_1842"


def test_several_people_with_one_name_stay_several(session: muniment.Session) -> None:
    session.identify("name", "Giulia Bianchi", "patient_1")
    session.identify("name", "Giulia Bianchi", "patient_2")
    found = session.resolve("giulia bianchi")
    assert found.ambiguous
    assert found.subject is None
    assert found.subjects == ("patient_1", "patient_2")


def test_an_identifier_of_somebody_else_is_not_moved_but_asked_about(session: muniment.Session) -> None:
    session.identify("email", "j@example.com", "contact_1")
    waiting = session.identify("email", "j@example.com", "contact_2")
    again = session.identify("email", "j@example.com", "contact_2")
    assert waiting.waits is not None
    assert waiting.review_id == again.review_id
    assert session.resolve("j@example.com").subject == "contact_1"
    (review,) = session.reviews().items
    assert (review.review_id, review.kind, review.subjects) == (waiting.review_id, "merge", ("contact_1", "contact_2"))


def test_a_merge_review_merges_or_keeps_apart(session: muniment.Session) -> None:
    session.identify("email", "j@example.com", "contact_1")
    one = session.identify("email", "j@example.com", "contact_2").review_id
    other = session.identify("email", "j@example.com", "contact_3").review_id
    assert one is not None
    assert other is not None
    session.decide(one, "merge", by="dora", reason="same person, two records")
    session.decide(other, "reject", by="dora", reason="a shared mailbox")
    assert session.subject("contact_1").known_as == ("contact_1", "contact_2")
    assert session.resolve("contact_3").subject == "contact_3"
    assert session.reviews().items == ()


def test_what_goes_by_an_identifier_no_more_was_known_to_until_then(session: muniment.Session) -> None:
    session.identify("phone", "555", "contact_1")
    before = now()
    session.unidentify("phone", "555", "contact_1")
    assert session.resolve("555").subjects == ()
    assert session.resolve("555", known_at=before).subject == "contact_1"
    session.identify("phone", "555", "contact_2")
    assert session.resolve("555").subject == "contact_2"
    with pytest.raises(NotFound):
        session.unidentify("phone", "555", "contact_1")


def test_identities_are_seen_by_those_who_see_their_evidence(memory: muniment.Memory, tenant: str) -> None:
    hr = memory.session(tenant=tenant, grants={"hr"})
    mail = hr.add("Janet Liu is j.liu@example.com", access={"hr"})
    hr.identify("email", "j.liu@example.com", "contact_1842", evidence=mail.quote("j.liu@example.com"))
    other = memory.session(tenant=tenant)
    assert other.resolve("j.liu@example.com").subjects == ()
    assert hr.resolve("j.liu@example.com").subject == "contact_1842"
    waits = other.identify("email", "j.liu@example.com", "contact_9")
    assert (waits.subject_id, waits.review_id) == ("contact_9", None)
    assert waits.waits is not None
    assert "contact_1842" not in waits.waits


# ---- merging -----------------------------------------------------------------------------------------------------------


def test_reads_of_one_subject_read_what_was_said_of_the_other(session: muniment.Session) -> None:
    single_valued(session, "city", "phone")
    tell(session, "contact_1", "city", "Bergen", "2026-01-01")
    tell(session, "jl@example.com", "phone", "555", "2026-02-01")
    before = now()
    made = session.merge("jl@example.com", "contact_1", reason="same signature")
    assert held(session, "contact_1", "phone") == ["555"]
    assert held(session, "jl@example.com", "city") == ["Bergen"]
    assert [c.predicate for c in session.timeline("contact_1")] == ["city", "phone"]
    assert {c.value for c in session.recall("phone of the contact", subject="contact_1").claims} >= {"555"}
    assert [c.value for c in session.claims("contact_1", "phone", known_at=before).items] == []
    assert session.subject("contact_1").merges == (made,)
    assert session.merge("contact_1", "jl@example.com", reason="again").merge_id == made.merge_id


def test_rival_values_of_merged_subjects_stay_as_a_conflict_with_a_review(session: muniment.Session) -> None:
    single_valued(session, "city")
    tell(session, "contact_1", "city", "Bergen", "2026-01-01")
    tell(session, "contact_2", "city", "Oslo", "2026-03-01")
    made = session.merge("contact_2", "contact_1", reason="same person")
    first, second = session.claims("contact_1", "city").items
    assert {first.value, second.value} == {"Bergen", "Oslo"}
    assert first.conflicts_with == (second.claim_id,)
    payload = session.recall("which city", subject="contact_1")
    assert payload.conflicts == ((second.claim_id, first.claim_id),)
    assert payload.abstention is not None
    (review,) = session.reviews().items
    assert (made.reviews, review.kind) == ((review.review_id,), "conflict")
    assert {review.claim and review.claim.value, review.rivals[0].value} == {"Bergen", "Oslo"}


@pytest.mark.parametrize(("verdict", "left"), [("approve", "Oslo"), ("reject", "Bergen")])
def test_deciding_a_conflict_of_merged_subjects_leaves_one_value(
    session: muniment.Session, verdict: str, left: str
) -> None:
    single_valued(session, "city")
    tell(session, "contact_1", "city", "Bergen", "2026-01-01")
    tell(session, "contact_2", "city", "Oslo", "2026-03-01")
    (review_id,) = session.merge("contact_2", "contact_1", reason="same person").reviews
    shown = session.review(review_id)
    session.decide(review_id, verdict, by="dora", reason="asked her")
    assert held(session, "contact_1", "city") == [left]
    assert session.recall("which city", subject="contact_2").conflicts == ()
    assert (len(shown.consequences) > 0) is True


def test_a_change_said_of_one_ends_what_was_held_of_the_other_until_they_are_taken_apart(
    session: muniment.Session,
) -> None:
    single_valued(session, "city")
    tell(session, "contact_1", "city", "Bergen", "2026-01-01")
    known(session, "contact_2")
    made = session.merge("contact_2", "contact_1", reason="same person")
    decision = tell(session, "contact_2", "city", "Oslo", "2026-03-01")
    assert decision.outcome.value == "superseded_other"
    assert held(session, "contact_1", "city") == ["Oslo"]
    assert held(session, "contact_1", "city", valid_at=at("2026-02-01")) == ["Bergen"]
    believed = now()
    session.unmerge(made.merge_id, reason="two people after all")
    assert held(session, "contact_1", "city") == ["Bergen"]
    assert held(session, "contact_2", "city") == ["Oslo"]
    assert [c.value for c in session.claims("contact_1", "city", known_at=believed).items] == ["Oslo"]
    assert session.unmerge(made.merge_id, reason="again").known_to is not None


def test_what_is_said_late_of_one_yields_to_what_the_other_says_since(session: muniment.Session) -> None:
    single_valued(session, "city")
    tell(session, "contact_1", "city", "Oslo", "2026-03-01")
    known(session, "contact_2")
    session.merge("contact_2", "contact_1", reason="same person")
    tell(session, "contact_2", "city", "Bergen", "2026-01-01")
    assert held(session, "contact_1", "city") == ["Oslo"]
    assert held(session, "contact_1", "city", valid_at=at("2026-02-01")) == ["Bergen"]


def test_taking_a_merge_back_closes_the_reviews_that_it_opened(session: muniment.Session) -> None:
    single_valued(session, "city")
    tell(session, "contact_1", "city", "Bergen", "2026-01-01")
    tell(session, "contact_2", "city", "Oslo", "2026-03-01")
    made = session.merge("contact_2", "contact_1", reason="same person")
    session.unmerge(made.merge_id, reason="two people")
    assert session.reviews().items == ()
    assert session.recall("which city", subject="contact_1").conflicts == ()
    assert (held(session, "contact_1", "city"), held(session, "contact_2", "city")) == (["Bergen"], ["Oslo"])


def test_three_subjects_merge_into_one_and_the_middle_merge_can_be_taken_back(session: muniment.Session) -> None:
    known(session, "a", "b", "c")
    session.merge("a", "b", reason="1")
    second = session.merge("a", "c", reason="2")
    assert session.subject("a").known_as == ("a", "b", "c")
    session.unmerge(second.merge_id, reason="no")
    assert (session.subject("a").known_as, session.subject("c").known_as) == (("a", "b"), ("c",))


def test_taking_back_one_merge_leaves_what_the_others_say(session: muniment.Session) -> None:
    known(session, "a", "b", "c", "d")
    first = session.merge("a", "b", reason="1")
    session.merge("a", "c", reason="2")
    session.unmerge(first.merge_id, reason="no")
    assert (session.subject("a").known_as, session.subject("b").known_as) == (("a", "c"), ("b",))
    chain = session.merge("c", "d", reason="3")
    direct = session.merge("a", "d", reason="4")  # one already, by way of c
    assert direct.merge_id != chain.merge_id
    session.unmerge(chain.merge_id, reason="no")
    assert session.subject("a").known_as == ("a", "c", "d")


def test_who_was_not_known_then_is_not_found_as_known_then(session: muniment.Session) -> None:
    before = now()
    known(session, "zoe")
    assert session.resolve("zoe", known_at=before).subjects == ()
    with pytest.raises(NotFound):
        session.subject("zoe", known_at=before)
    assert session.resolve("zoe").subject == "zoe"


def test_what_waited_because_of_a_merge_holds_once_it_is_taken_back(session: muniment.Session) -> None:
    single_valued(session, "city")
    tell(session, "contact_1", "city", "Bergen", "2026-01-01")
    known(session, "contact_2")
    made = session.merge("contact_2", "contact_1", reason="same person")
    waiting = tell(session, "contact_2", "city", "Oslo", "2026-01-01")
    assert waiting.outcome.value == "conflict"
    assert "conflicts with" in (session.history(waiting.claim_id)[-1].reason or "")
    session.unmerge(made.merge_id, reason="two people")
    assert (held(session, "contact_1", "city"), held(session, "contact_2", "city")) == (["Bergen"], ["Oslo"])
    assert session.reviews().items == ()


def test_a_conflict_of_merged_subjects_is_over_when_one_claim_is_retracted(session: muniment.Session) -> None:
    single_valued(session, "city")
    first = tell(session, "contact_1", "city", "Bergen", "2026-01-01")
    tell(session, "contact_2", "city", "Oslo", "2026-03-01")
    made = session.merge("contact_2", "contact_1", reason="same person")
    session.retract(first.claim_id, reason="never")
    assert session.reviews().items == ()
    session.unmerge(made.merge_id, reason="two people")
    assert [r.verdict for r in session.reviews(None).items] == ["void"]


def test_a_decision_about_merged_subjects_is_not_undone_once_they_are_two(session: muniment.Session) -> None:
    single_valued(session, "city")
    tell(session, "contact_1", "city", "Bergen", "2026-01-01")
    tell(session, "contact_2", "city", "Oslo", "2026-03-01")
    made = session.merge("contact_2", "contact_1", reason="same person")
    session.decide(made.reviews[0], "approve", by="dora")
    session.unmerge(made.merge_id, reason="two people")
    assert held(session, "contact_1", "city") == ["Bergen"]
    with pytest.raises(ClaimMovedOn):
        session.decide(made.reviews[0], "undo", by="dora")


def test_a_premise_known_under_another_name_carries_what_depends_on_it(session: muniment.Session) -> None:
    single_valued(session, "home")
    session.define({"predicate": "commute", "cardinality": "one", "validation": "quoted", "depends_on": ["home"]})
    tell(session, "contact_1", "home", "Kyoto", "2026-01-01")
    known(session, "contact_2")
    made = session.merge("contact_2", "contact_1", reason="same person")
    tell(session, "contact_2", "commute", "20 minutes", "2026-02-01")
    tell(session, "contact_1", "home", "Nara", "2026-05-03")
    assert held(session, "contact_2", "commute") == []
    session.unmerge(made.merge_id, reason="two people")
    assert held(session, "contact_2", "commute") == ["20 minutes"]


def test_who_may_not_see_a_merge_reads_and_writes_as_if_it_were_not(memory: muniment.Memory, tenant: str) -> None:
    hr, other = memory.session(tenant=tenant, grants={"hr"}), memory.session(tenant=tenant)
    single_valued(hr, "city")
    tell(other, "contact_1", "city", "Bergen", "2026-01-01")
    tell(other, "contact_2", "seen", "x", "2026-01-01")
    note = hr.add("contact_2 is contact_1", access={"hr"})
    made = hr.merge("contact_2", "contact_1", reason="hr says so", evidence=note)
    assert other.subject("contact_1").known_as == ("contact_1",)
    assert held(other, "contact_2", "city") == []
    assert held(hr, "contact_2", "city") == ["Bergen"]
    for session in (other, hr):  # what it ended would be ended for everyone, so it ends nothing
        city = "Oslo" if session is other else "Rome"
        decision = tell(session, "contact_2", "city", city, "2026-03-01" if session is other else "2026-04-01")
        assert decision.outcome.value in ("validated", "superseded_other")
        assert held(other, "contact_1", "city") == ["Bergen"]
    assert sorted(held(hr, "contact_1", "city")) == ["Bergen", "Rome"]
    with pytest.raises(NotFound):
        other.unmerge(made.merge_id, reason="no")


def test_what_a_hidden_merge_sets_against_each_other_is_told_to_those_who_see_it(
    memory: muniment.Memory, tenant: str
) -> None:
    hr, other = memory.session(tenant=tenant, grants={"hr"}), memory.session(tenant=tenant)
    single_valued(hr, "city")
    tell(other, "contact_1", "city", "Bergen", "2026-01-01")
    tell(other, "contact_2", "city", "Oslo", "2026-03-01")
    note = hr.add("contact_2 is contact_1", access={"hr"})
    made = hr.merge("contact_2", "contact_1", reason="hr says so", evidence=note)
    assert other.reviews(None).items == ()
    assert [c.conflicts_with for c in other.claims("contact_1", "city").items] == [()]
    assert other.recall("which city", subject="contact_1").conflicts == ()
    assert len(hr.recall("which city", subject="contact_1").conflicts) == 1
    hr.decide(made.reviews[0], "approve", by="dora")
    assert held(hr, "contact_1", "city") == ["Oslo"]
    hr.decide(made.reviews[0], "undo", by="dora")
    hr.unmerge(made.merge_id, reason="no")
    assert hr.reviews().items == ()
    known(other, "contact_3")
    assert other.merge("contact_1", "contact_3", reason="free to").from_subject == "contact_1"


def test_what_was_said_in_hiding_and_is_said_again_openly_is_seen_by_both(memory: muniment.Memory, tenant: str) -> None:
    hr, other = memory.session(tenant=tenant, grants={"hr"}), memory.session(tenant=tenant)
    known(other, "contact_1", "contact_2")
    note = hr.add("secret file", access={"hr"})
    for provider in ("email", "name"):
        hr.identify(provider, "jay@example.com", "contact_1", evidence=note)
        said = other.identify(provider, "jay@example.com", "contact_1")
        assert (said.waits, said.subject_id) == (None, "contact_1")
    hr.merge("contact_2", "contact_1", reason="x", evidence=note)
    other.merge("contact_1", "contact_2", reason="y")
    for session in (hr, other):
        assert session.resolve("jay@example.com").subjects == ("contact_2",)
        assert len(session.subject("contact_1").merges) == 1
    assert other.reviews(None).items == ()


def test_a_subject_nobody_has_heard_of_is_not_merged(session: muniment.Session) -> None:
    known(session, "contact_1")
    with pytest.raises(NotFound, match="typo_1"):
        session.merge("typo_1", "contact_1", reason="")
    with pytest.raises(InvalidInput):
        session.merge("contact_1", "contact_1", reason="")
    with pytest.raises(NotFound):
        session.subject("typo_1")


def test_authors_known_as_one_subject_confirm_claims_about_themselves(session: muniment.Session) -> None:
    session.define({"predicate": "city", "cardinality": "one", "validation": "confirmed_by_subject"})
    known(session, "contact_1", "janet@example.com")
    session.merge("janet@example.com", "contact_1", reason="her address")
    mail = session.add("I live in Bergen.", author="janet@example.com")
    decision = session.propose("contact_1", "city", "Bergen", evidence=mail.quote("I live in Bergen"))
    assert decision.status.value == "validated"


# ---- whom a text means ---------------------------------------------------------------------------------------------------


class Reads:
    """Reads "<subject> lives in <city>", or "I live in <city>"."""

    name = "lives-in"

    def extract(self, batch: Sequence[Evidence]) -> list[Extraction]:
        found = []
        for evidence in batch:
            said, city = re.split(" lives? in ", evidence.content)
            subject = str(evidence.author) if said == "I" else said
            found.append(Extraction(candidates=(Candidate(subject, "city", city, 0, len(evidence.content)),)))
        return found


@pytest.fixture
def remembering(
    databases: Databases, database_name: str, embedder: LocalEmbedder, tenant: str
) -> Iterator[muniment.Session]:
    with muniment.open(databases.app(database_name), embedder=embedder, extractor=Reads()) as memory:
        session = memory.session(tenant=tenant)
        single_valued(session, "city")
        yield session


def test_a_text_that_names_somebody_is_about_the_subject_that_goes_by_that_name(remembering: muniment.Session) -> None:
    remembering.identify("name", "Janet Liu", "contact_1842")
    remembering.identify("email", "janet@example.com", "contact_1842")
    remembering.remember("Janet Liu lives in Bergen")
    assert held(remembering, "contact_1842", "city") == ["Bergen"]
    remembering.remember("I live in Oslo", author="janet@example.com")
    assert held(remembering, "contact_1842", "city") == ["Oslo"]
    remembering.remember("Tom lives in Rome")
    assert held(remembering, "Tom", "city") == ["Rome"]


def test_an_ambiguous_name_stays_apart_and_somebody_is_asked_once(remembering: muniment.Session) -> None:
    for patient in ("patient_1", "patient_2"):
        remembering.identify("name", "Giulia Bianchi", patient)
    remembering.remember("Giulia Bianchi lives in Pisa")
    assert held(remembering, "Giulia Bianchi", "city") == ["Pisa"]
    assert held(remembering, "patient_1", "city") == []
    (review,) = remembering.reviews().items
    assert review.subjects == ("patient_1", "patient_2", "Giulia Bianchi")
    with pytest.raises(InvalidInput, match="patient_1, patient_2"):
        remembering.decide(review.review_id, "merge", by="dora")
    remembering.decide(review.review_id, "merge", by="dora", into="patient_2")
    assert (held(remembering, "patient_1", "city"), held(remembering, "patient_2", "city")) == ([], ["Pisa"])
    remembering.remember("Giulia Bianchi lives in Lucca")
    assert held(remembering, "patient_2", "city") == ["Lucca"]
    assert remembering.reviews().items == ()


def test_a_name_known_to_be_nobody_of_them_is_not_asked_about_again(remembering: muniment.Session) -> None:
    for patient in ("patient_1", "patient_2"):
        remembering.identify("name", "Giulia Bianchi", patient)
    remembering.remember("Giulia Bianchi lives in Pisa")
    remembering.decide(remembering.reviews().items[0].review_id, "reject", by="dora", reason="a third one")
    remembering.remember("Giulia Bianchi lives in Lucca")
    assert remembering.reviews().items == ()
    assert held(remembering, "Giulia Bianchi", "city") == ["Lucca"]


def test_names_that_the_session_may_not_see_resolve_nothing(
    remembering: muniment.Session, memory: muniment.Memory, tenant: str
) -> None:
    hr = memory.session(tenant=tenant, grants={"hr"})
    note = hr.add("Janet Liu is contact_1842", access={"hr"})
    hr.identify("name", "Janet Liu", "contact_1842", evidence=note)
    remembering.remember("Janet Liu lives in Bergen")
    assert held(hr, "contact_1842", "city") == []


def test_an_author_as_a_mail_writes_it_is_known_by_the_address(remembering: muniment.Session) -> None:
    remembering.identify("email", "janet@example.com", "contact_1842")
    remembering.remember("I live in Oslo", author="Janet Okafor <Janet@example.com>")
    assert held(remembering, "contact_1842", "city") == ["Oslo"]
    remembering.define({"predicate": "home", "cardinality": "one", "validation": "confirmed_by_subject"})
    mail = remembering.add("My home is Bergen.", author="Janet Okafor <janet@example.com>")
    said = remembering.propose("contact_1842", "home", "Bergen", evidence=mail.quote("My home is Bergen"))
    assert said.status.value == "validated"


def test_two_that_somebody_said_to_be_two_are_not_asked_about_again(session: muniment.Session) -> None:
    session.identify("email", "j@example.com", "contact_1")
    review = session.identify("email", "j@example.com", "contact_2").review_id
    assert review is not None
    session.decide(review, "reject", by="dora")
    again = session.identify("email", "j@example.com", "contact_2")
    assert (again.review_id, again.waits is not None) == (None, True)
    assert session.reviews().items == ()


def test_a_name_that_two_shared_means_one_once_they_are_one(remembering: muniment.Session) -> None:
    for patient in ("patient_1", "patient_2"):
        remembering.identify("name", "Ann Ray", patient)
    remembering.remember("Ann Ray lives in Lund")
    remembering.merge("patient_1", "patient_2", reason="one file twice")
    assert remembering.resolve("ann ray").subject == "patient_2"


def test_a_merge_that_somebody_said_answers_the_review_and_is_not_undone_with_it(session: muniment.Session) -> None:
    session.identify("email", "j@example.com", "contact_1")
    first = session.identify("email", "j@example.com", "contact_2").review_id
    assert first is not None
    session.merge("contact_2", "contact_1", reason="I know her")
    assert session.reviews().items == ()
    session.decide(first, "undo", by="dora")
    assert session.subject("contact_1").known_as == ("contact_1", "contact_2")
    session.decide(first, "merge", by="dora")
    session.decide(first, "undo", by="dora")
    assert session.subject("contact_1").known_as == ("contact_1", "contact_2")


def test_taking_two_apart_leaves_the_conflicts_of_those_who_are_still_one(session: muniment.Session) -> None:
    single_valued(session, "city")
    known(session, "a")
    tell(session, "c", "city", "Bergen", "2026-01-01")
    tell(session, "d", "city", "Oslo", "2026-03-01")
    first = session.merge("a", "c", reason="1")
    session.merge("c", "d", reason="2")
    session.unmerge(first.merge_id, reason="no")
    assert len(session.reviews().items) == 1
    assert len(session.recall("which city", subject="c").conflicts) == 1


def test_what_a_hidden_name_led_to_is_seen_by_those_who_see_the_name(
    databases: Databases, database_name: str, embedder: LocalEmbedder, tenant: str
) -> None:
    with muniment.open(databases.app(database_name), embedder=embedder, extractor=Reads()) as memory:
        hr, other = memory.session(tenant=tenant, grants={"hr"}), memory.session(tenant=tenant)
        single_valued(hr, "city")
        note = hr.add("Janet Liu is contact_1842", access={"hr"})
        hr.identify("name", "Janet Liu", "contact_1842", evidence=note)
        hr.remember("Janet Liu lives in Bergen")
        assert held(hr, "contact_1842", "city") == ["Bergen"]
        assert held(other, "contact_1842", "city") == []
        # The same for a merge that a hidden review led to.
        hr.identify("email", "j@example.com", "contact_1842", evidence=note)
        review = hr.identify("email", "j@example.com", "contact_9").review_id
        assert review is not None
        hr.decide(review, "merge", by="dora")
        assert hr.subject("contact_9").known_as == ("contact_9", "contact_1842")
        assert other.subject("contact_9").known_as == ("contact_9",)


def test_a_subject_as_known_then_is_the_same_after_the_merge_is_taken_back(session: muniment.Session) -> None:
    known(session, "a", "b")
    made = session.merge("a", "b", reason="1")
    then = now()
    before = session.subject("a", known_at=then)
    session.unmerge(made.merge_id, reason="2")
    assert session.subject("a", known_at=then) == before
