"""The options that every command shares, and how they become a memory and a session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any

import typer

from muniment.errors import InvalidTime
from muniment.extract.port import Extractor
from muniment.memory import Memory, open_memory
from muniment.session import Session
from muniment.time import require_aware

Target = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="DSN|FOLDER",
        help="Where: a postgresql:// DSN, or a folder. [default: $MUNIMENT_DSN, $MUNIMENT_HOME, ./.muniment]",
        show_default=False,
    ),
]
Tenant = Annotated[str, typer.Option("--tenant", envvar="MUNIMENT_TENANT", help="Whose memory.")]
Grants = Annotated[
    list[str] | None, typer.Option("--grant", help="A label that you hold; repeatable.", show_default=False)
]
User = Annotated[
    str | None, typer.Option("--user", help="Act as this user: adds the grant and label user:NAME.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Labels = Annotated[
    list[str] | None,
    typer.Option("--label", help="An access label for what is stored; repeatable.", show_default=False),
]
Moment = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="An ISO time with an offset, e.g. 2026-08-27T10:00Z.", show_default=False),
]


def parse_moment(text: str | None) -> datetime | None:
    """An ISO 8601 time with an offset. Raises `InvalidTime` or `NaiveDatetime`."""
    if text is None:
        return None
    try:
        return require_aware(datetime.fromisoformat(text))
    except ValueError:
        raise InvalidTime(f"{text!r} is no ISO time; write e.g. 2026-08-27T10:00:00+02:00") from None


def parse_value(text: str) -> Any:
    """JSON where it is JSON, otherwise the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


@contextmanager
def opened(target: str | None, *, adopt_embedder: bool = False, extractor: Extractor | None = None) -> Iterator[Memory]:
    """The memory at `target`, closed at the end."""
    with open_memory(target, adopt_embedder=adopt_embedder, extractor=extractor) as memory:
        yield memory


@contextmanager
def session(
    target: str | None, tenant: str, grants: list[str] | None, user: str | None = None, *,
    extractor: Extractor | None = None,
) -> Iterator[Session]:  # fmt: skip
    """A session as the options say."""
    with opened(target, extractor=extractor) as memory:
        yield memory.session(tenant=tenant, grants=grants or (), user=user, actor="cli")
