"""The command line as it is used: its exit codes, and its output for people, pipes and machines."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from typer.testing import CliRunner

import muniment
from muniment.cli.app import app, main
from muniment.providers.local import LocalEmbedder
from tests.conftest import Databases
from tests.helpers import at, single_valued

HOSTILE = "\x1b[31mALERT\x1b[0m [red]bold[/red] \x9b2J \u202egnp.exe \x07 [/] end"
"""What a terminal or a markup language would act on."""


@dataclass(frozen=True)
class Ran:
    """What a process left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


def environment(**more: str) -> dict[str, str]:
    """The environment of a user who has set nothing of ours."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MUNIMENT_")}
    return kept | {"PYTHONIOENCODING": "utf-8", "OPENBLAS_NUM_THREADS": "1"} | more


def execute(*arguments: str | bytes, stdin: bytes = b"", settings: Mapping[str, str] | None = None) -> Ran:
    """Runs `muniment` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "muniment", *arguments], capture_output=True, check=False, timeout=60,
        input=stdin, env=environment(**(settings or {})),
    )  # fmt: skip
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `muniment` in this process: through the same `main`, without the second that a process takes to start."""
    for name in [name for name in os.environ if name.startswith("MUNIMENT_")]:
        monkeypatch.delenv(name)

    def run_main(*arguments: str, stdin: str = "") -> Ran:
        monkeypatch.setattr(sys, "argv", ["muniment", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        return Ran(int(ended.value.code or 0), *capsys.readouterr())

    return run_main


@pytest.fixture
def run(databases: Databases, database_name: str, tenant: str, call: Run) -> Run:
    """Runs a command on this worker's database as this test's tenant."""

    def on_tenant(*arguments: str, stdin: str = "") -> Ran:
        return call(*arguments, "--at", databases.app(database_name), "--tenant", tenant, stdin=stdin)

    return on_tenant


@pytest.fixture
def operate(databases: Databases, own_database: str, embedder: LocalEmbedder, call: Run) -> Run:
    """Runs a command on a database of the test's own."""
    with muniment.open(databases.app(own_database), embedder=embedder) as memory:
        memory.session(tenant="acme").add("Janet drinks tea.")

    def on_database(*arguments: str) -> Ran:
        return call(*arguments, "--at", databases.app(own_database))

    return on_database


def refused(ran: Ran, code: str) -> None:
    """Exit code 2 and one line on standard error, which ends with the code of the error."""
    assert ran.code == 2, ran
    assert "Traceback" not in ran.err + ran.out
    assert ran.err.startswith("muniment: "), ran.err
    assert ran.err.endswith(f"[{code}]\n"), ran.err
    assert ran.err.count("\n") == 1, ran.err


# ---- help -----------------------------------------------------------------------------------------------------------

COMMANDS = [
    "demo", "init", "doctor", "migrate", "drift", "rebuild", "work", "recipes", "ingest", "add", "remember", "retry", "propose", "confirm",
    "reject", "retract", "restore", "correct", "recall", "search", "claims", "history", "why", "timeline", "policy",
    "policy define", "policy list", "policy try", "policy apply", "report", "feedback", "widen", "outcomes", "enumerate", "withdraw",
    "review list", "review show", "review approve", "review reject", "review edit", "review merge", "review undo",
    "subject show", "subject resolve", "subject identify", "subject unidentify", "subject merge", "subject unmerge",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str) -> None:
    done = CliRunner().invoke(app, [*command.split(), "--help"])
    assert done.exit_code == 0
    assert "Usage:" in done.output
    first = next(line for line in done.output.splitlines()[1:] if line.strip() and "Usage" not in line)
    assert len(first.split()) >= 3, "it says what it does"
    if command != "policy":
        assert "--at" in done.output


def test_the_list_of_commands_is_complete() -> None:
    done = execute("--help")
    assert done.code == 0
    listed = {line.split()[0] for line in done.out.splitlines() if line.startswith("  ") and line.split()}
    assert {command.split()[0] for command in COMMANDS} <= listed


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["add"], ["search", "x", "--k", "ten"], ["claims", "--limit", "x"]]
)
def test_wrong_usage_ends_with_two(arguments: list[str]) -> None:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2


