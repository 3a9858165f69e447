"""Tables of figures, and the machine they were seen on."""

from __future__ import annotations

import os
import platform

from rich.console import Console
from rich.table import Table as RichTable

console = Console(width=170)


class Table:
    """Rows of text under a title."""

    def __init__(self, title: str, *headers: str) -> None:
        self._table = RichTable(*headers, title=title, title_justify="left")

    def add(self, *cells: str) -> None:
        self._table.add_row(*cells)

    def show(self, note: str = "") -> None:
        console.print(self._table)
        if note:
            console.print(note)


def machine() -> str:
    """One line: cores, system, Python."""
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
