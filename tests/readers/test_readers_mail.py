"""Mail to evidence: what is kept, in whose time, under which key, and what a broken message costs."""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from muniment.model.evidence import EvidenceDraft, EvidenceKind, Trust
from muniment.model.text import MAX_CONTENT_BYTES
from muniment.readers import mail
from muniment.readers.port import Read, Unread

SEPARATOR = b"From jane@example.org Sat Jan 10 09:00:00 2026\n"
PLAIN = b"""Message-ID: <m1@example.org>
Date: Sat, 10 Jan 2026 09:00:00 +0530
From: Jane Doe <jane@example.org>
To: Renewals <renewals@acme.test>, bob@acme.test
Cc: Carol <carol@acme.test>
Subject: Renewal

Call me first.
"""


def read(path: Path, data: bytes) -> list[Read | Unread]:
    path.write_bytes(data)
    return list(mail.read(path))


def draft(tmp_path: Path, data: bytes) -> EvidenceDraft:
    (item,) = read(tmp_path / "message.eml", data)
    assert isinstance(item, Read), item
    return item.draft


def refusal(tmp_path: Path, data: bytes) -> tuple[str, str]:
    (item,) = read(tmp_path / "message.eml", data)
    assert isinstance(item, Unread)
    return item.rejection.item, item.rejection.code


def with_header(line: bytes) -> bytes:
    return b"Subject: s\n" + line + b"\n\nbody\n"


def repaired(found: EvidenceDraft) -> str:
    return "\n".join(found.metadata.get("repaired", []))


def test_a_message_becomes_one_evidence_with_its_own_key_author_and_thread(tmp_path: Path) -> None:
    found = draft(tmp_path, PLAIN)
    assert found.content == "Subject: Renewal\n\nCall me first."
    assert (found.source, found.source_id, found.source_version) == ("email", "m1@example.org", 1)
    assert (found.kind, found.role, found.trust) == (EvidenceKind.MESSAGE, "user", Trust.FIRST_PARTY)
    assert (found.author, found.thread) == ("Jane Doe <jane@example.org>", "m1@example.org")
    assert found.metadata == {
        "subject": "Renewal",
        "from": "Jane Doe <jane@example.org>",
        "to": ["Renewals <renewals@acme.test>", "bob@acme.test"],
        "cc": ["Carol <carol@acme.test>"],
    }


class TestTime:
    @pytest.mark.parametrize(
        ("date", "moment", "offset"),
        [
            (b"Sat, 10 Jan 2026 09:00:00 +0530", "2026-01-10T03:30:00+00:00", 330),
            (b"Sat, 10 Jan 2026 23:30:00 -0800 (PST)", "2026-01-11T07:30:00+00:00", -480),
            (b"10 Jan 2026 09:00 EST", "2026-01-10T14:00:00+00:00", -300),
            (b"Sat, 10 Jan 2026 09:00:00 -0000", "2026-01-10T09:00:00+00:00", 0),
            (b"Sat, 10 Jan 2026 09:00:00 GMT", "2026-01-10T09:00:00+00:00", 0),
        ],
    )
    def test_the_date_keeps_the_senders_own_offset(self, tmp_path: Path, date: bytes, moment: str, offset: int) -> None:
        found = draft(tmp_path, with_header(b"Date: " + date)).occurred_at
        assert found is not None
        assert found.astimezone(UTC) == datetime.fromisoformat(moment)
        assert found.utcoffset() == timedelta(minutes=offset)

    @pytest.mark.parametrize(
        "date",
        [
            b"Sat, 10 Jan 2026 09:00:00",
            b"Sat, 10 Jan 2026 09:00:00 XYZ",
            b"Sat, 10 Jan 2026 09:00:00 +9999",
            b"Thu, 01 Jan 1970 00:00:00 +0000",
            b"Sat, 10 Jan 9999 09:00:00 +0000",
            b"Sat, 31 Feb 2026 09:00:00 +0000",
            b"yesterday",
            b"99999999999999999999999999 Jan 2026 99:99:99 +0000",
            b"\xff\xfe",
        ],
    )
    def test_a_date_that_tells_no_moment_is_left_out_with_a_note(self, tmp_path: Path, date: bytes) -> None:
        found = draft(tmp_path, with_header(b"Date: " + date))
        assert found.occurred_at is None
        assert "time is unknown" in repaired(found)

    def test_a_missing_date_is_never_replaced_by_the_hosts_clock(self, tmp_path: Path) -> None:
        found = draft(tmp_path, b"Subject: s\n\nbody\n")
        assert found.occurred_at is None
        assert "there is no Date" in repaired(found)

    def test_the_hosts_time_zone_changes_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before = draft(tmp_path, PLAIN).occurred_at
        monkeypatch.setenv("TZ", "Pacific/Kiritimati")
        assert draft(tmp_path, PLAIN).occurred_at == before


