"""One tenant never meets another: enough of its own rows, none of anybody else's, by no read path and by no raw SQL."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString
from uuid import uuid4

import numpy as np
import psycopg
import pytest

import muniment
from muniment.errors import InvalidInput, NoTenant, NotFound, UnsafeRole
from muniment.model.access import Access
from muniment.model.ids import new_id
from muniment.model.memory_type import MEMORY_TYPES
from muniment.providers.embedder import Vectors
from muniment.store.database import Database, Tx
from tests.conftest import HOME, Databases, HashEmbedder
from tests.helpers import at, single_valued

# ---- enough of one's own rows beside a crowd ------------------------------------------------------------------------

CROWD, FEW, DIMENSION = 6000, 300, 16
ROUTES = pytest.mark.parametrize("routes", [["lexical"], ["semantic"], None], ids=["lexical", "semantic", "both"])


class CrowdedEmbedder(HashEmbedder):
    """Everything lies round one direction, the crowd closest to it: a search that filters last finds only the crowd."""

    @property
    def parameters(self) -> dict[str, object]:
        return {"model": "crowded", "dimension": self.dimension}

    def _one(self, text: str) -> Vectors:
        centre = np.ones(self.dimension, dtype=np.float32) / np.float32(np.sqrt(self.dimension))
        distance = 0.0 if text.endswith("?") else (0.01 if "crowd" in text else 0.5)
        vector = centre + np.float32(distance) * super()._one(text)
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


@pytest.fixture(scope="module")
def crowded(databases: Databases) -> str:
    """A database in which `few` has 300 rows beside the 6,000 closer ones of `many`. Made once for all workers."""
    with (Path(os.environ[HOME]) / "crowded.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with psycopg.connect(databases.admin("postgres"), autocommit=True) as admin:
            made = admin.execute("SELECT FROM pg_database WHERE datname = 'crowded'").fetchone()
        if made is None:
            _fill(databases, databases.create("crowded_unfinished"))
            with psycopg.connect(databases.admin("postgres"), autocommit=True) as admin:
                admin.execute("ALTER DATABASE crowded_unfinished RENAME TO crowded")
    return "crowded"


def _fill(databases: Databases, name: str) -> None:
    with muniment.open(databases.app(name), embedder=CrowdedEmbedder(DIMENSION)) as memory:
        for tenant, count in (("many", CROWD), ("few", FEW)):
            word = "crowd" if tenant == "many" else "few"
            report = memory.session(tenant=tenant).add_many(
                {"content": f"renewal of the contract, {word} {i}", "source_id": str(i)} for i in range(count)
            )
            assert report.stored == count
        labelled = memory.session(tenant="many", grants={"secret"})
        for i in range(20):
            labelled.add(f"renewal of the contract, hidden {i}", source_id=f"hidden {i}", access={"secret"})


@pytest.fixture(scope="module")
def crowd(databases: Databases, crowded: str) -> Iterator[muniment.Memory]:
    with muniment.open(databases.app(crowded), embedder=CrowdedEmbedder(DIMENSION)) as memory:
        yield memory


@ROUTES
def test_a_small_tenant_beside_a_close_crowd_asks_for_ten_and_gets_ten(
    crowd: muniment.Memory, routes: list[str] | None
) -> None:
    hits = crowd.session(tenant="few").search("renewal of the contract?", k=10, routes=routes)
    assert len(hits) == 10
    assert all("few" in hit.text for hit in hits)


@ROUTES
def test_a_small_tenant_can_ask_for_all_of_its_rows(crowd: muniment.Memory, routes: list[str] | None) -> None:
    hits = crowd.session(tenant="few").search("renewal of the contract?", k=1000, routes=routes)
    assert len({hit.id for hit in hits}) == FEW


@ROUTES
def test_a_few_labelled_rows_in_the_crowd_of_their_own_tenant_are_all_found(
    crowd: muniment.Memory, routes: list[str] | None
) -> None:
    reader = crowd.session(tenant="many", grants={"secret"})
    assert len(reader.search("renewal of the contract?", k=20, routes=routes)) == 20
    if routes != ["semantic"]:
        assert {"hidden" in hit.text for hit in reader.search("hidden", k=20, routes=["lexical"])} == {True}
    outsider = crowd.session(tenant="many").search("hidden, renewal?", k=100, routes=routes)
    assert len(outsider) == 100
    assert not [hit for hit in outsider if "hidden" in hit.text]


def test_the_graph_of_all_tenants_still_gives_a_small_tenant_ten_of_ten(databases: Databases, crowded: str) -> None:
    question = np.ones(DIMENSION, dtype=np.float32)
    with psycopg.connect(databases.admin(crowded)) as admin, admin.transaction(force_rollback=True):
        (recipe,) = _one(admin, "SELECT recipe_id FROM derived.recipe WHERE derivation = 'vectors'")
        assert _one(admin, "SELECT derived.index_vectors(%s::smallint, 0)", recipe) == (True,)
        admin.execute("SET LOCAL enable_seqscan = off")
        admin.execute("SELECT set_config('muniment.tenant', 'few', true), set_config('muniment.visible', '{0}', true)")
        rows = admin.execute(
            "SELECT source_id FROM derived.search_vectors(%s::smallint, ARRAY['evidence'], %s::vector, 10, now(), "
            "now(), NULL, exact_up_to => 0)",
            (recipe, str(question.tolist())),
        ).fetchall()
        own = admin.execute(
            "SELECT evidence_id FROM canonical.evidence WHERE tenant_id = 'few' AND evidence_id = ANY (%s)",
            ([row[0] for row in rows],),
        ).fetchall()
    assert (len(rows), len(own)) == (10, 10)


def _one(connection: psycopg.Connection, statement: LiteralString, *parameters: object) -> tuple[Any, ...]:
    row = connection.execute(statement, parameters).fetchone()
    assert row is not None
    return row


# ---- nobody else's rows, by any verb --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Owned:
    """What one tenant holds under the label `secret`: a claim in force, a candidate, and their evidence."""

    owner: muniment.Session
    evidence: muniment.Evidence
    claim: str
    candidate: str
    stranger: muniment.Session
    unlabelled: muniment.Session


@pytest.fixture
def owned(memory: muniment.Memory, tenant: str) -> Owned:
    owner = memory.session(tenant=tenant, grants={"secret"})
    single_valued(owner, "codename")
    note = owner.add("The codename is Nightingale.", source_id="note", access={"secret"}, occurred_at=at("2026-01-01"))
    claim = owner.propose("project", "codename", "Nightingale", evidence=note.quote("Nightingale"))
    waiting = owner.propose("project", "nickname", "Nightingale", evidence=note.quote("Nightingale"))
    assert (claim.outcome, waiting.outcome) == ("validated", "candidate")
    return Owned(
        owner, note, claim.claim_id, waiting.claim_id, memory.session(tenant=tenant + "-b", grants={"secret"}),
        memory.session(tenant=tenant),
    )  # fmt: skip


WHO = pytest.mark.parametrize("who", ["stranger", "unlabelled"])
Read = Callable[[muniment.Session, Owned], Any]
LISTS: dict[str, Read] = {
    "claims": lambda s, _: s.claims().items,
    "claims of every status": lambda s, _: s.claims("project", status=None).items,
    "claims in a scope": lambda s, _: s.claims("project", scope="renewal/2027").items,
    "timeline": lambda s, _: s.timeline("project"),
    "search, lexical": lambda s, _: s.search("codename Nightingale", routes=["lexical"]),
    "search, semantic": lambda s, _: s.search("codename Nightingale", routes=["semantic"]),
    "search": lambda s, _: s.search("The codename is Nightingale."),
    "recall": lambda s, _: s.recall("codename Nightingale", subject="project").claims,
    "recall, evidence": lambda s, _: s.recall("codename Nightingale", subject="project").evidence,
}


@WHO
@pytest.mark.parametrize("path", LISTS)
def test_a_read_path_shows_the_owner_something_and_an_outsider_nothing(owned: Owned, who: str, path: str) -> None:
    assert LISTS[path](owned.owner, owned)
    assert not LISTS[path](getattr(owned, who), owned)


@WHO
def test_recall_tells_an_outsider_nothing_at_all(owned: Owned, who: str) -> None:
    payload = getattr(owned, who).recall("what is the codename?", subject="project")
    assert "Nightingale" not in str(payload)
    assert payload.abstention is not None
    assert (payload.missing, payload.conflicts, payload.retrieval.left_out) == ((), (), 0)


Act = Callable[[muniment.Session, muniment.Evidence, str], Any]


def _foreign(evidence: muniment.Evidence, evidence_id: str) -> muniment.Span:
    return muniment.Span(evidence_id=evidence_id, start=0, end=3)


BY_CLAIM: dict[str, Act] = {
    "history": lambda s, _, c: s.history(c),
    "why": lambda s, _, c: s.why(c),
    "confirm": lambda s, _, c: s.confirm(c, by="eve"),
    "reject": lambda s, _, c: s.reject(c, by="eve"),
    "retract": lambda s, _, c: s.retract(c, reason="eve"),
    "restore": lambda s, _, c: s.restore(c, reason="eve"),
    "correct": lambda s, e, c: s.correct(c, "Owl", evidence=e.quote("Owl")),
    "propose, supersedes": lambda s, e, c: s.propose("p", "codename", "Owl", evidence=e, supersedes=c),
    "propose, correction": lambda s, e, c: s.propose("p", "codename", "Owl", evidence=e, supersedes=c, correction=True),
    "propose, premises": lambda s, e, c: s.propose("p", "codename", "Owl", evidence=e, premises=[c]),
}
BY_EVIDENCE: dict[str, Act] = {
    "evidence": lambda s, _, e: s.evidence(e),
    "add, replaces": lambda s, _, e: s.add("a newer one", replaces=e),
    "propose": lambda s, own, e: s.propose("p", "codename", "Owl", evidence=_foreign(own, e)),
    "propose, among others": lambda s, own, e: s.propose("p", "codename", "Owl", evidence=[own, _foreign(own, e)]),
}


def _message(act: Callable[[], Any]) -> str:
    with pytest.raises(NotFound) as raised:
        act()
    return str(raised.value)


@WHO
@pytest.mark.parametrize("verb", BY_CLAIM)
@pytest.mark.parametrize("which", ["claim", "candidate"])
def test_a_claim_of_somebody_else_is_refused_in_the_words_for_one_that_never_was(
    owned: Owned, who: str, verb: str, which: str
) -> None:
    session = getattr(owned, who)
    own = session.add("Owl, said the outsider.")
    foreign = _message(lambda: BY_CLAIM[verb](session, own, getattr(owned, which)))
    assert foreign == _message(lambda: BY_CLAIM[verb](session, own, str(new_id())))
    assert [v.status for v in owned.owner.history(owned.claim)] == ["validated"]
    assert [v.status for v in owned.owner.history(owned.candidate)] == ["candidate"]


@WHO
@pytest.mark.parametrize("verb", BY_EVIDENCE)
def test_evidence_of_somebody_else_is_refused_in_the_words_for_one_that_never_was(
    owned: Owned, who: str, verb: str
) -> None:
    session = getattr(owned, who)
    own = session.add("Owl, said the outsider.")
    foreign = _message(lambda: BY_EVIDENCE[verb](session, own, owned.evidence.evidence_id))
    assert foreign == _message(lambda: BY_EVIDENCE[verb](session, own, str(new_id())))


@WHO
@pytest.mark.parametrize("verb", ["confirm", "retract"])
def test_a_decision_cannot_cite_evidence_of_somebody_else(owned: Owned, who: str, verb: str) -> None:
    session = getattr(owned, who)
    own = session.propose("p", "nickname", "Owl", evidence=session.add("Owl, said the outsider."))
    decide: dict[str, Callable[[muniment.Span], Any]] = {
        "confirm": lambda span: session.confirm(own.claim_id, by="eve", evidence=span),
        "retract": lambda span: session.retract(own.claim_id, reason="eve", evidence=span),
    }
    foreign = _message(lambda: decide[verb](_foreign(owned.evidence, owned.evidence.evidence_id)))
    assert foreign == _message(lambda: decide[verb](_foreign(owned.evidence, str(new_id()))))
    assert [v.status for v in session.history(own.claim_id)] == ["candidate"]


# ---- one pool, several tenants --------------------------------------------------------------------------------------


def test_threads_of_two_tenants_and_two_label_sets_on_one_pool_never_mix(memory: muniment.Memory, tenant: str) -> None:
    principals = [(f"{tenant}-{name}", label) for name in "xy" for label in ("red", "blue")]
    sessions = [memory.session(tenant=name, grants={label}) for name, label in principals]
    for (name, label), session in zip(principals, sessions, strict=True):
        text = f"common words of {name} in {label}"
        note = session.add(text, source_id=label, access={label})
        session.define({"predicate": "said", "validation": "quoted"})
        session.propose("everybody", "said", text, evidence=note.quote(text))

    def read(place: int) -> list[set[str]]:
        session = sessions[place]
        seen = []
        for turn in range(50):
            match turn % 4:
                case 0:
                    seen.append(
                        {hit.text for hit in session.search("common words", routes=["lexical"], kinds=["evidence"])}
                    )
                case 1:
                    seen.append({str(claim.value) for claim in session.claims("everybody").items})
                case 2:
                    seen.append({str(claim.value) for claim in session.timeline("everybody")})
                case _:
                    with pytest.raises(NotFound):
                        session.evidence(str(new_id()))
        return seen

    with ThreadPoolExecutor(4) as threads:
        for place, seen in enumerate(threads.map(read, range(4))):
            name, label = principals[place]
            assert len(seen) == 38
            assert all(found == {f"common words of {name} in {label}"} for found in seen)


@pytest.fixture
def narrow(databases: Databases, database_name: str) -> Iterator[Database]:
    """A pool of one connection, so that every transaction follows the others on it."""
    database = Database(databases.app(database_name), max_connections=1)
    yield database
    database.close()


SETTINGS: LiteralString = (
    "SELECT current_setting('muniment.tenant', true), current_setting('muniment.visible', true), "
    "current_setting('muniment.reach', true), pg_backend_pid()"
)


def _settings(connection: psycopg.Connection | Tx) -> tuple[Any, ...]:
    row = connection.execute(SETTINGS).fetchone()
    assert row is not None
    return tuple(row)


def _end_well(tx: Tx) -> None:
    tx.execute("SELECT 1")


def _fail(tx: Tx) -> None:
    tx.execute("SELECT 1 / 0").fetchone()


def _be_cancelled(tx: Tx) -> None:
    tx.execute("SET LOCAL statement_timeout = '10ms'")
    tx.execute("SELECT pg_sleep(5)").fetchone()


def _raise(tx: Tx) -> None:
    raise LookupError("in the middle")


@pytest.mark.parametrize(
    ("work", "error"),
    [
        (_end_well, None),
        (_fail, psycopg.errors.DivisionByZero),
        (_be_cancelled, psycopg.errors.QueryCanceled),
        (_raise, LookupError),
    ],
)
@pytest.mark.parametrize("reach", ["own", "tenant"])
def test_a_pooled_connection_carries_no_setting_over(
    narrow: Database, tenant: str, work: Callable[[Tx], None], error: type[Exception] | None, reach: Any
) -> None:
    access = Access.open(tenant=tenant, grants={"secret"})
    with narrow.outside() as connection:
        *_, backend = _settings(connection)

    def transact() -> None:
        with narrow.transaction(access, reach=reach) as tx:
            assert _settings(tx)[0] == tenant
            work(tx)

    if error is None:
        transact()
    else:
        with pytest.raises(error):
            transact()
    with narrow.outside() as connection:
        *settings, pid = _settings(connection)
        assert not any(settings)
        assert _one(connection, "SELECT count(*) FROM canonical.evidence") == (0,)
    assert pid == backend
    with narrow.transaction(Access.open(tenant=tenant + "-b")) as tx:
        assert _settings(tx)[:3] == (tenant + "-b", "{0}", "own")


# ---- names ----------------------------------------------------------------------------------------------------------

AWKWARD = [
    "a",
    "ab",
    "a%",
    "a_",
    "%",
    "_",
    "*",
    "a*",
    "a'b",
    'a"b',
    "a;b",
    "a\\b",
    "{a}",
    "a,b",
    " a",
    "a ",
    "A",
    "ä",
    "a\u0308",
]


def test_awkward_names_are_tenants_of_their_own_with_the_same_source_ids(
    databases: Databases, own_database: str
) -> None:
    with muniment.open(databases.app(own_database), embedder="none") as memory:
        sessions = {name: memory.session(tenant=name) for name in AWKWARD}
        ids = set()
        for name, session in sessions.items():
            session.define({"predicate": "name", "validation": "quoted"})
            note = session.add(f"the shared words of {name!r}", source="crm", source_id="42")
            session.propose("it", "name", name, evidence=note.quote("shared words"))
            ids.add(note.evidence_id)
        assert len(ids) == len(AWKWARD)
        assert memory.tenants() == sorted(AWKWARD)
        for name, session in sessions.items():
            (hit,) = session.search("shared words", kinds=["evidence"])
            assert hit.text == f"the shared words of {name!r}"
            assert [claim.value for claim in session.claims().items] == [name]
        assert not memory.drift(full=True)


@pytest.mark.parametrize("name", ["a\x00", "a\ud800", "x" * 257])
def test_a_tenant_name_that_cannot_be_stored_is_refused(memory: muniment.Memory, name: str) -> None:
    with pytest.raises(InvalidInput):
        memory.session(tenant=name)


@pytest.mark.parametrize("name", ["", " ", "\t\n", None, 7])
def test_a_session_without_a_tenant_is_refused(memory: muniment.Memory, name: Any) -> None:
    with pytest.raises(NoTenant):
        memory.session(tenant=name)


@pytest.mark.parametrize("grants", ["secret", [""], ["a\x00"], [None], ["a\ud800"]])
def test_unusable_grants_are_refused(memory: muniment.Memory, tenant: str, grants: Any) -> None:
    with pytest.raises(InvalidInput):
        memory.session(tenant=tenant, grants=grants)


def test_a_grant_with_pattern_characters_is_only_itself(memory: muniment.Memory, tenant: str) -> None:
    owner = memory.session(tenant=tenant, grants={"team:red"})
    note = owner.add("words for the red team", access={"team:red"})
    for grant in ("team:%", "team:*", "team:re", "team:redx", "TEAM:RED", "%", "*", "{team:red}", "team:red "):
        with pytest.raises(NotFound):
            memory.session(tenant=tenant, grants={grant}).evidence(note.evidence_id)


# ---- raw SQL as the application role --------------------------------------------------------------------------------


@pytest.fixture
def app(databases: Databases, database_name: str) -> Iterator[psycopg.Connection]:
    """The application role's own connection, as somebody who broke into the application would have it."""
    with psycopg.connect(databases.app(database_name), autocommit=True) as connection:
        yield connection


