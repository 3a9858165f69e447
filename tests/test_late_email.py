"""The late e-mail of DESIGN §3: what was known when, and what was true when."""

from __future__ import annotations

import pytest

import muniment
from tests.helpers import LATE_EMAIL_TABLE, QUESTION, at, late_email

ROWS = pytest.mark.parametrize(("known", "valid", "current", "superseded"), LATE_EMAIL_TABLE)


@ROWS
def test_claims_answer_each_row_of_the_late_email_table(
    session: muniment.Session, known: str, valid: str, current: str | None, superseded: str | None
) -> None:
    late_email(session)
    page = session.claims("contact_1842", scope="renewal/2027", known_at=at(known), valid_at=at(valid))
    assert [c.value for c in page.items if c.status == "validated"] == ([current] if current else [])
    assert [c.value for c in page.items if c.status == "superseded"] == ([superseded] if superseded else [])


@ROWS
def test_recall_answers_each_row_of_the_late_email_table(
    session: muniment.Session, known: str, valid: str, current: str | None, superseded: str | None
) -> None:
    late_email(session)
    payload = session.recall(
        QUESTION, subject="contact_1842", scope="renewal/2027", known_at=at(known), valid_at=at(valid)
    )
    assert [c.value for c in payload.claims if c.status == "validated"] == ([current] if current else [])
    assert [c.value for c in payload.claims if c.status == "superseded"] == ([superseded] if superseded else [])
    assert (payload.abstention is None) == (current is not None)


def test_evidence_learned_in_february_is_not_evidence_in_january(session: muniment.Session) -> None:
    late_email(session)
    assert session.search("written summary", as_of=at("2026-01-20")) == []
    assert [hit.source_id for hit in session.search("written summary", kinds=["evidence"], as_of=at("2026-02-03"))] == [
        "msg_4401"
    ]


def test_the_superseded_preference_says_by_what_and_until_when(session: muniment.Session) -> None:
    first, second = late_email(session)
    moment = at("2026-08-27T12:00")
    claims = {c.claim_id: c for c in session.claims("contact_1842", scope="renewal/2027", as_of=moment).items}
    assert claims[first].superseded_by == (second,)
    assert claims[first].valid_to == at("2026-07-18T09:12")
    assert claims[second].supersedes == (first,)


def test_outside_the_narrower_scope_the_general_preference_still_holds(session: muniment.Session) -> None:
    first, _ = late_email(session)
    page = session.claims("contact_1842", scope="renewal/2028", as_of=at("2026-08-27T12:00"))
    assert [(c.claim_id, c.status, c.valid_to) for c in page.items] == [(first, "validated", None)]


def test_the_payload_has_the_keys_of_the_reference(session: muniment.Session) -> None:
    late_email(session)
    payload = session.recall(
        QUESTION, subject="contact_1842", scope="renewal/2027", as_of=at("2026-08-27T12:00")
    ).to_json()
    assert {"request", "subject", "authoritativeState", "evidence", "claims", "summary", "retrieval"} <= set(payload)
    claim = payload["claims"][0]
    assert {
        "claimId", "value", "scope", "evidenceIds", "validFrom", "validTo", "observedAt", "status", "authorizationScope",
        "retrievalReason", "supersedes",
    } <= set(claim)  # fmt: skip
    assert {"evidenceId", "sourceId", "quote", "occurredAt", "observedAt", "authorizationScope"} <= set(
        payload["evidence"][0]
    )
    assert {"routes", "asOf", "conflictsReturned", "nextCursor"} <= set(payload["retrieval"])
    assert claim["observedAt"] == "2026-07-18T09:13:04Z"
