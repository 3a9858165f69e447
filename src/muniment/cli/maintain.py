"""Commands for whoever runs it: demo, init, doctor, migrate, drift, rebuild, work, recipes."""

from __future__ import annotations

import signal
import threading
from typing import Annotated

import typer
from rich.progress import Progress

from muniment.cli.options import Json, Target, opened
from muniment.cli.render import print_json, print_rows, say, stderr
from muniment.errors import EngineUnavailable
from muniment.store.opening import migrate_dsn


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    for command in (demo, init, doctor, migrate, drift, rebuild, work, recipes):
        app.command()(command)


def demo(target: Target = None) -> None:
    """Run the guided example: a late e-mail, a changed preference, a corrected figure."""
    from muniment.cli.demo.story import tell

    with opened(target) as memory:
        tell(memory)


def init(target: Target = None) -> None:
    """Set up the embedded database, or check that a DSN is ready."""
    with opened(target) as memory:
        for check in memory.doctor():
            say(f"{check.name}: {check.detail}")


def doctor(target: Target = None, as_json: Json = False) -> None:
    """Say what is missing and the command that mends it. Exit code 1 when something is."""
    with opened(target) as memory:
        checks = memory.doctor()
    if as_json:
        print_json(checks)
    else:
        rows = [("ok" if c.ok else "!!", c.name, c.detail, c.mend or "") for c in checks]
        print_rows(("", "what", "found", "to mend"), rows)
    if not all(check.ok for check in checks):
        raise typer.Exit(1)


def migrate(
    admin_dsn: Annotated[
        str | None,
        typer.Option(envvar="MUNIMENT_ADMIN_DSN", help="May create schemas, roles, extensions.", show_default=False),
    ] = None,
    target: Target = None,
) -> None:  # fmt: skip
    """Bring the database up to this version."""
    if admin_dsn is not None:
        changed = migrate_dsn(admin_dsn)
    elif target is not None and "://" in target:
        raise EngineUnavailable(
            "migrating a server needs --admin-dsn, a role that may create schemas, roles and extensions"
        )
    else:
        with opened(target) as memory:
            changed = memory.migrate()
    say("migrated" if changed else "already at this version")


def drift(
    full: Annotated[bool, typer.Option("--full", help="Compare everything with canonical memory.")] = False,
    target: Target = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Show what in the derived layer has fallen behind. Exit code 1 when anything has."""
    with opened(target) as memory:
        report = memory.drift(full=full)
    if as_json:
        print_json(report)
    elif not report:
        say("no drift")
    else:
        print_rows(("what", "count"), sorted(report.counts.items()))
    if report:
        raise typer.Exit(1)


def rebuild(
    adopt_embedder: Annotated[bool, typer.Option("--adopt-embedder", help="Retire another model's vectors.")] = False,
    target: Target = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Make the derived layer again from canonical memory. Goes on where an interrupted one stopped."""
    with (
        opened(target, adopt_embedder=adopt_embedder) as memory,
        Progress(console=stderr, transient=True, disable=not stderr.is_terminal) as bars,
    ):
        task = bars.add_task("rebuilding", total=None)
        report = memory.rebuild(progress=lambda count: bars.advance(task, count))
    if as_json:
        print_json(report)
        return
    print_rows(("what", "made"), sorted(report.built.items()))
    proof = "unchanged" if report.canonical_unchanged else "changed meanwhile, by other writers"
    say(f"{report.seconds:.1f} s; canonical memory {proof}")


def work(
    once: Annotated[bool, typer.Option("--once", help="End when nothing is due.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Begin anew with what failed.")] = False,
    target: Target = None,
) -> None:  # fmt: skip
    """Bring the derived layer up to date, and keep it so until interrupted. Any number of workers may run."""
    stop = threading.Event()
    # The batch in hand is finished first.
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: stop.set())
    with opened(target) as memory:
        say(f"{memory.work(once, retry_failed=retry_failed, stop=stop)} artifacts made")


def recipes(target: Target = None, as_json: Json = False) -> None:
    """List how each derivation is made."""
    with opened(target) as memory:
        found = memory.recipes()
    if as_json:
        print_json(found)
        return
    rows = [(r.recipe_id, r.derivation, r.state, r.parameters.get("model", ""), r.recipe_hash[:12]) for r in found]
    print_rows(("id", "derivation", "state", "model", "hash"), rows)