def _tables(admin: psycopg.Connection, schema: str) -> list[str]:
    rows = admin.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind IN ('r', 'p')", (schema,)
    )
    return sorted(name for (name,) in rows)


def _columns(admin: psycopg.Connection, table: str) -> list[str]:
    rows = admin.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped", (table,)
    )
    return [name for (name,) in rows]


def _can_select(admin: psycopg.Connection, table: str) -> bool:
    return bool(_one(admin, "SELECT has_table_privilege('muniment_app', %s, 'SELECT')", table)[0])


def test_without_a_tenant_raw_sql_sees_no_row_of_any_table(
    owned: Owned, app: psycopg.Connection, admin: psycopg.Connection
) -> None:
    readable = [
        f"{s}.{t}" for s in ("canonical", "derived") for t in _tables(admin, s) if _can_select(admin, f"{s}.{t}")
    ]
    assert {"canonical.evidence", "canonical.claim", "canonical.claim_version", "derived.artifact"} <= set(readable)
    for table in readable:
        expected = table == "derived.recipe" or table.endswith("migration")
        found = app.execute(
            psycopg.sql.SQL("SELECT count(*) > 0 FROM {}").format(psycopg.sql.Identifier(*table.split(".")))
        )
        assert found.fetchone() == (expected,), table
    assert _one(admin, "SELECT count(*) > 0 FROM canonical.evidence") == (True,)


