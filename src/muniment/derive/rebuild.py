"""Making the derived layer again from canonical memory alone, a page at a time.

A page is embedded while no transaction is open; then, while writers of the tenant wait for a moment, its pins are
read again and everything is written. An interrupted rebuild goes on where it stopped: what is fresh is left alone.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from uuid import UUID

from muniment.derive.compare import compare
from muniment.derive.engine import Engine
from muniment.derive.sources import Expected, operator, orphaned, read_sources, reread, walk
from muniment.model.payload import RebuildReport
from muniment.store.database import Database
from muniment.store.statements import sql

Progress = Callable[[int], None]
"""Called with the number of sources that were just finished."""


def rebuild(
    database: Database, engine: Engine, tenants: Iterable[str], *, progress: Progress | None = None
) -> RebuildReport:
    """Empties the layer of each tenant and makes it again. Raises `EmbedderFailed`; what is done then stays done."""
    started = time.monotonic()
    built: Counter[str] = Counter()
    unchanged = True
    for tenant in tenants:
        before = canonical_checksum(database, tenant)
        _empty_unless_interrupted(database, engine, tenant)
        built.update(fill(database, engine, tenant, progress=progress))
        unchanged = unchanged and canonical_checksum(database, tenant) == before
    maintain(database, engine)
    return RebuildReport(built=dict(built), canonical_unchanged=unchanged, seconds=time.monotonic() - started)


def fill(database: Database, engine: Engine, tenant: str, *, progress: Progress | None = None) -> Counter[str]:
    """Makes what is missing or behind, leaves alone what is fresh, and takes out what has no source any more."""
    built: Counter[str] = Counter()
    for page in walk(database, tenant):
        built.update(make(database, engine, tenant, _behind(database, engine, tenant, page)))
        if progress is not None:
            progress(len(page))
    for ids in orphaned(database, tenant):
        with database.transaction(operator(tenant), reach="tenant") as tx:
            tx.execute(sql("drop_sources"), {"ids": ids})
    with database.transaction(operator(tenant)) as tx:
        tx.execute(sql("mark_covered"), {"recipes": engine.recipes.ids})
    return built


def maintain(database: Database, engine: Engine) -> None:
    """Fresh statistics, and an index over the vectors once some tenant has outgrown exact search."""
    with database.outside() as connection:
        connection.execute(sql("refresh_statistics"))
        if engine.recipes.vectors is not None:
            connection.execute(sql("index_vectors"), {"recipe": engine.recipes.vectors})


def canonical_checksum(database: Database, tenant: str) -> Decimal | None:
    """A number that changes when any canonical row of the tenant does."""
    with database.transaction(operator(tenant), reach="tenant") as tx:
        row = tx.execute(sql("canonical_checksum")).fetchone()
    assert row is not None
    checksum: Decimal | None = row[0]
    return checksum


def _empty_unless_interrupted(database: Database, engine: Engine, tenant: str) -> None:
    with database.transaction(operator(tenant)) as tx:
        tx.execute(sql("hold_derived"))
        covered = {recipe for (recipe,) in tx.execute(sql("covered")).fetchall()}
        if set(engine.recipes.ids) <= covered:
            tx.execute(sql("clear_tenant"))


def _behind(database: Database, engine: Engine, tenant: str, page: list[Expected]) -> list[Expected]:
    with database.transaction(operator(tenant), reach="tenant") as tx:
        tx.execute(sql("hold_derived"))
        return list(
            {
                found.expected.source.source_id: found.expected for found in compare(tx, engine, reread(tx, page))
            }.values()
        )


def make(
    database: Database, engine: Engine, tenant: str, behind: Sequence[Expected], *, asked: Sequence[UUID] = ()
) -> Counter[str]:
    """Computes what these sources need while no transaction is open, and writes it from what canonical memory holds
    then: what moved on meanwhile is written as it is now, what is gone (of `asked` too) is taken out. Raises
    `EmbedderFailed`; then nothing is written."""
    if not behind and not asked:
        return Counter()
    vectors = engine.embed([text.text for expected in behind for text in expected.source.texts])
    with database.transaction(operator(tenant), reach="tenant") as tx:
        tx.execute(sql("hold_derived"))
        ids = sorted({expected.source.source_id for expected in behind}.union(asked))
        current = read_sources(tx, ids)
        tx.execute(sql("drop_sources"), {"ids": ids})
        pins = [pin for expected in current for pin in expected.pins]
        engine.write(tx, [expected.source for expected in current], pins, vectors)
    made = ["words"] if engine.embedder is None else ["words", "vectors"]
    return Counter(f"{expected.source.kind} {name}" for expected in current for name in made)
