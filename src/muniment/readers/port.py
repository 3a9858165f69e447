"""The port that every reader implements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from muniment.model.evidence import EvidenceDraft, Rejection


@dataclass(frozen=True, slots=True)
class Read:
    """An item that can be stored. `position` is how many bytes of the file were consumed so far, for progress; `place`
    is where it stands, for people."""

    draft: EvidenceDraft
    position: int
    place: str


@dataclass(frozen=True, slots=True)
class Unread:
    """An item that could not be read, where it stands and why. `position` as in `Read`."""

    rejection: Rejection
    position: int


def unread(item: str, code: str, message: str, position: int) -> Unread:
    """An `Unread` from its parts."""
    return Unread(Rejection(item=item, code=code, message=message), position)


class Reader(Protocol):
    """A file format. A module with these three names is a reader."""

    @property
    def name(self) -> str:
        """What the format is called in messages to people."""
        ...

    def accepts(self, path: Path, head: bytes) -> bool:
        """Whether this reader understands the file; `head` is its beginning. May raise `UnreadableFile`."""
        ...

    def read(self, path: Path) -> Iterator[Read | Unread]:
        """The items of the file in its order, lazily.

        Raises `UnreadableFile`, when iterated, if the file cannot be opened or read on; nothing else.
        """
        ...
