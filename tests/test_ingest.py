"""From files to evidence: every item is stored, repeated or rejected with a reason, and no item loses another."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest

import muniment
from muniment.cli.app import main
from muniment.errors import EmbedderFailed, UnreadableFile
from muniment.ingest import FileReport, ingest
from muniment.providers.embedder import Vectors
from tests.conftest import Databases, HashEmbedder


def mail(number: int, words: str, *, date: str | None = None) -> str:
    """One message as text."""
    return (
        f"From: Janet <janet@example.org>\nTo: me@example.org\nMessage-ID: <m{number}@example.org>\n"
        f"Date: {date or f'Mon, {number:02} Jan 2026 10:00:00 +0100'}\nSubject: About {words}\n"
        f"Content-Type: text/plain; charset=utf-8\n\nThis message is about {words}.\n"
    )


def mbox(*messages: str) -> str:
    """Messages as an mbox file."""
    return "".join(f"From janet@example.org Mon Jan  5 10:00:00 2026\n{message}\n" for message in messages)


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    """A folder with one file of each sort, good and broken."""
    folder = tmp_path / "inbox"
    (folder / "letters" / "old").mkdir(parents=True)
    (folder / "archive.mbox").write_text(mbox(mail(1, "apples"), mail(2, "pears"), mail(3, "quinces")))
    (folder / "letters" / "one.eml").write_text(mail(4, "plums"))
    (folder / "letters" / "old" / "two.eml").write_text(mail(5, "cherries"))
    lines = [
        json.dumps({"content": "a line about figs", "sourceId": "1", "occurredAt": "2026-01-01T00:00:00Z"}),
        "{broken",
        "",
        json.dumps({"content": "a naive line", "occurred_at": "2026-01-01T00:00:00"}),
        json.dumps({"content": " "}),
        json.dumps({"content": "a line with a NUL \x00"}),
        json.dumps(["no object"]),
        json.dumps({"content": "a rumour", "kind": "rumour"}),
        json.dumps({"content": "a line with a right", "access": ["muniment:import"]}),
        json.dumps({"content": "a line about dates", "source_id": "2", "colour": "brown"}),
        json.dumps({"content": "other words", "source_id": "1"}),
    ]
    (folder / "lines.jsonl").write_text("\n".join(lines))
    (folder / "notes.md").write_text("# Notes\n\nSome notes about melons.\n")
    (folder / "plain.txt").write_text("A text about grapes, in zażółć gęślą jaźń.\n")
    (folder / "picture.bin").write_bytes(b"\x89PNG\x00\x01\x02" * 100)
    (folder / "empty.txt").write_bytes(b"")
    (folder / ".hidden.txt").write_text("nobody asked for this")
    return folder


FOUND = ["apples", "pears", "quinces", "plums", "cherries", "figs", "dates", "melons", "grapes"]
EXPECTED = {
    # file: (stored, rejected)
    "archive.mbox": (3, 0),
    "letters/old/two.eml": (1, 0),
    "letters/one.eml": (1, 0),
    "lines.jsonl": (2, 8),
    "notes.md": (1, 0),
    "plain.txt": (1, 0),
    "picture.bin": (0, 1),
    "empty.txt": (0, 0),
}


def by_name(reports: list[FileReport], folder: Path) -> dict[str, FileReport]:
    return {Path(report.path).relative_to(folder).as_posix(): report for report in reports}


def test_a_folder_of_every_sort_is_stored_and_what_is_broken_is_reported(
    session: muniment.Session, inbox: Path
) -> None:
    reports = by_name(ingest(session, [inbox]), inbox)
    assert {name: (r.stored, r.rejected) for name, r in reports.items()} == EXPECTED
    assert {(r.repeated, len(r.reasons) - r.rejected) for r in reports.values()} == {(0, 0)}
    assert reports["picture.bin"].format is None
    assert reports["picture.bin"].reasons[0].code == "unreadable_file"
    reasons = {(reason.item, reason.code) for reason in reports["lines.jsonl"].reasons}
    assert {item for item, code in reasons if item.startswith("line ")} == {
        f"line {n}" for n in (2, 4, 5, 6, 7, 8, 9, 11)
    }
    assert {code for _, code in reasons} == {"invalid_input", "naive_datetime", "invalid_text", "version_conflict"}
    for word in FOUND:
        assert session.search(word, routes=["lexical"]), word
    assert session.search("nobody asked", routes=["lexical"]) == []


def test_what_was_refused_by_the_store_is_named_by_its_place_in_the_file(
    session: muniment.Session, inbox: Path
) -> None:
    (report,) = ingest(session, [inbox / "lines.jsonl"])
    refused = {reason.code: reason.item for reason in report.reasons if not reason.item.startswith("line ")}
    assert refused == {}, "a line is named by its number, whoever refused it"


def test_run_again_everything_is_repeated_and_nothing_is_written(
    session: muniment.Session, inbox: Path, admin: psycopg.Connection, tenant: str
) -> None:
    first = by_name(ingest(session, [inbox]), inbox)
    count = "SELECT count(*) FROM canonical.evidence WHERE tenant_id = %s"
    before = admin.execute(count, (tenant,)).fetchone()
    again = by_name(ingest(session, [inbox]), inbox)
    assert {name: (r.stored, r.repeated, r.rejected) for name, r in again.items()} == {
        name: (0, r.stored, r.rejected) for name, r in first.items()
    }
    assert admin.execute(count, (tenant,)).fetchone() == before == (len(FOUND),)


def test_what_was_added_to_a_file_is_stored_when_it_is_read_again(session: muniment.Session, tmp_path: Path) -> None:
    file = tmp_path / "growing.mbox"
    file.write_text(mbox(mail(1, "apples")))
    ingest(session, [file])
    file.write_text(mbox(mail(1, "apples"), mail(2, "pears")))
    (report,) = ingest(session, [file])
    assert (report.stored, report.repeated) == (1, 1)


@pytest.mark.parametrize(
    "date",
    ["Mon, 05 Jan 2026 10:00:00 +2000", "Mon, 05 Jan 2026 10:00:00 -9959", "Mon, 05 Jan 0001 10:00:00 +1400",
     "Fri, 31 Dec 9999 23:59:59 -1200", "Mon, 99 Foo 2026 10:00:00 +0100", "", "yesterday"],
)  # fmt: skip
def test_a_message_with_an_impossible_date_loses_no_other(session: muniment.Session, tmp_path: Path, date: str) -> None:
    file = tmp_path / "odd.mbox"
    file.write_text(mbox(mail(1, "apples"), mail(2, "oddities", date=date or " "), mail(3, "pears")))
    (report,) = ingest(session, [file])
    assert report.stored + report.rejected == 3
    assert session.search("apples", routes=["lexical"])
    assert session.search("pears", routes=["lexical"])


def test_a_broken_message_among_good_ones_loses_no_other(session: muniment.Session, tmp_path: Path) -> None:
    file = tmp_path / "odd.mbox"
    broken = "Content-Type: multipart/mixed; boundary=x\nContent-Transfer-Encoding: base64\n\n--x\n\n\xff\x00=?utf-8?q?"
    file.write_bytes(mbox(mail(1, "apples"), broken, "", mail(3, "pears")).encode("latin-1"))
    (report,) = ingest(session, [file])
    assert report.stored >= 2
    assert session.search("apples", routes=["lexical"])
    assert session.search("pears", routes=["lexical"])


@pytest.mark.parametrize("name", [b"\xff\xfe.txt", b"\xff.jsonl", b"\xff.mbox", b"\xff.bin"])
def test_a_file_whose_name_is_no_text_is_read_or_rejected_and_loses_no_other(
    session: muniment.Session, tmp_path: Path, name: bytes
) -> None:
    (tmp_path / "a.txt").write_text("A text about apples.")
    odd = os.fsencode(tmp_path) + b"/" + name
    content = {b".jsonl": json.dumps({"content": "odd"}), b".mbox": mbox(mail(1, "oddities"))}
    with open(odd, "w") as file:  # noqa: PTH123 - a path of bytes
        file.write(content.get(name[name.index(b".") :], "odd words"))
    (tmp_path / "z.txt").write_text("A text about zucchini.")
    reports = ingest(session, [tmp_path])
    assert len(reports) == 3
    assert sorted(r.stored + r.rejected for r in reports) == [1, 1, 1]
    assert all(json.dumps(r.to_json(), ensure_ascii=False).encode() for r in reports)
    assert session.search("zucchini", routes=["lexical"])


def test_two_files_with_the_same_messages_store_them_once(session: muniment.Session, tmp_path: Path) -> None:
    for name in ("a.mbox", "b.mbox"):
        (tmp_path / name).write_text(mbox(mail(1, "apples"), mail(2, "pears"), mail(1, "apples")))
    first, second = ingest(session, [tmp_path])
    assert (first.stored, first.repeated, first.rejected) == (2, 1, 0)
    assert (second.stored, second.repeated, second.rejected) == (0, 3, 0)


def test_a_path_that_does_not_exist_is_refused_before_anything_is_stored(
    session: muniment.Session, inbox: Path
) -> None:
    with pytest.raises(UnreadableFile):
        ingest(session, [inbox, inbox / "nowhere.txt"])
    assert session.search("apples", routes=["lexical"]) == []


def test_a_file_that_goes_away_after_it_was_listed_is_reported(session: muniment.Session, inbox: Path) -> None:
    def remove(path: Path, position: int, done: int) -> None:
        (inbox / "plain.txt").unlink(missing_ok=True)

    reports = by_name(ingest(session, [inbox], progress=remove), inbox)
    assert [reason.code for reason in reports["plain.txt"].reasons] == ["unreadable_file"]
    assert sum(report.stored for report in reports.values()) == len(FOUND) - 1


def test_a_folder_without_files_gives_no_report(session: muniment.Session, tmp_path: Path) -> None:
    assert ingest(session, [tmp_path]) == []


def test_labels_are_put_on_every_item_beside_its_own(
    memory: muniment.Memory, tenant: str, session: muniment.Session, tmp_path: Path
) -> None:
    file = tmp_path / "lines.jsonl"
    lines = [{"content": "open words"}, {"content": "closed words", "access": ["team"]}]
    file.write_text("\n".join(map(json.dumps, lines)))
    assert ingest(session, [file], access=frozenset({"secret"}))[0].stored == 2
    assert session.search("words", routes=["lexical"]) == []
    found: dict[str, set[str]] = {}
    for grants in ("secret", "team", "secret team"):
        reader = memory.session(tenant=tenant, grants=grants.split())
        found[grants] = {hit.text for hit in reader.search("words", routes=["lexical"])}
    assert found == {"secret": {"open words"}, "team": set(), "secret team": {"open words", "closed words"}}


def test_a_right_cannot_be_put_on_what_is_ingested(session: muniment.Session, inbox: Path) -> None:
    reports = ingest(session, [inbox / "plain.txt"], access=frozenset({"muniment:import"}))
    assert [(r.stored, r.rejected, r.reasons[0].code) for r in reports] == [(0, 1, "invalid_input")]


class FailsAt(HashEmbedder):
    """An embedder that gives up at some text."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if any("item 130" in text for text in texts):
            raise RuntimeError("out of memory")
        return super().embed_passages(list(texts))


