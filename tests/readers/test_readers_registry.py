"""Which reader a file gets, and which files a path means."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from muniment.errors import UnreadableFile
from muniment.readers import jsonl, mail, text
from muniment.readers.port import Read, Reader
from muniment.readers.registry import READERS, files_in, reader_for

MBOX = b"From jane@x.org Sat Jan 10 09:00:00 2026\nSubject: a\n\nwords\n"


@pytest.mark.parametrize(
    ("name", "data", "reader"),
    [
        ("a.eml", b"anything", mail),
        ("A.EML", b"anything", mail),
        ("a.mbox", b"anything", mail),
        ("Inbox", MBOX, mail),
        ("2026-January.txt", MBOX, mail),
        ("1768035600.M1P2.host:2,S", b"Return-Path: <a@x>\nReceived: from y\nSubject: s\n\nwords", mail),
        ("a.jsonl", b"anything", jsonl),
        ("a.ndjson", b"anything", jsonl),
        ("export.json", b'{"content": "a"}\n{"content": "b"}\n', jsonl),
        ("export", b'\xef\xbb\xbf{"content": "a"}', jsonl),
        ("a.md", b"# From the start", text),
        ("a.txt", b"From the start I said\nso", text),
        ("README", b"words", text),
        ("empty.pdf", b"", text),
    ],
)
def test_a_file_is_known_by_its_suffix_or_its_content(tmp_path: Path, name: str, data: bytes, reader: Reader) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert reader_for(path) is reader


@pytest.mark.parametrize(
    ("name", "data"), [("a.pdf", b"%PDF-1.7"), ("a.json", b'{"a": 1}'), ("core", b"\x7fELF\x00"), ("a.json", b"[{")]
)
def test_an_unknown_file_is_refused_with_what_is_supported(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(UnreadableFile, match=r"supported are: LoCoMo.*JSON Lines.*mbox.*Markdown") as raised:
        reader_for(path)
    assert raised.value.code == "unreadable_file"


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_what_cannot_be_opened_is_a_coded_error(tmp_path: Path, reader: Reader) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "missing", tmp_path, tmp_path / "pipe", Path("nul\x00byte")):
        with pytest.raises(UnreadableFile):
            list(reader.read(path))
        with pytest.raises(UnreadableFile):
            reader_for(path)


def test_directories_mean_the_files_below_them_sorted_and_without_hidden_ones(tmp_path: Path) -> None:
    for name in ("b/2.eml", "b/1.eml", "a.md", ".hidden.md", ".git/config", "b/.DS_Store", "c/d/e.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    assert files_in([tmp_path]) == [tmp_path / name for name in ("a.md", "b/1.eml", "b/2.eml", "c/d/e.txt")]
    given = [tmp_path / "c", tmp_path / ".hidden.md", tmp_path]
    assert [path.name for path in files_in(given)] == ["e.txt", ".hidden.md", "a.md", "1.eml", "2.eml"]


def test_links_are_followed_once_and_loops_end(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.md").write_bytes(b"x")
    (tmp_path / "in" / "loop").symlink_to(tmp_path)
    (tmp_path / "in" / "self").symlink_to("self")
    (tmp_path / "in" / "z.md").symlink_to("a.md")
    (tmp_path / "in" / "gone.md").symlink_to("nowhere")
    os.mkfifo(tmp_path / "in" / "pipe")
    assert files_in([tmp_path]) == [tmp_path / "in" / "a.md"]


def test_a_directory_that_cannot_be_listed_is_reported_and_costs_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.md", "locked/b.md", "z.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    listed = Path.iterdir

    def refuse(path: Path) -> Iterator[Path]:
        if path.name == "locked":
            raise PermissionError
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", refuse)
    files = files_in([tmp_path])
    assert [path.name for path in files] == ["a.md", "locked", "z.md"]
    with pytest.raises(UnreadableFile, match="cannot be listed"):
        reader_for(files[1])


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="does not exist"):
        files_in([tmp_path / "missing"])


def test_a_directory_of_messages_is_read_file_by_file(tmp_path: Path) -> None:
    for number in (2, 1):
        (tmp_path / f"{number}.eml").write_bytes(b"Message-ID: <%d@x>\n\nwords" % number)
    items = [item for path in files_in([tmp_path]) for item in reader_for(path).read(path)]
    assert [item.draft.source_id for item in items if isinstance(item, Read)] == ["1@x", "2@x"]
