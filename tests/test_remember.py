"""Remembering: evidence first, claims through the gate, failures kept and tried again, whatever the extractor does."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

import muniment
from muniment.errors import ExtractionFailed, InvalidInput, VersionConflict
from muniment.extract.port import Candidate, Extraction, Extractor, Refused
from muniment.model.evidence import Evidence
from tests.conftest import Databases, HashEmbedder
from tests.helpers import at, single_valued, values

Read = Callable[[Evidence], Extraction]


class Reader:
    """An extractor that does what it is told for each evidence, and remembers which it was given."""

    def __init__(self, read: Read, name: str = "reader:1") -> None:
        self.read = read
        self.name = name
        self.seen: list[str] = []

    def extract(self, batch: Sequence[Evidence]) -> list[Extraction]:
        self.seen += [evidence.content for evidence in batch]
        return [self.read(evidence) for evidence in batch]


def homes(evidence: Evidence) -> Extraction:
    """Reads "X lives in Y."."""
    words = evidence.content.rstrip(".").split(" lives in ")
    found = (Candidate(words[0], "home", words[1], 0, len(evidence.content)),) if len(words) == 2 else ()
    return Extraction(candidates=found, calls=1, input_tokens=10, output_tokens=2)


def fails(evidence: Evidence) -> Extraction:
    return Extraction(failure=ExtractionFailed("timeout: no answer"), calls=1, input_tokens=7)


def raises(evidence: Evidence) -> Extraction:
    raise RuntimeError(f"cannot read {evidence.content}")


Open = Callable[..., muniment.Session]


@pytest.fixture
def reading(databases: Databases, database_name: str, tenant: str) -> Iterator[Open]:
    """Opens sessions of this test's tenant whose memory has the extractor given."""
    memories: list[muniment.Memory] = []

    def opened(extractor: Extractor | None, **who: Any) -> muniment.Session:
        dsn = databases.app(database_name)
        memories.append(muniment.open(dsn, embedder="none", extractor=extractor))
        return memories[-1].session(tenant=tenant, **who)

    yield opened
    for memory in memories:
        memory.close()


@pytest.fixture
def attempts(admin: psycopg.Connection, tenant: str) -> Callable[[], list[tuple[Any, ...]]]:
    """What is recorded: state, attempt, error, calls, tokens and what was refused, in order."""

    def read() -> list[tuple[Any, ...]]:
        return admin.execute(
            "SELECT state, attempt, error, calls, input_tokens, output_tokens, candidates, refused "
            "FROM canonical.extraction WHERE tenant_id = %s ORDER BY recorded_at",
            (tenant,),
        ).fetchall()

    return read


Attempts = Callable[[], list[tuple[Any, ...]]]
PENDING: tuple[Any, ...] = ("pending", 0, None, 0, 0, 0, 0, {})


def test_what_is_read_goes_through_the_gate_with_its_quote(reading: Open, attempts: Attempts) -> None:
    session = reading(Reader(homes))
    single_valued(session, "home")
    first = session.remember("Jane lives in Berlin.", occurred_at=at("2026-01-01"))
    second = session.remember("Jane lives in Rome.", occurred_at=at("2026-03-01"))
    assert [decision.outcome for decision in first.decisions] == ["validated"]
    assert second.decisions[0].status == "validated"
    assert values(session.claims("Jane", "home")) == ["Rome"]
    assert values(session.claims("Jane", "home", valid_at=at("2026-02-01"))) == ["Berlin"]
    (quote,) = session.why(first.decisions[0].claim_id).quotes
    assert (quote.quote, quote.evidence_id) == ("Jane lives in Berlin.", first.evidence.evidence_id)
    assert (first.calls, first.input_tokens, first.output_tokens, first.failure) == (1, 10, 2, None)
    assert attempts() == [PENDING, ("done", 1, None, 1, 10, 2, 1, {})] * 2


def test_the_same_again_is_not_read_again(reading: Open, attempts: Attempts) -> None:
    reader = Reader(homes)
    session = reading(reader)
    first = session.remember("Jane lives in Berlin.")
    again = session.remember("Jane lives in Berlin.")
    assert again.evidence == first.evidence
    assert (again.repeated, again.decisions, again.calls) == (True, (), 0)
    assert not first.repeated
    assert len(reader.seen) == 1
    assert len(attempts()) == 2
    assert session.retry().tried == 0


