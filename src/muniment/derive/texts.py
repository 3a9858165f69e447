"""The texts that are indexed. A version that changes none of them moves a pin, and nothing is computed again."""

from __future__ import annotations

import hashlib
from typing import NamedTuple
from uuid import UUID

from muniment.canonical.rows import EvidenceRow
from muniment.derive.chunks import chunk


class Text(NamedTuple):
    """One searchable text: characters [start, end) of its source, as it is indexed."""

    kind: str
    source_id: UUID
    part: int
    start: int
    end: int
    text: str


def claim_text(claim_id: UUID, statement: str) -> list[Text]:
    """A claim is one text: its statement, which never changes."""
    return [Text("claim", claim_id, 0, 0, len(statement), statement)]


def evidence_texts(row: EvidenceRow) -> list[Text]:
    """Evidence is one text a chunk, each beginning with who said it."""
    who = f"{row.author}: " if row.author else ""
    return [
        Text("evidence", row.evidence_id, part, start, end, who + row.content[start:end])
        for part, start, end in chunk(row.content)
    ]


def input_hash(texts: list[Text]) -> bytes:
    """SHA-256 of everything that goes into the derivations of one source."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(f"{text.part}:{text.start}:{text.end}:".encode())
        digest.update(text.text.encode())
    return digest.digest()
