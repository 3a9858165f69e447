"""Corrections and changes: the figure of Helios-RAG, and values that similarity cannot tell apart."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import muniment
from muniment.errors import ClaimMovedOn, EvidenceWithdrawn
from tests.helpers import at, single_valued, tell, values

OLD, NEW = (
    "Helios-RAG achieves 0.92 nDCG@10 on the BEIR benchmark.",
    "Helios-RAG achieves 0.78 nDCG@10 on BEIR (corrected).",
)
CORRECTED = "2026-04-13T10:00"


@pytest.fixture
def helios(session: muniment.Session) -> muniment.Session:
    """The figure of 2 March, corrected on 13 April."""
    single_valued(session, "ndcg_at_10", value_type="number")
    paper = session.add(
        OLD,
        source="papers",
        source_id="paper",
        kind="document",
        occurred_at=at("2026-03-02"),
        observed_at=at("2026-03-02T01:00"),
    )
    held = session.propose("Helios-RAG", "ndcg_at_10", 0.92, evidence=paper.quote("0.92 nDCG@10"), statement=OLD)
    notice = session.add(
        NEW,
        source="papers",
        source_id="notice",
        kind="document",
        occurred_at=at("2026-04-13"),
        observed_at=at(CORRECTED),
    )
    session.correct(held.claim_id, 0.78, evidence=notice.quote("0.78 nDCG@10"), statement=NEW)
    return session


@pytest.mark.parametrize("wording", [OLD, NEW, "what does Helios-RAG score on BEIR?"])
@pytest.mark.parametrize("routes", [["lexical"], ["semantic"], None])
def test_a_search_in_either_wording_finds_the_corrected_figure_as_current(
    helios: muniment.Session, wording: str, routes: list[str] | None
) -> None:
    hits = helios.search(wording, routes=routes)
    assert [hit.text for hit in hits if hit.kind == "claim"] == [NEW]
    stale = next(hit for hit in hits if hit.kind == "evidence" and hit.source_id == "paper")
    claim = next(hit for hit in hits if hit.kind == "claim")
    assert stale.status == "superseded"
    assert stale.superseded_by == (claim.id,)
    assert hits.index(claim) < hits.index(stale)


def test_as_known_before_the_correction_the_old_figure_answers(helios: muniment.Session) -> None:
    before = at("2026-04-01")
    assert values(helios.claims("Helios-RAG", known_at=before)) == [0.92]
    assert [h.text for h in helios.search(NEW, kinds=["claim"], known_at=before)] == [OLD]
    assert [c.value for c in helios.recall("Helios-RAG nDCG@10", subject="Helios-RAG", known_at=before).claims] == [
        0.92
    ]


def test_today_recall_gives_the_corrected_figure_and_explains_the_old_one(helios: muniment.Session) -> None:
    payload = helios.recall("What is the nDCG@10 of Helios-RAG?", subject="Helios-RAG")
    assert [(c.value, c.status) for c in payload.claims] == [(0.78, "validated"), (0.92, "retracted")]


def test_a_correction_reaches_back_to_when_the_wrong_figure_began(helios: muniment.Session) -> None:
    assert values(helios.claims("Helios-RAG", valid_at=at("2026-03-10"))) == [0.78]


def test_a_correction_closes_what_was_known_and_leaves_what_was_valid(helios: muniment.Session) -> None:
    (wrong,) = helios.claims("Helios-RAG", status="retracted").items
    first, second = helios.history(wrong.claim_id)
    assert first.valid == second.valid == ((at("2026-03-02"), None),)
    assert (first.status, first.known_to) == ("validated", at(CORRECTED))
    assert (second.status, second.known_from) == ("retracted", at(CORRECTED))


def test_correcting_what_was_corrected_says_that_it_moved_on(helios: muniment.Session) -> None:
    (wrong,) = helios.claims("Helios-RAG", status="retracted").items
    notice = helios.add("No, Helios-RAG achieves 0.80 nDCG@10.")
    with pytest.raises(ClaimMovedOn):
        helios.correct(wrong.claim_id, 0.80, evidence=notice.quote("0.80 nDCG@10"))


def test_repeating_a_correction_changes_nothing(helios: muniment.Session) -> None:
    (wrong,) = helios.claims("Helios-RAG", status="retracted").items
    notice = helios.add(NEW, source="papers", source_id="notice", kind="document")
    decision = helios.correct(wrong.claim_id, 0.78, evidence=notice.quote("0.78 nDCG@10"), statement=NEW)
    assert (decision.outcome, decision.version) == ("supported", 1)
    assert len(helios.claims("Helios-RAG", status=None).items) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (0.92, 0.78),
        ("100 rps", "200 rps"),
        ("October 15th", "October 16th"),
        ("deployment is allowed", "deployment is not allowed"),
        ("feature enabled", "feature disabled"),
        ("purple", "cyan"),
        ("PR #260", "PR #480"),
    ],
)
def test_values_that_lie_close_are_never_taken_for_the_same(session: muniment.Session, first: Any, second: Any) -> None:
    single_valued(session, "figure")
    session.define({"predicate": "figures", "cardinality": "many", "validation": "quoted"})
    tell(session, "thing", "figure", first, "2026-01-01")
    changed = tell(session, "thing", "figure", second, "2026-02-01")
    assert changed.outcome == "superseded_other"
    assert values(session.claims("thing", "figure", valid_at=at("2026-01-15"))) == [first]
    assert values(session.claims("thing", "figure")) == [second]
    tell(session, "thing", "figures", first, "2026-01-01")
    assert tell(session, "thing", "figures", second, "2026-02-01").outcome == "validated"
    assert sorted(map(str, values(session.claims("thing", "figures")))) == sorted([str(first), str(second)])


def test_a_claim_whose_only_evidence_is_withdrawn_is_unsupported_and_gives_way(session: muniment.Session) -> None:
    single_valued(session, "home")
    single_valued(session, "commute", depends_on=["home"])
    tell(session, "ken", "home", "Kyoto", "2026-01-01")
    osaka = tell(session, "ken", "home", "Osaka", "2026-05-03")
    commute = tell(session, "ken", "commute", 20, "2026-06-01")
    source = session.why(osaka.claim_id).quotes[0].evidence_id
    done = session.withdraw(source, reason="sent by mistake")
    assert set(done.claims) >= {osaka.claim_id, commute.claim_id}
    assert values(session.claims("ken", "home")) == ["Kyoto"]
    assert values(session.claims("ken", "commute")) == []
    last = session.history(osaka.claim_id)[-1]
    assert (last.status, last.valid) == ("unsupported", ())
    assert values(session.claims("ken", "home", known_at=last.known_from - timedelta(microseconds=1))) == ["Osaka"]
    assert session.evidence(source).content  # the words stay readable
    assert source not in {hit.id for hit in session.search("ken home Osaka")}
    assert session.withdraw(source, reason="again").claims == ()
    with pytest.raises(EvidenceWithdrawn):
        session.propose("ken", "home", "Osaka", evidence=session.evidence(source).quote("'Osaka'"))


def test_other_evidence_revives_a_claim_whose_evidence_was_withdrawn(session: muniment.Session) -> None:
    single_valued(session, "home")
    osaka = tell(session, "ken", "home", "Osaka", "2026-05-03")
    session.withdraw(session.why(osaka.claim_id).quotes[0].evidence_id, reason="forged")
    again = tell(session, "ken", "home", "Osaka", "2026-06-01")
    assert again.claim_id == osaka.claim_id
    assert values(session.claims("ken", "home")) == ["Osaka"]
    assert values(session.claims("ken", "home", valid_at=at("2026-05-10"))) == []


def test_a_claim_goes_on_with_the_evidence_that_is_left_from_when_that_says_it_held(session: muniment.Session) -> None:
    single_valued(session, "home")
    first = tell(session, "ken", "home", "Osaka", "2026-05-03")
    second = tell(session, "ken", "home", "Osaka", "2026-06-01")
    assert second.claim_id == first.claim_id
    early = min(session.why(first.claim_id).quotes, key=lambda quote: quote.occurred_at or at("2030-01-01"))
    session.withdraw(early.evidence_id, reason="wrong Ken")
    assert values(session.claims("ken", "home", valid_at=at("2026-05-10"))) == []
    assert values(session.claims("ken", "home", valid_at=at("2026-06-10"))) == ["Osaka"]
    assert [quote.evidence_id for quote in session.why(first.claim_id).quotes] != [early.evidence_id]


def test_a_claim_waits_again_when_its_policy_is_not_content_with_what_is_left(session: muniment.Session) -> None:
    session.define({"predicate": "city", "cardinality": "one", "validation": {"independent_sources": 2}})
    for author in ("ada", "bob"):
        mail = session.add(f"{author}: Acme is in Oslo", author=author, occurred_at=at("2026-01-01"))
        decision = session.propose("acme", "city", "Oslo", evidence=mail.quote("Acme is in Oslo"))
    assert decision.outcome == "validated"
    session.withdraw(mail.evidence_id, reason="Bob only guessed")
    assert session.history(decision.claim_id)[-1].status == "candidate"
    assert "1 so far" in (session.history(decision.claim_id)[-1].reason or "")
