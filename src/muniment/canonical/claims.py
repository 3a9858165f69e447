"""Claim rows, their versions, supports and links. Only `promote` calls the functions that write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from psycopg.types.range import Range

from muniment.canonical.rows import HeldClaim, HeldLink, VersionRow
from muniment.model.claim import Status
from muniment.store.answer import Answer, Row
from muniment.store.database import Tx
from muniment.store.ranges import from_multirange, since, to_multirange
from muniment.store.statements import sql


def held_in_slots(tx: Tx, slots: Iterable[UUID]) -> Answer[dict[UUID, HeldClaim]]:
    """Every claim of these slots with its open version, whatever its status."""
    return _held(tx, "held_in_slots", {"slots": list(slots)})


def held_claims(tx: Tx, claim_ids: Iterable[UUID]) -> Answer[dict[UUID, HeldClaim]]:
    """These claims with their open versions."""
    return _held(tx, "held_claims", {"ids": list(claim_ids)})


def held_of_subject(tx: Tx, subject: str, predicates: Sequence[str]) -> Answer[dict[UUID, HeldClaim]]:
    """What is validated about these predicates of one subject."""
    return _held(tx, "held_of_subject", {"subject": subject, "predicates": list(predicates)})


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


def insert_claim(tx: Tx, claim: HeldClaim, *, activity_id: UUID) -> None:
    """The immutable part of a claim; its first version follows by `insert_version`."""
    row = {name: getattr(claim, name) for name in _CLAIM_COLUMNS}
    tx.execute(sql("insert_claim"), row | {"value": Jsonb(claim.value), "activity_id": activity_id})


_CLAIM_COLUMNS = (
    "claim_id", "memory_type", "subject_id", "predicate", "object_id", "statement", "scope", "slot", "cardinality",
    "access_id",
)  # fmt: skip


def insert_version(tx: Tx, claim: HeldClaim, *, activity_id: UUID) -> VersionRow:
    """An open version, known from `claim.known_from` on."""
    tx.execute(
        sql("insert_version"),
        {
            "claim_id": claim.claim_id,
            "version": claim.version,
            "slot": claim.slot,
            "status": claim.status.value,
            "asserted": to_multirange(claim.asserted),
            "valid": to_multirange(claim.valid),
            "known": since(claim.known_from),
            "confidence": claim.confidence,
            "access_id": claim.access_id,
            "activity_id": activity_id,
            "reason": claim.reason,
        },
    )
    return version_row(claim)


def close_versions(tx: Tx, claims: Sequence[HeldClaim], *, at: datetime) -> list[VersionRow]:
    """Ends the open versions of `claims` at `at`; the caller holds the lock that keeps others from doing so."""
    if claims:
        ids, versions = [c.claim_id for c in claims], [c.version for c in claims]
        tx.execute(sql("close_versions"), {"claims": ids, "versions": versions, "at": at})
    return [version_row(claim, known_to=at) for claim in claims]


def version_row(claim: HeldClaim, *, known_to: datetime | None = None) -> VersionRow:
    """The held claim as derivations read it."""
    return VersionRow(
        claim.claim_id, claim.version, claim.status.value, claim.valid, claim.known_from, known_to, claim.access_id
    )


def relabel(tx: Tx, claims: Sequence[HeldClaim]) -> None:
    """Gives the immutable rows of `claims` the access rule of their newest versions."""
    ids, rules = [c.claim_id for c in claims], [c.access_id for c in claims]
    tx.execute(sql("relabel_claims"), {"claims": ids, "rules": rules})


def insert_support(
    tx: Tx, claim_id: UUID, *, evidence_id: UUID, span: tuple[int, int], stance: str, quoted: bool, access_id: int,
    at: datetime, activity_id: UUID,
) -> None:  # fmt: skip
    """Ties a span of evidence to a claim; the same span again changes nothing."""
    tx.execute(
        sql("insert_support"),
        {
            "claim_id": claim_id,
            "evidence_id": evidence_id,
            "span": Range(*span, "[)"),
            "stance": stance,
            "quoted": quoted,
            "known": since(at),
            "access_id": access_id,
            "activity_id": activity_id,
        },
    )


def insert_link(
    tx: Tx, link: HeldLink, *, access_id: int, at: datetime, activity_id: UUID, evidence_id: UUID | None
) -> None:
    """An open link from `at` on."""
    tx.execute(
        sql("insert_link"),
        {
            "link_id": link.link_id,
            "kind": link.kind,
            "from_claim": link.from_claim,
            "to_claim": link.to_claim,
            "scope": link.scope,
            "effective_from": link.effective_from,
            "correction": link.correction,
            "state": link.state,
            "known": since(at),
            "evidence_id": evidence_id,
            "span": None,
            "access_id": access_id,
            "activity_id": activity_id,
        },
    )


def close_links(tx: Tx, link_ids: Sequence[UUID], *, at: datetime) -> None:
    """Ends open links at `at`."""
    if link_ids:
        tx.execute(sql("close_links"), {"links": list(link_ids), "at": at})


def versions_after(tx: Tx, after: UUID | None, most: int) -> Iterator[tuple[UUID, str, VersionRow]]:
    """(claim id, statement, version) of the next `most` claims in id order, all their versions."""
    cursor = tx.dict_cursor()
    cursor.execute(sql("claim_versions_after"), {"after": after, "most": most})
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
