"""Drift: what in the derived layer does not match canonical memory.

The quick question reads one partial index of artifacts that writers marked. The full one compares everything, and the
two must agree; a difference is a defect of ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from muniment.derive.compare import PINS, STATES, compare
from muniment.derive.engine import Engine
from muniment.derive.sources import operator, orphaned, reread, walk
from muniment.model.payload import DriftReport, DriftRow
from muniment.store.database import Database
from muniment.store.statements import sql

MAX_ROWS = 1000


def drift(database: Database, engine: Engine, tenants: Iterable[str], *, full: bool) -> DriftReport:
    """Everything that has fallen behind; rows beyond the first 1,000 are only counted."""
    rows: list[DriftRow] = []
    counts: Counter[str] = Counter()
    for tenant in tenants:
        compared = full or not _covered(database, engine, tenant)
        for row in _compared(database, engine, tenant) if compared else _marked(database, engine, tenant):
            counts[f"{row.derivation} {row.kind}"] += 1
            if len(rows) < MAX_ROWS:
                rows.append(row)
    return DriftReport(rows=tuple(rows), counts=dict(counts))


def _covered(database: Database, engine: Engine, tenant: str) -> bool:
    """Whether the tenant was ever built with every active recipe; if not, rows can be missing that nobody marked."""
    with database.transaction(operator(tenant)) as tx:
        return set(engine.recipes.ids) <= {recipe for (recipe,) in tx.execute(sql("covered")).fetchall()}


def _marked(database: Database, engine: Engine, tenant: str) -> Iterator[DriftRow]:
    with database.transaction(operator(tenant)) as tx:
        rows = tx.execute(sql("behind"), {"recipes": engine.recipes.ids}).fetchall()
    for recipe_id, source_id, state, error in rows:
        yield _row(tenant, engine.recipes.names[recipe_id], STATES[state], source_id, error)


def _compared(database: Database, engine: Engine, tenant: str) -> Iterator[DriftRow]:
    for page in walk(database, tenant):
        with database.transaction(operator(tenant), reach="tenant") as tx:
            tx.execute(sql("hold_derived"))
            differences = list(compare(tx, engine, reread(tx, page)))
        for found in differences:
            yield _row(tenant, found.derivation, found.kind, found.expected.source.source_id, found.detail)
    for ids in orphaned(database, tenant):
        for source_id in ids:
            yield _row(tenant, PINS, "orphaned", source_id)


def _row(tenant: str, derivation: str, kind: Any, source_id: UUID, detail: str | None = None) -> DriftRow:
    return DriftRow(tenant=tenant, derivation=derivation, kind=kind, source_id=str(source_id), detail=detail)
