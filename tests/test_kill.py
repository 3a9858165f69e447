"""kill -9 in the middle of an ingest, and the embedded server's folder after it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import LiteralString

import psutil
import psycopg
import pytest

import muniment
from muniment.errors import EngineUnavailable
from muniment.model.access import Access
from muniment.providers.local import LocalEmbedder
from muniment.store.database import Database, Tx
from muniment.store.embedded import EmbeddedServer
from tests.conftest import Databases, HashEmbedder

ITEMS = 2000
WRITER = """
import json, sys
import muniment
from tests.conftest import HashEmbedder
with muniment.open(sys.argv[1], embedder=HashEmbedder()) as memory:
    session = memory.session(tenant="acme")
    items = ({"content": f"message number {n} of the batch", "source_id": str(n)} for n in range(int(sys.argv[2])))
    def told(count):
        print(count, flush=True)
    report = session.add_many(items, progress=told)
    print(report.model_dump_json(), flush=True)
"""


def start(dsn: str) -> subprocess.Popen[str]:
    root = Path(__file__).resolve().parents[1]
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, dsn, str(ITEMS)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
    )


def counts(databases: Databases, name: str) -> tuple[int, int, int, int]:
    """Rows of evidence, and of each thing derived from it."""
    with psycopg.connect(databases.admin(name)) as admin:
        row = admin.execute(
            "SELECT (SELECT count(*) FROM canonical.evidence), (SELECT count(*) FROM derived.pin),"
            " (SELECT count(*) FROM derived.unit), (SELECT count(*) FROM derived.embedding)"
        ).fetchone()
    assert row is not None
    return row


def test_after_kill_9_what_was_reported_is_there_whole_and_a_second_run_completes_it(
    databases: Databases, own_database: str
) -> None:
    with start(databases.app(own_database)) as writer:
        assert writer.stdout is not None
        reported = sum(int(writer.stdout.readline()) for _ in range(3))
        writer.send_signal(signal.SIGKILL)
        reported += sum(int(line) for line in writer.stdout.read().split() if line.isdigit())
    evidence, *derived = counts(databases, own_database)
    assert reported <= evidence < ITEMS
    assert derived == [evidence] * 3
    with start(databases.app(own_database)) as again:
        output, _ = again.communicate(timeout=120)
    report = json.loads(output.splitlines()[-1])
    assert (report["stored"], report["repeated"], report["rejected"]) == (ITEMS - evidence, evidence, [])
    assert counts(databases, own_database) == (ITEMS,) * 4
    with muniment.open(databases.app(own_database), embedder=HashEmbedder()) as memory:
        assert not memory.drift(full=True)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A folder of its own; whatever server is left in it is stopped at the end."""
    yield tmp_path / "home"
    pid_file = tmp_path / "home" / "postgres" / "postmaster.pid"
    if pid_file.exists():
        psutil.Process(int(pid_file.read_text().split()[0])).send_signal(signal.SIGQUIT)


HOLDER = """
import sys
import muniment
memory = muniment.open(sys.argv[1], embedder="none")
memory.session(tenant="acme").add("kept by the killed process", source_id="kept")
print("ready", flush=True)
sys.stdin.read()
"""


