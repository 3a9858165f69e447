"""What one transaction will change, gathered in memory, settled, and written at the end.

This is the only place where a claim's status changes: `Edit.write` compares the working state with what was loaded and
stores a new version for every difference.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from muniment.canonical import reviews
from muniment.canonical.claims import version_row
from muniment.canonical.edits import EditRows, SupportRow, write_edit
from muniment.canonical.rows import Changes, HeldClaim, HeldLink, Said
from muniment.model.access import AccessRule
from muniment.model.claim import Link, LinkKind, Status
from muniment.model.ids import new_id
from muniment.promote.neighbourhood import Neighbourhood
from muniment.promote.ports import Desk
from muniment.promote.proposal import Citation
from muniment.promote.sources import Source, joint_rule
from muniment.store.database import Tx

_TICK = timedelta(microseconds=1)


@dataclass(slots=True)
class Edit:
    """The working state: `near` changes, `loaded` stays as it came from the database."""

    near: Neighbourhood
    requested: datetime
    loaded: dict[UUID, HeldClaim]
    rules: set[AccessRule] = field(default_factory=set)
    reasons: dict[UUID, str] = field(default_factory=dict)
    renewed: set[UUID] = field(default_factory=set)
    steps: dict[str, Any] = field(default_factory=dict)
    """What each step of the gate found, for the activity: ids and reasons, never content."""
    within: AccessRule | None = None
    """Whoever may not see this may not see the new links either: a merge, for what it sets against each other."""
    reviewing: UUID | None = None
    """The review that this edit decides: whoever decides it notes that."""
    supports: list[SupportRow] = field(default_factory=list)
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

    def renew(self, claim: HeldClaim, reason: str) -> None:
        """Writes a new version of a claim though nothing about it changes: somebody said that it still holds."""
        self.renewed.add(claim.claim_id)
        self.put(claim, reason)

    def cite(
        self, claim_id: UUID, citation: Citation, source: Source, *, stance: str = "supports",
        asserted_from: datetime | None = None,
    ) -> None:  # fmt: skip
        """Ties a span of evidence to a claim; `asserted_from` is from when it says that the claim held."""
        stop = citation.end or source.length
        row = SupportRow(
            claim_id,
            citation.evidence_id,
            citation.start,
            stop,
            stance,
            citation.quoted,
            asserted_from,
            source.access_id,
        )
        self.supports.append(row)
        if stance == "supports":
            said = Said(asserted_from, source.source, source.trust, source.author or source.source)
            self.near.said.setdefault(claim_id, set()).add(said)

    def widened(self, tx: Tx, claim: HeldClaim, rule: AccessRule) -> HeldClaim:
        """The claim with one more alternative of who may see it: whoever may see another source of it."""
        wider = joint_rule(tx, [claim.access_id]).either(rule)
        self.rules.add(wider)
        return replace(claim, access_id=wider.access_id)

    def connect(
        self, kind: LinkKind, source: UUID, target: UUID, *, scope: str, effective_from: datetime | None,
        state: str = "active", correction: bool = False, named: bool = False,
    ) -> None:  # fmt: skip
        """Adds a link, unless the same one stands already."""
        wanted = (kind.value, source, target, state)
        if any((link.kind, link.from_claim, link.to_claim, link.state) == wanted for link in self.near.links.values()):
            return
        link = HeldLink(new_id(), kind.value, source, target, scope, effective_from, correction, state, named)
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
            if key not in self.loaded or key in self.renewed or _held_differs(claim, self.loaded[key])
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
        rows = EditRows(kind, desk.access.actor, now, ended_links=self.ended_links, supports=self.supports)
        rows.steps = self._recorded(changed)
        rows.opened = [replace(claim, known_from=at) for claim in changed]
        rows.claims = [claim for claim in rows.opened if claim.claim_id not in self.loaded]
        rows.closed = [self.loaded[claim.claim_id] for claim in changed if claim.claim_id in self.loaded]
        rows.relabelled = [c for c in changed if c.access_id != self.loaded.get(c.claim_id, c).access_id]
        link_rules = [self._link_rule(tx, link) for link in self.links]
        rows.links = [(link, rule.access_id) for link, rule in zip(self.links, link_rules, strict=True)]
        rows.rules = {*self.rules, *link_rules}
        write_edit(tx, rows, at=at)
        versions = [*(version_row(c, known_to=at) for c in rows.closed), *map(version_row, rows.opened)]
        desk.follower.follow(tx, Changes(claims=rows.claims, versions=versions), prepared)
        self._close_reviews(tx, desk, changed, now)
        return at

    def _close_reviews(self, tx: Tx, desk: Desk, changed: list[HeldClaim], now: datetime) -> None:
        """What somebody decided about a claim by another way than its review is decided there too."""
        before = self.loaded
        moved = {
            claim.claim_id: claim for claim in changed
            if claim.claim_id in before and claim.status is not before[claim.claim_id].status
        }  # fmt: skip
        if not moved:
            return
        for review in reviews.open_of(tx, moved).get():
            claim = moved.get(review["claim_id"])
            if review["review_id"] == self.reviewing or review["kind"] == "merge":
                continue
            if review["kind"] == "claim" and (claim is None or claim.status is Status.CANDIDATE):
                continue
            if review["kind"] == "conflict" and all(
                moved[key].live for key in (review["claim_id"], *review["rivals"]) if key in moved
            ):
                continue
            settled = claim is not None and review["kind"] == "claim"
            verdict = _VERDICTS.get(claim.status, "void") if settled and claim is not None else "void"
            reason = (claim and self.reasons.get(claim.claim_id)) or "decided about the claim itself"
            reviews.decide(
                tx, review["review_id"], verdict, by=desk.access.actor, reason=reason, actor=desk.access.actor, at=now
            )

    def _recorded(self, changed: list[HeldClaim]) -> dict[str, Any]:
        """The steps, with what promoting came to and how many versions the derivations followed."""
        promoted = {str(claim.claim_id): claim.status.value for claim in changed}
        return {**self.steps, "promote": promoted, "follow": {"versions": len(changed)}}

    def _link_rule(self, tx: Tx, link: HeldLink) -> AccessRule:
        """Who may see a link: who may see both of its ends."""
        ends = joint_rule(tx, [self.near.claim(end).access_id for end in (link.from_claim, link.to_claim)])
        return ends if self.within is None else ends.both(self.within)

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


_VERDICTS = {Status.VALIDATED: "approve", Status.UNSUPPORTED: "approve", Status.REJECTED: "reject"}
_HELD = ("status", "asserted", "valid", "access_id", "slot", "cardinality")


def _held_differs(now: HeldClaim, before: HeldClaim) -> bool:
    return any(getattr(now, name) != getattr(before, name) for name in _HELD)
