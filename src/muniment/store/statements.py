"""Named SQL: every statement stands in a `.sql` file under `sql/named/`, introduced by `-- :name its_name`."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import LiteralString

_HEADER = re.compile(r"^-- :name (\w+).*$", re.MULTILINE)


@cache
def _load() -> dict[str, LiteralString]:
    statements: dict[str, LiteralString] = {}
    for file in sorted(files("muniment.store").joinpath("sql/named").iterdir(), key=lambda f: f.name):
        if not file.name.endswith(".sql"):
            continue
        _, *parts = _HEADER.split(file.read_text(encoding="utf-8"))
        for name, body in zip(parts[::2], parts[1::2], strict=True):
            if name in statements:
                raise ValueError(f"two statements are named {name}")
            statements[name] = body.strip()
    return statements


def sql(name: str) -> LiteralString:
    """The statement called `name`. It comes from a file of this package, never from input."""
    return _load()[name]
