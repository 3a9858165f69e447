"""Walking canonical memory, a page at a time, as the sources that derivations are made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from muniment.canonical import claims
from muniment.canonical.rows import EvidenceRow, VersionRow
from muniment.derive.engine import Source
from muniment.derive.pins import Pin
from muniment.derive.texts import claim_text, evidence_texts
from muniment.model.access import Access
from muniment.store.database import Database, Tx
from muniment.store.statements import sql

PAGE = 200


@dataclass(frozen=True, slots=True)
class Expected:
    """What the derived layer should hold about one source: its texts, and a pin for each of its versions."""

    source: Source
    pins: list[Pin]


def operator(tenant: str) -> Access:
    """Who maintains the derived layer: reads a whole tenant, for nobody's eyes."""
    return Access.open(tenant=tenant, actor="muniment:derive")


def walk(database: Database, tenant: str) -> Iterator[list[Expected]]:
    """Every evidence, then every claim of a tenant, in pages. Each page is read in a short transaction of its own."""
    for read in (_evidence_page, _claim_page):
        after: UUID | None = None
        while True:
            with database.transaction(operator(tenant), reach="tenant") as tx:
                page = read(tx, after)
            if not page:
                break
            yield page
            after = page[-1].source.source_id


def reread(tx: Tx, page: list[Expected]) -> list[Expected]:
    """The page as canonical memory has it now: changed pins, and without what is gone."""
    return read_sources(tx, [expected.source.source_id for expected in page])


def read_sources(tx: Tx, ids: Iterable[UUID]) -> list[Expected]:
    """These sources as canonical memory has them, without what is gone."""
    wanted = list(ids)
    cursor = tx.dict_cursor()
    cursor.execute(sql("evidence_rows"), {"ids": wanted})
    found = [_of_evidence(EvidenceRow(**row)) for row in cursor.fetchall()]
    return sorted([*found, *_of_claims(claims.versions_of(tx, wanted))], key=lambda one: one.source.source_id)


def _evidence_page(tx: Tx, after: UUID | None, most: int = PAGE) -> list[Expected]:
    cursor = tx.dict_cursor()
    cursor.execute(sql("evidence_after"), {"after": after, "most": most})
    return [_of_evidence(EvidenceRow(**row)) for row in cursor.fetchall()]


def _of_evidence(row: EvidenceRow) -> Expected:
    return Expected(Source("evidence", row.evidence_id, row.version, evidence_texts(row)), [Pin.of_evidence(row)])


def _claim_page(tx: Tx, after: UUID | None, most: int = PAGE) -> list[Expected]:
    return _of_claims(claims.versions_after(tx, after, most))


def _of_claims(rows: Iterable[tuple[UUID, str, VersionRow]]) -> list[Expected]:
    versions: dict[UUID, tuple[str, list[VersionRow]]] = {}
    for claim_id, statement, version in rows:
        versions.setdefault(claim_id, (statement, []))[1].append(version)
    return [
        Expected(
            Source("claim", claim_id, held[-1].version, claim_text(claim_id, statement)),
            [Pin.of_version(row) for row in held],
        )
        for claim_id, (statement, held) in versions.items()
    ]


def orphaned(database: Database, tenant: str) -> Iterator[list[UUID]]:
    """The ids that the derived layer names and canonical memory does not have, in pages."""
    after: UUID | None = None
    while True:
        with database.transaction(operator(tenant), reach="tenant") as tx:
            page = tx.execute(sql("derived_sources_after"), {"after": after, "most": 1000}).fetchall()
            ids = [source_id for _, source_id in page]
            existing = {row[0] for row in tx.execute(sql("existing_sources"), {"ids": ids}).fetchall()}
        if not ids:
            return
        after = ids[-1]
        if gone := [source_id for source_id in ids if source_id not in existing]:
            yield gone
