"""What differs between a page of canonical memory and what the derived layer holds about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import UUID

from muniment.derive.engine import Engine
from muniment.derive.pins import Pin
from muniment.derive.sources import Expected
from muniment.derive.texts import input_hash
from muniment.store.database import Tx
from muniment.store.statements import sql

PINS = "pins"
STATES = {"stale": "stale", "annotated": "stale", "expired": "orphaned", "failed": "failed"}
"""What kind of drift an artifact's state is."""


class Difference(NamedTuple):
    """One thing that is not as it should be: of which source, in which derivation, how."""

    expected: Expected
    derivation: str
    kind: str
    detail: str | None = None


def compare(tx: Tx, engine: Engine, page: list[Expected]) -> Iterator[Difference]:
    """Every difference of a page. `page` must have been read in this transaction, with `hold_derived` taken."""
    ids = [expected.source.source_id for expected in page]
    cursor = tx.dict_cursor()
    rows = cursor.execute(sql("artifacts_of"), {"ids": ids}).fetchall()
    artifacts = {(row["source_id"], row["recipe_id"]): row for row in rows}
    pins: dict[UUID, dict[int, Pin]] = {}
    for pin in map(Pin.of_row, cursor.execute(sql("pins_of"), {"ids": ids}).fetchall()):
        pins.setdefault(pin.source_id, {})[pin.version] = pin
    for expected in page:
        source_id = expected.source.source_id
        for recipe_id, name in engine.recipes.names.items():
            kind, detail = _artifact_drift(expected, artifacts.get((source_id, recipe_id)))
            if kind is not None:
                yield Difference(expected, name, kind, detail)
        kind = _pin_drift(expected, pins.get(source_id, {}))
        if kind is not None:
            yield Difference(expected, PINS, kind)


def _artifact_drift(expected: Expected, artifact: dict[str, Any] | None) -> tuple[str | None, str | None]:
    if artifact is None:
        return "missing", None
    if artifact["state"] != "fresh":
        return STATES[artifact["state"]], artifact["error"]
    same = artifact["source_version"] == expected.source.version and artifact["input_hash"] == input_hash(
        expected.source.texts
    )
    return (None, None) if same else ("stale", None)


def _pin_drift(expected: Expected, pins: dict[int, Pin]) -> str | None:
    wanted = {pin.version: pin for pin in expected.pins}
    if set(wanted) - set(pins):
        return "missing"
    if set(pins) - set(wanted):
        return "orphaned"
    if any(pins[version].access_id != pin.access_id for version, pin in wanted.items()):
        return "over-shared"
    return None if pins == wanted else "stale"
