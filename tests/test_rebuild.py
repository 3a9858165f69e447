"""The derived layer can be thrown away; drift says exactly what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import pytest

import muniment
from muniment.errors import EmbedderFailed, EmbeddingDimension
from muniment.providers.embedder import Vectors
from muniment.providers.local import LocalEmbedder
from tests.conftest import Databases, HashEmbedder
from tests.helpers import LATE_EMAIL_TABLE, QUESTION, at, late_email, single_valued, tell

QUERIES = ["written summary", "call first", "renewal contact order", "北京", "Helios", "coffee or tea"]


@pytest.fixture
def filled(own_memory: muniment.Memory) -> muniment.Memory:
    """Two tenants with claims, corrections, documents of several chunks, labels."""
    for tenant in ("acme", "globex"):
        session = own_memory.session(tenant=tenant, grants={"muniment:import", "team"})
        late_email(session)
        single_valued(session, "drink")
        tell(session, "ada", "drink", "coffee", "2026-01-01", access={"team"})
        tea = tell(session, "ada", "drink", "tea", "2026-02-01", access={"team"})
        session.retract(tea.claim_id, reason="jest")
        session.add("我们在北京开会，讨论续约。")
        session.add("Helios paragraph one.\n\n" * 200, kind="document", source="file", source_id="long")
    return own_memory


def everything(memory: muniment.Memory) -> list[Any]:
    """All search results at several clocks, and the late e-mail's payloads."""
    results: list[Any] = []
    for tenant in ("acme", "globex"):
        session = memory.session(tenant=tenant, grants={"team"})
        for query in QUERIES:
            for routes in (["lexical"], ["semantic"], None):
                results += [hit.to_json() for hit in session.search(query, k=50, routes=routes)]
        for known, valid, _, _ in LATE_EMAIL_TABLE:
            payload = session.recall(
                QUESTION, subject="contact_1842", scope="renewal/2027", known_at=at(known), valid_at=at(valid)
            )
            results.append(payload.to_json())
    return results


def canonical(databases: Databases, name: str) -> list[Any]:
    """Every row of every canonical table, as text."""
    with psycopg.connect(databases.admin(name)) as admin:
        tables = admin.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'canonical' ORDER BY 1").fetchall()
        return [
            (table, admin.execute(f"SELECT t::text FROM canonical.{table} t ORDER BY 1").fetchall())
            for (table,) in tables
        ]


def test_dropping_the_derived_schema_loses_nothing(
    databases: Databases, own_database: str, filled: muniment.Memory, embedder: LocalEmbedder
) -> None:
    before, truth = everything(filled), canonical(databases, own_database)
    assert len(before) > 100
    with psycopg.connect(databases.admin(own_database), autocommit=True) as admin:
        admin.execute("DROP SCHEMA derived CASCADE")
    with muniment.open(databases.app(own_database), admin=databases.admin(own_database), embedder=embedder) as reopened:
        assert reopened.drift()
        report = reopened.rebuild()
        assert report.canonical_unchanged
        assert not reopened.drift(full=True)
        assert everything(reopened) == before
    assert canonical(databases, own_database) == truth


def derived(databases: Databases, name: str) -> list[Any]:
    with psycopg.connect(databases.admin(name)) as admin:
        return [
            admin.execute(f"SELECT t::text FROM derived.{table} t ORDER BY 1").fetchall()
            for table in ("pin", "unit", "posting", "embedding", "artifact", "coverage")
        ]


def test_a_rebuild_makes_the_same_bytes_that_the_writes_had_made(
    databases: Databases, own_database: str, filled: muniment.Memory
) -> None:
    written = derived(databases, own_database)
    filled.rebuild()
    assert derived(databases, own_database) == written


class Interrupted(Exception):
    """Stands for the power cut."""


def test_an_interrupted_rebuild_goes_on_where_it_stopped(
    databases: Databases, own_database: str, filled: muniment.Memory
) -> None:
    written = derived(databases, own_database)
    calls = iter(range(1000))

    def cut(count: int) -> None:
        if next(calls) == 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        filled.rebuild(progress=cut)
    assert filled.drift()
    report = filled.rebuild()
    with psycopg.connect(databases.admin(own_database)) as admin:
        row = admin.execute("SELECT count(*) FROM derived.artifact WHERE tenant_id = 'acme'").fetchone()
    assert row is not None
    assert sum(report.built.values()) < 2 * row[0]
    assert derived(databases, own_database) == written


