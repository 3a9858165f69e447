"""How results look: JSON for machines, tables on a terminal, plain text when piped. Stored text is never markup."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from muniment.model.base import Record
from muniment.model.payload import Payload

# Emoji codes such as :rocket: are somebody's text and stay as they are.
stdout = Console(highlight=False, emoji=False, soft_wrap=not sys.stdout.isatty())
stderr = Console(stderr=True, highlight=False, emoji=False)

# Control characters of stored text could move the cursor or recolour the terminal; bidi ones could reorder a line.
_CONTROLS = {c: f"\\x{c:02x}" for c in (*range(32), *range(127, 160)) if c not in (9, 10)}
_CONTROLS |= {
    c: f"\\u{c:04x}" for c in (0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF)
}


def visible(text: object) -> str:
    """Text for a terminal, with what one cannot see, or no encoding can carry, made visible."""
    return str(text).translate(_CONTROLS).encode("utf-8", "backslashreplace").decode("utf-8")


def one_line(text: object) -> str:
    """`visible` text on one line, without tabs."""
    return " ".join(visible(text).split())


def write(text: str) -> None:
    """A line on standard output, past everything that would wrap or expand it."""
    stdout.file.write(text + "\n")


def print_json(value: Any) -> None:
    """One JSON document."""
    write(json.dumps(plain(value), ensure_ascii=False, indent=2))


def plain(value: Any) -> Any:
    """Records as their public JSON shape, also inside lists."""
    if isinstance(value, Record):
        return value.to_json()
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def print_rows(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table on a terminal, tab-separated lines when piped."""
    if not stdout.is_terminal:
        for row in rows:
            write("\t".join(one_line(cell) for cell in row))
        return
    table = Table(*headers, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    stdout.print(table)


def say(text: str) -> None:
    """A line of text."""
    write(visible(text))


def print_payload(payload: Payload) -> None:
    """A payload for people: claims with their quotes and sources, what is missing, or why nothing is asserted."""
    quotes = {item.evidence_id: item for item in payload.evidence if item.retrieval_reason.endswith(" a claim")}
    cited = {evidence_id for claim in payload.claims for evidence_id in claim.evidence_ids}
    for claim in payload.claims:
        period = f"{_day(claim.valid_from)} … {_day(claim.valid_to) or 'now'}"
        say(f"• [{claim.status.value}] {claim.statement}   ({period}; {claim.retrieval_reason})")
        for evidence_id in claim.evidence_ids:
            if evidence_id in quotes:
                _say_quote(quotes[evidence_id].quote, quotes[evidence_id].source_id, quotes[evidence_id].occurred_at)
    for item in payload.evidence:
        if item.evidence_id not in cited or item is not quotes.get(item.evidence_id):
            say(f"• {item.author or item.source_id} ({item.retrieval_reason})")
            _say_quote(item.quote, item.source_id, item.occurred_at)
    for line in payload.missing:
        say(f"? {line}")
    if payload.abstention is not None:
        say(f"Nothing is asserted: {payload.abstention.reason}. {payload.abstention.ask}")
    if payload.retrieval.left_out:
        left, cursor = payload.retrieval.left_out, payload.retrieval.next_cursor
        say(f"({left} more did not fit the budget; continue with --cursor {cursor})")


def _say_quote(quote: str, source: str, occurred_at: Any) -> None:
    when = f", {occurred_at.isoformat()}" if occurred_at is not None else ""
    lines = quote.strip().splitlines() or [""]
    for line in lines:
        say(f"    │ {line}")
    say(f"    └ {source}{when}")


def _day(moment: Any) -> str:
    return "" if moment is None else moment.date().isoformat()