class TestKeys:
    def test_without_a_message_id_the_key_is_the_hash_of_the_bytes(self, tmp_path: Path) -> None:
        data = b"Subject: s\n\nbody\n"
        found = draft(tmp_path, data)
        assert found.source_id == "sha256:" + hashlib.sha256(data).hexdigest()
        assert found.thread == found.source_id

    def test_the_same_message_in_mbox_and_eml_has_the_same_key(self, tmp_path: Path) -> None:
        data = b"Subject: s\n\nbody\n"
        alone = draft(tmp_path, data)
        items = read(tmp_path / "two.mbox", (SEPARATOR + data + b"\n") * 2)
        assert [item.draft for item in items if isinstance(item, Read)] == [alone, alone]

    def test_the_thread_is_the_first_reference_then_the_answered_message(self, tmp_path: Path) -> None:
        answer = b"Message-ID: <c@x>\nIn-Reply-To: <b@x>\n"
        assert draft(tmp_path, answer + b"References: <a@x>\n <b@x>\n\nhi").thread == "a@x"
        found = draft(tmp_path, answer + b"\nhi")
        assert (found.thread, found.metadata["in_reply_to"]) == ("b@x", "b@x")

    def test_an_id_too_long_for_a_key_is_hashed_the_same_way_where_it_is_named(self, tmp_path: Path) -> None:
        long = b"<" + b"a" * 2000 + b"@x>"
        first = draft(tmp_path, b"Message-ID: " + long + b"\n\nhi")
        answer = draft(tmp_path, b"Message-ID: <b@x>\nReferences: " + long + b"\n\nhi")
        assert first.source_id == answer.thread
        assert first.source_id is not None
        assert first.source_id.startswith("sha256:")

    def test_a_message_that_stands_twice_is_given_twice(self, tmp_path: Path) -> None:
        items = read(tmp_path / "two.mbox", (SEPARATOR + PLAIN + b"\n") * 2)
        first, second = (item.draft for item in items if isinstance(item, Read))
        assert first == second


