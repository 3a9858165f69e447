"""How often a call waits for the server, counted on the wire: a proxy counts each time the direction turns."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest

import muniment
from muniment.providers.local import LocalEmbedder
from tests.conftest import Databases
from tests.helpers import QUESTION, late_email, single_valued, tell


class CountingProxy:
    """Passes a Unix socket on; `turns` counts the client's requests that follow an answer."""

    def __init__(self, folder: Path, server: str) -> None:
        self.turns = 0
        self._server = server
        self._lock = threading.Lock()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._server)
            state = {"answered": True}
            threading.Thread(target=self._pass, args=(client, server, state, True), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, state, False), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, state: dict[str, bool], request: bool) -> None:
        with source, target:
            while data := _received(source):
                with self._lock:
                    if request and state["answered"]:
                        self.turns += 1
                    state["answered"] = not request
                target.sendall(data)

    def close(self) -> None:
        self._listener.close()


def _received(source: socket.socket) -> bytes:
    try:
        return source.recv(1 << 20)
    except OSError:
        return b""


@pytest.fixture
def counted(
    databases: Databases,
    database_name: str,
    embedder: LocalEmbedder,
    tmp_path_factory: pytest.TempPathFactory,
    tenant: str,
) -> Iterator[tuple[muniment.Session, Callable[[Callable[[], object]], int]]]:
    folder = Path("/tmp") / f"mp-{tenant[-8:]}"
    folder.mkdir()
    parts = parse_qs(urlparse(databases.app(database_name)).query)
    proxy = CountingProxy(folder, f"{parts['host'][0]}/.s.PGSQL.{parts['port'][0]}")

    def count(call: Callable[[], object]) -> int:
        before = proxy.turns
        call()
        return proxy.turns - before

    with muniment.open(f"postgresql://muniment_app@/{database_name}?host={folder}", embedder=embedder) as memory:
        yield memory.session(tenant=tenant, grants={"muniment:import"}), count
    proxy.close()
    (folder / ".s.PGSQL.5432").unlink()
    folder.rmdir()


Counted = tuple[muniment.Session, Callable[[Callable[[], object]], int]]


def test_a_proposal_takes_at_most_four_round_trips(counted: Counted) -> None:
    session, count = counted
    single_valued(session, "drink")
    tell(session, "ada", "drink", "coffee", "2026-01-01")
    span = session.add("Now I drink tea.").quote("tea")
    assert count(lambda: session.propose("ada", "drink", "tea", evidence=span)) <= 4


def test_a_recall_takes_at_most_six_round_trips_however_much_it_finds(counted: Counted) -> None:
    session, count = counted
    late_email(session)
    for number in range(40):
        session.add(f"Janet and the renewal call, note {number}.", source_id=str(number))
    assert count(lambda: session.recall(QUESTION, subject="contact_1842", scope="renewal/2027", budget=5000)) <= 6


def test_a_search_takes_at_most_four_round_trips(counted: Counted) -> None:
    session, count = counted
    late_email(session)
    assert count(lambda: session.search(QUESTION)) <= 4


def test_adding_takes_at_most_eight_round_trips(counted: Counted) -> None:
    session, count = counted
    session.add("the first")
    assert count(lambda: session.add("one more message")) <= 8
