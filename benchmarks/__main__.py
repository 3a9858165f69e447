"""`python -m benchmarks [rules|writes|proposals|latency|locomo] [--data FILE]`: every table, or the named ones."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import muniment
from benchmarks import latency, locomo, proposals, rules, writes
from benchmarks.report import console, machine

TABLES = ("rules", "writes", "proposals", "latency", "locomo")


def main() -> None:
    """Runs the tables in a temporary folder."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="which; all of them when none is named")
    parser.add_argument("--data", type=Path, help="LoCoMo's JSON file; without it that table is left out")
    chosen = parser.parse_args()
    wanted = chosen.tables or TABLES
    console.print(machine())
    if "rules" in wanted:
        rules.run()
    with tempfile.TemporaryDirectory(prefix="muniment-bench-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        if "writes" in wanted:
            writes.run(home)
        if "proposals" in wanted:
            proposals.run(home)
        if "latency" in wanted:
            latency.run(home)
        if "locomo" in wanted:
            if chosen.data is None:
                console.print("locomo: give its file with --data")
                return
            with muniment.open(home / "locomo") as memory:
                locomo.run(memory, chosen.data)


if __name__ == "__main__":
    main()
