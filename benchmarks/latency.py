"""Search latency at 10,000 and 100,000 rows, beside the same hybrid SQL by hand: as the owner, without row-level
security, without access, time or verification, unprepared fusion in Python left out."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import psycopg
from pgvector.psycopg import register_vector

import muniment
from benchmarks.report import Table
from benchmarks.synthetic import RandomEmbedder, drafts, sentences
from muniment.store.embedded import EmbeddedServer

SIZES = (10_000, 100_000)
QUESTIONS = 60
LABEL = frozenset({"team"})

BY_HAND_WORDS = """
SELECT h.source_id, sum(w.idf * h.frequency * 1.9 / (h.frequency + 0.9 * (0.6 + 0.4 * h.length / 24.0))) AS score
FROM (SELECT t.term, ln(1 + (%(documents)s - n + 0.5) / (n + 0.5)) AS idf
      FROM unnest(tsvector_to_array(to_tsvector('derived.words', %(question)s))) AS t (term),
           LATERAL (SELECT count(*) AS n FROM derived.posting p
                    WHERE p.tenant_id = %(tenant)s AND p.recipe_id = 1 AND p.term = t.term) c) w
JOIN derived.posting h ON h.tenant_id = %(tenant)s AND h.recipe_id = 1 AND h.term = w.term
GROUP BY h.source_id ORDER BY score DESC LIMIT 50
"""
BY_HAND_VECTORS = """
SELECT source_id FROM derived.embedding WHERE tenant_id = %(tenant)s AND recipe_id = 2
ORDER BY vector <=> %(vector)s LIMIT 50
"""
BY_HAND_ROWS = "SELECT content FROM canonical.evidence WHERE tenant_id = %(tenant)s AND evidence_id = ANY (%(ids)s)"


def run(home: Path) -> None:
    """One tenant a size in one database, labels on."""
    embedder = RandomEmbedder()
    questions = [" ".join(text.split()[:5]) for text in sentences(QUESTIONS, seed=99)]
    table = Table(
        "Latency, ms (p50 / p95)", "rows", "lexical", "semantic", "search", "recall", "by hand", "search : by hand"
    )
    with muniment.open(home / "latency", embedder=embedder) as memory:
        for size in SIZES:
            tenant = f"latency {size}"
            session = memory.session(tenant=tenant, grants=LABEL)
            session.add_many(drafts(size, seed=size, access=LABEL))
            memory.work(once=True)
            by_hand = _by_hand(home, embedder, tenant, size, questions)
            search = _times(session.search, questions)
            table.add(
                f"{size:,}",
                _pair(_times(partial(session.search, routes=["lexical"]), questions)),
                _pair(_times(partial(session.search, routes=["semantic"]), questions)),
                _pair(search),
                _pair(_times(session.recall, questions)),
                _pair(by_hand),
                f"{statistics.median(search) / statistics.median(by_hand):.2f}",
            )
    table.show("synthetic texts of 8 to 40 words (Zipf), five-word questions, random vectors, one client, warm")


def _times(call: Callable[[str], object], questions: Sequence[str]) -> list[float]:
    for question in questions[:5]:
        call(question)
    times = []
    for question in questions:
        started = time.perf_counter()
        call(question)
        times.append((time.perf_counter() - started) * 1000)
    return times


def _pair(times: Sequence[float]) -> str:
    ordered = sorted(times)
    return f"{statistics.median(ordered):.1f} / {ordered[int(0.95 * (len(ordered) - 1))]:.1f}"


def _by_hand(home: Path, embedder: RandomEmbedder, tenant: str, size: int, questions: Sequence[str]) -> list[float]:
    server = EmbeddedServer(home / "latency")
    try:
        with psycopg.connect(server.dsn(user="postgres"), autocommit=True, options="-c jit=off") as connection:
            register_vector(connection)

            def ask(question: str) -> None:
                vector = embedder.embed_question(question)
                with connection.pipeline():
                    words = connection.execute(
                        BY_HAND_WORDS, {"tenant": tenant, "question": question, "documents": size}
                    )
                    near = connection.execute(BY_HAND_VECTORS, {"tenant": tenant, "vector": vector})
                ids = {row[0] for row in words.fetchall()} | {row[0] for row in near.fetchall()}
                connection.execute(BY_HAND_ROWS, {"tenant": tenant, "ids": list(ids)}).fetchall()

            return _times(ask, questions)
    finally:
        server.release()
