"""The asynchronous twins: the same methods, awaited. Each runs its synchronous method on a worker thread.

There is one implementation. A parity test holds the two faces together. Cancelling an awaited write does not undo it:
the thread finishes what it began.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Literal, ParamSpec, Self, TypeVar

from muniment.agent import Act, Evaluate
from muniment.extract.port import Extractor
from muniment.memory import EmbedderChoice, Memory, open_memory
from muniment.model.access import Access
from muniment.model.turn import TurnResult
from muniment.session import Session

P = ParamSpec("P")
R = TypeVar("R")


def _session(method: Callable[Concatenate[Session, P], R]) -> Callable[Concatenate[AsyncSession, P], Awaitable[R]]:
    async def awaited(twin: AsyncSession, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, twin._session, *args, **kwargs)

    return functools.update_wrapper(awaited, method)


class _Bridge:
    """Lets a worker thread call functions of the caller's, which may be coroutine functions of its loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._running: Future[Any] | None = None
        self._cancelled = False

    def of(self, function: Callable[..., Any] | None) -> Callable[..., Any] | None:
        """The function as the thread can call it."""
        if not callable(function):
            return function

        def called(*arguments: Any) -> Any:
            given = function(*arguments)
            if not inspect.isawaitable(given):
                return given
            self._running = asyncio.run_coroutine_threadsafe(_awaited(given), self._loop)
            if self._cancelled:
                self._running.cancel()
            return self._running.result()

        return called

    def cancel(self) -> None:
        """Ends what the thread waits for, so that the thread ends too."""
        self._cancelled = True
        if self._running is not None:
            self._running.cancel()


async def _awaited(given: Awaitable[R]) -> R:
    return await given


async def _turn(
    self: AsyncSession, message: str, act: Act, *, evaluate: Evaluate | None = None, **arguments: Any
) -> TurnResult:
    loop = asyncio.get_running_loop()
    bridge = _Bridge(loop)
    turn = functools.partial(self._session.turn, message, bridge.of(act), evaluate=bridge.of(evaluate), **arguments)  # type: ignore[arg-type]
    # A thread of its own: it waits for `act`, which may await verbs that need the threads of everybody.
    own = ThreadPoolExecutor(1, "muniment-turn")
    try:
        return await loop.run_in_executor(own, turn)
    except asyncio.CancelledError:
        bridge.cancel()
        raise
    finally:
        own.shutdown(wait=False)


functools.update_wrapper(_turn, Session.turn)


def _memory(method: Callable[Concatenate[Memory, P], R]) -> Callable[Concatenate[AsyncMemory, P], Awaitable[R]]:
    async def awaited(twin: AsyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, twin._memory, *args, **kwargs)

    return functools.update_wrapper(awaited, method)


def _opening(method: Callable[Concatenate[Memory, P], Session]) -> Callable[Concatenate[AsyncMemory, P], AsyncSession]:
    def opened(twin: AsyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> AsyncSession:
        return AsyncSession(method(twin._memory, *args, **kwargs))

    return functools.update_wrapper(opened, method)


class AsyncSession:
    """`Session`, awaited."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def access(self) -> Access:
        """Who this session is."""
        return self._session.access

    add = _session(Session.add)
    add_many = _session(Session.add_many)
    propose = _session(Session.propose)
    remember = _session(Session.remember)
    feedback = _session(Session.feedback)
    widen = _session(Session.widen)
    report = _session(Session.report)
    retry = _session(Session.retry)
    turn = _turn
    turns = _session(Session.turns)
    turn_record = _session(Session.turn_record)
    confirm = _session(Session.confirm)
    reject = _session(Session.reject)
    retract = _session(Session.retract)
    restore = _session(Session.restore)
    withdraw = _session(Session.withdraw)
    correct = _session(Session.correct)
    decide = _session(Session.decide)
    reviews = _session(Session.reviews)
    review = _session(Session.review)
    identify = _session(Session.identify)
    unidentify = _session(Session.unidentify)
    merge = _session(Session.merge)
    unmerge = _session(Session.unmerge)
    subject = _session(Session.subject)
    resolve = _session(Session.resolve)
    define = _session(Session.define)
    policies = _session(Session.policies)
    try_policy = _session(Session.try_policy)
    apply_policy = _session(Session.apply_policy)
    claims = _session(Session.claims)
    enumerate = _session(Session.enumerate)
    outcomes = _session(Session.outcomes)
    pins = _session(Session.pins)
    history = _session(Session.history)
    why = _session(Session.why)
    timeline = _session(Session.timeline)
    evidence = _session(Session.evidence)
    search = _session(Session.search)
    recall = _session(Session.recall)


class AsyncMemory:
    """`Memory`, awaited. `session` only fixes who asks, so it is not."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    session = _opening(Memory.session)
    migrate = _memory(Memory.migrate)
    drift = _memory(Memory.drift)
    rebuild = _memory(Memory.rebuild)
    work = _memory(Memory.work)
    start_worker = _memory(Memory.start_worker)
    recipes = _memory(Memory.recipes)
    tenants = _memory(Memory.tenants)
    doctor = _memory(Memory.doctor)
    close = _memory(Memory.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def open_async(
    target: str | Path | None = None, *, embedder: EmbedderChoice = None, admin: str | None = None,
    adopt_embedder: bool = False, extractor: Extractor | None = None,
    when_embedder_fails: Literal["refuse", "store"] = "refuse",
) -> AsyncMemory:  # fmt: skip
    """`muniment.open`, awaited."""
    memory = await asyncio.to_thread(
        open_memory, target, embedder=embedder, admin=admin, adopt_embedder=adopt_embedder, extractor=extractor,
        when_embedder_fails=when_embedder_fails,
    )  # fmt: skip
    return AsyncMemory(memory)
