"""JSON Lines: every line is evidence or a refusal with its number."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from muniment.errors import UnreadableFile
from muniment.model.evidence import EvidenceDraft, EvidenceKind, Trust
from muniment.readers import jsonl
from muniment.readers.port import Read, Unread


def read(tmp_path: Path, data: bytes) -> list[Read | Unread]:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(data)
    return list(jsonl.read(path))


def draft(tmp_path: Path, **fields: Any) -> EvidenceDraft:
    (item,) = read(tmp_path, json.dumps(fields).encode())
    assert isinstance(item, Read), item
    return item.draft


def refusal(tmp_path: Path, line: bytes) -> str:
    (item,) = read(tmp_path, line)
    assert isinstance(item, Unread)
    assert item.rejection.item == "line 1"
    return item.rejection.code


def test_only_content_is_needed(tmp_path: Path) -> None:
    assert draft(tmp_path, content="hello") == EvidenceDraft(content="hello", source="jsonl")


@pytest.mark.parametrize("camel", [False, True])
def test_every_argument_of_add_is_understood_in_both_spellings(tmp_path: Path, camel: bool) -> None:
    given = {
        "content": "hello", "source": "crm", "source_id": "7", "source_version": 2, "kind": "event",
        "occurred_at": "2026-01-10T09:00:00+05:30", "author": "Jane", "role": "assistant", "thread": "t",
        "trust": "third_party", "access": ["team:a"], "uri": "x:1", "media_type": "text/markdown", "metadata": {"a": 1},
    }  # fmt: skip
    spelled = {_camel(key) if camel else key: value for key, value in given.items()}
    found = draft(tmp_path, **spelled)
    assert (found.source, found.source_id, found.source_version) == ("crm", "7", 2)
    assert (found.kind, found.trust, found.access) == (EvidenceKind.EVENT, Trust.THIRD_PARTY, frozenset({"team:a"}))
    assert (found.media_type, found.role, found.thread) == ("text/markdown", "assistant", "t")
    assert found.metadata == {"a": 1}
    assert found.occurred_at is not None
    assert found.occurred_at.utcoffset() == timedelta(hours=5, minutes=30)


def test_unknown_names_go_into_the_metadata(tmp_path: Path) -> None:
    assert draft(tmp_path, content="c", channel="#general", metadata={"a": 1}).metadata == {
        "a": 1,
        "channel": "#general",
    }


def test_null_means_not_given(tmp_path: Path) -> None:
    assert draft(tmp_path, content="c", source=None, occurredAt=None, metadata=None).source == "jsonl"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"content": "c", "occurred_at": "2026-01-10T09:00:00"}', "naive_datetime"),
        (b'{"content": "c", "occurredAt": "2026-01-10"}', "naive_datetime"),
        (b'{"content": "c", "occurred_at": "last week"}', "invalid_input"),
        (b'{"content": "c", "occurred_at": 1768035600}', "invalid_input"),
        (b'{"content": "c", "occurred_at": "0001-01-01T00:00:00+05:00"}', "invalid_time"),
        (b'{"content": ""}', "invalid_input"),
        (b'{"content": " "}', "invalid_input"),
        (b'{"content": 5}', "invalid_input"),
        (b'{"text": "c"}', "invalid_input"),
        (b'{"content": "a\\u0000b"}', "invalid_text"),
        (b'{"content": "a\\ud800b"}', "invalid_text"),
        (b'{"content": "c", "author": "\\ud800"}', "invalid_text"),
        (b'{"content": "c", "score": 1e999}', "invalid_input"),
        (b'{"content": "c", "kind": "gossip"}', "invalid_input"),
        (b'{"content": "c", "access": "team:a"}', "invalid_input"),
        (b'{"content": "c", "metadata": []}', "invalid_input"),
        (b'{"content": "c", "a": 1, "metadata": {"a": 2}}', "invalid_input"),
        (b'{"content": "c", "source_id": "1", "sourceId": "2"}', "invalid_input"),
        (b'{"content": "c", "content": "d"}', "invalid_input"),
        (b'{"content": "c", "score": NaN}', "invalid_input"),
        (b'{"content": "c"', "invalid_input"),
        (b'["content"]', "invalid_input"),
        (b"null", "invalid_input"),
        (b"content", "invalid_input"),
        (b'{"content": "\xff"}', "invalid_input"),
        (b'{"content": ' + b"9" * 10_000 + b"}", "invalid_input"),
        (b'{"content": "c", "deep": ' + b"[" * 200_000, "invalid_input"),
        (b'{"content": "c", "deep": ' + b'{"a":' * 200_000, "invalid_input"),
    ],
)
def test_a_broken_line_is_refused_with_a_code(tmp_path: Path, line: bytes, code: str) -> None:
    assert refusal(tmp_path, line) == code


def test_a_broken_line_never_costs_the_others_and_blank_lines_count(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"content": "a"}\r\n\n  \nbroken\n{"content": "b"}'
    items = read(tmp_path, data)
    assert [item.draft.content for item in items if isinstance(item, Read)] == ["a", "b"]
    assert [item.rejection.item for item in items if isinstance(item, Unread)] == ["line 4"]
    assert items[-1].position == len(data)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_kind_of_line_end_is_understood(tmp_path: Path, end: bytes) -> None:
    items = read(tmp_path, end.join([b'{"content": "a"}', b'{"content": "b"}']))
    assert [item.draft.content for item in items if isinstance(item, Read)] == ["a", "b"]


def test_a_line_longer_than_a_block_is_one_line(tmp_path: Path) -> None:
    long = "é" * 300_000
    items = read(tmp_path, (json.dumps({"content": long}, ensure_ascii=False) + "\n").encode() * 2)
    assert [item.draft.content for item in items if isinstance(item, Read)] == [long, long]


def test_a_line_over_the_limit_is_refused_and_the_next_one_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", 1000)
    items = read(tmp_path, json.dumps({"content": "x" * 5000}).encode() + b'\n{"content": "b"}\n')
    assert [type(item) for item in items] == [Unread, Read]


def test_an_empty_file_has_no_items(tmp_path: Path) -> None:
    assert read(tmp_path, b"") == read(tmp_path, b"\n\n") == []


def test_utf16_is_refused_as_a_file_and_not_line_by_line(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="UTF-16"):
        read(tmp_path, '{"content": "a"}\n'.encode("utf-16"))


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)
