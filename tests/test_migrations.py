"""Two kinds of migration: fresh equals upgraded, again is idempotent, newer is refused."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

import muniment
from muniment.errors import SchemaMissing, SchemaTooNew, UnsafeRole
from muniment.store.migrate import migrate, migrations
from tests.conftest import Databases

OUTLINE = {
    "columns": "SELECT table_schema, table_name, column_name, data_type, is_nullable, column_default"
    " FROM information_schema.columns WHERE table_schema IN ('canonical', 'derived') ORDER BY 1, 2, ordinal_position",
    "constraints": "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE connamespace::regnamespace::text IN ('canonical', 'derived') ORDER BY 1, 2",
    "indexes": "SELECT indexdef FROM pg_indexes WHERE schemaname IN ('canonical', 'derived') ORDER BY 1",
    "functions": "SELECT p.oid::regprocedure::text, prosrc, prosecdef, proconfig, proacl::text FROM pg_proc p"
    " WHERE pronamespace::regnamespace::text IN ('canonical', 'derived') ORDER BY 1",
    "policies": "SELECT schemaname, tablename, policyname, roles, cmd, qual, with_check FROM pg_policies ORDER BY 1, 2, 3",
    "grants": "SELECT oid::regclass::text, relacl::text, relrowsecurity, relforcerowsecurity FROM pg_class"
    " WHERE relnamespace::regnamespace::text IN ('canonical', 'derived') ORDER BY 1",
}


def outline(connection: psycopg.Connection) -> dict[str, Any]:
    """Everything that makes two schemas the same."""
    return {name: connection.execute(query).fetchall() for name, query in OUTLINE.items()}


@pytest.fixture
def blank(databases: Databases, tenant: str) -> Any:
    """A database with nothing in it."""
    name = databases.create(f"blank_{tenant}", template="template0")
    yield name
    databases.drop(name)


@pytest.mark.parametrize("released", range(1, len(migrations("once"))))
def test_an_upgraded_database_has_the_same_outline_as_a_fresh_one(
    databases: Databases, blank: str, own_database: str, released: int
) -> None:
    with psycopg.connect(databases.admin(blank)) as old:
        old.autocommit = True
        # A release that had only the first canonical files: their tables, none of the functions over later ones.
        for role in ("muniment_owner",):
            old.execute("CREATE SCHEMA muniment")
            old.execute(
                "CREATE TABLE muniment.migration (name text PRIMARY KEY, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp())"
            )
            old.execute(f"CREATE SCHEMA canonical AUTHORIZATION {role}")
            for extension in ("vector", "btree_gist", "pg_trgm", "unaccent"):
                old.execute(f"CREATE EXTENSION {extension}")
            for file in migrations("once")[:released]:
                old.execute(f"SET ROLE {role}")
                old.execute(file.text.encode())
                old.execute("RESET ROLE")
                old.execute("INSERT INTO muniment.migration (name, digest) VALUES (%s, %s)", (file.name, file.digest))
    with psycopg.connect(databases.admin(blank)) as old:
        assert migrate(old)
        upgraded = outline(old)
    with psycopg.connect(databases.admin(own_database)) as fresh:
        assert upgraded == outline(fresh)


def test_migrating_again_changes_nothing(databases: Databases, own_database: str) -> None:
    with psycopg.connect(databases.admin(own_database)) as connection:
        before = outline(connection)
        connection.commit()
        assert not migrate(connection)
        assert outline(connection) == before


def test_a_changed_function_is_applied_again_and_canonical_files_are_not(
    databases: Databases, own_database: str
) -> None:
    with psycopg.connect(databases.admin(own_database), autocommit=True) as connection:
        before = outline(connection)
        connection.execute("UPDATE muniment.migration SET digest = 'older' WHERE name = '040_derived_search.sql'")
        connection.execute("DROP FUNCTION derived.search_vectors")
        assert migrate(connection)
        assert outline(connection) == before


def test_a_newer_schema_is_refused_on_opening_and_on_migrating(databases: Databases, own_database: str) -> None:
    with psycopg.connect(databases.admin(own_database), autocommit=True) as connection:
        connection.execute("INSERT INTO muniment.migration (name, digest) VALUES ('9999_future.sql', '0')")
        with pytest.raises(SchemaTooNew, match="9999_future"):
            migrate(connection)
    with pytest.raises(SchemaTooNew):
        muniment.open(databases.app(own_database), embedder="none")


def test_a_database_without_the_schema_says_how_to_get_it(databases: Databases, blank: str) -> None:
    with pytest.raises(SchemaMissing, match="muniment migrate --admin-dsn"):
        muniment.open(databases.app(blank), embedder="none")


def test_opening_with_an_admin_dsn_sets_a_blank_database_up(databases: Databases, blank: str) -> None:
    with muniment.open(databases.app(blank), admin=databases.admin(blank), embedder="none") as memory:
        memory.session(tenant="acme").add("it works")


def test_a_superuser_an_owner_and_a_stranger_are_refused(databases: Databases, own_database: str) -> None:
    with pytest.raises(UnsafeRole, match="superuser"):
        muniment.open(databases.admin(own_database), embedder="none")
    with psycopg.connect(databases.admin(own_database), autocommit=True) as admin:
        suffix = own_database[-8:]
        admin.execute(f"CREATE ROLE bypass_{suffix} LOGIN BYPASSRLS IN ROLE muniment_app")
        admin.execute(f"CREATE ROLE owner_{suffix} LOGIN IN ROLE muniment_app, muniment_owner")
        admin.execute(f"CREATE ROLE stranger_{suffix} LOGIN")
        admin.execute(f"CREATE ROLE member_{suffix} LOGIN IN ROLE muniment_app")
    for role, words in (("bypass", "BYPASSRLS"), ("owner", "owns the tables"), ("stranger", "GRANT muniment_app")):
        with pytest.raises(UnsafeRole, match=words):
            muniment.open(databases.server.dsn(user=f"{role}_{suffix}", database=own_database), embedder="none")
    with muniment.open(databases.server.dsn(user=f"member_{suffix}", database=own_database), embedder="none") as memory:
        memory.session(tenant="acme").add("an ordinary login in the application role works")
