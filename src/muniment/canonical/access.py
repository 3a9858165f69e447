"""The dictionary of access rules: rows carry a hash, this table says what it stands for."""

from __future__ import annotations

from typing import Any

from muniment.errors import NotFound
from muniment.model.access import PUBLIC, PUBLIC_ID, AccessRule
from muniment.store.answer import Answer
from muniment.store.database import Tx
from muniment.store.statements import sql


def rule_rows(rule: AccessRule) -> list[dict[str, Any]]:
    """The dictionary rows of `rule`, one an alternative; none for the rule that everyone satisfies."""
    if rule.access_id == PUBLIC_ID:
        return []
    return [
        {"access_id": rule.access_id, "alternative": number, "labels": sorted(labels)}
        for number, labels in enumerate(sorted(rule.alternatives, key=sorted))
    ]


def intern(tx: Tx, rule: AccessRule) -> int:
    """The id of `rule`, stored in the dictionary when it is new to this tenant."""
    for row in rule_rows(rule):
        tx.execute(sql("insert_access_rule"), row)
    return rule.access_id


def load_rules(tx: Tx, access_ids: list[int]) -> dict[int, AccessRule]:
    """The rules behind some ids of this tenant."""
    if set(access_ids) <= {PUBLIC_ID}:
        return {PUBLIC_ID: PUBLIC}
    alternatives: dict[int, list[list[str]]] = {}
    for access_id, labels in tx.execute(sql("access_rules"), {"ids": access_ids}).fetchall():
        alternatives.setdefault(access_id, []).append(labels)
    rules = {access_id: AccessRule.of(*labels) for access_id, labels in alternatives.items()}
    rules[PUBLIC_ID] = PUBLIC
    missing = set(access_ids) - set(rules)
    if missing:
        raise NotFound(f"access rule {missing.pop()} is not in the dictionary; the database was changed by hand")
    return rules


def register_tenant(tx: Tx) -> Answer[bool]:
    """Puts the tenant on the list; answers whether this is its first write."""
    return Answer(tx, "register_tenant", {}, lambda rows: bool(rows[0]["first"]))
