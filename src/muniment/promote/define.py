"""Policies: from loose mappings to rules in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from muniment.canonical import activity, policies
from muniment.canonical.access import register_tenant
from muniment.canonical.rows import Changes
from muniment.errors import CyclicPremises, InvalidInput
from muniment.model.policy import PredicatePolicy, policy_for
from muniment.promote.drafts import describe
from muniment.promote.ports import Desk
from muniment.store.database import Tx
from muniment.store.statements import sql


def parse_policy(policy: PredicatePolicy | Mapping[str, Any]) -> PredicatePolicy:
    """A policy from a mapping as written in TOML or Python. Raises `InvalidInput` with every fault."""
    if isinstance(policy, PredicatePolicy):
        return policy
    if not isinstance(policy, Mapping) or not all(isinstance(key, str) for key in policy):
        raise InvalidInput("a policy is a mapping with 'predicate' and what differs from the default")
    try:
        return PredicatePolicy(**{key: value for key, value in policy.items() if key != "version"})
    except (ValidationError, TypeError) as error:
        text = describe(error) if isinstance(error, ValidationError) else str(error)
        raise InvalidInput(f"this policy cannot be used: {text}") from None


def define(desk: Desk, policy: PredicatePolicy) -> PredicatePolicy:
    """Puts a policy in force for what is proposed from now on, as a new version when it differs from the one in force.
    What was decided before stays decided: `redecide.apply_policy` looks at it again."""
    with desk.database.transaction(desk.access, reach="tenant") as tx:
        return put_in_force(tx, desk, policy)


def _refuse_cycle(policy: PredicatePolicy, others: list[PredicatePolicy]) -> None:
    """Raises `CyclicPremises` when a predicate would come to depend on itself."""
    after, seen = [*others, policy], set[str]()
    pending = [(name, policy.predicate) for name in policy.depends_on]
    while pending:
        name, by_way_of = pending.pop()
        if policy_for(name, after) is policy:
            raise CyclicPremises(
                f"{policy.predicate!r} would depend on itself, by way of {by_way_of!r}; leave one of them out"
            )
        if name not in seen:
            seen.add(name)
            pending += [(further, name) for further in policy_for(name, after).depends_on]


def put_in_force(tx: Tx, desk: Desk, policy: PredicatePolicy) -> PredicatePolicy:
    """As `define`, in a transaction that is open already."""
    tx.execute(sql("lock_subject"), {"subject": "policy " + policy.predicate})
    asked_now, asked = activity.server_now(tx), policies.open_policies(tx)
    in_force = {held.predicate: held for held in asked.get()}
    standing = in_force.pop(policy.predicate, None)
    if standing is not None and standing.definition() == policy.definition():
        return standing
    _refuse_cycle(policy, [*in_force.values()])
    if register_tenant(tx).get():
        desk.follower.follow(tx, Changes(new_tenant=True), desk.follower.prepare())
    at = asked_now.get()
    activity_id = activity.record(tx, "define", actor=desk.access.actor, at=at, used={"predicate": policy.predicate})
    return policies.insert_policy(tx, policy, at=at, activity_id=activity_id)
