"""One event loop on a thread of its own: asynchronous clients live on it, whoever calls and from wherever."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
Closing = Callable[[], Coroutine[Any, Any, object]]
_GRACE_SECONDS = 5.0


class Courier:
    """Runs coroutines from any thread, also from one whose own event loop is running. Starts when it is first used.

    Connections that a client keeps belong to the loop that opened them: with a new loop for each call they would be
    found closed at the next.
    """

    def __init__(self, closing: Closing | None = None) -> None:
        self._closing = closing
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: Callable[[], object] = lambda: None

    def run(self, work: Coroutine[Any, Any, T], seconds: float) -> T:
        """The result of `work`. Raises `TimeoutError` after `seconds`, also when the work does not yield."""
        future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, seconds), self._running())
        try:
            return future.result(seconds + _GRACE_SECONDS)
        except TimeoutError:
            if not future.done():  # it blocks the loop: leave that one to it
                with self._lock:
                    self._loop = None
            raise

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = loop = asyncio.new_event_loop()
                thread = threading.Thread(target=_serve, args=(loop,), name="muniment-extractor", daemon=True)
                thread.start()
                self._stop = weakref.finalize(self, _end, loop, thread, self._closing)
            return self._loop

    def close(self) -> None:
        """Closes the client and ends the thread; the next use starts another."""
        with self._lock:
            self._stop()
            self._loop = None


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread, closing: Closing | None) -> None:
    async def end() -> None:
        try:
            if closing is not None:
                await closing()
        finally:
            loop.stop()

    if thread.is_alive() and thread is not threading.current_thread():
        asyncio.run_coroutine_threadsafe(end(), loop)
        thread.join(_GRACE_SECONDS)
