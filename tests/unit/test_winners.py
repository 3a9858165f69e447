"""Among claims that all hold and all cover one scope, the most specific one wins."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from uuid import UUID

import pytest

from muniment.model.claim import Status
from muniment.model.scope import depth
from muniment.recall.claims import ClaimRow, winners
from muniment.time import Intervals

JANUARY = datetime(2026, 1, 1, tzinfo=UTC)


def row(
    number: int, scope: str = "", *, subject: str = "contact_1842", predicate: str = "contact_order",
    cardinality: str = "one", since: datetime | None = JANUARY,
) -> ClaimRow:  # fmt: skip
    return ClaimRow(
        claim_id=UUID(int=number), version=1, memory_type="entity", subject_id=subject, predicate=predicate,
        value=f"value {number}", statement=f"statement {number}", scope=scope, cardinality=cardinality,
        status=Status.VALIDATED, valid=Intervals.between(since, None), confidence=None, authorization_scope=None, reason=None,
        observed_at=JANUARY,
    )  # fmt: skip


def overridden(*rows: ClaimRow) -> dict[int, int]:
    return {loser.int: winner.claim_id.int for loser, winner in winners(rows, {}).items()}


CHAIN = [row(1), row(2, "renewal"), row(3, "renewal/2027")]


@pytest.mark.parametrize(
    "rows", list(itertools.permutations(CHAIN)), ids=lambda rows: "".join(str(depth(r.scope)) for r in rows)
)
def test_the_most_specific_claim_overrides_every_wider_one(rows: tuple[ClaimRow, ...]) -> None:
    assert overridden(*rows) == {1: 3, 2: 3}


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_level_that_nobody_speaks_about_is_skipped(missing: int) -> None:
    rows = [claim for claim in CHAIN if claim is not CHAIN[missing]]
    assert overridden(*rows) == {rows[0].claim_id.int: rows[1].claim_id.int}


def test_the_age_of_a_claim_is_no_argument() -> None:
    later = datetime(2026, 6, 1, tzinfo=UTC)
    assert overridden(row(1, since=later), row(2, "renewal", since=None)) == {1: 2}


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([], id="no claims"),
        pytest.param([row(1, "renewal/2027")], id="one claim"),
        pytest.param([row(1), row(2, "renewal", predicate="language")], id="another predicate"),
        pytest.param([row(1), row(2, "renewal", subject="contact_7")], id="another subject"),
        pytest.param([row(1, "renewal"), row(2, "renewal")], id="the same scope"),
        pytest.param([row(1, cardinality="many"), row(2, "renewal", cardinality="many")], id="many values"),
    ],
)
def test_nothing_is_overridden_by(rows: list[ClaimRow]) -> None:
    assert overridden(*rows) == {}


def test_each_subject_and_predicate_has_its_own_winner() -> None:
    assert overridden(
        row(1), row(2, "renewal"),
        row(3, predicate="language"), row(4, "renewal/2027", predicate="language"),
        row(5, subject="contact_7"), row(6, "renewal", subject="contact_7", cardinality="many"),
    ) == {1: 2, 3: 4}  # fmt: skip
