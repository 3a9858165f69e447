"""One embedded server for the whole run, one database a worker from a template, one tenant a test."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import psycopg
import pytest

import muniment
from muniment.providers.embedder import Vectors
from muniment.providers.local import LocalEmbedder
from muniment.store.embedded import EmbeddedServer
from muniment.store.migrate import migrate

TEMPLATE = "muniment_template"
HOME = "MUNIMENT_TEST_HOME"


def pytest_configure(config: pytest.Config) -> None:
    """The controlling process makes the folder; workers inherit it."""
    if not hasattr(config, "workerinput") and HOME not in os.environ:
        os.environ[HOME] = tempfile.mkdtemp(prefix="muniment-tests-")
        config.stash[_owns_home] = True
        server = EmbeddedServer(Path(os.environ[HOME]))
        config.stash[_server] = server
        _make_template(server)


def pytest_unconfigure(config: pytest.Config) -> None:
    if config.stash.get(_owns_home, False):
        config.stash[_server].release()
        shutil.rmtree(os.environ.pop(HOME), ignore_errors=True)


_owns_home = pytest.StashKey[bool]()
_server = pytest.StashKey[EmbeddedServer]()


def _make_template(server: EmbeddedServer) -> None:
    with psycopg.connect(server.dsn(user="postgres", database="postgres"), autocommit=True) as admin:
        # Tests kill clients, never the server: what they promise about durability does not rest on fsync here.
        admin.execute("ALTER SYSTEM SET fsync = off")
        admin.execute("ALTER SYSTEM SET synchronous_commit = on")
        admin.execute("SELECT pg_reload_conf()")
        admin.execute(
            f"CREATE DATABASE {TEMPLATE} TEMPLATE template0 ENCODING 'UTF8' "
            "LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C.UTF-8'"
        )
    with psycopg.connect(server.dsn(user="postgres", database=TEMPLATE), autocommit=True) as admin:
        migrate(admin)
        admin.execute("ALTER ROLE muniment_app LOGIN")


class Databases:
    """Makes databases from the template and says how to reach them."""

    def __init__(self, server: EmbeddedServer) -> None:
        self.server = server

    def create(self, name: str, *, template: str = TEMPLATE) -> str:
        """A database of this name; returns the name."""
        with psycopg.connect(self.server.dsn(user="postgres", database="postgres"), autocommit=True) as admin:
            admin.execute(f'CREATE DATABASE "{name}" TEMPLATE {template} STRATEGY FILE_COPY')
        return name

    def drop(self, name: str) -> None:
        with psycopg.connect(self.server.dsn(user="postgres", database="postgres"), autocommit=True) as admin:
            admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')

    def app(self, name: str) -> str:
        """As the application role."""
        return self.server.dsn(user="muniment_app", database=name)

    def admin(self, name: str) -> str:
        """As the administrator."""
        return self.server.dsn(user="postgres", database=name)


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    server = EmbeddedServer(Path(os.environ[HOME]))
    yield Databases(server)
    server.release()


@pytest.fixture(scope="session")
def database_name(databases: Databases) -> str:
    """This worker's database."""
    return databases.create(f"worker_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}_{uuid.uuid4().hex[:8]}")


@pytest.fixture(scope="session")
def memory(databases: Databases, database_name: str, embedder: LocalEmbedder) -> Iterator[muniment.Memory]:
    """A memory on this worker's database with the local embedder. Tests keep apart by tenant."""
    with muniment.open(databases.app(database_name), embedder=embedder) as opened:
        yield opened


@pytest.fixture(scope="session")
def embedder() -> LocalEmbedder:
    return LocalEmbedder(threads=1)


@pytest.fixture
def tenant() -> str:
    return f"tenant-{uuid.uuid4().hex[:12]}"


OpenSession = Callable[..., muniment.Session]


@pytest.fixture
def session(memory: muniment.Memory, tenant: str) -> muniment.Session:
    """A session with the import right, so that tests can say when things were observed."""
    return memory.session(tenant=tenant, grants={"muniment:import"})


@pytest.fixture
def own_database(databases: Databases) -> Iterator[str]:
    """A database of the test's own, for what concerns all tenants or the schema."""
    name = databases.create(f"own_{uuid.uuid4().hex[:12]}")
    yield name
    databases.drop(name)


@pytest.fixture
def own_memory(databases: Databases, own_database: str, embedder: LocalEmbedder) -> Iterator[muniment.Memory]:
    with muniment.open(databases.app(own_database), embedder=embedder) as opened:
        yield opened


@pytest.fixture
def admin(databases: Databases, database_name: str) -> Iterator[psycopg.Connection]:
    """The administrator's connection to this worker's database, past row-level security: to see what is really there."""
    with psycopg.connect(databases.admin(database_name), autocommit=True) as connection:
        yield connection


class HashEmbedder:
    """A cheap embedder for tests of plumbing: a seeded random direction for each text."""

    floor = 0.5

    def __init__(self, dimension: int = 16) -> None:
        self.dimension = dimension
        self.calls = 0

    @property
    def parameters(self) -> dict[str, object]:
        return {"model": "hash", "dimension": self.dimension}

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.calls += len(texts)
        return np.stack([self._one(text) for text in texts])

    def embed_question(self, text: str) -> Vectors:
        return self._one(text)

    def _one(self, text: str) -> Vectors:
        generator = np.random.default_rng(list(text.encode()) or [0])
        vector = generator.standard_normal(self.dimension).astype(np.float32)
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)
