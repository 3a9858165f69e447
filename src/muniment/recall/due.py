"""Until when claims pass as current: some predicates are to be confirmed again, now and then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from muniment.canonical.policies import policies_as_of
from muniment.model.policy import PredicatePolicy, policy_for
from muniment.recall.clocks import Clocks
from muniment.store.answer import Answer
from muniment.store.database import Tx


@dataclass(frozen=True, slots=True)
class Due:
    """What was asked for: the policies in force, and when each claim was last said or confirmed."""

    policies: Answer[list[PredicatePolicy]]
    last_said: Answer[dict[UUID, datetime]]

    def by(self, claims: Sequence[tuple[UUID, str, str]]) -> dict[UUID, datetime]:
        """Of (claim id, predicate, memory type): by when those are due that are to be confirmed again."""
        last_said, in_force = self.last_said.get(), self.policies.get()
        due: dict[UUID, datetime] = {}
        for claim_id, predicate, memory_type in claims if last_said else ():
            after = policy_for(predicate, in_force, memory_type).reconfirm_after
            if after is not None and claim_id in last_said:
                due[claim_id] = last_said[claim_id] + after
        return due


def ask_due(tx: Tx, clocks: Clocks, ids: Iterable[UUID]) -> Due:
    """Asks for what tells when these claims are due."""
    said: Answer[dict[UUID, datetime]] = Answer(
        tx, "last_said", {"ids": list(ids), **clocks.parameters()},
        lambda rows: {row["claim_id"]: row["last_said"] for row in rows if row["last_said"] is not None},
    )  # fmt: skip
    return Due(policies_as_of(tx, clocks.asked_known), said)
