"""Working off the drift: the queue is the rows that are not fresh, so it cannot disagree with them.

A batch is taken with SKIP LOCKED and leased, computed while no transaction is open, and written back under the tenant's
lock from what canonical memory holds then. A worker that is killed leaves a lease that runs out; two workers never hold
the same lease. What fails waits longer each time, with jitter, and ends as `failed`, visible in `drift`.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import psycopg

from muniment.derive.engine import Engine
from muniment.derive.rebuild import fill, maintain, make
from muniment.derive.sources import operator, read_sources
from muniment.errors import EmbedderFailed, EngineUnavailable
from muniment.store.database import Database
from muniment.store.statements import sql

log = logging.getLogger("muniment.worker")
_TICK = 0.5


@dataclass(frozen=True, slots=True)
class Pace:
    """How a worker goes about it. Times in seconds.

    After its n-th failure a source waits first_delay * 2^(n - 1), at most `longest_delay`, times 0.5 to 1.5 by chance;
    after `attempts` failures it is `failed`. `lease`: how long a batch may take before another worker takes it over.
    `poll`: how often it looks without being woken.
    """

    batch: int = 64
    lease: float = 300
    attempts: int = 8
    first_delay: float = 2
    longest_delay: float = 3600
    poll: float = 30

    def delay(self, failures: int) -> float:
        """How long to wait after so many failures."""
        return min(self.first_delay * 2.0 ** (failures - 1), self.longest_delay) * random.uniform(0.5, 1.5)


class Worker:
    """Brings the derived layer up to date; any number of them may run, on any number of hosts."""

    def __init__(self, database: Database, engine: Engine, pace: Pace | None = None) -> None:
        self._database = database
        self._engine = engine
        self._pace = pace or Pace()
        # Without an embedder, words alone can be made; taking vectors would only put them back.
        self._recipes = engine.recipes.ids if engine.embedder is not None else [engine.recipes.words]

    def drain(self, stop: threading.Event | None = None) -> int:
        """Does everything that is due now; returns how many artifacts were made. Stops early, between batches, once
        `stop` is set. Raises `EngineUnavailable`."""
        made = sum(self._build(tenant) for tenant in self._never_built() if not _stopped(stop))
        while not _stopped(stop):
            tenants = self._behind()
            if not tenants:
                break
            for tenant in tenants:
                while not _stopped(stop) and (done := self._batch(tenant)) is not None:
                    made += done
        if made:
            maintain(self._database, self._engine)
        return made

    def run(self, stop: threading.Event) -> int:
        """Works until `stop` is set, woken by writers; finishes the batch in hand. A lost server is waited for."""
        made, failures = 0, 0
        while not stop.is_set():
            try:
                with self._database.outside() as connection:
                    connection.execute(sql("listen_for_work"))
                    try:
                        while not stop.is_set():
                            made += self.drain(stop)
                            failures = 0
                            self._wait(connection, stop)
                    finally:
                        if not connection.closed:
                            connection.execute(sql("stop_listening"))
            except (EngineUnavailable, psycopg.OperationalError) as error:
                failures += 1
                log.warning("the server cannot be reached, trying again: %s", error)
                stop.wait(min(self._pace.delay(failures), self._pace.poll))
        return made

    def retry_failed(self) -> None:
        """Lets everything that failed be tried again, at once."""
        for tenant in self._database.tenants():
            with self._database.transaction(operator(tenant)) as tx:
                tx.execute(sql("retry_failed"), {"recipes": self._recipes})

    def _wait(self, connection: psycopg.Connection[object], stop: threading.Event) -> None:
        until = time.monotonic() + self._pace.poll
        while not stop.is_set() and (left := until - time.monotonic()) > 0:
            for _ in connection.notifies(timeout=min(_TICK, left), stop_after=1):
                return

    def _never_built(self) -> list[str]:
        """Tenants of which rows may be missing that nobody marked."""
        wanted = set(self._recipes)
        found = []
        for tenant in self._database.tenants():
            with self._database.transaction(operator(tenant)) as tx:
                if not wanted <= {recipe for (recipe,) in tx.execute(sql("covered")).fetchall()}:
                    found.append(tenant)
        return found

    def _build(self, tenant: str) -> int:
        return fill(self._database, self._engine, tenant).total()

    def _behind(self) -> list[str]:
        with self._database.outside() as connection:
            rows = connection.execute(sql("tenants_behind"), {"recipes": self._recipes}).fetchall()
        return [tenant for (tenant,) in rows]

    def _batch(self, tenant: str) -> int | None:
        """Takes and makes one batch; None when there is none."""
        with self._database.transaction(operator(tenant)) as tx:
            parameters = {"recipes": self._recipes, "most": self._pace.batch, "lease": self._pace.lease}
            rows = tx.execute(sql("take_behind"), parameters).fetchall()
        if not rows:
            return None
        return self._make(tenant, sorted({source_id for source_id, _ in rows}), dict(rows))

    def _make(self, tenant: str, ids: Sequence[UUID], failures: dict[UUID, int]) -> int:
        """Makes these sources; when that fails, each by itself, so that a bad one is found and loses no other."""
        with self._database.transaction(operator(tenant), reach="tenant") as tx:
            page = read_sources(tx, ids)
        try:
            return make(self._database, self._engine, tenant, page, asked=ids).total()
        except EmbedderFailed as error:
            if len(ids) > 1:
                return sum(self._make(tenant, [one], failures) for one in ids)
            self._note_failure(tenant, ids[0], failures.get(ids[0], 0) + 1, str(error))
            return 0

    def _note_failure(self, tenant: str, source_id: UUID, failures: int, error: str) -> None:
        log.warning("an artifact of %s could not be made, failure %d: %s", source_id, failures, error)
        parameters = {
            "source_id": source_id, "recipes": self._recipes, "failures": failures, "error": error[:1000],
            "ended": failures >= self._pace.attempts, "delay": self._pace.delay(failures),
        }  # fmt: skip
        with self._database.transaction(operator(tenant)) as tx:
            tx.execute(sql("note_failure"), parameters)


class BackgroundWorker:
    """A worker on a thread of this process. `stop` waits for the batch in hand; also a context manager."""

    def __init__(self, worker: Worker) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=worker.run, args=(self._stop,), name="muniment-worker", daemon=True)
        self._thread.start()

    def stop(self, timeout: float | None = None) -> None:
        """Lets it finish its batch and end."""
        self._stop.set()
        self._thread.join(timeout)

    @property
    def running(self) -> bool:
        """Whether it still works."""
        return self._thread.is_alive()

    def __enter__(self) -> BackgroundWorker:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


def _stopped(stop: threading.Event | None) -> bool:
    return stop is not None and stop.is_set()
