"""Workers bring the derived layer up to date: nothing twice, nothing lost, and what cannot be made is visible."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import psycopg
import pytest

import muniment
from muniment.derive.worker import Pace
from muniment.errors import EmbedderFailed, InvalidInput
from muniment.providers.embedder import Vectors
from muniment.providers.local import LocalEmbedder
from tests.conftest import Databases, HashEmbedder

QUICK = Pace(batch=8, lease=60, attempts=3, first_delay=0.01, longest_delay=0.02, poll=60)
Open = Callable[..., muniment.Memory]


class Counting(HashEmbedder):
    """Counts how often each text was embedded; refuses texts with the word poison."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, int] = {}
        self.broken = False
        self.gate: threading.Event | None = None
        self.entered = threading.Event()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.entered.set()
        if self.gate is not None:
            assert self.gate.wait(30)
        if self.broken or any("poison" in text for text in texts):
            raise EmbedderFailed("no such words")
        for text in texts:
            self.seen[text] = self.seen.get(text, 0) + 1
        return super().embed_passages(texts)


@pytest.fixture
def open_own(databases: Databases, own_database: str) -> Iterator[Open]:
    """Opens the test's own database; the first time with vectors, so that there is a recipe for them."""
    memories: list[muniment.Memory] = []

    def opening(embedder: object, **more: object) -> muniment.Memory:
        memories.append(muniment.open(databases.app(own_database), embedder=embedder, **more))  # type: ignore[arg-type]
        return memories[-1]

    opening(Counting())
    yield opening
    for memory in memories:
        memory.close()


def behind(open_own: Open, *texts: str, tenant: str = "acme") -> None:
    """Texts that were stored without vectors."""
    session = open_own("none").session(tenant=tenant)
    session.add_many([{"content": text, "source_id": text} for text in texts])


