"""The application: its commands, and the one place where an error becomes an exit code."""

from __future__ import annotations

import json
import os
import sys

import typer

from muniment.cli import maintain, reading, remembering, reviewing, subjects, writing
from muniment.cli.render import one_line, stderr, write
from muniment.errors import MunimentError

INTERRUPTED = 130

app = typer.Typer(
    name="muniment",
    help="Long-term memory for AI agents that can show its evidence.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (maintain, writing, remembering, reviewing, subjects, reading):
    module.register(app)


def main() -> None:
    """Runs a command. Coded errors end with 2 and a message that says what to do; so does an interruption (130)."""
    try:
        app()
    except MunimentError as error:
        if "--json" in sys.argv:
            write(json.dumps({"error": {"code": error.code, "message": str(error)}}))
        stderr.file.write(f"muniment: {one_line(error)} [{error.code}]\n")
        raise SystemExit(2) from None
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except SystemExit as end:
        if end.code == INTERRUPTED:
            stderr.file.write("muniment: interrupted; what was reported as stored is stored, run it again to go on\n")
        raise