def test_another_extractor_reads_it_again(reading: Open, attempts: Attempts) -> None:
    reading(Reader(homes)).remember("Jane lives in Berlin.")
    again = reading(Reader(homes, "reader:2")).remember("Jane lives in Berlin.")
    assert (again.repeated, len(again.decisions)) == (False, 1)
    assert values(reading(None).claims("Jane", status=None)) == ["Berlin"]
    assert [row[:2] for row in attempts()] == [("pending", 0), ("done", 1), ("pending", 0), ("done", 1)]
    assert reading(Reader(homes)).remember("Jane lives in Berlin.").repeated


def test_evidence_that_was_only_added_is_read_when_it_is_remembered(reading: Open) -> None:
    session = reading(Reader(homes))
    added = session.add("Jane lives in Berlin.")
    assert session.retry().tried == 0
    remembered = session.remember("Jane lives in Berlin.")
    assert remembered.evidence.evidence_id == added.evidence_id
    assert len(remembered.decisions) == 1


@pytest.mark.parametrize(
    ("read", "error", "calls"),
    [
        (fails, "extraction_failed: timeout: no answer", 1),
        (raises, "extraction_failed: error: the extractor raised RuntimeError", 0),
    ],
)
def test_a_failure_keeps_the_evidence_and_is_tried_again(
    reading: Open, attempts: Attempts, read: Read, error: str, calls: int
) -> None:
    reader = Reader(read)
    session = reading(reader)
    failed = session.remember("Jane lives in Berlin.")
    assert failed.failure is not None
    assert f"{failed.failure.code}: {failed.failure.reason}" == error
    assert session.evidence(failed.evidence.evidence_id).content == "Jane lives in Berlin."
    assert session.search("Berlin", routes=["lexical"])
    still = session.retry()
    assert (still.tried, still.done, still.calls) == (1, 0, calls)
    assert [(evidence_id, failure.code) for evidence_id, failure in still.failed] == [
        (failed.evidence.evidence_id, "extraction_failed")
    ]
    reader.read = homes
    report = session.retry()
    assert (report.tried, report.done, report.failed, len(report.decisions)) == (1, 1, (), 1)
    assert values(session.claims("Jane", status=None)) == ["Berlin"]
    assert [row[:3] for row in attempts()] == [
        ("pending", 0, None), ("failed", 1, error), ("failed", 2, error), ("done", 3, None)
    ]  # fmt: skip
    assert session.retry().tried == 0


def test_remembering_again_after_a_failure_reads_again(reading: Open) -> None:
    reader = Reader(fails)
    session = reading(reader)
    session.remember("Jane lives in Berlin.")
    reader.read = homes
    again = session.remember("Jane lives in Berlin.")
    assert (again.repeated, again.failure, len(again.decisions)) == (False, None, 1)


@pytest.mark.parametrize("found", [[], [Extraction(), Extraction()], None])
def test_an_extractor_that_breaks_its_port_is_a_failure(reading: Open, found: Any) -> None:
    class Broken(Reader):
        def extract(self, batch: Sequence[Evidence]) -> Any:
            return found

    assert reading(Broken(homes)).remember("Jane lives in Berlin.").failure is not None


BAD: list[dict[str, Any]] = [
    {"end": 1000}, {"start": -1}, {"start": None}, {"subject": ""}, {"subject": "x" * 300}, {"value": None},
    {"value": float("nan")}, {"value": "a\x00b"}, {"value": {1}}, {"scope": "a//b"}, {"confidence": 7},
    {"valid_from": "yesterday"}, {"valid_to": at("1000-01-01")}, {"predicate": None}, {"memory_type": ""},
]  # fmt: skip


