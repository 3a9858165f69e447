"""Predicate policies, versioned."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from muniment.model.policy import PredicatePolicy
from muniment.store.answer import Answer, Row
from muniment.store.database import Tx
from muniment.store.statements import sql


def open_policies(tx: Tx) -> Answer[list[PredicatePolicy]]:
    """The policies in force for this tenant."""
    return Answer(tx, "open_policies", {}, _policies)


def _policies(rows: list[Row]) -> list[PredicatePolicy]:
    return [PredicatePolicy(**row["definition"], version=row["version"]) for row in rows]


def policies_as_of(tx: Tx, known_at: datetime | None) -> Answer[list[PredicatePolicy]]:
    """The policies that were in force at a moment of knowledge; None is now."""
    return Answer(tx, "policies_as_of", {"known_at": known_at}, _policies)


def insert_policy(tx: Tx, policy: PredicatePolicy, *, at: datetime, activity_id: UUID) -> PredicatePolicy:
    """Puts `policy` in force from `at` on, in place of the one for the same predicate."""
    tx.execute(sql("close_policy"), {"predicate": policy.predicate, "at": at})
    row = {
        "predicate": policy.predicate,
        "definition": Jsonb(policy.definition()),
        "at": at,
        "activity_id": activity_id,
    }
    inserted = tx.execute(sql("insert_policy"), row).fetchone()
    assert inserted is not None
    return policy.model_copy(update={"version": inserted[0]})
