"""Activities: who did what, when, with which software. Every write has one."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from muniment.model.ids import new_id
from muniment.store.answer import Answer
from muniment.store.database import Tx
from muniment.store.statements import sql
from muniment.version import SOFTWARE


def record(
    tx: Tx, kind: str, *, actor: str, at: datetime, used: dict[str, Any] | None = None, activity_id: UUID | None = None
) -> UUID:
    """Stores an activity and returns its id. `used` holds ids, never content."""
    activity_id = activity_id or new_id()
    row = {
        "activity_id": activity_id,
        "kind": kind,
        "actor": actor,
        "software": SOFTWARE,
        "used": Jsonb(used or {}),
        "at": at,
    }
    tx.execute(sql("insert_activity"), row)
    return activity_id


def server_now(tx: Tx) -> Answer[datetime]:
    """The database's clock, which is the only one that says what is past and what is future."""
    return Answer(tx, "server_now", {}, lambda rows: rows[0]["now"])