@pytest.mark.parametrize("wrong", BAD, ids=str)
def test_a_bad_candidate_is_refused_and_loses_no_other(
    reading: Open, attempts: Attempts, wrong: dict[str, Any]
) -> None:
    def read(evidence: Evidence) -> Extraction:
        good: dict[str, Any] = {"subject": "Jane", "predicate": "home", "value": "Berlin", "start": 0, "end": 4}
        candidates = (Candidate(**good), Candidate(**good | wrong), Candidate(**good | {"value": "Rome"}))
        return Extraction(candidates=candidates, refused=(Refused("unknown_span", "no such words"),))

    remembered = reading(Reader(read)).remember("Jane lives in Berlin.")
    assert len(remembered.decisions) == 2
    assert len(remembered.refused) == 2
    assert remembered.failure is None
    (_, row) = attempts()
    assert (row[0], row[6], sum(row[7].values())) == ("done", 3, 2)


def test_nothing_recorded_repeats_the_text(reading: Open, attempts: Attempts) -> None:
    def read(evidence: Evidence) -> Extraction:
        return Extraction(refused=(Refused("unknown_span", f"not in {evidence.content}"), Refused("a\x00\ud800", "")))

    session = reading(Reader(read))
    remembered = session.remember("a secret sentence")
    reading(Reader(raises, "reader:2")).remember("a secret sentence")
    assert remembered.refused[0].reason == "not in a secret sentence"
    assert "secret" not in str(attempts())


def test_without_an_extractor_nothing_is_stored_and_it_says_what_to_do(reading: Open, admin: Any, tenant: str) -> None:
    session = reading(None)
    for call in (lambda: session.remember("Jane lives in Berlin."), session.retry):
        with pytest.raises(InvalidInput, match="extractor="):
            call()
    found = admin.execute("SELECT count(*) FROM canonical.evidence WHERE tenant_id = %s", (tenant,)).fetchone()
    assert found == (0,)


def test_what_add_refuses_remember_refuses(reading: Open) -> None:
    reader = Reader(homes)
    session = reading(reader)
    session.remember("Jane lives in Berlin.", source_id="1")
    with pytest.raises(VersionConflict):
        session.remember("Jane lives in Rome.", source_id="1")
    with pytest.raises(InvalidInput):
        session.remember(" ")
    assert len(reader.seen) == 1


@pytest.mark.parametrize(("limit", "attempts"), [(0, 5), (-1, 5), (True, 5), ("1", 5), (10**6, 5), (1, 0)])
def test_a_limit_out_of_range_is_refused(reading: Open, limit: Any, attempts: Any) -> None:
    with pytest.raises(InvalidInput):
        reading(Reader(homes)).retry(limit, attempts=attempts)


def test_retry_takes_the_longest_waiting_first_and_leaves_alone_what_failed_often(reading: Open) -> None:
    reader = Reader(fails)
    session = reading(reader)
    for n in range(4):
        session.remember(f"text {n}")
    reader.seen.clear()
    first = session.retry(3)
    assert (first.tried, first.more, reader.seen) == (3, True, ["text 0", "text 1", "text 2"])
    assert (session.retry(3).tried, reader.seen[3:]) == (3, ["text 3", "text 0", "text 1"])
    while (report := session.retry()).tried:
        assert not report.more
    assert sorted(reader.seen) == sorted(f"text {n}" for n in range(4) for _ in range(4))
    assert session.retry(attempts=6).tried == 4
    assert reading(Reader(homes, "reader:2")).retry().done == 4


def test_what_one_may_not_see_one_does_not_retry(reading: Open) -> None:
    session = reading(Reader(fails), grants={"team"})
    session.remember("Jane lives in Berlin.", access={"team"})
    assert reading(Reader(homes)).retry().tried == 0
    assert reading(Reader(homes), grants={"team"}).retry().done == 1
    assert values(reading(None).claims("Jane", status=None)) == []
    assert values(reading(None, grants={"team"}).claims("Jane", status=None)) == ["Berlin"]


def test_what_the_session_cannot_see_waits_for_one_that_can(reading: Open) -> None:
    reader = Reader(homes)
    blind = reading(reader).remember("Jane lives in Berlin.", access={"team"})
    assert blind.failure is not None
    assert "retry()" in blind.failure.reason
    assert reader.seen == []
    assert reading(Reader(homes), grants={"team"}).retry().done == 1


