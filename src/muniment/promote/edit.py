"""What one transaction will change, gathered in memory, settled, and written at the end.

This is the only place where a claim's status changes: `Edit.write` compares the working state with what was loaded and
stores a new version for every difference.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

from muniment.canonical import access, activity, claims
from muniment.canonical.rows import Changes, HeldClaim, HeldLink
from muniment.model.access import AccessRule
from muniment.model.claim import Link, LinkKind, Status
from muniment.model.ids import new_id
from muniment.promote.neighbourhood import Neighbourhood
from muniment.promote.ports import Desk
from muniment.promote.proposal import Citation
from muniment.promote.sources import Source, joint_rule
from muniment.store.database import Tx
from muniment.store.statements import sql

_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Support:
    """A span that is to be tied to a claim."""

    claim_id: UUID
    citation: Citation
    source: Source
    stance: str = "supports"


@dataclass(slots=True)
class Edit:
    """The working state: `near` changes, `loaded` stays as it came from the database."""

    near: Neighbourhood
    requested: datetime
    loaded: dict[UUID, HeldClaim]
    rules: set[AccessRule] = field(default_factory=set)
    reasons: dict[UUID, str] = field(default_factory=dict)
    supports: list[Support] = field(default_factory=list)
    links: list[HeldLink] = field(default_factory=list)
    ended_links: list[UUID] = field(default_factory=list)

    @classmethod
    def of(cls, near: Neighbourhood, *, requested: datetime) -> Edit:
        """An edit of `near` that wants its changes known from `requested` on."""
        return cls(near, requested, dict(near.claims))

    def put(self, claim: HeldClaim, reason: str) -> None:
        """Sets the working state of a claim, new or loaded."""
        self.near.claims[claim.claim_id] = claim
        self.reasons[claim.claim_id] = reason

    def widened(self, tx: Tx, claim: HeldClaim, rule: AccessRule) -> HeldClaim:
        """The claim with one more alternative of who may see it: whoever may see another source of it."""
        wider = joint_rule(tx, [claim.access_id]).either(rule)
        self.rules.add(wider)
        return replace(claim, access_id=wider.access_id)

    def connect(
        self, kind: LinkKind, source: UUID, target: UUID, *, scope: str, effective_from: datetime | None,
        state: str = "active", correction: bool = False,
    ) -> None:  # fmt: skip
        """Adds a link, unless the same one stands already."""
        wanted = (kind.value, source, target, state)
        if any((link.kind, link.from_claim, link.to_claim, link.state) == wanted for link in self.near.links.values()):
            return
        link = HeldLink(new_id(), kind.value, source, target, scope, effective_from, correction, state)
        self.near.links[link.link_id] = link
        self.links.append(link)

    def disconnect(self, links: list[HeldLink]) -> None:
        """Ends links that no longer hold."""
        for link in links:
            self.ended_links.append(link.link_id)
            del self.near.links[link.link_id]

    def settle(self, reason: str) -> None:
        """Brings every live claim of the neighbourhood to what is left of it. `reason` is for those that change."""
        for claim_id, settled in self.near.settled().items():
            claim = self.near.claims[claim_id]
            status = Status.VALIDATED if settled.supported else Status.UNSUPPORTED
            if (claim.valid, claim.status) != (settled.valid, status):
                self.near.claims[claim_id] = replace(claim, valid=settled.valid, status=status)
                rests = settled.supported != claim.asserted
                self.reasons.setdefault(claim_id, "holds only while its premises do" if rests else reason)

    def changed(self) -> list[HeldClaim]:
        """The claims whose working state differs from the loaded one, as the versions they will become."""
        return [
            replace(
                claim, version=self.loaded[key].version + 1 if key in self.loaded else 1, reason=self.reasons.get(key)
            )
            for key, claim in self.near.claims.items()
            if key not in self.loaded or _held_differs(claim, self.loaded[key])
        ]

    def known_from(self, changed: list[HeldClaim]) -> datetime:
        """When the changes become known: as requested, but never under answers that were already given."""
        before = [self.loaded[c.claim_id].known_from + _TICK for c in changed if c.claim_id in self.loaded]
        slots = {claim.slot for claim in changed}
        mates = [claim.known_from for claim in self.loaded.values() if claim.slot in slots]
        return max([self.requested, *before, *mates])

    def write(self, tx: Tx, desk: Desk, kind: str, *, now: datetime, prepared: object) -> datetime | None:
        """Stores everything in one go; None when there was nothing to store. Returns since when it is known."""
        changed = self.changed()
        if not (changed or self.supports or self.links or self.ended_links):
            return None
        at = self.known_from(changed)
        activity_id = activity.record(
            tx, kind, actor=desk.access.actor, at=now, used={"claims": sorted(str(c.claim_id) for c in changed)}
        )
        for rule in self.rules:
            access.intern(tx, rule)
        self._write_versions(tx, desk, changed, at, activity_id, prepared)
        for support in self.supports:
            claims.insert_support(
                tx, support.claim_id, evidence_id=support.citation.evidence_id,
                span=(support.citation.start, support.citation.end or support.source.length), stance=support.stance,
                quoted=support.citation.quoted, access_id=support.source.access_id, at=at, activity_id=activity_id,
            )  # fmt: skip
        self._write_links(tx, at, activity_id)
        return at

    def _write_versions(
        self, tx: Tx, desk: Desk, changed: list[HeldClaim], at: datetime, activity_id: UUID, prepared: object
    ) -> None:
        new = [claim for claim in changed if claim.claim_id not in self.loaded]
        changes = Changes(claims=new)
        subjects = {s for claim in new for s in (claim.subject_id, claim.object_id) if s is not None}
        if subjects:
            tx.execute(sql("ensure_subjects"), {"subjects": sorted(subjects), "activity_id": activity_id})
        for claim in new:
            claims.insert_claim(tx, claim, activity_id=activity_id)
        # All old versions end before a new one begins: rivals must never hold the same slot in between.
        old = [self.loaded[claim.claim_id] for claim in changed if claim.claim_id in self.loaded]
        changes.versions += claims.close_versions(tx, old, at=at)
        for claim in changed:
            opened = claims.insert_version(tx, replace(claim, known_from=at), activity_id=activity_id)
            changes.versions.append(opened)
        relabelled = [
            c for c in changed if c.claim_id in self.loaded and c.access_id != self.loaded[c.claim_id].access_id
        ]
        if relabelled:
            claims.relabel(tx, relabelled)
        desk.follower.follow(tx, changes, prepared)

    def _write_links(self, tx: Tx, at: datetime, activity_id: UUID) -> None:
        claims.close_links(tx, self.ended_links, at=at)
        for link in self.links:
            ends = [self.near.claim(end).access_id for end in (link.from_claim, link.to_claim)]
            rule = joint_rule(tx, ends)
            claims.insert_link(
                tx, link, access_id=access.intern(tx, rule), at=at, activity_id=activity_id, evidence_id=None
            )

    def public_links(self, at: datetime) -> tuple[Link, ...]:
        """The new links between claims that the caller may see."""
        return tuple(
            Link(
                link_id=str(link.link_id), kind=LinkKind(link.kind), from_claim=str(link.from_claim),
                to_claim=str(link.to_claim), scope=link.scope, effective_from=link.effective_from, state=link.state,
                known_from=at, known_to=None,
            )
            for link in self.links
            if self.near.claim(link.from_claim).visible and self.near.claim(link.to_claim).visible
        )  # fmt: skip


def _held_differs(now: HeldClaim, before: HeldClaim) -> bool:
    return any(getattr(now, name) != getattr(before, name) for name in ("status", "asserted", "valid", "access_id"))
