"""The plan is part of the behaviour: the rows that a statement reads are bounded by the question, not by the table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

import muniment
from muniment.store.statements import sql
from tests.conftest import Databases, HashEmbedder
from tests.helpers import single_valued, tell

MESSAGES = 6000


@pytest.fixture(scope="module")
def crowd(databases: Databases) -> Iterator[psycopg.Connection]:
    """One tenant with thousands of messages and 400 claims about 200 subjects; as the application, as that tenant."""
    name = databases.create("plans_" + datetime.now(UTC).strftime("%H%M%S%f"))
    with muniment.open(databases.app(name), embedder=HashEmbedder(8)) as memory:
        session = memory.session(tenant="acme")
        words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
        items: list[dict[str, Any]] = [
            {"content": f"common words {words[n % 8]} and the rare word rare{n}", "source_id": str(n)}
            for n in range(MESSAGES)
        ]
        session.add_many(items)
        single_valued(session, "colour", "size")
        for number in range(200):
            tell(session, f"subject {number}", "colour", "red", "2026-01-01")
            tell(session, f"subject {number}", "size", number, "2026-01-01")
    with psycopg.connect(databases.admin(name), autocommit=True) as admin:
        admin.execute("ANALYZE")
    with psycopg.connect(databases.app(name), autocommit=True) as app:
        app.execute("SELECT set_config('muniment.tenant', 'acme', false), set_config('muniment.visible', '{0}', false)")
        yield app
    databases.drop(name)


def rows_read(connection: psycopg.Connection, statement: str, parameters: dict[str, Any], table: str) -> int:
    """Rows that the plan takes from `table`, those that a filter removes included."""
    row = connection.execute(
        "EXPLAIN (ANALYZE, FORMAT JSON) " + sql(statement),
        parameters,
    ).fetchone()
    assert row is not None
    plan = json.loads(row[0]) if isinstance(row[0], str) else row[0]
    return sum(_taken(node) for node in _nodes(plan[0]["Plan"]) if node.get("Relation Name") == table)


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


def _taken(node: dict[str, Any]) -> int:
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return int((node["Actual Rows"] + removed) * node["Actual Loops"])


def clocks() -> dict[str, Any]:
    now = datetime.now(UTC)
    return {"valid_at": now, "known_at": now, "until_occurred": None}


def test_an_as_of_lookup_reads_one_subject_and_not_the_table(crowd: psycopg.Connection) -> None:
    parameters = {
        "subject": "subject 7", "predicate": None, "memory_type": None, "scopes": None, "statuses": ["validated"],
        "holding": True, "after": None, "most": 100, **clocks(),
    }  # fmt: skip
    assert 0 < rows_read(crowd, "claims_as_of", parameters, "claim") <= 4
    assert 0 < rows_read(crowd, "claims_as_of", parameters, "claim_version") <= 8


def test_comparing_a_proposal_reads_its_slot_and_not_the_table(crowd: psycopg.Connection) -> None:
    row = crowd.execute("SELECT slot FROM canonical.claim WHERE subject_id = 'subject 7' LIMIT 1").fetchone()
    assert row is not None
    for statement, table in (
        ("held_in_slots", "claim"),
        ("held_in_slots", "claim_version"),
        ("links_of_slots", "claim_version"),
    ):
        assert rows_read(crowd, statement, {"slots": [row[0]]}, table) <= 2


def test_in_tables_that_have_just_grown_a_proposal_still_reads_its_slot_only(
    own_memory: muniment.Memory, own_database: str, databases: Databases
) -> None:
    """No statistics yet: the planner takes every condition for a two-hundredth of the table, the tenant's too."""
    session = own_memory.session(tenant="acme")
    single_valued(session, "colour")
    tell(session, "subject 7", "colour", "red", "2026-01-01")
    tell(session, "subject 7", "taste", "sweet", "2026-01-01")  # a candidate
    with psycopg.connect(databases.admin(own_database), autocommit=True) as admin:
        for table, fresh in (
            ("evidence", {"evidence_id": "gen_random_uuid()", "source_id": "gen_random_uuid()::text"}),
            ("claim", {"claim_id": "md5(claim_id::text || n)::uuid"}),
            ("claim_version", {"claim_id": "md5(claim_id::text || n)::uuid", "slot": "gen_random_uuid()"}),
            ("claim_evidence", {"claim_id": "md5(claim_id::text || n)::uuid"}),
        ):
            columns = [
                row[0]
                for row in admin.execute(
                    "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0",
                    ["canonical." + table],
                ).fetchall()
            ]
            chosen = ", ".join(fresh.get(column, column) for column in columns)
            admin.execute(
                f"INSERT INTO canonical.{table} SELECT {chosen} FROM canonical.{table}, generate_series(1, 3000) n"
            )
    with psycopg.connect(databases.app(own_database), autocommit=True) as app:
        app.execute("SELECT set_config('muniment.tenant', 'acme', false), set_config('muniment.visible', '{0}', false)")
        slots = [row[0] for row in app.execute("SELECT DISTINCT slot FROM canonical.claim").fetchall()]
        (evidence,) = app.execute("SELECT evidence_id FROM canonical.claim_evidence LIMIT 1").fetchall()
        parameters = {"slots": slots, "evidence": list(evidence), "ids": list(evidence), "starts": [0], "stops": [5]}
        for statement in (
            "held_in_slots", "links_of_slots", "backing_in_slots", "spans_in_slots", "cited", "cited_by_candidates",
        ):  # fmt: skip
            for table in ("claim", "claim_version", "claim_evidence", "claim_link", "evidence"):
                assert rows_read(app, statement, parameters, table) <= 2, (statement, table)


