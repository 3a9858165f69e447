"""What several tests need to say."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import muniment

LATE_EMAIL_TABLE = [
    # known at, valid at, current value, superseded value
    ("2026-01-20T12:00", "2026-01-20T12:00", None, None),
    ("2026-02-03T12:00", "2026-01-20T12:00", "summary_before_call", None),
    ("2026-07-18T09:12:30", "2026-07-18T09:12:30", "summary_before_call", None),
    ("2026-08-27T12:00", "2026-08-27T12:00", "call_before_summary", "summary_before_call"),
    ("2026-08-27T12:00", "2026-03-01T12:00", "summary_before_call", None),
]
QUESTION = "How should I open the renewal with Janet?"


def at(text: str) -> datetime:
    """An aware moment in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def single_valued(session: muniment.Session, *predicates: str, **policy: Any) -> None:
    """Declares predicates that hold one value and are validated by a quote."""
    for predicate in predicates:
        session.define({"predicate": predicate, "cardinality": "one", "validation": "quoted", **policy})


def tell(
    session: muniment.Session, subject: str, predicate: str, value: Any, when: str | None = None, *,
    observed: str | None = None, access: set[str] | None = None, **proposal: Any,
) -> muniment.Decision:  # fmt: skip
    """Adds a message that says it, and proposes the claim with the message as its quote."""
    text = f"{subject} {predicate} is {value!r} as of {when} {proposal.get('scope', '')}"
    message = session.add(
        text, source="test", source_id=f"{subject}|{predicate}|{value!r}|{when}|{proposal.get('scope')}|{observed}",
        occurred_at=None if when is None else at(when), observed_at=None if observed is None else at(observed),
        access=access or (),
    )  # fmt: skip
    return session.propose(subject, predicate, value, evidence=message.quote(repr(value)), **proposal)


def late_email(session: muniment.Session) -> tuple[str, str]:
    """Janet's two preferences; returns the claim ids."""
    single_valued(session, "renewal_contact_order")
    early = session.add(
        "Please send a short written summary before we schedule a renewal call.", source="gmail", source_id="msg_4401",
        occurred_at=at("2026-01-10T14:20"), observed_at=at("2026-02-02T08:41"), author="Janet",
    )  # fmt: skip
    later = session.add(
        "For this renewal, call me first. The written summary can follow.", source="gmail", source_id="msg_7712",
        occurred_at=at("2026-07-18T09:12"), observed_at=at("2026-07-18T09:13:04"), author="Janet",
    )  # fmt: skip
    first = session.propose(
        "contact_1842", "renewal_contact_order", "summary_before_call", scope="renewal",
        evidence=early.quote("send a short written summary before"),
    )  # fmt: skip
    second = session.propose(
        "contact_1842", "renewal_contact_order", "call_before_summary", scope="renewal/2027",
        evidence=later.quote("call me first"),
    )  # fmt: skip
    return first.claim_id, second.claim_id


def values(claims: Any) -> list[Any]:
    """The values of a page, or a list, of claims."""
    return [claim.value for claim in getattr(claims, "items", claims)]