def test_two_who_retry_at_once_record_both_attempts_and_hold_one_claim(reading: Open, attempts: Attempts) -> None:
    reader = Reader(fails)
    session = reading(reader)
    session.remember("Jane lives in Berlin.")
    inner = reading(Reader(homes))

    def meanwhile(evidence: Evidence) -> Extraction:
        assert inner.retry().done == 1
        return homes(evidence)

    reader.read = meanwhile
    assert session.retry().done == 1
    assert [row[:2] for row in attempts()] == [("pending", 0), ("failed", 1), ("done", 2), ("done", 3)]
    assert values(session.claims("Jane", status=None)) == ["Berlin"]


def test_no_transaction_is_open_while_the_extractor_works(reading: Open, admin: psycopg.Connection) -> None:
    def read(evidence: Evidence) -> Extraction:
        rows = admin.execute(
            "SELECT state FROM pg_stat_activity WHERE application_name = 'muniment' AND datname = current_database() "
            "AND state <> 'idle'"
        ).fetchall()
        assert rows == []
        return homes(evidence)

    assert reading(Reader(read)).remember("Jane lives in Berlin.").failure is None


def test_an_embedder_that_fails_at_the_gate_is_no_fault_of_the_claim(
    databases: Databases, database_name: str, tenant: str
) -> None:
    class Moody(HashEmbedder):
        well = True

        def embed_passages(self, texts: Sequence[str]) -> Any:
            if not self.well and any("home" in text for text in texts):
                raise RuntimeError("out of memory")
            return super().embed_passages(texts)

    embedder = Moody()
    with own_memory(databases, embedder, Reader(homes)) as memory:
        session = memory.session(tenant=tenant)
        embedder.well = False
        remembered = session.remember("Jane lives in Berlin.")
        assert remembered.failure is not None
        assert (remembered.failure.code, remembered.decisions, remembered.refused) == ("embedder_failed", (), ())
        embedder.well = True
        assert session.retry().done == 1
        assert values(session.claims("Jane", status=None)) == ["Berlin"]
        assert not memory.drift(full=True)


@contextmanager
def own_memory(databases: Databases, embedder: Any, extractor: Extractor) -> Iterator[muniment.Memory]:
    """A memory on a database of its own, since it has an embedder of its own."""
    name = databases.create(f"remember_{os.getpid()}_{id(embedder)}")
    try:
        with muniment.open(databases.app(name), embedder=embedder, extractor=extractor) as memory:
            yield memory
    finally:
        databases.drop(name)


KILLED = """
import os, signal, sys
import muniment
from tests.test_remember import Reader, homes
def read(evidence):
    print("reading", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
with muniment.open(sys.argv[1], embedder="none", extractor=Reader(read)) as memory:
    memory.session(tenant=sys.argv[2]).remember("Jane lives in Berlin.")
"""