# ---- machines -------------------------------------------------------------------------------------------------------


def test_every_writing_command_gives_json(run: Run, tmp_path: Path) -> None:
    policies = tmp_path / "policies.toml"
    policies.write_text('[[policy]]\npredicate = "drink"\ncardinality = "one"\nvalidation = "quoted"\n')
    assert run("policy", "define", str(policies), "--json").json[0]["predicate"] == "drink"
    assert [p["version"] for p in run("policy", "list", "--json").json] == [1]
    stored = run("add", "-", "--occurred-at", "2026-01-01T00:00Z", "--json", stdin="Janet drinks green tea.\n").json
    assert stored["content"] == "Janet drinks green tea.\n"
    evidence = ("--evidence", stored["evidenceId"])
    held = run("propose", "janet", "drink", "green tea", *evidence, "--quote", "green tea", "--json").json
    assert (held["outcome"], held["status"]) == ("validated", "validated")
    waiting = run("propose", "janet", "mood", '{"calm": true}', *evidence, "--json").json
    assert run("confirm", waiting["claimId"], "--by", "me", "--json").json["outcome"] == "validated"
    other = run("propose", "janet", "hobby", "chess", *evidence, "--json").json
    turned_down = run("reject", other["claimId"], "--by", "me", "--json")
    assert (turned_down.code, turned_down.json["outcome"]) == (0, "rejected")
    corrected = run("correct", held["claimId"], "black tea", *evidence, "--quote", "tea", "--json").json
    assert corrected["status"] == "validated"
    assert run("retract", corrected["claimId"], "--reason", "r", "--json").json["outcome"] == "retracted"
    assert run("restore", corrected["claimId"], "--reason", "r", "--json").json["status"] == "validated"


@dataclass(frozen=True)
class Story:
    """Hostile text stored by somebody, and how to read it by command."""

    run: Run
    claim: str
    evidence: str


@pytest.fixture
def story(memory: muniment.Memory, tenant: str, run: Run) -> Story:
    session = memory.session(tenant=tenant)
    single_valued(session, "note", "with\ttab")
    note = session.add(
        HOSTILE, source="web\tpage", source_id="a\tb\nc" + HOSTILE, author=HOSTILE, occurred_at=at("2026-01-01")
    )
    claim = session.propose("janet", "note", HOSTILE, evidence=note.quote(HOSTILE), statement="said\tthis:\n" + HOSTILE)
    return Story(run, claim.claim_id, note.evidence_id)


READING = {
    "recall": ("recall", "ALERT bold", "--subject", "janet"),
    "search": ("search", "ALERT bold"),
    "claims": ("claims", "--subject", "janet"),
    "history": ("history", "CLAIM"),
    "why": ("why", "CLAIM"),
    "timeline": ("timeline", "janet"),
}


def spoken(story: Story, command: str) -> list[str]:
    return [story.claim if word == "CLAIM" else word for word in READING[command]]


@pytest.mark.parametrize("command", READING)
def test_every_reading_command_gives_json_with_the_text_as_it_was_stored(story: Story, command: str) -> None:
    ran = story.run(*spoken(story, command), "--json")
    assert (ran.code, ran.err) == (0, "")
    texts = list(_strings(ran.json))
    assert command == "history" or any(HOSTILE in text for text in texts)
    assert not [c for c in ran.out if ord(c) < 32 and c != "\n"]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


@pytest.mark.parametrize("command", ["doctor", "drift", "rebuild", "recipes"])
def test_every_maintaining_command_gives_json(operate: Run, command: str) -> None:
    ran = operate(command, "--json")
    assert (ran.code, ran.err) == (0, "")
    match command:
        case "doctor":
            assert {check["name"] for check in ran.json} >= {"PostgreSQL", "role", "embedder", "derived layer"}
            assert all(check["ok"] for check in ran.json)
        case "drift":
            assert ran.json == {"rows": [], "counts": {}}
        case "rebuild":
            assert ran.json["canonicalUnchanged"]
            assert sum(ran.json["built"].values()) > 0
        case _:
            assert {recipe["derivation"] for recipe in ran.json} == {"words", "vectors"}


