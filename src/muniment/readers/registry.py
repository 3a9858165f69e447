"""Which reader reads a file, and which files a set of paths means."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from muniment.errors import UnreadableFile
from muniment.readers import jsonl, locomo, mail, text
from muniment.readers.files import head_of
from muniment.readers.port import Reader

# Formats that are known by their content come before plain text, which would take almost anything.
READERS: tuple[Reader, ...] = (locomo, jsonl, mail, text)


def reader_for(path: Path) -> Reader:
    """The reader that understands the file, by its suffix or its content.

    Raises `UnreadableFile`, which says what can be read, when there is none or the file cannot be opened.
    """
    head = head_of(path)
    for reader in READERS:
        if reader.accepts(path, head):
            return reader
    supported = ", ".join(reader.name for reader in READERS)
    raise UnreadableFile(f"{str(path)!r} is in no format that can be read here; supported are: {supported}")


def files_in(paths: Iterable[Path]) -> list[Path]:
    """The files that `paths` mean: directories are replaced by the files below them, in the order of their names.

    Below a directory, hidden files and directories are skipped. Links are followed, and a file that is reached twice
    is given once, so loops end. A directory that cannot be listed stays in the list, for `reader_for` to say why.
    Raises `UnreadableFile` for a path that does not exist.
    """
    found: dict[str, Path] = {}
    seen: set[str] = set()
    for path in paths:
        if not os.path.lexists(path):
            raise UnreadableFile(f"{str(path)!r} does not exist")
        for file in sorted(_files_of(path, seen)):
            found.setdefault(os.path.realpath(file), file)
    return list(found.values())


def _files_of(path: Path, seen: set[str]) -> list[Path]:
    """The path itself if it is no directory, else the files below it; `seen` holds the directories visited so far."""
    files: list[Path] = []
    waiting = [path]
    while waiting:
        current = waiting.pop()
        try:
            if not current.is_dir():
                files.append(current)
            elif (real := os.path.realpath(current)) not in seen:
                seen.add(real)
                visible = [child for child in current.iterdir() if not child.name.startswith(".")]
                waiting.extend(child for child in visible if child.is_dir() or child.is_file())
        except OSError:
            files.append(current)
    return files
