"""Memory types: what fits them, how they are read, what is counted and what they are pinned to."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

import muniment
from muniment.errors import BadFilter, InvalidInput, NotFound, VersionConflict
from muniment.model.memory_type import MEMORY_TYPES
from tests.conftest import Databases
from tests.helpers import values

WORKFLOW = {"description": "Renew a contract", "steps": ["read the terms", "call first", "send the summary"]}
EPISODE = {
    "title": "Renewal call with Janet", "summary": "She wants a call before the summary.", "outcome": "agreed",
    "run": "run-7", "key_steps": ["called", "noted"],
}  # fmt: skip
TOOL = {
    "description": "Looks up an invoice",
    "parameters": {"type": "object", "properties": {"id": {"type": "string"}}},
}


def hold(session: muniment.Session, subject: str, name: str, value: Any, memory_type: str, **more: Any) -> str:
    """A claim of some type that holds: confirmed, or from an authoritative source."""
    source = session.add(f"{subject} {name}: {value}", trust="authoritative", kind="policy")
    decision = session.propose(subject, name, value, evidence=source, memory_type=memory_type, **more)
    if decision.status == "candidate":
        session.confirm(decision.claim_id, by="ada")
    return decision.claim_id


def test_there_are_eight_types_each_with_its_place_and_its_way_of_reading() -> None:
    assert {(name, one.canonical, one.read) for name, one in MEMORY_TYPES.items()} == {
        ("guideline", "claims", "enumerated"), ("persona", "claims", "enumerated"), ("entity", "claims", "hybrid"),
        ("episode", "claims", "hybrid"), ("conversation", "evidence", "thread"), ("workflow", "claims", "similarity"),
        ("tool", "claims", "enumerated"), ("knowledge_base", "evidence", "hybrid"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("memory_type", "value", "complaint"),
    [
        ("workflow", {"description": "x"}, "steps"),
        ("workflow", WORKFLOW | {"stps": []}, "stps"),
        ("episode", "we talked", "title"),
        ("episode", {k: v for k, v in EPISODE.items() if k != "run"}, "run"),
        ("episode", EPISODE | {"completed_at": "2026-01-01T10:00"}, "completed_at"),
        ("tool", {"description": "x", "parameters": "none"}, "parameters"),
        ("guideline", {"text": ""}, "text"),
        ("conversation", "hello", "add"),
        ("knowledge_base", "a document", "add"),
    ],
)
def test_a_value_that_does_not_fit_its_type_is_refused_with_what_is_wrong(
    session: muniment.Session, memory_type: str, value: Any, complaint: str
) -> None:
    note = session.add("something")
    with pytest.raises(InvalidInput, match=complaint):
        session.propose("agents", "x", value, evidence=note, memory_type=memory_type)


def test_guidelines_come_in_full_by_priority_and_the_narrower_one_wins_in_its_scope(session: muniment.Session) -> None:
    hold(session, "agents", "greeting", {"text": "Greet by name.", "priority": 20}, "guideline")
    hold(session, "agents", "pricing", {"text": "Never quote a price.", "priority": 1}, "guideline")
    hold(session, "agents", "tone", "Be brief.", "guideline")
    hold(session, "agents", "pricing", {"text": "Quote the list price.", "priority": 1}, "guideline", scope="renewal")
    everywhere = session.enumerate("guideline", subject="agents", scope="")
    assert [c.predicate for c in everywhere] == ["pricing", "greeting", "tone"]
    renewal = session.enumerate("guideline", subject="agents", scope="renewal/2027")
    assert [(c.predicate, c.scope) for c in renewal] == [("pricing", "renewal"), ("greeting", ""), ("tone", "")]


def test_a_guideline_needs_an_authoritative_source(session: muniment.Session) -> None:
    chat = session.add("Always give a discount.")
    decision = session.propose(
        "agents", "discount", "Always give a discount.", evidence=chat.quote("Always give a discount"),
        memory_type="guideline",
    )  # fmt: skip
    assert decision.status == "candidate"
    assert session.enumerate("guideline") == []


def test_an_enumerated_type_comes_in_full_beyond_any_page(session: muniment.Session) -> None:
    session.define({"predicate": "persona:*", "cardinality": "one", "validation": "quoted"})
    note = session.add("yes")
    for number in range(1100):
        session.propose("jane", f"key {number:04}", number, evidence=note.quote("yes"), memory_type="persona")
    found = session.enumerate("persona", subject="jane")
    assert [claim.value for claim in found] == list(range(1100))


def test_a_type_that_is_searched_is_not_enumerated(session: muniment.Session) -> None:
    for name in ("entity", "episode", "workflow", "conversation", "nonsense"):
        with pytest.raises(BadFilter):
            session.enumerate(name)


def test_persona_is_read_as_of_a_moment(session: muniment.Session) -> None:
    hold(session, "jane", "tone", "formal", "persona")
    before = datetime.now(UTC)
    hold(session, "jane", "tone", "dry", "persona")
    assert values(session.enumerate("persona", subject="jane")) == ["dry"]
    assert values(session.enumerate("persona", subject="jane", as_of=before)) == ["formal"]


def test_a_workflow_is_found_by_its_description_and_counts_come_from_outcomes(session: muniment.Session) -> None:
    claim = hold(session, "agents", "renewal", WORKFLOW, "workflow")
    (hit, *_) = session.search("how do I renew a contract", kinds=["claim"])
    assert hit.id == claim
    assert hit.text == "agents renewal: Renew a contract"
    assert (session.outcomes(claim).successes, session.outcomes(claim).failures) == (0, 0)
    session.report(claim, "success", run="run-1")
    session.report(claim, "success", run="run-1")
    before = datetime.now(UTC)
    session.report(claim, "success")
    failed = session.report(claim, "failure", run="run-3", note="she hung up")
    assert (session.outcomes(claim).successes, session.outcomes(claim).failures) == (2, 1)
    assert session.outcomes(claim, known_at=before).successes == 1
    with pytest.raises(VersionConflict):
        session.report(claim, "failure", run="run-1")
    session.withdraw(failed.evidence_id, reason="wrong run")
    assert session.outcomes(claim).failures == 0


def test_outcomes_are_counted_as_far_as_they_may_be_seen(memory: muniment.Memory, tenant: str) -> None:
    everyone, board = memory.session(tenant=tenant), memory.session(tenant=tenant, grants={"board"})
    claim = hold(everyone, "agents", "renewal", WORKFLOW, "workflow")
    board.report(claim, "failure", access={"board"})
    assert (everyone.outcomes(claim).failures, board.outcomes(claim).failures) == (0, 1)
    with pytest.raises(NotFound):
        memory.session(tenant=f"{tenant} other").outcomes(claim)
    with pytest.raises(InvalidInput):
        everyone.report(claim, "maybe")


def test_an_episode_is_pinned_to_its_run_and_evidence_versions_and_says_how_far_they_moved_on(
    session: muniment.Session,
) -> None:
    transcript = session.add("v1 of the transcript", source="calls", source_id="7", role="assistant")
    decision = session.propose("contact_1842", "episode", EPISODE, evidence=transcript, memory_type="episode")
    assert decision.status == "validated"
    (pin,) = session.pins(decision.claim_id)
    assert (pin.version, pin.behind) == (1, 0)
    known = datetime.now(UTC)
    for version in (2, 3):
        session.add(f"v{version} of the transcript", source="calls", source_id="7", source_version=version)
    (pin,) = session.pins(decision.claim_id)
    assert (pin.behind, str(pin)) == (2, "derived from calls:7 v1; it is now v3")
    assert session.pins(decision.claim_id, known_at=known)[0].behind == 0
    (claim,) = session.claims("contact_1842", memory_type="episode").items
    assert claim.value == EPISODE
    assert "what happened, not what is true" in session.recall("renewal call with Janet").to_prompt()


def test_a_tool_keeps_its_schema_and_a_changed_one_takes_its_place(session: muniment.Session) -> None:
    hold(session, "agents", "invoice", TOOL, "tool")
    hold(session, "agents", "invoice", TOOL | {"usage_notes": "by number only"}, "tool")
    (claim,) = session.enumerate("tool")
    assert claim.value["usage_notes"] == "by number only"


def test_the_views_show_a_role_its_tenants_rows_and_no_others(
    databases: Databases, own_memory: muniment.Memory, own_database: str
) -> None:
    acme = own_memory.session(tenant="acme", grants={"board"})
    hold(acme, "agents", "tone", "Be brief.", "guideline")
    claim = hold(acme, "agents", "renewal", WORKFLOW, "workflow")
    acme.report(claim, "success")
    acme.add("the chat", thread="t1")
    acme.add("secret", thread="t1", access={"board"})
    acme.add("# Manual", kind="document", source="docs", source_id="m")
    acme.add("# Manual, second", kind="document", source="docs", source_id="m", source_version=2)
    hold(acme, "jane", "home", "Kyoto", "entity")
    hold(acme, "jane", "tone", "dry", "persona")
    hold(acme, "agents", "invoice", TOOL, "tool")
    acme.propose("jane", "episode", EPISODE, evidence=acme.add("t"), memory_type="episode")
    with psycopg.connect(databases.app(own_database), autocommit=True) as app:

        def rows(query: str, tenant: str) -> list[Any]:
            with app.transaction():
                app.execute(
                    "SELECT set_config('muniment.tenant', %s, true), set_config('muniment.visible', '{0}', true)",
                    [tenant],
                )
                return app.execute(query).fetchall()

        for name in MEMORY_TYPES:
            assert rows(f"SELECT * FROM memory.{name}", "other") == [], name
            assert rows(f"SELECT * FROM memory.{name}", "acme"), name
            assert app.execute(f"SELECT * FROM memory.{name}").fetchall() == [], name
        assert rows("SELECT successes, failures FROM memory.workflow", "acme") == [(1, 0)]
        assert rows("SELECT run, cardinality(pinned_to) FROM memory.episode", "acme") == [("run-7", 1)]
        assert rows("SELECT count(*) FROM memory.conversation WHERE thread_id = 't1'", "acme") == [(1,)]
        assert rows("SELECT version, latest FROM memory.knowledge_base ORDER BY 1", "acme") == [(1, False), (2, True)]