class TestBodies:
    def test_plain_text_is_preferred_to_html_among_alternatives(self, tmp_path: Path) -> None:
        found = draft(tmp_path, alternative(b"plain words", b"<p>html words</p>"))
        assert found.content == "plain words"

    def test_html_is_read_when_the_plain_text_is_empty(self, tmp_path: Path) -> None:
        found = draft(tmp_path, alternative(b" \n", b"<style>x{}</style><p>html&nbsp;words</p><p>more</p>"))
        assert found.content == "html words\n\nmore"

    def test_text_round_an_attachment_is_all_kept_and_the_attachment_is_named(self, tmp_path: Path) -> None:
        found = draft(
            tmp_path,
            b"Content-Type: multipart/mixed; boundary=b\n\n"
            b"--b\nContent-Type: text/plain\n\nbefore\n"
            b"--b\nContent-Type: application/pdf\nContent-Disposition: attachment;"
            b" filename*=utf-8''Vertr%C3%A4ge.pdf\n\n%PDF\n"
            b"--b\nContent-Type: text/plain; name=log.txt\nContent-Disposition: attachment\n\nlog lines\n"
            b"--b\nContent-Type: text/plain\n\nafter\n--b--\n",
        )
        assert found.content == "before\n\nafter"
        assert found.metadata["attachments"] == [
            {"name": "Verträge.pdf", "type": "application/pdf"},
            {"name": "log.txt", "type": "text/plain"},
        ]

    def test_nested_multiparts_are_read_and_a_forwarded_message_is_an_attachment(self, tmp_path: Path) -> None:
        inner = alternative(b"inner", b"<p>inner</p>")
        found = draft(
            tmp_path,
            b"Content-Type: multipart/mixed; boundary=outer\n\n--outer\n" + inner + b"\n"
            b"--outer\nContent-Type: message/rfc822\n\nSubject: forwarded\n\nnot my words\n--outer--\n",
        )
        assert found.content == "inner"
        assert found.metadata["attachments"] == [{"name": None, "type": "message/rfc822"}]

    @pytest.mark.parametrize(
        ("charset", "encoding", "text"),
        [
            ("gbk", "gbk", "请先打电话给我"),
            ("gb2312", "gbk", "朱镕基先打电话"),
            ("Shift_JIS", "shift_jis", "先に電話してください"),
            ("ISO-2022-JP", "iso2022_jp", "先に電話してください"),
            ("windows-1252", "cp1252", "“Grüße” – 5 €"),
            ("iso-8859-1", "cp1252", "“Grüße”"),
            ("utf-8", "utf-8", "Grüße, 你好"),
            ("koi8-r", "koi8_r", "Позвони мне"),
        ],
    )
    def test_the_named_charset_is_read(self, tmp_path: Path, charset: str, encoding: str, text: str) -> None:
        head = f"Date: 10 Jan 2026 09:00 +0000\nContent-Type: text/plain; charset={charset}\n".encode()
        encoded = head + b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(text.encode(encoding))
        for data in (encoded, head + b"Content-Transfer-Encoding: 8bit\n\n" + text.encode(encoding)):
            found = draft(tmp_path, data)
            assert found.content == text
            assert repaired(found) == ""

    @pytest.mark.parametrize("charset", ["x-nowhere", "us-ascii", "iso-8859-1", "gb2312", "rot13", "punycode"])
    def test_utf8_under_a_false_name_is_read_and_noted(self, tmp_path: Path, charset: str) -> None:
        found = draft(tmp_path, f"Content-Type: text/plain; charset={charset}\n\nGrüße – naïve".encode())
        assert found.content == "Grüße – naïve"
        assert "read as utf-8" in repaired(found)

    def test_bytes_that_nothing_explains_are_replaced_and_noted(self, tmp_path: Path) -> None:
        found = draft(tmp_path, b"Content-Type: text/plain; charset=x-nowhere\n\ngood \xff\xfe words")
        assert found.content == "good \ufffd\ufffd words"
        assert "U+FFFD" in repaired(found)

    def test_quoted_printable_is_decoded_and_line_ends_become_one_kind(self, tmp_path: Path) -> None:
        head = b"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
        assert draft(tmp_path, head + b"Gr=C3=BC=\r\n=C3=9Fe\r\nBob\r\n").content == "Grüße\nBob"

    def test_nul_characters_are_replaced_and_noted(self, tmp_path: Path) -> None:
        found = draft(tmp_path, b"Subject: a\x00b\n\nc\x00d\n")
        assert found.content == "Subject: a\ufffdb\n\nc\ufffdd"
        assert repaired(found).count("NUL characters") == 2

    def test_quoted_earlier_mail_is_kept(self, tmp_path: Path) -> None:
        text = "Yes.\n\nOn Sat, Jane wrote:\n> Call me first.\n>> When?"
        assert draft(tmp_path, b"Message-ID: <a@x>\n\n" + text.encode()).content == text

    def test_a_multipart_without_its_parts_is_read_as_text(self, tmp_path: Path) -> None:
        found = draft(tmp_path, b"Content-Type: multipart/mixed; boundary=nowhere\n\njust words\n")
        assert found.content == "just words"
        assert "StartBoundaryNotFoundDefect" in repaired(found)

    def test_a_message_that_breaks_off_is_kept_with_a_note(self, tmp_path: Path) -> None:
        found = draft(tmp_path, alternative(b"plain words", b"<p>html")[:-20])
        assert found.content == "plain words"
        assert "CloseBoundaryNotFoundDefect" in repaired(found)