def test_what_was_reported_as_done_is_stored_when_the_rest_fails(
    databases: Databases, own_database: str, tmp_path: Path
) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text("\n".join(json.dumps({"content": f"item {i}"}) for i in range(200)))
    done: list[int] = []
    with muniment.open(databases.app(own_database), embedder=FailsAt()) as memory:
        session = memory.session(tenant="t")
        with pytest.raises(EmbedderFailed):
            ingest(session, [file], progress=lambda path, position, count: done.append(count))
        assert done == [64, 128]
        assert len(session.search("item", k=1000, routes=["lexical"])) == 128
    with muniment.open(databases.app(own_database), embedder=HashEmbedder()) as memory:
        (report,) = ingest(memory.session(tenant="t"), [file])
    assert (report.stored, report.repeated, report.rejected) == (72, 128, 0)


# ---- by command -----------------------------------------------------------------------------------------------------

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(
    databases: Databases, database_name: str, tenant: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:  # fmt: skip
    """`muniment ingest …` in this process: its exit code, its output and its errors."""

    def run(*arguments: str) -> tuple[int, str, str]:
        where = ["--at", databases.app(database_name), "--tenant", tenant]
        monkeypatch.setattr(sys, "argv", ["muniment", "ingest", *arguments, *where])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return run


def test_the_command_stores_a_folder_and_sums_up_each_file(
    command: Command, session: muniment.Session, inbox: Path
) -> None:
    code, out, err = command(str(inbox), "--json")
    assert (code, err) == (1, "")
    reports: list[dict[str, Any]] = json.loads(out)
    counted = {Path(r["path"]).relative_to(inbox).as_posix(): (r["stored"], r["rejected"]) for r in reports}
    assert counted == EXPECTED
    assert all(reason["code"] and reason["item"] and reason["message"] for r in reports for reason in r["reasons"])
    assert all(session.search(word, routes=["lexical"]) for word in FOUND)


def test_the_command_says_every_reason_in_a_line_of_its_own(command: Command, inbox: Path) -> None:
    code, out, _ = command(str(inbox))
    lines = out.splitlines()
    assert code == 1
    assert len(lines) == len(EXPECTED) + sum(rejected for _, rejected in EXPECTED.values())
    rejected = [line for line in lines if line.startswith("rejected ")]
    assert len(rejected) == 9
    assert all(line.endswith("]") and " [" in line for line in rejected)
    assert sum("lines.jsonl, line 2" in line for line in rejected) == 1


def test_the_command_without_anything_to_reject_ends_with_nought_and_again_repeats(
    command: Command, inbox: Path
) -> None:
    for name in ("lines.jsonl", "picture.bin"):
        (inbox / name).unlink()
    shutil.rmtree(inbox / "letters")
    first, again = command(str(inbox), "--json"), command(str(inbox), "--json")
    assert (first[0], again[0]) == (0, 0)
    assert sum(r["stored"] for r in json.loads(first[1])) == 5
    assert sum(r["stored"] for r in json.loads(again[1])) == 0
    assert sum(r["repeated"] for r in json.loads(again[1])) == 5


def test_the_command_shows_hostile_names_and_contents_as_inert_text(command: Command, tmp_path: Path) -> None:
    (tmp_path / "\x1b[31mred [bold].jsonl").write_text(
        json.dumps({"content": "x", "\x1b[31mkind": 1, "kind": "\x1b[2J"})
    )
    code, out, err = command(str(tmp_path))
    assert code == 1
    assert "\x1b" not in out + err
    assert "\\x1b[31mred [bold].jsonl" in out


def test_the_command_puts_its_labels_on_what_it_stores(
    command: Command, memory: muniment.Memory, tenant: str, inbox: Path
) -> None:
    assert command(str(inbox / "plain.txt"), "--label", "secret", "--user", "jane")[0] == 0
    for grants, found in ((["secret", "user:jane"], 1), (["secret"], 0), (["user:jane"], 0), ([], 0)):
        assert len(memory.session(tenant=tenant, grants=grants).search("grapes", routes=["lexical"])) == found
