"""Commands that write: ingest, add, propose, confirm, reject, retract, restore, correct, policy."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from muniment.cli.options import Grants, Json, Labels, Moment, Target, Tenant, User, parse_moment, parse_value, session
from muniment.cli.render import print_json, print_rows, say, stderr
from muniment.errors import InvalidInput, InvalidText
from muniment.ingest import FileReport, ingest
from muniment.model.claim import Decision, Outcome, Status
from muniment.model.policy import PredicatePolicy
from muniment.model.remember import FeedbackKind
from muniment.model.trial import Period, PolicyTrial
from muniment.model.validation import Validation

ClaimId = Annotated[str, typer.Argument(metavar="CLAIM")]
EvidenceId = Annotated[str, typer.Option("--evidence", help="The id of the evidence.")]
Quote = Annotated[str | None, typer.Option("--quote", help="The exact words in it.", show_default=False)]
Reason = Annotated[str, typer.Option("--reason", help="Why.")]
By = Annotated[str, typer.Option("--by", help="Who decides.")]
SHOWN_REASONS = 20


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command(name="ingest")(ingest_files)
    for command in (add, propose, confirm, reject, retract, restore, correct, withdraw, feedback, widen, report):
        app.command()(command)
    policy = typer.Typer(help="Declare how predicates behave.", no_args_is_help=True)
    policy.command(name="define")(define)
    policy.command(name="list")(policies)
    policy.command(name="try")(try_policies)
    policy.command(name="apply")(apply_policies)
    app.add_typer(policy, name="policy")


def ingest_files(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders: mbox, eml, jsonl, md, txt, LoCoMo JSON.")],
    labels: Labels = None, target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Store files as evidence. Exit code 1 when items were rejected. Run it again after an interruption."""
    with session(target, tenant, grants, user) as opened, _bars() as bars:
        tasks: dict[Path, Any] = {}

        def show(path: Path, position: int, done: int) -> None:
            if path not in tasks:
                tasks[path] = bars.add_task(path.name, total=max(path.stat().st_size, 1))
            bars.update(tasks[path], completed=position, description=f"{path.name}: {done} items")

        reports = ingest(opened, paths, access=frozenset(labels or ()), progress=show)
    print_json(reports) if as_json else _print_reports(reports)
    if any(report.rejected for report in reports):
        raise typer.Exit(1)


def _bars() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    return Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal)


def _print_reports(reports: list[FileReport]) -> None:
    print_rows(
        ("file", "format", "stored", "repeated", "rejected"),
        [(r.path, r.format or "–", r.stored, r.repeated, r.rejected) for r in reports],
    )
    reasons = [(report.path, reason) for report in reports for reason in report.reasons]
    for path, reason in reasons[:SHOWN_REASONS]:
        say(f"rejected {path}, {reason.item}: {reason.message} [{reason.code}]")
    if len(reasons) > SHOWN_REASONS:
        say(f"… and {len(reasons) - SHOWN_REASONS} more; --json lists them")