class TestHeaders:
    @pytest.mark.parametrize(
        ("raw", "subject"),
        [
            (b"=?utf-8?B?R3LDvMOfZQ==?=", "Grüße"),
            (b"=?iso-8859-1?Q?Gr=FC=DFe_an_alle?= now", "Grüße an alle now"),
            (b"=?utf-8?B?R3I=?= =?utf-8?Q?=C3?=\n =?utf-8?Q?=BC=C3=9Fe?=", "Grüße"),
            (b"=?gb2312?B?" + base64.b64encode("朱镕基".encode("gbk")) + b"?=", "朱镕基"),
            ("Grüße".encode(), "Grüße"),
            (b"Gr\xfc\xdfe", "Gr\ufffd\ufffde"),
            (b"=?x-nowhere?Q?words?=", "words"),
            (b"=?utf-8?B?abcde?=", "=?utf-8?B?abcde?="),
            (b"folded\n\tover lines", "folded\tover lines"),
            (b"=?utf-8?Q?two=0D=0Alines?=", "two lines"),
        ],
    )
    def test_subjects_are_readable(self, tmp_path: Path, raw: bytes, subject: str) -> None:
        found = draft(tmp_path, b"Subject: " + raw + b"\n\nbody")
        assert found.metadata["subject"] == subject
        assert found.content == f"Subject: {subject}\n\nbody"

    @pytest.mark.parametrize(
        ("raw", "author"),
        [
            (b'"Doe, Jane" <jane@x.org>', "Doe, Jane <jane@x.org>"),
            (b"=?utf-8?Q?Doe=2C_J=C3=A4ne?= <jane@x.org>", "Doe, Jäne <jane@x.org>"),
            (b"jane@x.org (Jane)", "Jane <jane@x.org>"),
            (b"jane@x.org", "jane@x.org"),
            (b"<jane@x.org>", "jane@x.org"),
            (b"Jane", "Jane"),
            (b"jane@x.org, bob@x.org", "jane@x.org"),
        ],
    )
    def test_the_author_is_the_first_sender(self, tmp_path: Path, raw: bytes, author: str) -> None:
        assert draft(tmp_path, with_header(b"From: " + raw)).author == author

    def test_a_message_without_a_sender_has_no_author(self, tmp_path: Path) -> None:
        assert draft(tmp_path, b"Subject: s\n\nbody").author is None


class TestBrokenMessages:
    def test_a_subject_alone_is_stored(self, tmp_path: Path) -> None:
        assert draft(tmp_path, b"Subject: call me\n\n").content == "Subject: call me"

    @pytest.mark.parametrize("data", [b"From: a@x\n\n \n", b"\n\n", b"\x89PNG\r\n\x1a\n\x00\x00", b"no header at all"])
    def test_what_says_nothing_or_is_no_mail_is_refused_in_its_place(self, tmp_path: Path, data: bytes) -> None:
        assert refusal(tmp_path, data) == ("message 1", "invalid_input")

    def test_a_broken_message_never_costs_the_others(self, tmp_path: Path) -> None:
        empty, garbage = b"From: a@x\n\n", b"\xff\xfe garbage\n"
        data = b"".join(SEPARATOR + message + b"\n" for message in (PLAIN, empty, PLAIN, garbage, PLAIN))
        items = read(tmp_path / "box.mbox", data)
        assert [type(item) for item in items] == [Read, Unread, Read, Unread, Read]
        refused = [item.rejection.item for item in items if isinstance(item, Unread)]
        assert refused == ["message 2", "message 4"]

    def test_a_file_that_breaks_off_gives_every_whole_message(self, tmp_path: Path) -> None:
        data = (SEPARATOR + PLAIN + b"\n") * 3
        items = read(tmp_path / "box.mbox", data[: -len(PLAIN) // 2])
        assert [item.draft.content for item in items if isinstance(item, Read)][:2] == [
            "Subject: Renewal\n\nCall me first."
        ] * 2

    def test_a_message_over_the_limit_is_refused_and_the_next_one_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(mail, "MAX_MESSAGE_BYTES", 1000)
        big = b"Subject: big\n\n" + b"x" * 200_000 + b"\n"
        items = read(tmp_path / "box.mbox", b"".join(SEPARATOR + each + b"\n" for each in (PLAIN, big, PLAIN)))
        assert [type(item) for item in items] == [Read, Unread, Read]
        assert isinstance(items[1], Unread)
        assert (items[1].rejection.item, items[1].rejection.code) == ("message 2", "invalid_input")
        assert mail.MAX_MESSAGE_BYTES <= MAX_CONTENT_BYTES

    def test_an_empty_file_has_no_items(self, tmp_path: Path) -> None:
        assert read(tmp_path / "empty.eml", b"") == read(tmp_path / "empty.mbox", b"") == []

    def test_positions_grow_to_the_size_of_the_file(self, tmp_path: Path) -> None:
        data = (SEPARATOR + PLAIN + b"\n") * 3
        positions = [item.position for item in read(tmp_path / "box.mbox", data)]
        assert positions == sorted(positions)
        assert positions[-1] == len(data)


def alternative(plain: bytes, html: bytes) -> bytes:
    return (
        b"Content-Type: multipart/alternative; boundary=alt\n\n"
        b"--alt\nContent-Type: text/plain; charset=utf-8\n\n" + plain + b"\n"
        b"--alt\nContent-Type: text/html; charset=utf-8\n\n" + html + b"\n--alt--\n"
    )
