"""The examples run, offline, and say what they promise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str, folder: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), str(folder / "memory")],
        capture_output=True, text=True, check=False, timeout=120, cwd=folder, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_renewal_agent_abstains_then_answers_from_what_is_current_then_follows_its_users_edits(
    tmp_path: Path,
) -> None:
    lines = run("renewal_agent.py", tmp_path)
    replies = [line.strip() for line in lines if "Janet: " in line or "I do not know" in line]
    assert [reply.split(" ")[0] for reply in replies] == ["I", "Dear", "Hi"]
    assert "call first" in replies[1]
    assert "“For this renewal, call me first.”" in replies[1]
    assert "   - superseded until 2026-07-18: summary_before_call (in renewal)" in lines
    assert lines[-3:] == [
        "   run-3: read 2, called ['crm.get_terms'], ok True",
        "   run-2: read 2, called ['crm.get_terms'], ok True",
        "   run-1: read 0, called ['crm.get_terms'], ok True",
    ]
