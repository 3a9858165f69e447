"""The pool, and the only way into a transaction: with a tenant and grants, set for that transaction alone."""

from __future__ import annotations

import selectors
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, Literal, LiteralString

import psycopg
from pgvector.psycopg import register_vector
from psycopg import Connection, Cursor, Pipeline
from psycopg.rows import dict_row
from psycopg.types.datetime import DatetimeDumper
from psycopg_pool import ConnectionPool, PoolTimeout

from muniment.errors import EngineUnavailable, UnsafeRole
from muniment.model.access import Access
from muniment.store.migrate import require_current
from muniment.store.statements import sql

Reach = Literal["own", "tenant"]

# Just-in-time compilation costs more than these short statements take.
_OPTIONS = "-c jit=off -c timezone=UTC -c client_encoding=UTF8"


class Tx:
    """An open transaction. Statements are sent as they come and answered when they are read (see `Answer`)."""

    def __init__(self, connection: Connection[Any], pipeline: Pipeline) -> None:
        self._connection = connection
        self._pipeline = pipeline

    def execute(self, statement: LiteralString, parameters: Mapping[str, Any] | None = None) -> Cursor[Any]:
        """Sends a statement. Reading the cursor waits for it."""
        return self._connection.execute(statement, parameters)

    def execute_many(self, statement: LiteralString, rows: Sequence[Mapping[str, Any]]) -> None:
        """Sends a statement once for each row."""
        self._connection.cursor().executemany(statement, rows)

    def dict_cursor(self) -> Cursor[dict[str, Any]]:
        """A cursor whose rows are dictionaries."""
        return self._connection.cursor(row_factory=dict_row)

    def sync(self) -> None:
        """Waits for the answers to everything that was sent: one round trip, however many they are."""
        self.drain()
        self._pipeline.sync()

    def drain(self) -> None:
        """Sends what is still buffered. Without it a statement of several megabytes would stay half sent: waiting for
        an answer only reads, and the server would wait for the rest."""
        connection = self._connection.pgconn
        with selectors.DefaultSelector() as selector:
            selector.register(connection.socket, selectors.EVENT_READ | selectors.EVENT_WRITE)
            while connection.flush():
                if any(events & selectors.EVENT_READ for _, events in selector.select()):
                    connection.consume_input()


class Database:
    """A pool of connections as the application role.

    Thread-safe. A connection carries nothing between transactions: tenant and grants are `SET LOCAL`.
    """

    def __init__(self, dsn: str, *, max_connections: int = 10, wait_seconds: float = 30) -> None:
        """Connects. Raises `EngineUnavailable`, `UnsafeRole`, `SchemaMissing` or `SchemaTooNew`."""
        self._pool = ConnectionPool(
            dsn,
            min_size=1,
            max_size=max_connections,
            timeout=wait_seconds,
            open=False,
            configure=_configure,
            kwargs={"autocommit": True, "options": _OPTIONS, "application_name": "muniment"},
        )
        try:
            with Connection.connect(dsn, autocommit=True, connect_timeout=10) as connection:
                _require_safe_role(connection)
                require_current(connection)
            self._pool.open(wait=True, timeout=wait_seconds)
        except (psycopg.OperationalError, PoolTimeout) as error:
            self._pool.close()
            raise EngineUnavailable(f"PostgreSQL cannot be reached: {error}. Check the DSN and that it runs") from error
        except BaseException:
            self._pool.close()
            raise

    @contextmanager
    def transaction(self, access: Access, *, reach: Reach = "own") -> Iterator[Tx]:
        """A transaction that sees what `access` may see; `reach='tenant'` is for the promotion gate alone.

        Commits at the end, rolls back on an exception. The settings end with the transaction. Statements are sent in a
        pipeline: what is sent between two reads shares a round trip, and an error shows at the next read or at the end.
        """
        settings = {"tenant": access.tenant, "grants": sorted(access.grants), "reach": reach}
        with self._connection() as connection, connection.pipeline() as pipeline:
            tx = Tx(connection, pipeline)
            try:
                tx.execute("BEGIN")
                tx.execute(sql("enter_tenant"), settings)
                yield tx
            except BaseException:
                # A connection that cannot roll back is dropped by the pool; what went wrong first is what is told.
                with suppress(psycopg.Error):
                    connection.rollback()
                raise
            tx.execute("COMMIT")
            tx.drain()

    @contextmanager
    def outside(self) -> Iterator[Connection[Any]]:
        """A connection with no tenant: sees no row of anybody. For recipes, the list of tenants, and health."""
        with self._connection() as connection:
            yield connection

    @contextmanager
    def _connection(self) -> Iterator[Connection[Any]]:
        try:
            with self._pool.connection() as connection:
                yield connection
        except PoolTimeout as error:
            raise EngineUnavailable(
                f"no connection became free: {error}. Close transactions or raise the limit"
            ) from error
        except psycopg.OperationalError as error:
            interruption = _interruption(error)
            if interruption is not None:
                raise interruption from None
            if isinstance(error, psycopg.errors.DeadlockDetected | psycopg.errors.QueryCanceled):
                raise
            raise EngineUnavailable(
                f"the connection to PostgreSQL was lost: {error}. Nothing of this call is stored"
            ) from error

    def tenants(self) -> list[str]:
        """Every tenant that ever wrote, in order."""
        with self.outside() as connection:
            return [name for (name,) in connection.execute(sql("tenants"))]

    def close(self) -> None:
        """Closes every connection; running transactions are rolled back."""
        self._pool.close()


def _interruption(error: BaseException) -> KeyboardInterrupt | None:
    """The Ctrl-C in whose handling `error` arose: the driver cancels the statement, and the answer would hide it."""
    behind = error.__context__
    while behind is not None and not isinstance(behind, KeyboardInterrupt):
        behind = behind.__context__
    return behind


class _UTCDumper(DatetimeDumper):
    """PostgreSQL refuses offsets of sixteen hours and more; a moment is the same in UTC."""

    def dump(self, obj: datetime) -> Any:
        return super().dump(obj.astimezone(UTC))


def _configure(connection: Connection[Any]) -> None:
    register_vector(connection)
    connection.adapters.register_dumper(datetime, _UTCDumper)


def _require_safe_role(connection: Connection[Any]) -> None:
    row = connection.execute(sql("role_safety")).fetchone()
    if row is None:
        raise UnsafeRole("the connecting role is not listed in pg_roles; connect as an ordinary role")
    name, superuser, bypass, owns, may_work = row
    faults = [
        text
        for wrong, text in ((superuser, "is a superuser"), (bypass, "has BYPASSRLS"), (owns, "owns the tables"))
        if wrong
    ]
    if faults:
        raise UnsafeRole(
            f"role {name} {' and '.join(faults)}, so row-level security would not bind it. Keep it for "
            "`muniment migrate --admin-dsn …`, and connect as a plain role: "
            "CREATE ROLE my_app LOGIN PASSWORD '…' IN ROLE muniment_app"
        )
    if not may_work:
        raise UnsafeRole(
            f"role {name} is not a member of muniment_app. If this database was never prepared, run "
            f"`muniment migrate --admin-dsn …` first; then: GRANT muniment_app TO {name}"
        )
