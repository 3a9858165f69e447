"""What one proposal costs: milliseconds, round trips, and the same rows inserted by hand, committed as often."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import quantiles
from typing import Any, LiteralString

import psycopg
from psycopg import sql

import muniment
from benchmarks.report import Table
from muniment.memory import EmbedderChoice
from muniment.providers.local import LocalEmbedder
from muniment.store.embedded import EmbeddedServer

PROPOSALS, SUBJECTS, LINES = 10_000, 1_000, 500
TABLES: LiteralString = """
    SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname IN ('canonical', 'derived') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id')
     ORDER BY 1
"""


def run(home: Path, proposals: int = PROPOSALS) -> None:
    """Each row in a fresh folder, so that nothing is warm but what the proposals themselves warmed."""
    table = Table(
        f"{proposals:,} proposals over {SUBJECTS:,} subjects, one at a time",
        "", "a second", "p50 ms", "p95 ms", "rows each", "same rows by hand, a second", "ratio",
    )  # fmt: skip
    choices: tuple[tuple[str, EmbedderChoice], ...] = (
        ("without embeddings", "none"),
        ("with the local embedder", LocalEmbedder()),
    )
    for name, choice in choices:
        folder = home / name.replace(" ", "-")
        with muniment.open(folder, embedder=choice) as memory:
            tenant = f"bench {uuid.uuid4().hex}"
            times = _propose(memory.session(tenant=tenant), proposals)
            rows, by_hand = _by_hand(folder, tenant, proposals)
        rate = proposals / sum(times)
        cuts = quantiles(times, n=20)
        table.add(
            name, f"{rate:,.0f}", f"{cuts[9] * 1e3:.1f}", f"{cuts[18] * 1e3:.1f}", f"{rows / proposals:.1f}",
            f"{by_hand:,.0f}", f"{rate / by_hand:.2f}",
        )  # fmt: skip
    table.show("by hand: the rows of every table with all its indexes, one statement a table, sent together, committed")


def _propose(session: muniment.Session, proposals: int) -> list[float]:
    session.define({"predicate": "colour", "cardinality": "one", "validation": "quoted"})
    spans = []
    for first in range(0, proposals, LINES):
        numbers = range(first, min(first + LINES, proposals))
        message = session.add(" ".join(f"It is value{number}." for number in numbers))
        spans += [message.quote(f"value{number}.") for number in numbers]
    times = []
    for number, span in enumerate(spans):
        day = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number // SUBJECTS)
        began = time.perf_counter()
        session.propose(f"subject {number % SUBJECTS}", "colour", f"value{number}", evidence=span, valid_from=day)
        times.append(time.perf_counter() - began)
    return times


def _by_hand(folder: Path, tenant: str, proposals: int) -> tuple[int, float]:
    """How many rows the tenant has, and how many shares of them a second go into copies of the tables."""
    server = EmbeddedServer(folder)
    try:
        with psycopg.connect(server.dsn(user="postgres"), autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS floor CASCADE; CREATE SCHEMA floor")
            shares: list[tuple[sql.Composable, Sequence[str]]] = []
            for (name,) in connection.execute(TABLES).fetchall():
                copy = _copy(connection, name)
                rows = _rows(connection, name, tenant)
                if rows:
                    shares.append((copy, rows))
            began = time.perf_counter()
            for number in range(proposals):
                _insert_share(connection, shares, number, proposals)
            rate = proposals / (time.perf_counter() - began)
            connection.execute("DROP SCHEMA floor CASCADE")
            return sum(len(rows) for _, rows in shares), rate
    finally:
        server.release()


def _copy(connection: psycopg.Connection, name: str) -> sql.Composable:
    copy = sql.Identifier("floor", name.replace(".", "_"))
    like = sql.Identifier(*name.split("."))
    connection.execute(
        sql.SQL("CREATE TABLE {} (LIKE {} INCLUDING INDEXES INCLUDING CONSTRAINTS INCLUDING DEFAULTS)").format(
            copy, like
        )
    )
    return copy


def _rows(connection: psycopg.Connection, name: str, tenant: str) -> Sequence[str]:
    found = connection.execute(
        sql.SQL("SELECT to_jsonb(t)::text FROM {} t WHERE tenant_id = %s").format(sql.Identifier(*name.split("."))),
        [tenant],
    )
    return [row for (row,) in found]


def _insert_share(
    connection: psycopg.Connection, shares: list[tuple[sql.Composable, Sequence[str]]], number: int, proposals: int
) -> None:
    with connection.pipeline(), connection.transaction():
        for copy, rows in shares:
            share: list[Any] = list(rows[len(rows) * number // proposals : len(rows) * (number + 1) // proposals])
            if share:
                statement = sql.SQL(
                    "INSERT INTO {} SELECT (jsonb_populate_record(NULL::{}, r::jsonb)).* FROM unnest(%s::text[]) r"
                )
                connection.execute(statement.format(copy, copy), [share])