def test_with_a_tenant_but_no_visible_rule_raw_sql_sees_no_labelled_row(owned: Owned, app: psycopg.Connection) -> None:
    with app.transaction():
        app.execute("SELECT set_config('muniment.tenant', %s, true)", (owned.owner.access.tenant,))
        assert _one(app, "SELECT count(*) FROM canonical.evidence") == (0,)
        app.execute("SELECT set_config('muniment.visible', '', true)")
        assert _one(app, "SELECT count(*) FROM canonical.claim") == (0,)


def test_no_row_of_canonical_memory_can_be_updated_or_deleted(
    owned: Owned, app: psycopg.Connection, admin: psycopg.Connection
) -> None:
    tables = _tables(admin, "canonical")
    assert "evidence" in tables
    for name in tables:
        table = psycopg.sql.Identifier("canonical", name)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app.execute(psycopg.sql.SQL("DELETE FROM {}").format(table))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app.execute(psycopg.sql.SQL("TRUNCATE {} CASCADE").format(table))
        for column in map(psycopg.sql.Identifier, _columns(admin, f"canonical.{name}")):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                app.execute(psycopg.sql.SQL("UPDATE {0} SET {1} = {1}").format(table, column))


def test_recorded_at_cannot_be_stated_in_any_table(app: psycopg.Connection, admin: psycopg.Connection) -> None:
    tables = [t for t in _tables(admin, "canonical") if "recorded_at" in _columns(admin, f"canonical.{t}")]
    assert len(tables) >= 10
    for name in tables:
        statement = psycopg.sql.SQL("INSERT INTO {} (recorded_at) VALUES (now())")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app.execute(statement.format(psycopg.sql.Identifier("canonical", name)))


