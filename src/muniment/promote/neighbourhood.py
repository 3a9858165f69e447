"""Everything that a change to one slot can reach: its claims, their links, and the claims that rest on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from muniment.canonical import claims
from muniment.canonical.rows import HeldClaim, HeldLink, Said
from muniment.model.claim import LinkKind, Status
from muniment.model.evidence import Trust
from muniment.model.policy import PredicatePolicy, policy_for
from muniment.model.scope import covers
from muniment.promote.settle import Assertion, Settled, Turned, settle
from muniment.promote.turn import Turn
from muniment.store.database import Tx

_LOST = (UUID(int=0),)
"""A premise that never holds: that of a claim whose last support was withdrawn."""


@dataclass(slots=True)
class Neighbourhood:
    """Claims with their open versions and links, as loaded; `settled` says what should be held about them."""

    claims: dict[UUID, HeldClaim] = field(default_factory=dict)
    links: dict[UUID, HeldLink] = field(default_factory=dict)
    said: dict[UUID, set[Said]] = field(default_factory=dict)
    """What the supports of a claim say of it. A claim with none has lost its evidence, and holds never."""
    policies: Sequence[PredicatePolicy] = ()
    group: frozenset[str] = frozenset()
    """Subjects that are one: what is claimed of one of them stands against what is claimed of another."""
    premises: dict[UUID, HeldClaim] = field(default_factory=dict)
    """Claims outside of `claims` that some of them rest on: read, and not changed."""

    def claim(self, claim_id: UUID) -> HeldClaim:
        """A claim of the neighbourhood, or one that it rests on."""
        return self.claims[claim_id] if claim_id in self.claims else self.premises[claim_id]

    def in_slot(self, slot: UUID) -> list[HeldClaim]:
        """The claims of one slot, live or not."""
        return [claim for claim in self.claims.values() if claim.slot == slot]

    def alike(self, slot: UUID, subject: str, predicate: str, scope: str) -> list[HeldClaim]:
        """The claims that answer one question: those of its slot, and of merged subjects those of the same predicate
        and scope, where one value holds at a time."""
        return [
            claim for claim in self.claims.values()
            if claim.slot == slot
            or ({claim.subject_id, subject} <= self.group and claim.cardinality == "one"
                and (claim.predicate, claim.scope) == (predicate, scope))
        ]  # fmt: skip

    def rivals_of(self, claim: HeldClaim) -> list[HeldClaim]:
        """The other claims that answer the same question."""
        found = self.alike(claim.slot, claim.subject_id, claim.predicate, claim.scope)
        return [
            other for other in found
            if other.claim_id != claim.claim_id and (other.slot == claim.slot or claim.cardinality == "one")
        ]  # fmt: skip

    def same_subject(self, one: HeldClaim, other: HeldClaim) -> bool:
        """Whether two claims are about one subject."""
        return one.subject_id == other.subject_id or {one.subject_id, other.subject_id} <= self.group

    def active_links(self, kind: LinkKind) -> list[HeldLink]:
        """The active links of one kind."""
        return [link for link in self.links.values() if link.kind == kind and link.state == "active"]

    def policy_of(self, claim: HeldClaim) -> PredicatePolicy:
        """The policy in force for the claim's predicate."""
        return policy_for(claim.predicate, self.policies, claim.memory_type)

    def authority(self, claim: HeldClaim, start: datetime | None = None) -> int:
        """The highest authority among the sources that say the claim holds from `start` on (from its beginning)."""
        policy = self.policy_of(claim)
        until = claim.began if start is None else start
        said = self.said.get(claim.claim_id, ())
        ranked = [
            policy.authority(s.source, Trust(s.trust))
            for s in said
            if s.start is not None and (s.start == until or (start is None and s.start < until))
        ]
        return max(ranked, default=0)

    def origins(self, claim: HeldClaim) -> int:
        """How many independent sources support the claim."""
        return len({said.origin for said in self.said.get(claim.claim_id, ())})

    def _turns(self, claim: HeldClaim, superseded: list[HeldClaim]) -> list[Turned[datetime]]:
        """When the claim was said to begin, and its place among its rivals then: by the authority of who says so, then
        by that moment; UUIDv7 settles a tie by when the claims were made. A claim that says it supersedes another one
        of its slot comes after that one."""
        after = [(self.authority(rival), rival.began) for rival in superseded]
        first = (self.authority(claim), claim.began)
        starts = {s.start for s in self.said.get(claim.claim_id, ()) if s.start is not None and s.start > claim.began}
        again = [((self.authority(claim, start), start), start) for start in starts]
        return [
            Turned((max([order, *after]), claim.claim_id.bytes), start)
            for order, start in [(first, claim.asserted.start), *again]
        ]

    def settled(self, *, candidate: HeldClaim | None = None) -> dict[UUID, Settled[datetime]]:
        """What is left of each live claim; with `candidate`, as if that one were live too."""
        live = {key: claim for key, claim in self.claims.items() if claim.live}
        if candidate is not None:
            live[candidate.claim_id] = candidate
        premises: dict[UUID, list[UUID]] = {}
        for link in self.active_links(LinkKind.DERIVED_FROM):
            premises.setdefault(link.from_claim, []).append(link.to_claim)
        ended: dict[UUID, list[HeldClaim]] = {}
        enders: dict[UUID, list[UUID]] = {}
        for link in self.active_links(LinkKind.SUPERSEDES):
            winner, loser = live.get(link.from_claim), live.get(link.to_claim)
            if winner is None or loser is None or not covers(link.scope, loser.scope):
                continue
            if winner.slot == loser.slot:
                if link.named:
                    ended.setdefault(winner.claim_id, []).append(loser)
            else:
                enders.setdefault(loser.claim_id, []).append(winner.claim_id)
        assertions = {
            key: Assertion(
                claim.asserted,
                premises.get(key, ()) if self.said.get(key) else _LOST,
                enders.get(key, ()),
                claim.slot,
                self._turns(claim, ended.get(key, [])),
            )
            for key, claim in live.items()
        }
        fixed = {key: claim.valid for key, claim in self.premises.items() if claim.status is Status.VALIDATED}
        return settle(assertions, fixed)


