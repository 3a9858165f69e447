"""The façade: an open memory, and the way to a session."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from muniment.derive import recipes as recipe_rows
from muniment.derive.drift import drift
from muniment.derive.engine import Engine
from muniment.derive.rebuild import Progress, rebuild
from muniment.derive.worker import BackgroundWorker, Pace, Worker
from muniment.doctor import examine
from muniment.errors import InvalidInput
from muniment.extract.port import Extractor
from muniment.model.access import Access
from muniment.model.payload import Check, DriftReport, RebuildReport, Recipe
from muniment.model.text import require_name
from muniment.providers.embedder import Embedder
from muniment.providers.local import LocalEmbedder, local_weights
from muniment.session import Session
from muniment.store.opening import Store, open_store

EmbedderChoice = Embedder | Literal["local", "none"] | None


class Memory:
    """One database with its embedder and its extractor. Thread-safe; holds nothing of any tenant. A context manager."""

    def __init__(self, store: Store, engine: Engine, extractor: Extractor | None = None) -> None:
        self._store = store
        self._engine = engine
        self._extractor = extractor

    def session(
        self, *, tenant: str, grants: Iterable[str] = (), actor: str = "app", user: str | None = None,
        agent: str | None = None, thread: str | None = None,
    ) -> Session:  # fmt: skip
        """A session of `tenant` that may see what `grants` satisfy. `user="jane"` adds the grant `user:jane` and puts
        that label on everything the session stores; so do `agent` and `thread`. Raises `NoTenant`, `InvalidInput`."""
        access = Access.open(tenant=tenant, grants=grants, actor=actor, user=user, agent=agent, thread=thread)
        return Session(self._store.database, self._engine, access, self._extractor)

    def migrate(self) -> bool:
        """Brings the database up to this version; returns whether anything changed. Raises `EngineUnavailable`."""
        return self._store.migrate()

    def drift(self, full: bool = False) -> DriftReport:
        """What in the derived layer does not match canonical memory. `full` compares everything."""
        return drift(self._store.database, self._engine, self.tenants(), full=full)

    def rebuild(self, *, progress: Progress | None = None) -> RebuildReport:
        """Makes the derived layer again from canonical memory; an interrupted rebuild goes on where it stopped."""
        return rebuild(self._store.database, self._engine, self.tenants(), progress=progress)

    def work(
        self, once: bool = False, *, retry_failed: bool = False, stop: threading.Event | None = None,
        pace: Pace | None = None,
    ) -> int:  # fmt: skip
        """Brings up to date what fell behind, until `stop` is set, or with `once` until nothing is due. Woken by
        writers; any number of workers may run, on any number of hosts. Returns how many artifacts were made.

        What fails is tried again later and later, and ends as `failed` (`drift`); `retry_failed` begins anew with it.
        """
        worker = Worker(self._store.database, self._engine, pace)
        if retry_failed:
            worker.retry_failed()
        return worker.drain(stop) if once else worker.run(stop or threading.Event())

    def start_worker(self, *, pace: Pace | None = None) -> BackgroundWorker:
        """A worker on a thread of this process; `stop()` it, or leave its `with` block, before closing the memory."""
        return BackgroundWorker(Worker(self._store.database, self._engine, pace))

    def recipes(self) -> list[Recipe]:
        """How each derivation is made."""
        return recipe_rows.list_recipes(self._store.database)

    def tenants(self) -> list[str]:
        """Every tenant that ever wrote. For whoever operates the installation, not for a session."""
        return self._store.database.tenants()

    def doctor(self) -> list[Check]:
        """What was looked at, whether it is well, and the command that mends it."""
        return examine(self._store, self._engine)

    def close(self) -> None:
        """Closes the connections and, for an embedded server, gives it back; the last user stops it."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_memory(
    target: str | Path | None = None, *, embedder: EmbedderChoice = None, admin: str | None = None,
    adopt_embedder: bool = False, extractor: Extractor | None = None,
    when_embedder_fails: Literal["refuse", "store"] = "refuse",
) -> Memory:  # fmt: skip
    """Opens a memory.

    `target`: None takes `$MUNIMENT_DSN`, else embedded PostgreSQL in `$MUNIMENT_HOME` or `./.muniment`; a
    `postgresql://` DSN takes that server, as a role that row-level security binds; a path takes embedded PostgreSQL
    there, set up on first use. `embedder`: None takes the local one when it is installed, `"none"` goes without the
    semantic route. `admin`: a DSN that may migrate the database first. `adopt_embedder`: retire vectors of
    another model. `when_embedder_fails`: "refuse" fails the write and stores nothing; "store" lets it through, found by
    words until a worker has made the vectors up (`drift` names them), and searches by words alone meanwhile.
    `extractor`: what `remember` reads claims with; the caller closes it, if it wants closing.

    Raises `InvalidInput`, `EngineUnavailable`, `SchemaMissing`, `SchemaTooNew`, `UnsafeRole`, `EmbeddingDimension`,
    `EmbedderFailed`.
    """
    if when_embedder_fails not in ("refuse", "store"):
        raise InvalidInput("when_embedder_fails is 'refuse' or 'store'")
    if isinstance(embedder, str) and embedder not in ("local", "none"):
        raise InvalidInput("embedder is an Embedder, 'local' or 'none'")
    if extractor is not None and not (hasattr(extractor, "name") and callable(getattr(extractor, "extract", None))):
        raise InvalidInput("an extractor has a name and a method extract; see muniment.extract.port.Extractor")
    if extractor is not None:
        require_name(extractor.name, what="the extractor's name")
    store = open_store(target, admin=admin)
    try:
        chosen = _choose(embedder)
        recipes = recipe_rows.activate(store.database, chosen, adopt=adopt_embedder)
        return Memory(store, Engine(recipes, chosen, waits=when_embedder_fails == "store"), extractor)
    except BaseException:
        store.close()
        raise


def _choose(embedder: EmbedderChoice) -> Embedder | None:
    if embedder == "none":
        return None
    if embedder == "local":
        return LocalEmbedder()
    if embedder is None:
        return LocalEmbedder() if local_weights() is not None else None
    return embedder
