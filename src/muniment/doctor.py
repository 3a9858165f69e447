"""What is well, what is missing, and the command that mends it."""

from __future__ import annotations

from muniment.derive.drift import drift
from muniment.derive.engine import Engine
from muniment.model.payload import Check
from muniment.store.opening import Store
from muniment.store.statements import sql
from muniment.version import VERSION


def examine(store: Store, engine: Engine) -> list[Check]:
    """Looks at the engine, the role, the embedder and the derived layer. Opening already refused what is unsafe."""
    with store.database.outside() as connection:
        row = connection.execute(sql("health")).fetchone()
        wanted = connection.execute(sql("wants_vector_index"), {"recipe": engine.recipes.vectors or 0}).fetchone()
    assert row is not None
    assert wanted is not None
    indexed = not wanted[0]
    server, role, superuser, extensions = row
    how = "embedded" if store.server is not None else "by DSN"
    report = drift(store.database, engine, store.database.tenants(), full=False)
    model = None if engine.embedder is None else engine.embedder.parameters.get("model", type(engine.embedder).__name__)
    return [
        Check(name="muniment", ok=True, detail=VERSION),
        Check(name="PostgreSQL", ok=True, detail=f"{server}, {how}, {store.target}"),
        Check(name="extensions", ok=True, detail=extensions),
        Check(name="role", ok=not superuser, detail=f"{role}, bound by row-level security"),
        Check(
            name="embedder", ok=engine.embedder is not None,
            detail=str(model) if model else "none: only the lexical route answers",
            mend=None if model else "pip install 'muniment[local]'",
        ),
        Check(
            name="vector index", ok=indexed,
            detail="exact search is enough, or the index is there" if indexed else "a tenant has outgrown exact search",
            mend=None if indexed else "muniment work",
        ),
        Check(
            name="derived layer", ok=not report,
            detail=", ".join(f"{n} {k}" for k, n in report.counts.items()) or "matches canonical memory",
            mend=None if not report else "muniment rebuild",
        ),
    ]  # fmt: skip
