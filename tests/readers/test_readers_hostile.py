"""Hostile input: readers end, in little time and memory, and raise nothing but `UnreadableFile`."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import muniment
from muniment.errors import UnreadableFile
from muniment.readers import mail
from muniment.readers.port import Read, Reader, Unread
from muniment.readers.registry import READERS, reader_for

FRAGMENTS = st.sampled_from(
    [
        b"From a@b Sat Jan 10 09:00:00 2026\n", b"From ", b">From x\n", b"\n", b"\n\n", b"\r", b"\r\n", b"\x00",
        b"\xff", b"Subject: ", b"From: ", b"Date: ", b"Message-ID: <", b"References: ", b"Content-Type: ",
        b"multipart/mixed", b"; boundary=b\n\n", b"\n--b\n", b"\n--b--\n", b"message/rfc822\n\n",
        b"message/delivery-status\n\n", b"text/html\n\n", b"; charset=", b"utf-16", b"iso-2022-jp", b"utf-7", b"hz",
        b"*0*=utf-8''%ff", b"charset*=x'y'z", b"Content-Transfer-Encoding: ", b"base64\n\n",
        b"quoted-printable\n\n", b"x-uuencode\n\n", b"begin 666 x\n", b"Content-Disposition: attachment; filename=",
        b"=?utf-8?B?", b"?=", b"=?q?Q?=ff?= ", b'"', b"(", b"<", b">", b",", b"<p>", b"<!--", b"<svg", b"<pre>",
        b"<b x='", b"</", b"&#0;", b"&#xd800;", b"&amp", b"{", b"}", b"[", b"]", b'"content": ', b'"a"',
        b'"\\ud800"', b"NaN", b"1e999", b'"occurred_at": "2026-01-01"',
        b'[{"sample_id": "s", "conversation": {"session_1": [', b'{"speaker": "a", "dia_id": "d", "text": "t"}',
        b"]}}]", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x1b$B", b"-0000", b" +9999", b"10 Jan 2026 09:00",
    ]
)  # fmt: skip
ANY_BYTES = st.one_of(
    st.binary(max_size=400), st.lists(st.one_of(FRAGMENTS, st.binary(max_size=8)), max_size=40).map(b"".join)
)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=ANY_BYTES)
def test_any_bytes_end_in_items_or_an_unreadable_file(tmp_path: Path, reader: Reader, data: bytes) -> None:
    path = tmp_path / "any"
    path.write_bytes(data)
    position = 0
    try:
        for item in reader.read(path):
            assert position <= item.position <= len(data)
            position = item.position
            check(item)
        reader_for(path)
    except UnreadableFile:
        pass


def check(item: Read | Unread) -> None:
    if isinstance(item, Unread):
        assert item.rejection.item
        item.rejection.model_dump_json().encode()
        assert item.rejection.code in {
            "invalid_input",
            "invalid_text",
            "naive_datetime",
            "invalid_time",
            "unreadable_file",
        }
        assert item.rejection.message
    else:
        assert item.draft.content.strip()
        assert "\x00" not in item.draft.model_dump_json()
        item.draft.model_dump_json().encode()


def _nested(depth: int) -> bytes:
    opened = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(depth))
    return b"Subject: nested\n" + opened + b"\ndeep words\n"


HOSTILE = {
    "nested multiparts": _nested(30_000),
    "nested messages": b"Subject: s\n" + b"Content-Type: message/rfc822\n\n" * 30_000,
    "many delivery blocks": b"Subject: s\nContent-Type: message/delivery-status\n\n" + b"a: b\n\n" * 100_000,
    "a header of 1 MB": b"Subject: " + b"word " * 200_000 + b"\n\nbody\n",
    "recipients of 1 MB": b"Subject: s\nTo: " + b"Joe <joe@x.org>, " * 60_000 + b"\n\nbody\n",
    "nested comments": b"Subject: s\nFrom: " + b"(" * 1_000_000 + b"\n\nbody\n",
    "parameters of 1 MB": b"Subject: s\nContent-Type: text/plain; " + b'a="b;' * 200_000 + b"\n\nbody\n",
    "encoded words of 1 MB": b"Subject: " + b"=?utf-8?q?=e4?= " * 60_000 + b"\n\nbody\n",
    "a million fields": b"X: y\n" * 1_000_000 + b"\nbody\n",
    "a million short lines": b"Subject: s\n\n" + b"x\n" * 1_000_000,
    "html nested a million times": b"Subject: s\nContent-Type: text/html\n\n" + b"<div>" * 1_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_message_costs_little_time_and_no_other_message(tmp_path: Path, name: str) -> None:
    good = b"From a@b Sat Jan 10 09:00:00 2026\nMessage-ID: <good@x>\n\nwords\n\n"
    path = tmp_path / "box.mbox"
    path.write_bytes(good + b"From a@b Sat Jan 10 09:00:00 2026\n" + HOSTILE[name] + b"\n\n" + good)
    started = time.perf_counter()
    items = list(mail.read(path))
    assert time.perf_counter() - started < 20
    assert len(items) == 3
    for item in (items[0], items[2]):
        assert isinstance(item, Read)
        assert item.draft.source_id == "good@x"


def test_ten_thousand_parts_are_read_and_the_list_of_attachments_is_short(tmp_path: Path) -> None:
    part = b"--b\nContent-Type: image/png; name=x.png\nContent-Transfer-Encoding: base64\n\naGk=\n"
    path = tmp_path / "parts.eml"
    path.write_bytes(b"Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n" + part * 10_000 + b"--b--\n")
    (item,) = mail.read(path)
    assert isinstance(item, Read)
    assert len(item.draft.metadata["attachments"]) == 100
    assert any("of 10000 attachments" in note for note in item.draft.metadata["repaired"])


def test_a_long_header_is_cut_and_noted(tmp_path: Path) -> None:
    path = tmp_path / "long.eml"
    path.write_bytes(HOSTILE["a header of 1 MB"])
    (item,) = mail.read(path)
    assert isinstance(item, Read)
    assert len(item.draft.content) < 70_000
    assert any("was cut" in note for note in item.draft.metadata["repaired"])


MEASURE = """
import resource, sys
from pathlib import Path
from muniment.readers import mail
from muniment.readers.port import Read

path, warm = Path(sys.argv[1]), Path(sys.argv[2])
list(mail.read(warm))
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
read = sum(isinstance(item, Read) for item in mail.read(path))
print(read, peak() - before)
"""


@pytest.mark.parametrize("message_bytes", [10_000, 1_000_000])
def test_a_mailbox_of_50_mb_is_read_with_less_than_60_mb_of_memory(tmp_path: Path, message_bytes: int) -> None:
    line = b"Words about the renewal, and whom to call about it first, or last.\n"
    body = line * (message_bytes // len(line))
    count = 50_000_000 // len(body)
    warm, box = tmp_path / "warm.mbox", tmp_path / "box.mbox"
    with box.open("wb") as file:
        for number in range(count):
            file.write(b"From a@b Sat Jan 10 09:00:00 2026\nMessage-ID: <%d@x>\nSubject: s\n\n" % number + body + b"\n")
    warm.write_bytes(b"From a@b Sat Jan 10 09:00:00 2026\nSubject: s\n\nwords\n")
    source = Path(muniment.__file__).parents[1]
    result = subprocess.run(
        [sys.executable, "-c", MEASURE, str(box), str(warm)],
        env={"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    read, grown_kib = map(int, result.stdout.split())
    assert read == count
    assert grown_kib < 60 * 1024
