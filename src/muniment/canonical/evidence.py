"""Evidence rows: immutable, one a (source, source_id, source_version)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

from muniment.model.evidence import Evidence
from muniment.store.answer import Answer, Row
from muniment.store.database import Tx
from muniment.store.statements import sql


def insert_all(tx: Tx, rows: list[dict[str, Any]]) -> None:
    """Stores the rows that are new; a row whose key is taken is left alone, whoever may see the one in place."""
    tx.execute_many(sql("insert_evidence"), rows)


def find_keys(tx: Tx, keys: list[tuple[str, str, int]]) -> Answer[dict[tuple[str, str, int], Row]]:
    """What stands under these (source, source_id, source_version) keys: id, content hash, access id, recorded_at."""
    sources, ids, versions = ([key[n] for key in keys] for n in range(3))
    parameters = {"sources": sources, "source_ids": ids, "versions": versions}
    return Answer(
        tx, "evidence_by_key", parameters,
        lambda rows: {(row["source"], row["source_id"], row["source_version"]): row for row in rows},
    )  # fmt: skip


def visible_ids(tx: Tx, ids: list[UUID]) -> Answer[set[UUID]]:
    """Those of these evidence ids that the session's own grants may see, whatever the reach."""
    return Answer(tx, "visible_evidence", {"ids": ids}, lambda rows: {row["evidence_id"] for row in rows})


def withdraw(tx: Tx, evidence_id: UUID, reason: str, *, at: datetime, activity_id: UUID) -> list[UUID] | None:
    """Ends all that the evidence supports; returns the claims concerned, or None when it was withdrawn before."""
    row = {"evidence_id": evidence_id, "reason": reason, "at": at, "activity_id": activity_id}
    if tx.execute(sql("insert_withdrawal"), row).fetchone() is None:
        return None
    supported = [found[0] for found in tx.execute(sql("supported_by"), {"evidence_id": evidence_id}).fetchall()]
    tx.execute(sql("close_supports"), {"evidence_id": evidence_id, "at": at})
    return supported


def end_supports(tx: Tx, claim_id: UUID, places: Sequence[tuple[str, int, int]], *, at: datetime) -> None:
    """These (evidence, start, stop) support the claim no more."""
    ids, starts, stops = ([place[n] for place in places] for n in range(3))
    row = {"claim_id": claim_id, "evidence": ids, "starts": starts, "stops": stops, "at": at}
    tx.execute(sql("close_supports_of"), row)


def feedback_count(tx: Tx, claim_id: UUID) -> Answer[int]:
    """On how many different things feedback supports the claim."""
    return Answer(tx, "feedback_count", {"claim_id": claim_id}, lambda rows: int(rows[0]["said"]))


def load(tx: Tx, evidence_ids: list[UUID]) -> dict[UUID, Evidence]:
    """The evidence among these ids that the transaction may see."""
    cursor = tx.dict_cursor()
    cursor.execute(sql("evidence_by_id"), {"ids": evidence_ids})
    return {row["evidence_id"]: to_evidence(row) for row in cursor.fetchall()}


def to_evidence(row: dict[str, Any]) -> Evidence:
    """A row of `evidence_by_id` as the public type, its `occurred_at` in the offset of whoever wrote it."""
    row = dict(row)
    if row["occurred_at"] is not None and row["utc_offset"] is not None:
        row["occurred_at"] = row["occurred_at"].astimezone(timezone(timedelta(minutes=row["utc_offset"])))
    replaces = row["replaces"]
    ids = {"evidence_id": str(row["evidence_id"]), "replaces": None if replaces is None else str(replaces)}
    return Evidence(**row | ids)
