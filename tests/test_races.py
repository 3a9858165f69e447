"""Rival writers. The race is forced with a held lock: every writer waits at it before any of them may go on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import psycopg
import pytest

import muniment
from muniment.errors import ClaimMovedOn, MunimentError, RivalTruth
from tests.conftest import Databases
from tests.helpers import at, single_valued, tell, values


def outcomes_at_a_held_lock(
    databases: Databases, name: str, tenant: str, subject: str, calls: list[Callable[[], Any]]
) -> list[Any]:
    """Starts all calls while the subject is locked, waits until each of them waits for it, lets go."""
    with (
        psycopg.connect(databases.admin(name), autocommit=True) as watcher,
        psycopg.connect(databases.admin(name)) as holder,
        ThreadPoolExecutor(len(calls)) as pool,
    ):
        holder.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"{tenant}\x1f{subject}",))
        futures = [pool.submit(call) for call in calls]
        _until_waiting(watcher, holder.info.backend_pid, len(calls), futures)
        holder.commit()
        return [_outcome(future) for future in futures]


def _until_waiting(watcher: psycopg.Connection, holder: int, count: int, futures: list[Future[Any]]) -> None:
    pause = threading.Event()
    for _ in range(3000):
        row = watcher.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid)) OR wait_event = 'advisory'",
            (holder,),
        ).fetchone()
        if row is not None and row[0] >= count:
            return
        assert not any(future.done() for future in futures), [future.result() for future in futures if future.done()]
        pause.wait(0.01)
    raise AssertionError("the writers never came to the lock")


def _outcome(future: Future[Any]) -> Any:
    try:
        return future.result(timeout=30).outcome
    except MunimentError as error:
        return type(error)


@pytest.fixture
def disputed(session: muniment.Session) -> muniment.Decision:
    single_valued(session, "colour")
    return tell(session, "thing", "colour", "red", "2026-01-01")


def test_of_two_corrections_of_one_claim_one_wins_and_the_other_learns_that_it_moved_on(
    databases: Databases, database_name: str, session: muniment.Session, tenant: str, disputed: muniment.Decision
) -> None:
    spans = [session.add(f"No, it is {colour}.").quote(colour) for colour in ("blue", "green")]
    outcomes = outcomes_at_a_held_lock(
        databases, database_name, tenant, "thing",
        [partial(session.correct, disputed.claim_id, colour, evidence=span) for span, colour in zip(spans, ("blue", "green"), strict=True)],
    )  # fmt: skip
    assert sorted(map(str, outcomes)) == sorted(["superseded_other", str(ClaimMovedOn)])
    assert len(values(session.claims("thing", "colour"))) == 1


def test_of_two_confirmed_rivals_one_wins_and_the_other_is_a_rival_truth(
    databases: Databases, database_name: str, session: muniment.Session, tenant: str
) -> None:
    session.define({"predicate": "colour", "cardinality": "one"})
    rivals = [tell(session, "thing", "colour", colour, "2026-01-01") for colour in ("blue", "green")]
    outcomes = outcomes_at_a_held_lock(
        databases,
        database_name,
        tenant,
        "thing",
        [partial(session.confirm, rival.claim_id, by="x") for rival in rivals],
    )
    assert sorted(map(str, outcomes)) == sorted(["validated", str(RivalTruth)])
    assert len(values(session.claims("thing", "colour"))) == 1


def test_two_writers_of_one_change_make_one_claim_with_two_supports(
    databases: Databases, database_name: str, session: muniment.Session, tenant: str, disputed: muniment.Decision
) -> None:
    spans = [
        session.add("It is blue now.", source_id=name, occurred_at=at("2026-02-01")).quote("blue")
        for name in ("m1", "m2")
    ]
    outcomes = outcomes_at_a_held_lock(
        databases, database_name, tenant, "thing",
        [partial(session.propose, "thing", "colour", "blue", evidence=span) for span in spans],
    )  # fmt: skip
    assert sorted(outcomes) == ["superseded_other", "supported"]
    (blue,) = session.claims("thing", "colour").items
    assert len(session.why(blue.claim_id).quotes) == 2


def test_a_conclusion_proposed_while_its_premise_falls_never_outlives_it(
    databases: Databases, database_name: str, session: muniment.Session, tenant: str, disputed: muniment.Decision
) -> None:
    """The premise belongs to another subject: both writers must meet at its lock."""
    single_valued(session, "mood")
    span = session.add("So I am glad.", occurred_at=at("2026-01-02")).quote("glad")
    outcomes = outcomes_at_a_held_lock(
        databases, database_name, tenant, "thing",
        [
            lambda: session.retract(disputed.claim_id, reason="no"),
            lambda: session.propose("ada", "mood", "glad", evidence=span, premises=[disputed.claim_id]),
        ],
    )  # fmt: skip
    assert "retracted" in outcomes
    assert values(session.claims("ada", "mood")) == []


def test_fifty_identical_adds_at_once_are_one_row(
    memory: muniment.Memory, session: muniment.Session, tenant: str, admin: psycopg.Connection
) -> None:
    gate = threading.Barrier(10)

    def add(number: int) -> str:
        gate.wait()
        return session.add("the same words", source_id="same").evidence_id

    with ThreadPoolExecutor(10) as pool:
        ids = set(pool.map(add, range(50)))
    assert len(ids) == 1
    row = admin.execute("SELECT count(*) FROM canonical.evidence WHERE tenant_id = %s", (tenant,)).fetchone()
    assert row == (1,)
    assert not memory.drift(full=False).counts.get("words stale")


def test_eight_parallel_appends_are_all_there(session: muniment.Session) -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda n: session.add(f"append number {n} of the eight").evidence_id, range(8)))
    assert len(set(ids)) == 8
    assert {hit.id for hit in session.search("append number", k=20, kinds=["evidence"])} == set(ids)


def test_two_validated_rivals_cannot_be_inserted_by_hand(
    databases: Databases, database_name: str, session: muniment.Session, tenant: str, disputed: muniment.Decision
) -> None:
    with psycopg.connect(databases.app(database_name), autocommit=True) as app:
        app.execute(
            "SELECT set_config('muniment.tenant', %s, false), set_config('muniment.visible', '{0}', false)", (tenant,)
        )
        new = "01900000-0000-7000-8000-000000000001"
        app.execute(
            "INSERT INTO canonical.claim (tenant_id, claim_id, memory_type, subject_id, predicate, value, statement, scope,"
            " slot, cardinality, access_id, activity_id) SELECT tenant_id, %s, memory_type, subject_id, predicate,"
            " '\"black\"', statement, scope, slot, cardinality, access_id, activity_id FROM canonical.claim WHERE claim_id = %s",
            (new, disputed.claim_id),
        )
        with pytest.raises(psycopg.errors.ExclusionViolation, match="claim_version_no_rival_truth"):
            app.execute(
                "INSERT INTO canonical.claim_version (tenant_id, claim_id, version, slot, status, asserted, valid, known,"
                " access_id, decided_by) SELECT tenant_id, %s, 1, slot, status, asserted, valid, known, access_id,"
                " decided_by FROM canonical.claim_version WHERE claim_id = %s",
                (new, disputed.claim_id),
            )
        with pytest.raises(psycopg.errors.ExclusionViolation, match="claim_version_one_at_a_time"):
            app.execute(
                "INSERT INTO canonical.claim_version (tenant_id, claim_id, version, slot, status, asserted, valid, known,"
                " access_id, decided_by) SELECT tenant_id, claim_id, 2, slot, 'candidate', asserted, valid, known, access_id,"
                " decided_by FROM canonical.claim_version WHERE claim_id = %s",
                (disputed.claim_id,),
            )
