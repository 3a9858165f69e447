"""Attempts at reading claims out of evidence: what waits, what is done, what failed and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from muniment.canonical import activity
from muniment.model.ids import new_id
from muniment.store.answer import Answer
from muniment.store.database import Tx
from muniment.store.statements import sql


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt as it is recorded. `error` says the kind, never words of the evidence; `refused` counts by code."""

    extractor: str
    state: Literal["done", "failed"]
    error: str | None
    calls: int
    input_tokens: int
    output_tokens: int
    candidates: int
    refused: Counter[str]


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether the extractor asked about has done it, and the state of the latest attempt of any (None: no attempt)."""

    done: bool
    latest: str | None


def insert_pending(tx: Tx, evidence: dict[UUID, int], extractor: str, activity_id: UUID) -> None:
    """Notes that these new evidences, by id with their access ids, wait for `extractor`."""
    rows = [
        {
            "extraction_id": new_id(),
            "evidence_id": evidence_id,
            "extractor": extractor,
            "access_id": access_id,
            "activity_id": activity_id,
        }
        for evidence_id, access_id in evidence.items()
    ]
    tx.execute_many(sql("insert_pending"), rows)


def begin(tx: Tx, evidence_id: UUID, extractor: str, *, actor: str, at: datetime) -> None:
    """Notes that an evidence that was stored before waits for `extractor`, in place of what stood there."""
    tx.execute(sql("lock_extraction"), {"evidence_id": evidence_id})
    tx.execute(sql("close_extraction"), {"evidence_id": evidence_id})
    activity_id = activity.record(tx, "extract", actor=actor, at=at, used={"evidence": str(evidence_id)})
    tx.execute(
        sql("insert_pending_again"),
        {"extraction_id": new_id(), "evidence_id": evidence_id, "extractor": extractor, "activity_id": activity_id},
    )


def record(tx: Tx, evidence_id: UUID, attempt: Attempt, *, actor: str, at: datetime) -> None:
    """Stores an attempt as the latest one; the one before ends."""
    used = {"evidence": str(evidence_id), "extractor": attempt.extractor}
    tx.execute(sql("lock_extraction"), {"evidence_id": evidence_id})
    tx.execute(sql("close_extraction"), {"evidence_id": evidence_id})
    row: dict[str, Any] = {
        "extraction_id": new_id(),
        "evidence_id": evidence_id,
        "extractor": attempt.extractor,
        "state": attempt.state,
        "error": attempt.error,
        "calls": attempt.calls,
        "input_tokens": attempt.input_tokens,
        "output_tokens": attempt.output_tokens,
        "candidates": attempt.candidates,
        "refused": Jsonb(dict(attempt.refused)),
        "activity_id": activity.record(tx, "extract", actor=actor, at=at, used=used),
    }
    tx.execute(sql("insert_extraction"), row)


def standing(tx: Tx, evidence_id: UUID, extractor: str) -> Answer[Standing]:
    """How far an evidence has come."""
    return Answer(
        tx, "extraction_state", {"evidence_id": evidence_id, "extractor": extractor},
        lambda rows: Standing(rows[0]["done"], rows[0]["latest"]),
    )  # fmt: skip


def waiting(tx: Tx, extractor: str, *, attempts: int, most: int) -> Answer[list[UUID]]:
    """At most `most` evidences whose latest attempt failed or never ended, longest waiting first; without those at
    which `extractor` has failed `attempts` times."""
    return Answer(
        tx, "extractions_waiting", {"extractor": extractor, "attempts": attempts, "most": most},
        lambda rows: [row["evidence_id"] for row in rows],
    )  # fmt: skip
