"""Writing what a decision changed: claims, versions, supports and links, in one statement. Only `promote` calls it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from muniment.canonical.access import rule_rows
from muniment.canonical.rows import HeldClaim, HeldLink
from muniment.model.access import AccessRule
from muniment.model.ids import new_id
from muniment.store.database import Tx
from muniment.store.ranges import multirange_text
from muniment.store.statements import sql
from muniment.version import SOFTWARE


@dataclass(frozen=True, slots=True)
class SupportRow:
    """A span that is to be tied to a claim."""

    claim_id: UUID
    evidence_id: UUID
    start: int
    stop: int
    stance: str
    quoted: bool
    asserted_from: datetime | None
    access_id: int


@dataclass(slots=True)
class EditRows:
    """The rows of one edit. `closed` are open versions that end, `opened` the versions that follow or begin;
    `links` come with the access id of who may see both ends."""

    kind: str
    actor: str
    started_at: datetime
    steps: dict[str, Any] = field(default_factory=dict)
    rules: Iterable[AccessRule] = ()
    claims: list[HeldClaim] = field(default_factory=list)
    closed: list[HeldClaim] = field(default_factory=list)
    opened: list[HeldClaim] = field(default_factory=list)
    relabelled: list[HeldClaim] = field(default_factory=list)
    supports: list[SupportRow] = field(default_factory=list)
    ended_links: list[UUID] = field(default_factory=list)
    links: list[tuple[HeldLink, int]] = field(default_factory=list)


def write_edit(tx: Tx, rows: EditRows, *, at: datetime) -> UUID:
    """Stores the rows, known from `at` on, with an activity; returns the activity's id."""
    activity_id = new_id()
    subjects = {s for claim in rows.claims for s in (claim.subject_id, claim.object_id) if s is not None}
    edit = {
        "activity": {
            "activity_id": str(activity_id),
            "kind": rows.kind,
            "actor": rows.actor,
            "software": SOFTWARE,
            "used": {"claims": sorted(str(claim.claim_id) for claim in rows.opened), "steps": rows.steps},
            "started_at": rows.started_at.isoformat(),
        },
        "rules": [row for rule in rows.rules for row in rule_rows(rule)],
        "subjects": sorted(subjects),
        "claims": [_claim(claim) for claim in rows.claims],
        "closed": [{"claim_id": str(claim.claim_id), "version": claim.version} for claim in rows.closed],
        "opened": [_version(claim) for claim in rows.opened],
        "relabelled": [{"claim_id": str(c.claim_id), "access_id": c.access_id} for c in rows.relabelled],
        "supports": [_support(support) for support in rows.supports],
        "ended_links": [str(link_id) for link_id in rows.ended_links],
        "links": [_link(link, access_id) for link, access_id in rows.links],
    }
    tx.execute(sql("write_edit"), {"edit": Jsonb(edit), "at": at})
    return activity_id


def _claim(claim: HeldClaim) -> dict[str, Any]:
    names = (
        "memory_type",
        "subject_id",
        "predicate",
        "value",
        "object_id",
        "statement",
        "scope",
        "cardinality",
        "access_id",
    )
    return {name: getattr(claim, name) for name in names} | {"claim_id": str(claim.claim_id), "slot": str(claim.slot)}


def _version(claim: HeldClaim) -> dict[str, Any]:
    return {
        "claim_id": str(claim.claim_id),
        "version": claim.version,
        "slot": str(claim.slot),
        "status": claim.status.value,
        "asserted": multirange_text(claim.asserted),
        "valid": multirange_text(claim.valid),
        "cardinality": claim.cardinality,
        "confidence": claim.confidence,
        "access_id": claim.access_id,
        "reason": claim.reason,
    }


def _support(support: SupportRow) -> dict[str, Any]:
    return {
        "claim_id": str(support.claim_id),
        "evidence_id": str(support.evidence_id),
        "start": support.start,
        "stop": support.stop,
        "stance": support.stance,
        "quoted": support.quoted,
        "asserted_from": None if support.asserted_from is None else support.asserted_from.isoformat(),
        "access_id": support.access_id,
    }


def _link(link: HeldLink, access_id: int) -> dict[str, Any]:
    return {
        "link_id": str(link.link_id),
        "kind": link.kind,
        "from_claim": str(link.from_claim),
        "to_claim": str(link.to_claim),
        "scope": link.scope,
        "effective_from": None if link.effective_from is None else link.effective_from.isoformat(),
        "correction": link.correction,
        "named": link.named,
        "state": link.state,
        "access_id": access_id,
    }