DAMAGE = {
    "stale": ("UPDATE derived.artifact SET state = 'stale' WHERE source_kind = 'evidence'", True),
    "missing": ("DELETE FROM derived.artifact WHERE source_kind = 'claim'", False),
    "orphaned": (
        "INSERT INTO derived.pin SELECT tenant_id, source_kind, gen_random_uuid(), version, status, valid, known, occurred_at, access_id FROM derived.pin LIMIT 1",
        False,
    ),
    "over-shared": ("UPDATE derived.pin SET access_id = 7", False),
    "failed": ("UPDATE derived.artifact SET state = 'failed', error = 'poison'", True),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_full_drift_names_each_kind_of_damage_and_a_fill_mends_it(
    databases: Databases, own_database: str, filled: muniment.Memory, kind: str
) -> None:
    before = everything(filled)
    statement, marked = DAMAGE[kind]
    with psycopg.connect(databases.admin(own_database), autocommit=True) as admin:
        admin.execute(statement)
    assert kind in {row.kind for row in filled.drift(full=True).rows}
    assert bool(filled.drift()) == marked
    filled.rebuild()
    assert not filled.drift(full=True)
    assert everything(filled) == before


def test_quick_drift_and_full_drift_agree_after_ordinary_work(filled: muniment.Memory) -> None:
    assert filled.drift() == filled.drift(full=True)


def test_a_hit_that_canonical_memory_no_longer_holds_is_dropped(
    databases: Databases, own_database: str, filled: muniment.Memory
) -> None:
    """The derived layer is made to lie; the verified read does not repeat the lie."""
    with psycopg.connect(databases.admin(own_database), autocommit=True) as admin:
        admin.execute(
            "UPDATE derived.pin SET status = 'validated', known = '[2020-01-01,)' WHERE source_kind = 'claim'"
        )
    session = filled.session(tenant="acme", grants={"team"})
    texts = [hit.text for hit in session.search("ada drink tea", kinds=["claim"])]
    assert any("coffee" in text for text in texts)
    assert not any("tea" in text for text in texts)
    assert session.recall("ada drink", subject="ada").retrieval.dropped_stale >= 1


class Broken(HashEmbedder):
    """Fails when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = True

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.broken:
            raise ConnectionError("no route to model")
        return super().embed_passages(texts)


@pytest.fixture
def broken(databases: Databases, own_database: str) -> Iterator[tuple[muniment.Memory, Broken]]:
    model = Broken()
    with muniment.open(databases.app(own_database), embedder=model) as memory:
        yield memory, model


def test_a_failing_embedder_fails_the_write_and_nothing_is_stored(broken: tuple[muniment.Memory, Broken]) -> None:
    memory, model = broken
    session = memory.session(tenant="acme")
    with pytest.raises(EmbedderFailed, match="no route to model"):
        session.add("remember this")
    model.broken = False
    assert session.search("remember", routes=["lexical"]) == []
    session.add("remember this")
    assert len(session.search("remember this")) == 1


def test_written_without_an_embedder_vectors_are_marked_stale_and_made_up_later(
    databases: Databases, own_database: str, embedder: LocalEmbedder
) -> None:
    with muniment.open(databases.app(own_database), embedder=embedder) as memory:
        memory.session(tenant="acme").add("the first message")
    with muniment.open(databases.app(own_database), embedder="none") as memory:
        session = memory.session(tenant="acme")
        session.add("a second message about gardens")
        assert [hit.text for hit in session.search("gardens")] == ["a second message about gardens"]
        assert memory.drift().counts == {"vectors stale": 1}
    with muniment.open(databases.app(own_database), embedder=embedder) as memory:
        assert memory.work(once=True) > 0
        assert not memory.drift(full=True)
        assert len(memory.session(tenant="acme").search("plants outside", routes=["semantic"])) == 2


def test_another_model_is_refused_until_it_is_adopted(databases: Databases, own_database: str) -> None:
    with muniment.open(databases.app(own_database), embedder=HashEmbedder(16)) as memory:
        memory.session(tenant="acme").add("a message")
    with pytest.raises(EmbeddingDimension, match="muniment rebuild --adopt-embedder"):
        muniment.open(databases.app(own_database), embedder=HashEmbedder(24))
    with muniment.open(databases.app(own_database), embedder=HashEmbedder(24), adopt_embedder=True) as memory:
        assert memory.drift().counts == {"vectors missing": 1}
        memory.rebuild()
        assert not memory.drift(full=True)
        assert len(memory.session(tenant="acme").search("a message", routes=["semantic"])) == 1


def test_a_change_of_status_repins_a_vector_without_embedding_it_again(databases: Databases, own_database: str) -> None:
    model = HashEmbedder()
    with muniment.open(databases.app(own_database), embedder=model) as memory:
        session = memory.session(tenant="acme")
        waiting = tell(session, "ada", "hobby", "chess", "2026-01-01")
        calls = model.calls
        session.confirm(waiting.claim_id, by="ada")
        session.retract(waiting.claim_id, reason="no")
        assert model.calls == calls
        assert not memory.drift(full=True)