def test_a_process_killed_while_it_reads_leaves_evidence_that_retry_picks_up(
    reading: Open, databases: Databases, database_name: str, tenant: str, attempts: Attempts
) -> None:
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, databases.app(database_name), tenant], capture_output=True, text=True, cwd=root,
        check=False, timeout=60, env=os.environ | {"PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (-9, "reading\n"), done.stderr
    assert attempts() == [PENDING]
    report = reading(Reader(homes)).retry()
    assert (report.tried, report.done) == (1, 1)
    assert values(reading(None).claims("Jane", status=None)) == ["Berlin"]


def test_evidence_and_the_note_that_it_waits_are_one_transaction(reading: Open, admin: psycopg.Connection) -> None:
    def read(evidence: Evidence) -> Extraction:
        same = admin.execute(
            "SELECT e.xmin = x.xmin FROM canonical.evidence e JOIN canonical.extraction x USING (tenant_id, evidence_id) "
            "WHERE e.evidence_id = %s",
            (evidence.evidence_id,),
        ).fetchall()
        assert same == [(True,)]
        return homes(evidence)

    assert reading(Reader(read)).remember("Jane lives in Berlin.").failure is None


def test_records_are_never_changed_but_for_the_end_of_what_was_known(
    reading: Open, databases: Databases, database_name: str, tenant: str
) -> None:
    reading(Reader(homes)).remember("Jane lives in Berlin.")
    with psycopg.connect(databases.app(database_name)) as app:
        app.execute(
            "SELECT set_config('muniment.tenant', %s, true), set_config('muniment.visible', '{0}', true)", (tenant,)
        )
        assert app.execute(
            "SELECT count(*), count(*) FILTER (WHERE upper_inf(known)) FROM canonical.extraction"
        ).fetchone() == (2, 1)
        for statement in ("UPDATE canonical.extraction SET state = 'done'", "DELETE FROM canonical.extraction"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), app.transaction():
                app.execute(statement)


def test_records_of_another_tenant_or_label_are_not_seen(
    reading: Open, databases: Databases, database_name: str, tenant: str
) -> None:
    reading(Reader(homes), grants={"team"}).remember("Jane lives in Berlin.", access={"team"})
    with psycopg.connect(databases.app(database_name)) as app:
        for seen_by in (tenant, "somebody else"):
            app.execute(
                "SELECT set_config('muniment.tenant', %s, true), set_config('muniment.visible', '{0}', true)",
                (seen_by,),
            )
            assert app.execute("SELECT count(*) FROM canonical.extraction").fetchone() == (0,)


def test_what_waits_is_read_through_its_index_however_much_is_done(
    databases: Databases, database_name: str, tenant: str
) -> None:
    from muniment.store.statements import sql

    with psycopg.connect(databases.admin(database_name)) as admin:
        admin.execute(
            "INSERT INTO canonical.activity (tenant_id, activity_id, kind, actor, software, used, started_at) "
            "VALUES (%s, gen_random_uuid(), 'test', 't', 't', '{}', now())",
            (tenant,),
        )
        admin.execute(
            "WITH e AS (INSERT INTO canonical.evidence (tenant_id, evidence_id, kind, source, source_id, source_version,"
            " role, trust, content, media_type, content_sha256, observed_at, access_id, activity_id)"
            " SELECT a.tenant_id, gen_random_uuid(), 'message', 's', n::text, 1, 'user', 'first_party', 'x', 'text/plain',"
            " sha256('x'), now(), 0, a.activity_id FROM canonical.activity a, generate_series(1, 20000) n"
            " WHERE a.tenant_id = %s RETURNING *)"
            " INSERT INTO canonical.extraction (tenant_id, extraction_id, evidence_id, extractor, attempt, state, known,"
            " access_id, activity_id, error) SELECT tenant_id, gen_random_uuid(), evidence_id, 'r', 1,"
            " CASE WHEN source_id = '77' THEN 'failed' ELSE 'done' END, tstzrange(now(), NULL), 0, activity_id,"
            " CASE WHEN source_id = '77' THEN 'x' END FROM e",
            (tenant,),
        )
        admin.execute("ANALYZE canonical.extraction")
        admin.execute("SET LOCAL ROLE muniment_app")
        admin.execute(
            "SELECT set_config('muniment.tenant', %s, true), set_config('muniment.visible', '{0}', true)", (tenant,)
        )
        rows = admin.execute(
            "EXPLAIN (ANALYZE, FORMAT JSON) " + sql("extractions_waiting"),
            {"attempts": 5, "extractor": "r", "most": 100},
        ).fetchone()
        assert rows is not None
        plan = json.dumps(rows[0])
        admin.rollback()
    assert "extraction_waiting" in plan
    assert "Seq Scan" not in plan


def test_the_async_twin_remembers_and_retries(databases: Databases, database_name: str, tenant: str) -> None:
    async def work() -> tuple[muniment.Remembered, muniment.RetryReport]:
        dsn, reader = databases.app(database_name), Reader(fails)
        async with await muniment.open_async(dsn, embedder="none", extractor=reader) as memory:
            session = memory.session(tenant=tenant)
            failed = await session.remember("Jane lives in Berlin.")
            reader.read = homes
            return failed, await session.retry()

    failed, report = asyncio.run(work())
    assert failed.failure is not None
    assert report.done == 1


def test_an_extractor_needs_a_name_that_can_be_recorded(databases: Databases, database_name: str) -> None:
    for name in ("", "x" * 300, "a\x00b"):
        with pytest.raises(InvalidInput):
            muniment.open(databases.app(database_name), embedder="none", extractor=Reader(homes, name))
