"""Opening a file and taking it apart with bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from muniment.errors import UnreadableFile

BLOCK_BYTES = 64 * 1024


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The file, open for reading bytes. Raises `UnreadableFile` for what is no regular file or cannot be read."""
    try:
        # Opening a pipe would wait for a writer for ever, so only regular files are opened.
        if not path.is_file():
            raise UnreadableFile(f"{str(path)!r} is no regular file, or a directory that cannot be listed")
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise UnreadableFile(f"{str(path)!r} cannot be read: {error.strerror or error}") from None


def head_of(path: Path) -> bytes:
    """The first block of the file. Raises `UnreadableFile`."""
    with opened(path) as file:
        return file.read(BLOCK_BYTES)


def line_pieces(file: BinaryIO) -> Iterator[bytes]:
    """The lines of `file`, each with its end.

    A line longer than a block comes in pieces, and only its last piece has the end. Lines end with LF (CRLF included),
    or with CR in a file whose first block has no LF.
    """
    block = file.read(BLOCK_BYTES)
    end = b"\r" if b"\r" in block and b"\n" not in block else b"\n"
    rest = b""
    while block:
        lines = (rest + block).split(end)
        rest = lines.pop()
        for line in lines:
            yield line + end
        if len(rest) >= BLOCK_BYTES:
            yield rest
            rest = b""
        block = file.read(BLOCK_BYTES)
    if rest:
        yield rest


def ends_line(piece: bytes) -> bool:
    """Whether a piece of a line is the last one of it."""
    return piece.endswith((b"\n", b"\r"))


@dataclass(frozen=True, slots=True)
class Chunk:
    """The bytes of one item: `data` is None when its `size` is over the limit. `end` is where it ends in the file."""

    data: bytes | None
    size: int
    end: int


class Gathering:
    """The pieces of one item; over `limit` bytes it lets them go and only counts on."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.size = 0
        self._data = bytearray()

    def add(self, piece: bytes) -> None:
        """Appends one piece."""
        self.size += len(piece)
        if self.size <= self._limit:
            self._data += piece
        else:
            self._data = bytearray()

    def chunk(self, end: int) -> Chunk:
        """The item, which ends at byte `end` of the file. Its pieces are handed over, so that it stands once."""
        data, self._data = bytes(self._data), bytearray()
        return Chunk(data if self.size <= self._limit else None, self.size, end)
