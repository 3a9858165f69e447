"""Markdown and plain text: one document a file, keyed by its path and its bytes."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from muniment.model.evidence import EvidenceDraft, EvidenceKind
from muniment.readers import text
from muniment.readers.port import Read, Unread


def draft(path: Path, data: bytes) -> EvidenceDraft:
    path.write_bytes(data)
    (item,) = text.read(path)
    assert isinstance(item, Read), item
    assert item.position == len(data)
    return item.draft


def code(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    (item,) = text.read(path)
    assert isinstance(item, Unread)
    assert item.rejection.item == "file"
    return item.rejection.code


def test_a_file_is_one_document_keyed_by_path_and_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = b"# Renewal\r\n\nCall me first.\n"
    Path("notes").mkdir()
    path = Path("notes", "renewal.md")
    path.write_bytes(data)
    os.utime(path, (1768035600, 1768035600))
    (item,) = text.read(path)
    assert isinstance(item, Read)
    found = item.draft
    assert found.content == data.decode()
    assert (found.source, found.source_version) == ("file", 1)
    assert found.source_id == f"notes/renewal.md#{hashlib.sha256(data).hexdigest()[:16]}"
    assert (found.kind, found.media_type, found.occurred_at) == (EvidenceKind.DOCUMENT, "text/markdown", None)
    assert found.metadata == {"modified_at": "2026-01-10T09:00:00+00:00"}


def test_a_changed_file_has_another_key(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    assert draft(path, b"one").source_id != draft(path, b"two").source_id
    assert draft(path, b"one").media_type == "text/plain"


@pytest.mark.parametrize(
    ("data", "content", "noted"),
    [
        ("Grüße".encode(), "Grüße", False),
        ("Grüße".encode("utf-8-sig"), "Grüße", False),
        ("Grüße".encode("utf-16"), "Grüße", False),
        (b"\xfe\xff" + "Grüße".encode("utf-16-be"), "Grüße", False),
        ("Grüße".encode("utf-32"), "Grüße", False),
        ("“Grüße”".encode("cp1252"), "“Grüße”", True),
        (b"a\x81b\xff", "a\ufffdbÿ", True),
        (b"\xff\xfea\x00\x00\x00", "a\ufffd", True),
        (b"\xff\xfea\x00b", "a\ufffd", True),
        (b"\xef\xbb\xbfa\xffb", None, True),
    ],
)
def test_encodings_are_read_and_guesses_are_noted(
    tmp_path: Path, data: bytes, content: str | None, noted: bool
) -> None:
    found = draft(tmp_path / "a.txt", data)
    assert content is None or found.content == content
    assert ("repaired" in found.metadata) is noted


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"a\x00b", "unreadable_file"), (b" \n", "invalid_input")],
)
def test_what_is_not_text_is_refused(tmp_path: Path, data: bytes, expected: str) -> None:
    assert code(tmp_path / "a.txt", data) == expected


def test_a_file_over_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MAX_CONTENT_BYTES", 10)
    assert code(tmp_path / "a.txt", b"x" * 11) == "invalid_input"


def test_an_empty_file_has_no_items(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.touch()
    assert list(text.read(path)) == []


def test_a_name_that_is_not_unicode_is_mended(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.txt")
    found = draft(path, b"words")
    assert found.source_id is not None
    assert "caf\ufffd.txt#" in found.source_id
    assert found.metadata["repaired"]


def test_a_time_outside_the_calendar_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"words")
    os.utime(path, (2**33 * 40, 2**33 * 40))
    (item,) = text.read(path)
    assert isinstance(item, Read)
