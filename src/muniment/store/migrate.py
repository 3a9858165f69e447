"""Two kinds of migration: `once/` is canonical, numbered and never edited after release; `again/` is re-applied.

The derived tables live in `again/`: when their text changes, the derived schema is dropped and made anew, and
`rebuild` fills it. Nothing is lost by that, which is the point of the separation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files

import psycopg
from psycopg import Connection

from muniment.errors import EngineUnavailable, SchemaMissing, SchemaTooNew
from muniment.store.statements import sql

OWNER, INDEX_OWNER, APPLICATION = "muniment_owner", "muniment_index", "muniment_app"
EXTENSIONS = ("vector", "btree_gist", "pg_trgm", "unaccent")
_LOCK = 0x6D756E69  # "muni": two processes that open one database migrate it one after the other
_DERIVED_TABLES = "020_derived_tables.sql"


@dataclass(frozen=True)
class Migration:
    """One file: its name, its text, and the hash by which the ledger knows it."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def migrations(kind: str) -> list[Migration]:
    """The files of `once` or `again`, in order."""
    folder = files("muniment.store").joinpath("sql", kind)
    return [
        Migration(file.name, file.read_text(encoding="utf-8"))
        for file in sorted(folder.iterdir(), key=lambda f: f.name)
        if file.name.endswith(".sql")
    ]


def migrate(admin: Connection, *, once: Sequence[Migration] | None = None) -> bool:
    """Brings the database up to this version; returns whether anything changed. Safe to run again and concurrently.

    `admin` may create roles, extensions and schemas. Raises `SchemaTooNew` when a newer muniment was here, and
    `EngineUnavailable` when the server lacks an extension or the privilege to add one.
    """
    admin.autocommit = True
    admin.execute(sql("migration_lock"), {"lock": _LOCK})
    try:
        _require_engine(admin)
        _bootstrap(admin)
        with admin.transaction():
            return _apply(admin, migrations("once") if once is None else once, migrations("again"))
    finally:
        admin.execute(sql("migration_unlock"), {"lock": _LOCK})


def require_current(connection: Connection) -> None:
    """Raises `SchemaMissing` or `SchemaTooNew` unless the database is at exactly this version."""
    try:
        rows = connection.execute(sql("migration_ledger")).fetchall()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName, psycopg.errors.InsufficientPrivilege):
        rows = []
    applied: dict[str, str] = dict(rows)
    _refuse_newer(applied)
    expected = {m.name: m.digest for m in (*migrations("once"), *migrations("again"))}
    if any(applied.get(name) != digest for name, digest in expected.items()):
        raise SchemaMissing(
            "the database has no muniment schema of this version; run `muniment migrate --admin-dsn …` as a role that "
            "may create schemas, roles and extensions"
        )


def _require_engine(admin: Connection) -> None:
    if admin.info.server_version < 160000:
        raise EngineUnavailable(
            f"PostgreSQL 16 or newer is needed; this server is {admin.info.server_version // 10000}"
        )


def _bootstrap(admin: Connection) -> None:
    """Roles, extensions, schemas and the ledger: everything a superuser or database owner must do."""
    for role in (OWNER, INDEX_OWNER, APPLICATION):
        if not admin.execute(sql("role_exists"), {"role": role}).fetchone():
            # Roles belong to the whole server: another database's migration may make it just now.
            with suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
                admin.execute(psycopg.sql.SQL("CREATE ROLE {}").format(psycopg.sql.Identifier(role)))
    try:
        for extension in EXTENSIONS:
            admin.execute(
                psycopg.sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(psycopg.sql.Identifier(extension))
            )
    except (
        psycopg.errors.InsufficientPrivilege,
        psycopg.errors.FeatureNotSupported,
        psycopg.errors.UndefinedFile,
    ) as error:
        raise EngineUnavailable(
            f"the extensions {', '.join(EXTENSIONS)} are needed: {error}. Ask the server's administrator to add them"
        ) from error
    admin.execute(sql("bootstrap_schemas"))


def _apply(admin: Connection, once: Sequence[Migration], again: Sequence[Migration]) -> bool:
    applied: dict[str, str] = dict(admin.execute(sql("migration_ledger")).fetchall())
    _refuse_newer(applied)
    changed = False
    for migration in once:
        if migration.name in applied:
            if applied[migration.name] != migration.digest:
                raise SchemaTooNew(
                    f"{migration.name} was applied with another text; this package does not match the database"
                )
            continue
        _run(admin, OWNER, migration)
        changed = True
    derived_moved = _derived_is_gone_or_other(admin, applied, again)
    if derived_moved:
        admin.execute(sql("recreate_derived_schema"))
    if changed or derived_moved or any(applied.get(m.name) != m.digest for m in again):
        for migration in again:
            _run(admin, INDEX_OWNER if "derived" in migration.name else OWNER, migration)
        changed = True
    return changed


def _derived_is_gone_or_other(admin: Connection, applied: dict[str, str], again: Sequence[Migration]) -> bool:
    tables = next(m for m in again if m.name == _DERIVED_TABLES)
    present = admin.execute(sql("derived_is_present")).fetchone()
    return applied.get(tables.name) != tables.digest or not (present and present[0])


def _run(admin: Connection, role: str, migration: Migration) -> None:
    admin.execute(psycopg.sql.SQL("SET LOCAL ROLE {}").format(psycopg.sql.Identifier(role)))
    admin.execute(migration.text.encode())
    admin.execute("RESET ROLE")
    admin.execute(sql("migration_record"), {"name": migration.name, "digest": migration.digest})


def _refuse_newer(applied: dict[str, str]) -> None:
    known = {m.name for m in (*migrations("once"), *migrations("again"))}
    unknown = sorted(set(applied) - known)
    if unknown:
        raise SchemaTooNew(
            f"a newer muniment was here ({unknown[-1]}); upgrade this installation, it would misread the database"
        )
