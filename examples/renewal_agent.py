"""An agent that prepares Janet's renewal: offline, without a model, with everything that it does on record.

    python examples/renewal_agent.py [FOLDER]

The "model" is a function that reads the payload: put a call of your own in `draft`. It answers from what is current,
says what it rests on, abstains when nothing is known, and follows what its user edits once that was said often enough.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import muniment
from muniment import Call, Evaluation, Payload, Reply, Session

CONTACT, SCOPE = "contact_1842", "renewal/2027"
ORDERS = {"summary_before_call": "send a short summary, then call", "call_before_summary": "call first"}


def main(folder: str) -> None:
    with muniment.open(Path(folder)) as memory:
        crm = memory.session(tenant="acme", actor="crm-sync")
        agent = memory.session(tenant="acme", actor="renewal-agent", thread="renewal-2027")
        declare(crm)

        print("1. nobody has written yet")
        show(ask(agent, "run-1"))
        print("2. Janet wrote in January, and otherwise in July, for this renewal")
        letters(crm)
        show(ask(agent, "run-2"))
        print("3. the user edits two drafts in the same way: it holds for Janet")
        for number, text in enumerate(("Hi Janet, may I call you on Monday?", "Hi Janet, a short call this week?")):
            given = agent.feedback(
                f"draft-{number}", kind="edit", content=text, author="tom", scope="email/janet",
                claims=[{"subject": "tom", "predicate": "greeting", "value": "Hi"}],
            )  # fmt: skip
            print(f"   {given.decisions[0].status}: {given.decisions[0].reason}")
        show(ask(agent, "run-3"))
        print("4. what the flight recorder kept")
        for flight in agent.turns(thread="renewal-2027").items:
            print(f"   {flight.run}: read {len(flight.read)}, called {list(flight.called)}, ok {flight.evaluation}")


def declare(session: Session) -> None:
    """How the predicates behave."""
    session.define({"predicate": "renewal_contact_order", "cardinality": "one", "validation": "quoted"})
    session.define({"predicate": "greeting", "cardinality": "one", "widen_after": 2})


def letters(session: Session) -> None:
    """Janet's two e-mails, with the claims that they make."""
    january, july = datetime(2026, 1, 10, tzinfo=UTC), datetime(2026, 7, 18, tzinfo=UTC)
    summary, call = "Please send a short written summary before we schedule a call.", "For this renewal, call me first."
    for key, when, text, value, scope in (
        ("msg_4401", january, summary, "summary_before_call", "renewal"),
        ("msg_7712", july, call, "call_before_summary", SCOPE),
    ):
        mail = session.add(text, source="gmail", source_id=key, author="janet@northwind.example", occurred_at=when)
        session.propose(
            CONTACT, "renewal_contact_order", value, evidence=mail.quote(text), scope=scope, valid_from=when
        )


def ask(agent: Session, run: str) -> muniment.TurnResult:
    return agent.turn(
        "How should I open the renewal with Janet?", lambda payload: draft(agent, payload), evaluate=grounded,
        author="tom", subject=CONTACT, scope=SCOPE, run=run, source_id=run,
    )  # fmt: skip


def draft(agent: Session, payload: Payload) -> Reply:
    """Where a model would be called, with `payload.to_prompt()`. This one looks up terms and fills in a sentence."""
    terms = "12 months, list price"  # a call of the CRM would be here: exact business state stays where it lives
    calls = (Call(name="crm.get_terms", arguments={"contact": CONTACT}, result=terms),)
    current = [claim for claim in payload.claims if claim.status == "validated"]
    if payload.abstention is not None or not current:
        asked = payload.abstention.ask if payload.abstention else "How does Janet want to be approached?"
        return Reply(text=f"I do not know. {asked}", calls=calls)
    (claim,) = current
    edits = agent.claims("tom", "greeting", scope="email/janet").items
    greeting = next((edit.value for edit in edits if edit.status == "validated"), "Dear")
    quote = next(e.quote for e in payload.evidence if e.evidence_id in claim.evidence_ids)
    text = f"{greeting} Janet: {ORDERS[claim.value]} ({terms}). She wrote: “{quote}”"
    return Reply(text=text, calls=calls)


def grounded(payload: Payload, reply: Reply) -> Evaluation:
    """A reply that asserts something must quote what it rests on."""
    quotes = [evidence.quote for evidence in payload.evidence]
    ok = reply.text.startswith("I do not know") or any(quote in reply.text for quote in quotes)
    return Evaluation(ok=ok, reason="quotes its source, or abstains" if ok else "asserts without a quote")


def show(result: muniment.TurnResult) -> None:
    print(f"   {result.reply.text}")
    for claim in result.payload.claims:
        until = f" until {claim.valid_to:%Y-%m-%d}" if claim.valid_to else ""
        print(f"   - {claim.status.value}{until}: {claim.value} (in {claim.scope})")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./renewal-memory")