def test_nothing_can_be_inserted_for_another_tenant(owned: Owned, app: psycopg.Connection) -> None:
    activity = (
        "INSERT INTO canonical.activity (tenant_id, activity_id, kind, actor, software, started_at) "
        "VALUES (%s, %s, 'preserve', 'eve', 'sql', now())"
    )
    victim = owned.owner.access.tenant
    for setting in (victim + "-b", "", None):
        with app.transaction(force_rollback=True):
            if setting is not None:
                app.execute("SELECT set_config('muniment.tenant', %s, true)", (setting,))
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                app.execute(activity, (victim, uuid4()))
    with app.transaction(force_rollback=True):
        app.execute("SELECT set_config('muniment.tenant', %s, true)", (victim,))
        assert app.execute(activity, (victim, uuid4())).rowcount == 1


@pytest.mark.parametrize("table", ["posting", "unit", "embedding", "pin"])
def test_what_carries_words_or_vectors_cannot_be_read_or_written_directly(
    app: psycopg.Connection, admin: psycopg.Connection, table: str
) -> None:
    names = [name for name in _tables(admin, "derived") if name == table or name.startswith(table + "_")]
    assert names
    assert table != "embedding" or len(names) > 1, "the partitions are walked too"
    for name in names:
        for statement in ("SELECT FROM {}", "DELETE FROM {}", "TRUNCATE {}"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                app.execute(psycopg.sql.SQL(statement).format(psycopg.sql.Identifier("derived", name)))


def test_the_search_functions_answer_nothing_without_a_tenant(owned: Owned, app: psycopg.Connection) -> None:
    (recipe,) = _one(app, "SELECT recipe_id FROM derived.recipe WHERE derivation = 'words' AND state = 'active'")
    search: LiteralString = (
        "SELECT count(*) FROM derived.search_words(%s::smallint, ARRAY['claim', 'evidence'], 'nightingale', 10, now(), "
        "now(), NULL)"
    )
    for tenant, visible in (("", ""), ("", "{0}"), (owned.owner.access.tenant, ""), (owned.owner.access.tenant, "{0}")):
        with app.transaction():
            app.execute(
                "SELECT set_config('muniment.tenant', %s, true), set_config('muniment.visible', %s, true)",
                (tenant, visible),
            )
            assert _one(app, search, recipe) == (0,)


# ---- the catalogue --------------------------------------------------------------------------------------------------

UNGUARDED = {
    # How derivations are made: model names and text rules, the same for every tenant, and no word of anybody's.
    "derived.recipe",
    # Which scripts were applied to this database; opening compares it with what this version needs.
    "muniment.migration",
}


def test_every_table_is_under_forced_row_level_security_or_out_of_reach(admin: psycopg.Connection) -> None:
    rows = admin.execute(
        "SELECT c.oid::regclass::text, c.relkind, CASE WHEN c.relkind = 'v' "
        "  THEN coalesce('security_invoker=true' = ANY (c.reloptions), false)  -- or it shows what its owner may see\n"
        "  ELSE c.relrowsecurity AND c.relforcerowsecurity END, "
        "  has_table_privilege('muniment_app', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') "
        "  OR has_any_column_privilege('muniment_app', c.oid, 'SELECT, INSERT, UPDATE, REFERENCES') "
        "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' "
        "AND c.relkind IN ('r', 'p', 'm', 'v', 'f')"
    ).fetchall()
    assert len(rows) > 20
    assert {name for name, _, guarded, reachable in rows if reachable and not guarded} == UNGUARDED
    assert not [name for name, kind, _, reachable in rows if reachable and kind in ("m", "f")]
    views = {name for name, kind, _, reachable in rows if reachable and kind == "v"}
    assert views == {f"memory.{name}" for name in MEMORY_TYPES}


def test_every_definer_function_has_a_fixed_search_path_and_is_not_everybodys(admin: psycopg.Connection) -> None:
    rows = admin.execute(
        "SELECT p.oid::regprocedure::text, coalesce(p.proconfig, '{}'), "
        "has_function_privilege('public', p.oid, 'EXECUTE') "
        "FROM pg_proc p WHERE p.prosecdef AND p.pronamespace IN ('canonical'::regnamespace, 'derived'::regnamespace)"
    ).fetchall()
    assert len(rows) > 15
    for name, settings, everybodys in rows:
        assert not everybodys, name
        (path,) = [setting for setting in settings if setting.startswith("search_path=")]
        assert path.split("=", 1)[1].split(", ")[-1] == "pg_temp", f"{name}: temporary objects would come first"
    elsewhere = admin.execute(
        "SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
        "WHERE p.prosecdef AND n.nspname NOT IN ('canonical', 'derived')"
    ).fetchall()
    assert elsewhere == []


def test_no_function_of_ours_is_executable_by_everybody_unless_it_runs_as_its_caller(admin: psycopg.Connection) -> None:
    rows = admin.execute(
        "SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.pronamespace = 'derived'::regnamespace "
        "AND has_function_privilege('public', p.oid, 'EXECUTE')"
    ).fetchall()
    assert rows == []


def test_the_application_role_is_an_ordinary_one(admin: psycopg.Connection) -> None:
    assert (
        _one(
            admin,
            "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication FROM pg_roles "
            "WHERE rolname = 'muniment_app'",
        )
        == (False,) * 5
    )
    owned = admin.execute(
        "SELECT oid::regclass FROM pg_class WHERE relowner = 'muniment_app'::regrole UNION ALL "
        "SELECT oid::regclass FROM pg_proc WHERE proowner = 'muniment_app'::regrole"
    ).fetchall()
    assert owned == []
    assert (
        admin.execute("SELECT roleid::regrole FROM pg_auth_members WHERE member = 'muniment_app'::regrole").fetchall()
        == []
    )
    for schema in ("canonical", "derived", "memory", "public"):
        assert _one(admin, "SELECT has_schema_privilege('muniment_app', %s, 'CREATE')", schema) == (False,)


def test_opening_as_a_superuser_is_refused(databases: Databases, database_name: str) -> None:
    with pytest.raises(UnsafeRole) as raised:
        muniment.open(databases.admin(database_name), embedder="none")
    assert "superuser" in str(raised.value)


@pytest.mark.parametrize(
    ("made", "fault"),
    [("LOGIN BYPASSRLS IN ROLE muniment_app", "BYPASSRLS"), ("LOGIN IN ROLE muniment_app, muniment_index", "owns"),
     ("LOGIN IN ROLE muniment_app, muniment_owner", "owns"), ("LOGIN", "not a member")],
)  # fmt: skip
def test_opening_as_a_role_that_row_level_security_would_not_bind_is_refused(
    databases: Databases, database_name: str, admin: psycopg.Connection, made: LiteralString, fault: str
) -> None:
    role = f"role_{uuid4().hex[:12]}"
    name = psycopg.sql.Identifier(role)
    admin.execute(psycopg.sql.SQL("CREATE ROLE {} " + made).format(name))
    try:
        with pytest.raises(UnsafeRole) as raised:
            muniment.open(databases.server.dsn(user=role, database=database_name), embedder="none")
        assert fault in str(raised.value)
    finally:
        admin.execute(psycopg.sql.SQL("DROP ROLE {}").format(name))


def test_a_role_that_may_become_a_superuser_is_refused(
    databases: Databases, database_name: str, admin: psycopg.Connection
) -> None:
    role = f"role_{uuid4().hex[:12]}"
    name = psycopg.sql.Identifier(role)
    admin.execute(psycopg.sql.SQL("CREATE ROLE {} LOGIN IN ROLE muniment_app, postgres").format(name))
    try:
        with pytest.raises(UnsafeRole):
            muniment.open(databases.server.dsn(user=role, database=database_name), embedder="none").close()
    finally:
        admin.execute(psycopg.sql.SQL("DROP ROLE {}").format(name))