# ---- people and pipes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", sorted(READING.keys() - {"history"}))
def test_stored_text_is_inert_when_piped(story: Story, command: str) -> None:
    ran = story.run(*spoken(story, command))
    assert (ran.code, ran.err) == (0, "")
    _assert_inert(ran.out)


def test_stored_text_is_inert_on_a_terminal(
    story: Story, databases: Databases, database_name: str, tenant: str
) -> None:
    shown = _on_a_terminal(
        [*spoken(story, "recall"), "--at", databases.app(database_name), "--tenant", tenant],
        TERM="dumb",
        COLUMNS="1000",
    )
    _assert_inert(shown)


def _assert_inert(shown: str) -> None:
    assert "ALERT" in shown
    assert "\\x1b[31mALERT\\x1b[0m" in shown
    assert "[red]bold[/red] \\x9b2J" in shown
    assert not set(shown) & set("\x1b\x9b\x07\u202e")


def _on_a_terminal(arguments: list[str], **more: str) -> str:
    """What a terminal would receive."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "muniment", *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
        env=environment(**more),
    ) as process:  # fmt: skip
        os.close(theirs)
        received = bytearray()
        try:
            while block := os.read(ours, 65536):
                received += block
        except OSError:
            pass  # Linux says so when the other side has gone
        finally:
            os.close(ours)
        assert process.wait(60) == 0, received.decode()
    return received.decode()


def test_piped_rows_are_separated_by_tabs_whatever_the_cells_hold(story: Story) -> None:
    (row,) = story.run("claims", "--subject", "janet").out.splitlines()
    status, statement, valid, claim = row.split("\t")
    assert (status, claim) == ("validated", story.claim)
    assert statement.startswith("said this: ")
    assert valid.startswith("2026-01-01")
    rows = [row.split("\t") for row in story.run("search", "ALERT bold").out.splitlines()]
    assert {len(row) for row in rows} == {5}
    assert {(row[1], row[4]) for row in rows} == {("claim", story.claim), ("evidence", story.evidence)}
    versions = [row.split("\t") for row in story.run("history", story.claim).out.splitlines()]
    assert [row[:2] for row in versions] == [["1", "validated"]]


def test_output_is_plain_text_when_piped(run: Run) -> None:
    added = run("add", "Janet drinks tea.", "--source", "x", "--source-id", "1")
    assert (added.code, added.err) == (0, "")
    evidence = added.out.strip()
    proposed = run("propose", "janet", "drink", "tea", "--evidence", evidence)
    assert (proposed.code, proposed.out.split(":")[0]) == (0, "candidate")
    claim = proposed.out.rsplit("(", 1)[1].split()[0]
    confirmed = run("confirm", claim, "--by", "me")
    assert confirmed.out.startswith("validated: confirmed by me")
    assert run("claims", "--subject", "janet").out.rstrip("\n").split("\t")[-1] == claim


def test_the_other_commands_for_whoever_runs_it_answer(operate: Run) -> None:
    assert operate("work", "--once").out == "0 artifacts made\n"
    ready = operate("init")
    assert (ready.code, "PostgreSQL: " in ready.out) == (0, True)
    listed = [row.split("\t")[1:3] for row in operate("recipes").out.splitlines()]
    assert sorted(listed) == [["vectors", "active"], ["words", "active"]]


# ---- exit codes -----------------------------------------------------------------------------------------------------


def test_one_means_that_there_is_something_to_look_at(run: Run, tmp_path: Path) -> None:
    policies = tmp_path / "policies.toml"
    policies.write_text('[[policy]]\npredicate = "drink"\ncardinality = "one"\nvalidation = "quoted"\n')
    assert run("recall", "What does janet drink?", "--subject", "janet").code == 1
    assert run("search", "tea").code == 1
    assert run("claims", "--subject", "janet").code == 1
    assert run("timeline", "janet").code == 1
    assert run("policy", "define", str(policies)).code == 0
    for drink, expected in (("tea", 0), ("coffee", 1)):
        note = run("add", f"Janet drinks {drink}.", "--occurred-at", "2026-01-01T00:00Z").out.strip()
        assert run("propose", "janet", "drink", drink, "--evidence", note, "--quote", drink).code == expected


def test_drift_and_doctor_say_by_their_exit_codes_whether_the_layer_has_fallen_behind(
    operate: Run, databases: Databases, own_database: str
) -> None:
    assert (operate("drift").code, operate("drift").out) == (0, "no drift\n")
    with psycopg.connect(databases.admin(own_database), autocommit=True) as admin:
        admin.execute("UPDATE derived.artifact SET state = 'stale'")
    behind = operate("drift")
    assert behind.code == 1
    assert [row.split("\t")[0] for row in behind.out.splitlines()] == ["vectors stale", "words stale"]
    examined = operate("doctor")
    (line,) = [row.split("\t") for row in examined.out.splitlines() if "derived layer" in row]
    assert (examined.code, line[0], line[-1]) == (1, "!!", "muniment rebuild")
    assert operate("rebuild").code == 0
    assert operate("drift", "--full").code == 0
    assert operate("doctor").code == 0


NOBODY = "01900000-0000-7000-8000-000000000000"
REFUSALS: dict[str, tuple[list[str], str]] = {
    "an id that is not there": (["history", NOBODY], "not_found"),
    "no id": (["why", "x"], "not_found"),
    "a decision about nothing": (["retract", NOBODY, "--reason", "r"], "not_found"),
    "evidence that is not there": (["propose", "a", "b", "c", "--evidence", NOBODY], "not_found"),
    "a naive time": (["claims", "--as-of", "2026-01-01T00:00"], "naive_datetime"),
    "no time": (["claims", "--as-of", "yesterday\x1b[31m"], "invalid_time"),
    "both clocks and one": (["claims", "--as-of", "2026-01-01T00Z", "--valid-at", "2026-01-01T00Z"], "invalid_input"),
    "a bad scope": (["claims", "--scope", "a//b\x1b[31m"], "bad_scope"),
    "a bad status": (["claims", "--status", "true\x1b[31m"], "bad_filter"),
    "a bad cursor": (["recall", "x", "--cursor", "x"], "bad_filter"),
    "a bad k": (["search", "x", "-k", "0"], "bad_filter"),
    "a bad route": (["search", "x", "--route", "[red]x"], "bad_filter"),
    "a bad budget": (["recall", "x", "--budget", "0"], "invalid_input"),
    "blank text": (["add", "  "], "invalid_input"),
    "a right as a label": (["add", "x", "--label", "muniment:import"], "invalid_input"),
    "a policy file that is not there": (["policy", "define", "/nowhere/\x1b[31mp.toml"], "invalid_input"),
    "a file that is not there": (["ingest", "/nowhere/\x1b[31mx.txt"], "unreadable_file"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_is_one_line_with_its_code_and_no_traceback(run: Run, case: str) -> None:
    arguments, code = REFUSALS[case]
    ran = run(*arguments)
    refused(ran, code)
    assert ran.out == ""
    assert "\x1b" not in ran.err


def test_a_refusal_as_json_is_json(run: Run) -> None:
    ran = run("history", NOBODY, "--json")
    refused(ran, "not_found")
    assert ran.json["error"]["code"] == "not_found"
    assert ran.json["error"]["message"] in ran.err


def test_names_between_colons_are_not_made_into_pictures(run: Run) -> None:
    stored = run("add", "deploy :rocket: at 10:100:20", "--source-id", ":warning:", "--json")
    assert (stored.json["content"], stored.json["sourceId"]) == ("deploy :rocket: at 10:100:20", ":warning:")
    assert "deploy :rocket: at 10:100:20" in run("search", "deploy").out


def test_stored_text_in_a_refusal_is_inert_and_stays_in_its_line(run: Run) -> None:
    assert run("add", "x", "--source", "web", "--source-id", "a\n\x1b[31mb").code == 0
    ran = run("add", "y", "--source", "web", "--source-id", "a\n\x1b[31mb")
    refused(ran, "version_conflict")
    assert "\x1b" not in ran.err


def test_bytes_that_are_no_text_are_refused_in_every_place_of_a_command_line(
    databases: Databases, database_name: str, tenant: str
) -> None:
    where = ("--at", databases.app(database_name), "--tenant", tenant)
    refused(execute("add", b"\xff\xfe", *where), "invalid_text")
    refused(execute("ingest", b"/nowhere/\xff.txt", *where), "unreadable_file")
    refused(execute("add", "-", *where, stdin=b"\xff\xfe"), "invalid_text")


@pytest.mark.parametrize("value", ["NaN", "[1, Infinity]", "[" * 100_000], ids=["NaN", "infinity", "deep"])
def test_a_value_that_is_no_json_is_taken_as_text_or_refused(run: Run, value: str) -> None:
    note = run("add", "some words").out.strip()
    ran = run("propose", "janet", "note", value, "--evidence", note, "--json")
    if ran.code == 0:
        (held,) = run("claims", "--subject", "janet", "--status", "all", "--json").json["items"]
        assert held["value"] == value
    else:
        refused(ran, "invalid_input")


def test_a_server_that_is_not_there_is_one_line(call: Run, tmp_path: Path) -> None:
    refused(call("claims", "--at", f"postgresql://nobody@/x?host={tmp_path}"), "engine_unavailable")


def test_a_superuser_is_refused(databases: Databases, database_name: str, call: Run) -> None:
    refused(call("claims", "--at", databases.admin(database_name)), "unsafe_role")


def test_a_database_without_the_schema_says_what_to_run(databases: Databases, call: Run) -> None:
    name = databases.create(f"empty_{uuid4().hex[:8]}", template="template0")
    try:
        ran = call("claims", "--at", databases.app(name))
        refused(ran, "schema_missing")
        assert "muniment migrate" in ran.err
    finally:
        databases.drop(name)


def test_migrating_by_dsn_needs_the_administrator_and_says_so(
    databases: Databases, own_database: str, call: Run
) -> None:
    refused(call("migrate", "--at", databases.app(own_database)), "engine_unavailable")
    done = call("migrate", "--admin-dsn", databases.admin(own_database))
    assert (done.code, done.out) == (0, "already at this version\n")


# ---- whose memory ---------------------------------------------------------------------------------------------------


def test_the_environment_says_where_and_whose_and_an_option_wins(
    databases: Databases, database_name: str, tenant: str, memory: muniment.Memory
) -> None:
    mine = {"MUNIMENT_DSN": databases.app(database_name), "MUNIMENT_TENANT": tenant}
    stored = execute("add", "Janet drinks tea.", settings=mine)
    assert memory.session(tenant=tenant).evidence(stored.out.strip()).content == "Janet drinks tea."
    other = execute("search", "tea", "--tenant", tenant + "-b", settings=mine)
    assert (other.code, other.out) == (1, "")
    refused(execute("search", "tea", "--tenant", " ", settings=mine), "no_tenant")


def test_a_process_ends_as_the_call_does(databases: Databases, database_name: str, tenant: str) -> None:
    where = ("--at", databases.app(database_name), "--tenant", tenant)
    refused(execute("history", NOBODY, *where), "not_found")
    listed = execute("claims", "--json", *where)
    assert (listed.code, listed.json["items"]) == (1, [])


def test_labels_grants_and_users_of_the_command_line_hide_and_show(run: Run) -> None:
    secret = run("add", "Janet drinks tea.", "--label", "secret", "--json").json
    assert secret["authorizationScope"] == "secret"
    assert run("search", "tea").code == 1
    assert run("search", "tea", "--grant", "secret").code == 0
    assert run("add", "Jane drinks milk.", "--user", "jane", "--json").json["authorizationScope"] == "user:jane"
    assert run("search", "milk", "--user", "john").code == 1
    assert run("search", "milk", "--user", "jane").code == 0


def test_who_is_who_on_the_command_line(run: Run) -> None:
    said = run("subject", "identify", "email", "j@example.com", "contact_1", "--json").json
    assert (said["subjectId"], said["waits"]) == ("contact_1", None)
    waits = run("subject", "identify", "email", "j@example.com", "contact_2")
    assert waits.out.startswith("waits for review")
    (review,) = run("review", "list", "--json").json["items"]
    assert "contact_1 = contact_2" in run("review", "list").out
    assert run("review", "merge", review["reviewId"], "--by", "dora").code == 0
    assert run("subject", "resolve", "J@example.com").out == "contact_1\n"
    shown = run("subject", "show", "contact_1", "--json").json
    assert shown["knownAs"] == ["contact_1", "contact_2"]
    assert "contact_2" in run("subject", "show", "contact_1").out
    run("subject", "unmerge", shown["merges"][0]["mergeId"], "--reason", "two people")
    assert run("subject", "resolve", "contact_2").out == "contact_2\n"
    merged = run("subject", "merge", "contact_2", "contact_1", "--reason", "one after all", "--json").json
    assert merged["intoSubject"] == "contact_1"
    run("subject", "unidentify", "email", "j@example.com", "contact_1")
    assert run("subject", "resolve", "j@example.com").out == "nobody that this session may see\n"


def test_every_verdict_on_the_command_line(run: Run, tmp_path: Path) -> None:
    policies = tmp_path / "policies.toml"
    policies.write_text('[[policy]]\npredicate = "fee"\ncardinality = "one"\nvalidation = "quoted"\n')
    run("policy", "define", str(policies))
    note = run("add", "4 or 6", "--occurred-at", "2026-01-01T00:00Z", "--json").json["evidenceId"]
    for fee in ("4", "6"):
        run("propose", "acme", "fee", fee, "--evidence", note, "--quote", fee)
    (review,) = run("review", "list", "--json").json["items"]
    shown = run("review", "show", review["reviewId"]).out
    assert "approving: " in shown
    for verdict, value, holds in (
        ("approve", [], 6), ("reject", [], 4), ("edit", ["5"], 5), ("merge", [], 4),
    ):  # fmt: skip
        done = run("review", verdict, review["reviewId"], *value, "--by", "ada")
        assert done.code == 0, done
        assert [c["value"] for c in run("claims", "--subject", "acme", "--json").json["items"]] == [holds]
        assert run("review", "undo", review["reviewId"], "--by", "bob").code == 0
    assert len(run("review", "list", "--json").json["items"][0]["decisions"]) == 8


def test_memory_types_on_the_command_line(run: Run) -> None:
    note = run("add", "Be brief.", "--json").json["evidenceId"]
    tool = json.dumps({"description": "Looks up an invoice", "parameters": {}})
    held = run("propose", "agents", "invoice", tool, "--type", "tool", "--evidence", note, "--json").json
    assert run("enumerate", "tool").code == 1
    run("confirm", held["claimId"], "--by", "me")
    assert "invoice" in run("enumerate", "tool").out
    run("report", held["claimId"], "success", "--run", "1")
    run("report", held["claimId"], "failure", "--note", "timeout")
    assert run("outcomes", held["claimId"]).out == "1 succeeded, 1 failed\n"
    refused(run("enumerate", "entity"), "bad_filter")


def test_feedback_on_the_command_line(run: Run) -> None:
    meant = json.dumps({"subject": "jane", "predicate": "greeting", "value": "Hi"})
    where = ("--kind", "edit", "--scope", "email/ann", "--claim", meant)
    given = run("feedback", "draft-1", "Hi Ann", *where, "--json").json
    claim = given["decisions"][0]["claimId"]
    assert given["decisions"][0]["status"] == "candidate"
    assert "waits for confirmation" in run("feedback", "draft-2", "-", *where, stdin="Hi again").out
    assert run("widen", claim, "email", "--by", "jane").code == 0
    assert run("claims", "--subject", "jane", "--scope", "email/bob").code == 0
    refused(run("feedback", "draft-3", "Hi", "--claim", meant), "bad_scope")
    refused(run("feedback", "draft-3", "Hi", "--kind", "shrug"), "invalid_input")