def test_verifying_hits_reads_those_rows_and_not_the_table(crowd: psycopg.Connection) -> None:
    ids = [row[0] for row in crowd.execute("SELECT evidence_id FROM canonical.evidence ORDER BY 1 LIMIT 10").fetchall()]
    parameters = {"ids": ids, "versions": [1] * 10, "starts": [0] * 10, "stops": [5] * 10, **clocks()}
    assert rows_read(crowd, "verify_evidence", parameters, "evidence") == 10


def test_drift_reads_what_is_behind_and_not_the_total(crowd: psycopg.Connection) -> None:
    recipes = [row[0] for row in crowd.execute("SELECT recipe_id FROM derived.recipe").fetchall()]
    assert rows_read(crowd, "behind", {"recipes": recipes}, "artifact") == 0
    with crowd.transaction():
        crowd.execute(
            "UPDATE derived.artifact SET state = 'stale' WHERE source_id IN (SELECT source_id FROM derived.artifact LIMIT 3)"
        )
        assert 3 <= rows_read(crowd, "behind", {"recipes": recipes}, "artifact") <= 6
        raise psycopg.Rollback


def blocks_touched(connection: psycopg.Connection, question: str, **bounds: int) -> int:
    """Blocks that one lexical search looked at, in its tables and indexes."""
    row = connection.execute(
        "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM derived.search_words("
        "(SELECT recipe_id FROM derived.recipe WHERE derivation = 'words'),"
        " ARRAY['evidence'], %s, 10, now(), now(), NULL, %s, %s)",
        (question, bounds["exact_up_to"], bounds["enough"]),
    ).fetchone()
    assert row is not None
    plan = row[0][0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def test_a_lexical_search_does_not_walk_the_list_of_a_word_that_every_row_holds(crowd: psycopg.Connection) -> None:
    question = "common words alpha rare8"
    everything = blocks_touched(crowd, question, exact_up_to=10**6, enough=10**6)
    bounded = blocks_touched(crowd, question, exact_up_to=1000, enough=500)
    assert everything > MESSAGES
    assert bounded < everything / 2


def test_a_bounded_lexical_search_finds_the_same_first_row(crowd: psycopg.Connection) -> None:
    def first(exact_up_to: int, enough: int) -> Any:
        return crowd.execute(
            "SELECT source_id FROM derived.search_words((SELECT recipe_id FROM derived.recipe WHERE derivation = 'words'),"
            " ARRAY['evidence'], 'common words alpha rare8', 10, now(), now(), NULL, %s, %s) LIMIT 1",
            (exact_up_to, enough),
        ).fetchone()

    assert first(10**6, 10**6) == first(1000, 500)


def test_a_bounded_lexical_search_still_returns_as_many_rows_as_were_asked_for(crowd: psycopg.Connection) -> None:
    """The rare word alone has one posting: the common ones must fill the rest."""
    rows = crowd.execute(
        "SELECT source_id FROM derived.search_words((SELECT recipe_id FROM derived.recipe WHERE derivation = 'words'),"
        " ARRAY['evidence'], 'common rare8', 50, now(), now(), NULL, 1000, 1)"
    ).fetchall()
    assert len(rows) == 50