def gather(
    tx: Tx, *, slots: Iterable[UUID], extra: Iterable[UUID] = (), turn: Turn, policies: Sequence[PredicatePolicy],
    group: Iterable[str] = (),
) -> Neighbourhood:  # fmt: skip
    """Loads the slots, the claims in `extra` with theirs, and everything that rests on what was loaded. `group`: the
    subjects that are one.

    Raises `WholeTenantNeeded` when that leads to subjects which this transaction has not locked.
    """
    found = Neighbourhood(policies=policies, group=frozenset(group))
    seen: set[UUID] = set()
    pending = set(slots) | {claim.slot for claim in lock_and_load(tx, extra, turn).values()}
    while pending:
        held, linked = claims.held_in_slots(tx, pending), claims.links_of_slots(tx, pending)
        backed = claims.backing_in_slots(tx, pending)
        fresh_links = linked.get()
        found.claims.update(held.get())
        found.links.update(fresh_links)
        found.said.update(backed.get())
        seen |= pending
        outside = {end for link in fresh_links.values() for end in _downstream(link, found.claims)}
        pending = {claim.slot for claim in lock_and_load(tx, outside, turn).values()} - seen
    premises = {link.to_claim for link in found.active_links(LinkKind.DERIVED_FROM)} - set(found.claims)
    found.premises = _load(tx, premises)
    return found


def resting_on(tx: Tx, subjects: Sequence[str], predicate: str, policies: Sequence[PredicatePolicy]) -> list[UUID]:
    """The validated claims of the subjects whose policies say that they depend on this predicate."""
    names = [policy.predicate for policy in policies if predicate in policy.depends_on]
    return list(claims.held_of_subjects(tx, subjects, names).get()) if names else []


def _downstream(link: HeldLink, loaded: dict[UUID, HeldClaim]) -> list[UUID]:
    """The ends of a link whose validity may change with what is loaded; a premise is only read."""
    ends = [link.from_claim] if link.kind == LinkKind.DERIVED_FROM else [link.from_claim, link.to_claim]
    return [end for end in ends if end not in loaded and link.kind in (LinkKind.DERIVED_FROM, LinkKind.SUPERSEDES)]


def _load(tx: Tx, claim_ids: Iterable[UUID]) -> dict[UUID, HeldClaim]:
    wanted = set(claim_ids)
    return claims.held_claims(tx, wanted).get() if wanted else {}


def lock_and_load(tx: Tx, claim_ids: Iterable[UUID], turn: Turn) -> dict[UUID, HeldClaim]:
    """These claims, kept from changing until the transaction ends. Raises `WholeTenantNeeded` (see `turn`) when they
    belong to subjects that this transaction has not locked."""
    loaded = _load(tx, claim_ids)
    turn.require({claim.subject_id for claim in loaded.values()})
    return loaded
