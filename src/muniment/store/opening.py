"""From a target to an open database: embedded in a folder, or any PostgreSQL by DSN."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import Connection

from muniment.errors import EngineUnavailable
from muniment.store.database import Database
from muniment.store.embedded import DATABASE, EmbeddedServer
from muniment.store.migrate import APPLICATION, migrate
from muniment.store.statements import sql

DEFAULT_HOME = ".muniment"
_SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True)
class Store:
    """An open database, the admin DSN when there is one, and the embedded server when there is one."""

    database: Database
    admin_dsn: str | None
    server: EmbeddedServer | None
    target: str

    def migrate(self) -> bool:
        """Applies what is missing, as the administrator. Returns whether anything changed."""
        if self.admin_dsn is None:
            raise EngineUnavailable(
                "migrating needs an administrator: open with admin=…, or run `muniment migrate --admin-dsn …`"
            )
        return migrate_dsn(self.admin_dsn)

    def close(self) -> None:
        """Closes the pool and gives the server back."""
        self.database.close()
        if self.server is not None:
            self.server.release()


def open_store(target: str | Path | None = None, *, admin: str | None = None) -> Store:
    """Opens `target` (see `muniment.open`). Raises the coded errors of `Database`."""
    chosen = str(target) if target is not None else os.environ.get("MUNIMENT_DSN") or _default_home()
    admin = admin or os.environ.get("MUNIMENT_ADMIN_DSN")
    if chosen.startswith(_SCHEMES):
        if admin is not None:
            migrate_dsn(admin)
        return Store(Database(chosen), admin, None, _without_password(chosen))
    return _open_embedded(Path(chosen))


def migrate_dsn(admin_dsn: str) -> bool:
    """Migrates the database behind `admin_dsn`."""
    with _connect(admin_dsn) as connection:
        return migrate(connection)


def _default_home() -> str:
    return os.environ.get("MUNIMENT_HOME") or DEFAULT_HOME


def _open_embedded(home: Path) -> Store:
    server = EmbeddedServer(home)
    try:
        with _connect(server.dsn(user="postgres", database="postgres")) as connection:
            _ensure_database(connection)
        admin = server.dsn(user="postgres")
        with _connect(admin) as connection:
            migrate(connection)
            # The folder's socket is its lock: whoever may reach it may log in as the application, and only as that.
            connection.execute(psycopg.sql.SQL("ALTER ROLE {} LOGIN").format(psycopg.sql.Identifier(APPLICATION)))
        return Store(Database(server.dsn(user=APPLICATION)), admin, server, str(home))
    except BaseException:
        server.release()
        raise


def _connect(dsn: str) -> Connection:
    try:
        return Connection.connect(dsn, autocommit=True, connect_timeout=10)
    except psycopg.OperationalError as error:
        raise EngineUnavailable(f"PostgreSQL cannot be reached: {error}. Check the DSN and that it runs") from error


def _ensure_database(connection: Connection) -> None:
    if connection.execute(sql("database_exists"), {"name": DATABASE}).fetchone():
        return
    # Another process that opened the same new folder may be first.
    with suppress(psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
        connection.execute(psycopg.sql.SQL(sql("create_database")).format(psycopg.sql.Identifier(DATABASE)))
        connection.execute(sql("analyze_sooner"))
        connection.execute(sql("reload_settings"))


def _without_password(dsn: str) -> str:
    info = psycopg.conninfo.conninfo_to_dict(dsn)
    return psycopg.conninfo.make_conninfo("", **{k: v for k, v in info.items() if k != "password"})
