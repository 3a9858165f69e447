"""From files to evidence: readers give drafts, a session stores them, and the report says what became of each item."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from muniment.errors import UnreadableFile
from muniment.model.base import Record
from muniment.model.evidence import EvidenceDraft, Rejection
from muniment.readers.port import Read, Reader, Unread
from muniment.readers.registry import files_in, reader_for
from muniment.session import Session

MAX_REJECTIONS = 1000


class FileReport(Record):
    """What became of one file. Rejections beyond the first 1,000 are only counted."""

    path: str
    format: str | None
    stored: int
    repeated: int
    rejected: int
    reasons: tuple[Rejection, ...] = ()


Progress = Callable[[Path, int, int], None]
"""Called with the file, the bytes read so far, and the items finished so far."""


@dataclass
class _Flow:
    """Counts what passes from a reader to the session, and keeps what the reader refused."""

    path: Path
    labels: frozenset[str]
    position: int = 0
    places: list[str] = field(default_factory=list)
    unread: list[Rejection] = field(default_factory=list)

    def items(self, reader: Reader) -> Iterator[EvidenceDraft]:
        for item in reader.read(self.path):
            self.position = item.position
            match item:
                case Unread(rejection=rejection):
                    self.unread.append(rejection)
                case Read(draft=draft, place=place):
                    self.places.append(place)
                    yield draft.model_copy(update={"access": draft.access | self.labels}) if self.labels else draft


def ingest(
    session: Session,
    paths: Sequence[Path | str],
    *,
    access: frozenset[str] = frozenset(),
    progress: Progress | None = None,
) -> list[FileReport]:
    """Stores everything readable in `paths` (files and folders). Each batch is durable when `progress` is called.

    A broken item or file never loses the others. Interrupted, it can be run again: what is stored is only counted.
    Raises `EngineUnavailable` and `EmbedderFailed`, which concern every item.
    """
    return [_ingest_file(session, path, access, progress) for path in files_in(map(Path, paths))]


def _ingest_file(session: Session, path: Path, access: frozenset[str], progress: Progress | None) -> FileReport:
    try:
        reader = reader_for(path)
    except UnreadableFile as error:
        return _refused(path, error)
    flow = _Flow(path, access)
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(path, flow.position, done)

    report = session.add_many(flow.items(reader), progress=advance)
    refused = [r.model_copy(update={"item": flow.places[int(r.item)]}) for r in report.rejected]
    reasons = (*flow.unread, *refused)
    return FileReport(
        path=_shown(path),
        format=reader.name,
        stored=report.stored,
        repeated=report.repeated,
        rejected=len(reasons),
        reasons=reasons[:MAX_REJECTIONS],
    )


def _shown(path: Path) -> str:
    """The path as text that can be written out, also where its bytes are no UTF-8."""
    return path.as_posix().encode("utf-8", "backslashreplace").decode("utf-8")


def _refused(path: Path, error: UnreadableFile) -> FileReport:
    reason = Rejection(item="file", code=error.code, message=str(error))
    return FileReport(path=_shown(path), format=None, stored=0, repeated=0, rejected=1, reasons=(reason,))
