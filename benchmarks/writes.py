"""Write rates, single and bulk, with and without embeddings, beside the bare embedder and bare INSERTs."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg

import muniment
from benchmarks.report import Table
from benchmarks.synthetic import drafts, sentences
from muniment.memory import EmbedderChoice
from muniment.providers.local import LocalEmbedder
from muniment.store.embedded import EmbeddedServer

SINGLE, BULK, PROPOSALS, SUBJECTS = 300, 3000, 1000, 100


def run(home: Path) -> None:
    """Each row of the table in a fresh tenant of one database."""
    table = Table("Writes, rows a second", "what", "with the local embedder", "without embeddings", "floor")
    texts = list(sentences(BULK, seed=1))
    embedder = LocalEmbedder()
    embedder.embed_passages(texts[:20])
    bare = _rate(BULK, lambda: embedder.embed_passages(texts))
    inserts = _bare_inserts(home, texts)
    rates: dict[str, dict[str, float]] = {}
    choices: tuple[tuple[str, EmbedderChoice], ...] = (("with", embedder), ("without", "none"))
    for name, choice in choices:
        with muniment.open(home / name, embedder=choice) as memory:
            rates[name] = {
                "add, one at a time": _add_singly(memory),
                "add_many": _add_bulk(memory),
                "propose and promote, one at a time": _propose(memory),
            }
    floors = {
        "add, one at a time": f"bare INSERT and commit {inserts[0]:,.0f}",
        "add_many": f"embedder {bare:,.0f} ({rates['with']['add_many'] / bare:.0%}); bare INSERT {inserts[1]:,.0f}",
        "propose and promote, one at a time": f"bare INSERT and commit {inserts[0]:,.0f}",
    }
    for what, floor in floors.items():
        table.add(what, f"{rates['with'][what]:,.0f}", f"{rates['without'][what]:,.0f}", floor)
    table.show(f"texts of 8 to 40 words; {PROPOSALS} proposals over {SUBJECTS} subjects")


def _rate(count: int, work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return count / (time.perf_counter() - started)


def _session(memory: muniment.Memory) -> muniment.Session:
    return memory.session(tenant=f"bench {uuid.uuid4().hex}")


def _add_singly(memory: muniment.Memory) -> float:
    session, texts = _session(memory), list(sentences(SINGLE, seed=2))
    session.add("warm")
    return _rate(SINGLE, lambda: [session.add(text) for text in texts])


def _add_bulk(memory: muniment.Memory) -> float:
    session, items = _session(memory), list(drafts(BULK, seed=3))
    return _rate(BULK, lambda: session.add_many(items))


def _propose(memory: muniment.Memory) -> float:
    session = _session(memory)
    session.define({"predicate": "colour", "cardinality": "one", "validation": "quoted"})
    message = session.add(" ".join(f"It is value{number}." for number in range(PROPOSALS)))
    spans = [message.quote(f"value{number}.") for number in range(PROPOSALS)]

    def work() -> None:
        for number, span in enumerate(spans):
            day = _day(number // SUBJECTS)
            session.propose(f"subject {number % SUBJECTS}", "colour", f"value{number}", evidence=span, valid_from=day)

    return _rate(PROPOSALS, work)


def _day(number: int) -> datetime:
    """A day of 2026, so that each later proposal changes the earlier one."""
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)


def _bare_inserts(home: Path, texts: list[str]) -> tuple[float, float]:
    """Rows a second of plain INSERTs, each committed, and of one executemany, into a table like evidence."""
    server = EmbeddedServer(home / "floor")
    try:
        with psycopg.connect(server.dsn(user="postgres", database="postgres"), autocommit=True) as connection:
            connection.execute(
                "CREATE TABLE plain (id uuid PRIMARY KEY, key text UNIQUE, content text, at timestamptz DEFAULT now())"
            )
            statement = "INSERT INTO plain (id, key, content) VALUES (%s, %s, %s)"
            rows = [(uuid.uuid4(), f"{number}", text) for number, text in enumerate(texts)]

            def one_by_one() -> None:
                for row in rows[:SINGLE]:
                    connection.execute(statement, row)

            single = _rate(SINGLE, one_by_one)
            with connection.transaction():
                bulk = _rate(len(rows) - SINGLE, lambda: connection.cursor().executemany(statement, rows[SINGLE:]))
            return single, bulk
    finally:
        server.release()