def until(condition: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def test_a_worker_makes_what_is_behind_for_every_tenant_and_then_ends(open_own: Open) -> None:
    for tenant in ("acme", "globex"):
        behind(open_own, *(f"{tenant} text {n}" for n in range(20)), tenant=tenant)
    model = Counting()
    memory = open_own(model)
    assert memory.drift().counts == {"vectors stale": 40}
    assert memory.work(once=True, pace=QUICK) == 80  # words and vectors of forty
    assert not memory.drift(full=True)
    assert set(model.seen.values()) == {1}
    assert memory.work(once=True) == 0
    assert len(memory.session(tenant="globex").search("globex text 3", routes=["semantic"])) == 10


def test_two_workers_embed_no_text_twice(open_own: Open) -> None:
    behind(open_own, *(f"text {n}" for n in range(60)))
    models = [Counting(), Counting()]
    threads = [threading.Thread(target=open_own(model).work, kwargs={"once": True, "pace": QUICK}) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    seen = [text for model in models for text in model.seen]
    assert len(seen) == len(set(seen)) == 60
    assert not open_own(Counting()).drift(full=True)


def test_what_a_dead_worker_had_taken_is_taken_over_when_its_lease_ends(open_own: Open) -> None:
    behind(open_own, "one", "two")
    dead = Counting()
    dead.gate = threading.Event()
    memory = open_own(dead)
    lease = Pace(lease=0.5, poll=60)
    thread = threading.Thread(target=memory.work, kwargs={"once": True, "pace": lease})
    thread.start()
    assert dead.entered.wait(20)
    living = open_own(Counting())
    assert living.work(once=True, pace=QUICK) == 0  # leased
    assert until(lambda: living.work(once=True, pace=QUICK) == 4)
    dead.gate.set()
    thread.join(20)
    assert not living.drift(full=True)


def test_poison_ends_as_failed_with_its_error_and_loses_no_other(open_own: Open) -> None:
    behind(open_own, "good", "poison", "better")
    model = Counting()
    memory = open_own(model)
    assert until(lambda: (memory.work(once=True, pace=QUICK), memory.drift().counts)[1] == {"vectors failed": 1})
    (row,) = memory.drift().rows
    assert row.detail == "no such words"
    assert sorted(model.seen) == ["better", "good"]
    assert memory.drift(full=True).counts == {"vectors failed": 1}
    assert [hit.text for hit in memory.session(tenant="acme").search("poison", routes=["lexical"])] == ["poison"]


def test_what_failed_waits_before_it_is_tried_again_and_can_be_begun_anew(open_own: Open) -> None:
    behind(open_own, "a text")
    model = Counting()
    model.broken = True
    memory = open_own(model)
    slow = Pace(first_delay=3600, attempts=2)
    assert memory.work(once=True, pace=slow) == 0
    model.broken = False
    assert memory.work(once=True, pace=slow) == 0  # it waits
    assert memory.drift().counts == {"vectors stale": 1}
    model.broken = True
    quick = Pace(first_delay=0, longest_delay=0, attempts=1)
    behind(open_own, "another")
    memory.work(once=True, pace=quick)
    assert memory.drift().counts["vectors failed"] == 1
    model.broken = False
    memory.work(once=True, retry_failed=True)
    assert memory.drift().counts == {"vectors stale": 1}


def test_a_standing_worker_is_woken_by_a_writer_and_stops_when_asked(open_own: Open) -> None:
    memory = open_own(Counting())
    with memory.start_worker(pace=QUICK) as worker:
        assert worker.running
        time.sleep(0.5)  # it waits now, and would for a minute
        behind(open_own, "wake up")
        assert until(lambda: not memory.drift().counts, 15)
    assert not worker.running


def test_a_stopped_worker_finishes_its_batch_and_leaves_the_rest(open_own: Open) -> None:
    behind(open_own, *(f"text {n}" for n in range(20)))
    model = Counting()
    model.gate = threading.Event()
    memory = open_own(model)
    worker = memory.start_worker(pace=QUICK)
    assert model.entered.wait(20)
    stopping = threading.Thread(target=worker.stop)
    stopping.start()
    model.gate.set()
    stopping.join(20)
    assert not worker.running
    assert len(model.seen) == 8
    assert memory.drift().counts == {"vectors stale": 12}


def test_a_text_that_moved_on_while_it_was_computed_is_written_as_it_is_now(open_own: Open) -> None:
    plain = open_own("none").session(tenant="acme")
    note = plain.add("Ada plays chess.")
    claim = plain.propose("ada", "hobby", "chess", evidence=note).claim_id
    model = Counting()
    model.gate = threading.Event()
    memory = open_own(model)
    thread = threading.Thread(target=memory.work, kwargs={"once": True})
    thread.start()
    assert model.entered.wait(20)
    plain.confirm(claim, by="ada")
    plain.retract(claim, reason="no longer")
    model.gate.set()
    thread.join(20)
    assert not memory.drift(full=True)
    assert memory.session(tenant="acme").search("hobby chess", kinds=["claim"]) == []


def test_a_source_that_is_gone_while_it_was_computed_leaves_nothing(
    open_own: Open, databases: Databases, own_database: str
) -> None:
    behind(open_own, "to be erased", "to stay")
    model = Counting()
    model.gate = threading.Event()
    memory = open_own(model)
    thread = threading.Thread(target=memory.work, kwargs={"once": True})
    thread.start()
    assert model.entered.wait(20)
    with psycopg.connect(databases.admin(own_database), autocommit=True) as admin:
        admin.execute("DELETE FROM canonical.evidence WHERE content = 'to be erased'")
    model.gate.set()
    thread.join(20)
    assert not memory.drift(full=True)
    assert [hit.text for hit in memory.session(tenant="acme").search("to be erased stay")] == ["to stay"]


def test_without_an_embedder_a_worker_makes_words_and_leaves_vectors_to_others(open_own: Open) -> None:
    behind(open_own, "a text")
    memory = open_own("none")
    assert memory.work(once=True) == 0
    assert memory.drift().counts == {"vectors stale": 1}


def test_by_choice_a_write_goes_through_when_the_embedder_fails_and_is_found_by_words(open_own: Open) -> None:
    model = Counting()
    memory = open_own(model, when_embedder_fails="store")
    session = memory.session(tenant="acme")
    model.broken = True
    session.add("remember the garden")
    (row,) = memory.drift().rows
    assert (row.kind, row.detail) == ("stale", "the embedder failed when it was written: no such words")
    assert [hit.text for hit in session.search("garden", routes=["lexical"])] == ["remember the garden"]
    model.broken = False
    assert memory.work(once=True) > 0
    assert not memory.drift(full=True)
    with pytest.raises(InvalidInput):
        open_own(model, when_embedder_fails="perhaps")


class Mute(Counting):
    """Embeds passages, and no question."""

    def embed_question(self, text: str) -> Vectors:
        raise EmbedderFailed("no questions")


def test_by_the_same_choice_a_question_is_answered_by_words_and_says_so(open_own: Open) -> None:
    strict, lenient = open_own(Mute()), open_own(Mute(), when_embedder_fails="store")
    lenient.session(tenant="acme").add("remember the garden")
    payload = lenient.session(tenant="acme").recall("garden")
    assert (payload.retrieval.routes, len(payload.evidence)) == (("lexical",), 1)
    with pytest.raises(EmbedderFailed):
        lenient.session(tenant="acme").recall("garden", routes=["semantic"])
    with pytest.raises(EmbedderFailed):
        strict.session(tenant="acme").recall("garden")


def test_the_command_works_until_it_is_told_to_stop(
    databases: Databases, own_database: str, embedder: LocalEmbedder
) -> None:
    muniment.open(databases.app(own_database), embedder=embedder).close()  # its recipe
    command = [sys.executable, "-m", "muniment", "work", "--at", databases.app(own_database)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    )
    with muniment.open(databases.app(own_database), embedder="none") as memory:
        memory.session(tenant="acme").add("a message about gardens")
        assert memory.drift().counts == {"vectors stale": 1} or not memory.drift()
        assert until(lambda: not memory.drift(full=True), 40)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert out.endswith("artifacts made\n")
    once = subprocess.run([*command, "--once"], capture_output=True, text=True, check=False, timeout=60)
    assert (once.returncode, once.stdout) == (0, "0 artifacts made\n")
