"""Reading claim rows: their open versions, supports and links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from muniment.canonical.rows import HeldClaim, HeldLink, Said, VersionRow
from muniment.model.claim import Status
from muniment.store.answer import Answer, Row
from muniment.store.database import Tx
from muniment.store.ranges import from_multirange
from muniment.store.statements import sql


def held_in_slots(tx: Tx, slots: Iterable[UUID]) -> Answer[dict[UUID, HeldClaim]]:
    """Every claim of these slots with its open version, whatever its status."""
    return _held(tx, "held_in_slots", {"slots": list(slots)})


def held_claims(tx: Tx, claim_ids: Iterable[UUID]) -> Answer[dict[UUID, HeldClaim]]:
    """These claims with their open versions."""
    return _held(tx, "held_claims", {"ids": list(claim_ids)})


def held_of_subjects(tx: Tx, subjects: Sequence[str], predicates: Sequence[str]) -> Answer[dict[UUID, HeldClaim]]:
    """What is validated about these predicates of these subjects."""
    return _held(tx, "held_of_subjects", {"subjects": list(subjects), "predicates": list(predicates)})


def held_about(tx: Tx, subjects: Sequence[str]) -> Answer[dict[UUID, HeldClaim]]:
    """Every claim about these subjects, whatever its status."""
    return _held(tx, "held_about", {"subjects": list(subjects)})


def links_between(tx: Tx, ours: Sequence[str], theirs: Sequence[str], *, since: datetime) -> Answer[set[UUID]]:
    """The open links, made since a moment, between claims about some subjects and claims about others."""
    parameters = {"ours": list(ours), "theirs": list(theirs), "since": since}
    return Answer(tx, "links_between", parameters, lambda rows: {row["link_id"] for row in rows})


def held_of_pattern(tx: Tx, predicate: str | None) -> Answer[dict[UUID, HeldClaim]]:
    """Every claim of a predicate; None: of all predicates."""
    return _held(tx, "held_of_predicate", {"predicate": predicate})


def confirmed_by_people(tx: Tx, claim_ids: Iterable[UUID]) -> Answer[set[UUID]]:
    """Those of these claims that somebody confirmed, restored, or approved in a review."""
    return Answer(tx, "confirmed_by_people", {"ids": list(claim_ids)}, lambda rows: {row["claim_id"] for row in rows})


def _held(tx: Tx, statement: str, parameters: dict[str, Any]) -> Answer[dict[UUID, HeldClaim]]:
    return Answer(tx, statement, parameters, lambda rows: {row["claim_id"]: _to_held(row) for row in rows})


def _to_held(row: dict[str, Any]) -> HeldClaim:
    return HeldClaim(
        **row
        | {
            "status": Status(row["status"]),
            "asserted": from_multirange(row["asserted"]),
            "valid": from_multirange(row["valid"]),
        }
    )


def links_of_slots(tx: Tx, slots: Iterable[UUID]) -> Answer[dict[UUID, HeldLink]]:
    """The open links, active or proposed, that touch a claim of these slots."""
    return Answer(
        tx, "links_of_slots", {"slots": list(slots)}, lambda rows: {row["link_id"]: HeldLink(**row) for row in rows}
    )


def backing_in_slots(tx: Tx, slots: Iterable[UUID]) -> Answer[dict[UUID, set[Said]]]:
    """By claim of these slots, which sources support it, and from when they say that it held."""

    def read(rows: list[Row]) -> dict[UUID, set[Said]]:
        backing: dict[UUID, set[Said]] = {}
        for row in rows:
            said = Said(row["asserted_from"], row["source"], row["trust"], row["origin"])
            backing.setdefault(row["claim_id"], set()).add(said)
        return backing

    return Answer(tx, "backing_in_slots", {"slots": list(slots)}, read)


def spans_in_slots(
    tx: Tx, slots: Iterable[UUID], evidence_ids: Iterable[UUID]
) -> Answer[dict[UUID, set[tuple[UUID, int, int]]]]:
    """By claim of these slots, the (evidence, start, end) spans of these evidences that support it already."""

    def read(rows: list[Row]) -> dict[UUID, set[tuple[UUID, int, int]]]:
        spans: dict[UUID, set[tuple[UUID, int, int]]] = {}
        for row in rows:
            spans.setdefault(row["claim_id"], set()).add((row["evidence_id"], row["start"], row["stop"]))
        return spans

    return Answer(tx, "spans_in_slots", {"slots": list(slots), "evidence": list(evidence_ids)}, read)


def version_row(claim: HeldClaim, *, known_to: datetime | None = None) -> VersionRow:
    """The held claim as derivations read it."""
    return VersionRow(
        claim.claim_id, claim.version, claim.status.value, claim.valid, claim.known_from, known_to, claim.access_id
    )


def versions_after(tx: Tx, after: UUID | None, most: int) -> Iterator[tuple[UUID, str, VersionRow]]:
    """(claim id, statement, version) of the next `most` claims in id order, all their versions."""
    return _versions(tx, "claim_versions_after", {"after": after, "most": most})


def versions_of(tx: Tx, claim_ids: Sequence[UUID]) -> Iterator[tuple[UUID, str, VersionRow]]:
    """(claim id, statement, version) of these claims, all their versions, in order."""
    return _versions(tx, "claim_versions_of", {"ids": list(claim_ids)})


def _versions(tx: Tx, statement: str, parameters: dict[str, Any]) -> Iterator[tuple[UUID, str, VersionRow]]:
    cursor = tx.dict_cursor()
    cursor.execute(sql(statement), parameters)
    for row in cursor.fetchall():
        version = VersionRow(
            row["claim_id"],
            row["version"],
            row["status"],
            from_multirange(row["valid"]),
            row["known_from"],
            row["known_to"],
            row["access_id"],
        )
        yield row["claim_id"], row["statement"], version