def hold(home: Path) -> subprocess.Popen[str]:
    """Another process that has the folder open."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def texts(memory: muniment.Memory) -> list[str]:
    return [hit.text for hit in memory.session(tenant="acme").search("kept process")]


def test_a_second_process_joins_the_running_server_and_the_last_one_stops_it(home: Path) -> None:
    other = hold(home)
    with muniment.open(home, embedder="none") as memory:
        assert texts(memory) == ["kept by the killed process"]
        other.communicate("")
        assert texts(memory) == ["kept by the killed process"]
    assert not (home / "postgres" / "postmaster.pid").exists()


def test_a_killed_process_leaves_a_folder_that_opens_again(home: Path) -> None:
    with hold(home) as other:
        other.kill()
    with muniment.open(home, embedder="none") as memory:
        assert texts(memory) == ["kept by the killed process"]
    assert not (home / "postgres" / "postmaster.pid").exists()


def test_a_killed_server_leaves_a_folder_that_opens_again(home: Path) -> None:
    other = hold(home)
    server = psutil.Process(int((home / "postgres" / "postmaster.pid").read_text().split()[0]))
    children = server.children(recursive=True)
    server.kill()
    psutil.wait_procs(children, timeout=20)
    with other:
        other.kill()
    with muniment.open(home, embedder="none") as memory:
        assert texts(memory) == ["kept by the killed process"]


def test_two_handles_in_one_process_share_the_server(home: Path) -> None:
    first, second = muniment.open(home, embedder="none"), muniment.open(home, embedder="none")
    first.session(tenant="acme").add("kept by the first process", source_id="kept")
    first.close()
    assert texts(second) == ["kept by the first process"]
    second.close()
    assert not (home / "postgres" / "postmaster.pid").exists()


def test_the_embedded_database_is_reached_as_a_role_that_row_level_security_binds(home: Path) -> None:
    with muniment.open(home, embedder="none"):
        server = EmbeddedServer(home)
        with psycopg.connect(server.dsn(user="muniment_app")) as app:
            row = app.execute("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user").fetchone()
        server.release()
    assert row == (False, False)


def test_statistics_of_a_new_folder_do_not_wait_a_minute_and_what_its_owner_sets_stays(home: Path) -> None:
    naptime: LiteralString = "SELECT current_setting('autovacuum_naptime')"
    with muniment.open(home, embedder="none"):
        server = EmbeddedServer(home)
        with psycopg.connect(server.dsn(user="postgres"), autocommit=True) as owner:
            assert owner.execute(naptime).fetchone() == ("5s",)
            owner.execute("ALTER SYSTEM SET autovacuum_naptime = '2min'")
        server.release()
    with muniment.open(home, embedder="none"):
        server = EmbeddedServer(home)
        with psycopg.connect(server.dsn(user="postgres")) as owner:
            assert owner.execute(naptime).fetchone() == ("2min",)
        server.release()


def test_the_local_embedder_gives_the_same_bytes_whatever_the_batch(embedder: LocalEmbedder) -> None:
    words = ["a short text", "a much longer text about renewals, calls and written summaries", "北京"]
    together = embedder.embed_passages(words)
    alone = [embedder.embed_passages([word])[0] for word in words]
    assert all((a == b).all() for a, b in zip(together, alone, strict=True))


def test_an_interrupted_ingest_says_so_and_leaves_whole_items(
    databases: Databases, own_database: str, tmp_path: Path
) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text("".join(json.dumps({"content": f"message {n}", "source_id": str(n)}) + "\n" for n in range(20_000)))
    command = [sys.executable, "-m", "muniment", "ingest", str(file), "--at", databases.app(own_database)]
    with (
        psycopg.connect(databases.admin(own_database), autocommit=True) as admin,
        subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running,
    ):
        while admin.execute("SELECT count(*) FROM canonical.evidence").fetchone() == (0,):
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        _, error = running.communicate(timeout=60)
    assert running.returncode == 130, error
    assert "interrupted" in error
    evidence, pins, *_ = counts(databases, own_database)
    assert 0 < evidence == pins < 20_000


@pytest.mark.parametrize("lost", ["before", "meanwhile"])
def test_an_interruption_is_an_interruption_also_when_the_connection_is_lost_over_it(
    databases: Databases, own_database: str, lost: str
) -> None:
    database = Database(databases.app(own_database), max_connections=1)
    access = Access("acme", frozenset(), frozenset(), actor="test")

    def lose(tx: Tx) -> None:
        backend = tx.execute("SELECT pg_backend_pid()").fetchone()
        with psycopg.connect(databases.admin(own_database), autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s, 5000)", backend)

    def interrupted_by(first: type[BaseException]) -> None:
        with database.transaction(access) as tx:
            if lost == "before":
                lose(tx)
                raise first
            try:
                raise first
            finally:
                lose(tx)
                tx.execute("SELECT 1").fetchone()

    with pytest.raises(KeyboardInterrupt):
        interrupted_by(KeyboardInterrupt)
    with pytest.raises(ValueError if lost == "before" else EngineUnavailable):
        interrupted_by(ValueError)
    with database.transaction(access) as tx:
        assert tx.execute("SELECT 1").fetchone() == (1,)
    database.close()


def test_a_command_that_does_not_exist_is_refused_without_a_traceback() -> None:
    done = subprocess.run([sys.executable, "-m", "muniment", "nonsense"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
