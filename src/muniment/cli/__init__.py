"""The command line: thin callers of the same verbs, one module a group of commands.

Exit codes: 0 done, 1 done but there is something to look at (an abstention, a rejection, drift), 2 refused or failed.
"""

from __future__ import annotations

from muniment.cli.app import main

__all__ = ["main"]