def add(
    content: Annotated[str, typer.Argument(help="The text, or - to read it from standard input.")],
    source: str = "cli",
    source_id: Annotated[str | None, typer.Option(show_default=False)] = None,
    author: Annotated[str | None, typer.Option(show_default=False)] = None,
    occurred_at: Moment = None, labels: Labels = None, target: Target = None, tenant: Tenant = "default",
    grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Store one text as evidence and print its id."""
    text = standard_input() if content == "-" else content
    with session(target, tenant, grants, user) as opened:
        stored = opened.add(
            text,
            source=source,
            source_id=source_id,
            author=author,
            occurred_at=parse_moment(occurred_at),
            access=labels or (),
        )
    print_json(stored) if as_json else say(stored.evidence_id)


def standard_input() -> str:
    """All of standard input. Raises `InvalidText` when it is no UTF-8."""
    if not hasattr(sys.stdin, "buffer"):
        return sys.stdin.read()
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidText(f"standard input is no UTF-8 at byte {error.start}; convert it first") from None


def feedback(
    about: Annotated[str, typer.Argument(help="The id of what is judged: a draft, an evidence, a claim.")],
    content: Annotated[str, typer.Argument(help="The text as it was sent, or a comment; '-' reads standard input.")],
    kind: Annotated[str, typer.Option(help="edit, comment, thumb_up or thumb_down.")] = "comment",
    scope: Annotated[str | None, typer.Option(help="Where it was given: email/janet.", show_default=False)] = None,
    claim: Annotated[
        list[str] | None,
        typer.Option(help='What it means, as JSON: {"subject": …, "predicate": …, "value": …}; repeatable.'),
    ] = None,
    target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Store feedback, and claim narrowly what it means."""
    text = standard_input() if content == "-" else content
    meant = [parse_value(one) for one in claim or ()]
    with session(target, tenant, grants, user) as opened:
        given = opened.feedback(about, kind=cast("FeedbackKind", kind), content=text, scope=scope, claims=meant)
    if as_json:
        print_json(given)
        return
    say(given.evidence.evidence_id)
    for decision in (*given.decisions, *given.widened):
        say(f"{decision.outcome.value}: {decision.reason} ({decision.claim_id} v{decision.version})")


def widen(
    claim: ClaimId, scope: Annotated[str, typer.Argument(help="The wider scope; '' is everywhere.")], by: By,
    reason: Reason = "", target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Say that what a claim says holds in a wider scope."""
    with session(target, tenant, grants, user) as opened:
        _finish(opened.widen(claim, scope, by=by, reason=reason), as_json)


def report(
    claim: ClaimId, result: Annotated[str, typer.Argument(help="success or failure.")],
    note: Annotated[str, typer.Option(help="What happened.")] = "",
    run: Annotated[str | None, typer.Option(help="The id of the run; one report each.", show_default=False)] = None,
    target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Store what came of acting on a claim."""
    with session(target, tenant, grants, user) as opened:
        stored = opened.report(claim, result, note=note, run=run)
    print_json(stored) if as_json else say(stored.evidence_id)


def propose(
    subject: str, predicate: str,
    value: Annotated[str, typer.Argument(help="JSON, or text when it is no JSON.")],
    evidence: EvidenceId, quote: Quote = None, scope: str = "",
    memory_type: Annotated[str, typer.Option("--type", help="entity, persona, guideline, workflow, tool …")] = "entity",
    statement: Annotated[str | None, typer.Option(show_default=False)] = None,
    valid_from: Moment = None, valid_to: Moment = None,
    supersedes: Annotated[str | None, typer.Option(show_default=False)] = None,
    correction: Annotated[bool, typer.Option(help="It was never true, rather than no longer.")] = False,
    target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Propose a typed claim with its evidence."""
    with session(target, tenant, grants, user) as opened:
        source = opened.evidence(evidence)
        decision = opened.propose(
            subject, predicate, parse_value(value), evidence=source.quote(quote) if quote else source, scope=scope,
            memory_type=memory_type,
            statement=statement, valid_from=parse_moment(valid_from), valid_to=parse_moment(valid_to),
            supersedes=supersedes, correction=correction,
        )  # fmt: skip
    _finish(decision, as_json)


def confirm(
    claim: ClaimId, by: By, reason: Reason = "", target: Target = None, tenant: Tenant = "default",
    grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Validate a candidate."""
    with session(target, tenant, grants, user) as opened:
        _finish(opened.confirm(claim, by=by, reason=reason), as_json)


def reject(
    claim: ClaimId, by: By, reason: Reason = "", target: Target = None, tenant: Tenant = "default",
    grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Turn a candidate down."""
    with session(target, tenant, grants, user) as opened:
        _finish(opened.reject(claim, by=by, reason=reason), as_json, expected=Outcome.REJECTED)


def retract(
    claim: ClaimId, reason: Reason, target: Target = None, tenant: Tenant = "default", grants: Grants = None,
    user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Say that a claim should not have been held; what it had superseded comes back."""
    with session(target, tenant, grants, user) as opened:
        _finish(opened.retract(claim, reason=reason), as_json)


def restore(
    claim: ClaimId, reason: Reason, target: Target = None, tenant: Tenant = "default", grants: Grants = None,
    user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Hold a retracted or rejected claim again."""
    with session(target, tenant, grants, user) as opened:
        _finish(opened.restore(claim, reason=reason), as_json)


def correct(
    claim: ClaimId, value: Annotated[str, typer.Argument(help="JSON, or text when it is no JSON.")],
    evidence: EvidenceId, quote: Quote = None, target: Target = None, tenant: Tenant = "default", grants: Grants = None,
    user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Say what a claim should have said all along."""
    with session(target, tenant, grants, user) as opened:
        source = opened.evidence(evidence)
        decision = opened.correct(claim, parse_value(value), evidence=source.quote(quote) if quote else source)
    _finish(decision, as_json)


def withdraw(
    evidence: Annotated[str, typer.Argument(metavar="EVIDENCE")], reason: Reason, target: Target = None,
    tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Say that evidence no longer counts; it stays readable."""
    with session(target, tenant, grants, user) as opened:
        done = opened.withdraw(evidence, reason=reason)
    print_json(done) if as_json else say(f"withdrawn; {len(done.claims)} claim(s) changed")


def _finish(decision: Decision, as_json: bool, *, expected: Outcome | None = None) -> None:
    if as_json:
        print_json(decision)
    else:
        say(f"{decision.outcome.value}: {decision.reason} ({decision.claim_id} v{decision.version})")
    if decision.outcome in (Outcome.CONFLICT, Outcome.REJECTED) and decision.outcome is not expected:
        raise typer.Exit(1)


def define(
    file: Annotated[Path, typer.Argument(help="TOML: one [[policy]] table a predicate.")],
    target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Put the policies of a TOML file in force, for what is proposed from now on."""
    tables = _policy_tables(file)
    with session(target, tenant, grants, user) as opened:
        defined = [opened.define(table) for table in tables]
    print_json(defined) if as_json else print_rows(
        ("predicate", "version"), [(p.predicate, p.version) for p in defined]
    )


def try_policies(
    file: Annotated[Path, typer.Argument(help="TOML: one [[policy]] table a predicate.")],
    target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Show what the policies of a TOML file, each by itself, would decide otherwise. Writes nothing."""
    tables = _policy_tables(file)
    with session(target, tenant, grants, user) as opened:
        _print_trials([opened.try_policy(table) for table in tables], as_json)


def apply_policies(
    file: Annotated[Path, typer.Argument(help="TOML: one [[policy]] table a predicate.")],
    target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Put policies in force, and decide again what was decided before them."""
    tables = _policy_tables(file)
    with session(target, tenant, grants, user) as opened:
        _print_trials([opened.apply_policy(table) for table in tables], as_json)


def _print_trials(trials: list[PolicyTrial], as_json: bool) -> None:
    if as_json:
        print_json(trials)
        return
    print_rows(
        ("claim", "subject", "statement", "before", "after", "why"),
        [
            (c.claim_id, c.subject_id, c.statement, _holding(c.status_before, c.valid_before),
             _holding(c.status_after, c.valid_after), c.reason or "")
            for trial in trials for c in trial.changes
        ],
    )  # fmt: skip
    for trial in trials:
        hidden = f", {trial.hidden} more that you may not see" if trial.hidden else ""
        done = "decided again" if trial.applied else "would be decided again"
        say(f"{trial.policy.predicate}: {trial.decided} claims {done}, {len(trial.changes)} otherwise{hidden}")


def _holding(status: Status, valid: Sequence[Period]) -> str:
    """A status, and for what holds the periods in which it does."""
    if status is not Status.VALIDATED:
        return status.value
    periods = [f"{'…' if a is None else a.date()}–{'…' if b is None else b.date()}" for a, b in valid]
    return f"validated {', '.join(periods) or 'never'}"


def _policy_tables(file: Path) -> list[dict[str, Any]]:
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8")).get("policy", [])
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{file} cannot be read as TOML: {error}") from None
    if not isinstance(tables, list) or not tables:
        raise InvalidInput(f"{file} has no [[policy]] table; write one for each predicate")
    return tables


def _requirement(policy: PredicatePolicy) -> str:
    """What validates, as written in a policy file."""
    if isinstance(policy.requirement, Validation):
        return policy.requirement.value
    return json.dumps(policy.requirement.model_dump(mode="json"))


def policies(
    target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False
) -> None:
    """List the policies in force."""
    with session(target, tenant, grants, user) as opened:
        found = opened.policies()
    if as_json:
        print_json(found)
        return
    rows = [(p.predicate, p.version, p.cardinality.value, _requirement(p), ", ".join(p.depends_on)) for p in found]
    print_rows(("predicate", "version", "cardinality", "validation", "depends on"), rows)
