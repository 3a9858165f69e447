"""Access rules: who may see a row.

A rule is a list of alternatives, each a set of labels; grants satisfy the rule when they hold every label of at least
one alternative (disjunctive normal form). Evidence has one alternative, its own labels. A claim has one for each
evidence that supports it by itself. What is made from several sources combines their rules, since every source must
be satisfied. Rules are interned by a hash, so that a row carries one integer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from muniment.errors import InvalidInput, NoTenant
from muniment.model.text import require_name

PUBLIC_ID = 0
MAX_PAIRS = 4096
RIGHT_PREFIX = "muniment:"
IMPORT_RIGHT = RIGHT_PREFIX + "import"

Labels = frozenset[str]


@dataclass(frozen=True, slots=True)
class AccessRule:
    """Alternatives of labels, in normal form: no alternative contains another (absorption law)."""

    alternatives: frozenset[Labels]

    @classmethod
    def of(cls, *alternatives: Iterable[str]) -> Self:
        """The rule satisfied by any one of `alternatives`. No alternative at all means nobody."""
        sets = {frozenset(alternative) for alternative in alternatives}
        return cls(frozenset(a for a in sets if not any(other < a for other in sets)))

    def either(self, other: AccessRule) -> AccessRule:
        """Whoever may see one of the two."""
        return AccessRule.of(*self.alternatives, *other.alternatives)

    def both(self, other: AccessRule) -> AccessRule:
        """Only who may see both: every pair of alternatives, joined. Raises `InvalidInput` beyond
        4,096 pairs."""
        if len(self.alternatives) * len(other.alternatives) > MAX_PAIRS:
            raise InvalidInput("these sources have too many combinations of labels; cite fewer of them together")
        return AccessRule.of(*(a | b for a in self.alternatives for b in other.alternatives))

    def allows(self, grants: Iterable[str]) -> bool:
        """Whether `grants` satisfy this rule."""
        held = frozenset(grants)
        return any(alternative <= held for alternative in self.alternatives)

    @property
    def access_id(self) -> int:
        """A signed 64-bit hash of the normal form; `PUBLIC_ID` for the rule that everyone satisfies."""
        if frozenset() in self.alternatives:
            return PUBLIC_ID
        normal = sorted(sorted(alternative) for alternative in self.alternatives)
        digest = hashlib.sha256(json.dumps(normal, ensure_ascii=False).encode()).digest()
        return int.from_bytes(digest[:8], "big", signed=True) or 1

    def describe(self) -> str | None:
        """The rule as people write it: `a + b | c`; None when everyone in the tenant may see the row."""
        if frozenset() in self.alternatives:
            return None
        return " | ".join(sorted(" + ".join(sorted(alternative)) for alternative in self.alternatives))


PUBLIC = AccessRule.of(())


def parse_labels(labels: Iterable[str], *, what: str) -> Labels:
    """`labels` as a set. Raises `InvalidInput` for a bare string (a classic slip) or an unusable label."""
    if isinstance(labels, str):
        raise InvalidInput(f"{what} is a collection of labels; write {{{labels!r}}} instead of {labels!r}")
    if not isinstance(labels, Iterable):
        raise InvalidInput(f"{what} is a collection of labels, not {type(labels).__name__}")
    return frozenset(require_name(label, what=f"a label in {what}") for label in labels)


def parse_access(labels: Iterable[str]) -> Labels:
    """Labels that a row may carry. Raises `InvalidInput` for a right: whoever holds it would not be who is meant."""
    asked = parse_labels(labels, what="access")
    if any(label.startswith(RIGHT_PREFIX) for label in asked):
        raise InvalidInput(f"labels that begin with {RIGHT_PREFIX!r} are rights, not access labels")
    return asked


@dataclass(frozen=True, slots=True)
class Access:
    """Who is asking, fixed when a session is opened: the tenant, the labels held, and the labels new rows get."""

    tenant: str
    grants: Labels
    own_labels: Labels
    actor: str
    thread: str | None = None

    @classmethod
    def open(
        cls,
        *,
        tenant: str,
        grants: Iterable[str] = (),
        actor: str = "app",
        user: str | None = None,
        agent: str | None = None,
        thread: str | None = None,
    ) -> Self:
        """Raises `NoTenant` without a tenant, `InvalidInput` for unusable names."""
        if not isinstance(tenant, str) or not tenant.strip():
            raise NoTenant("open the session with a tenant: memory.session(tenant='acme')")
        named = {"user": user, "agent": agent, "thread": thread}
        own = frozenset(f"{kind}:{require_name(name, what=kind)}" for kind, name in named.items() if name is not None)
        return cls(
            tenant=require_name(tenant, what="tenant"),
            grants=parse_labels(grants, what="grants") | own,
            own_labels=own,
            actor=require_name(actor, what="actor"),
            thread=thread,
        )

    @property
    def may_import(self) -> bool:
        """Whether this session may state in the past when something became known."""
        return IMPORT_RIGHT in self.grants

    def rule_for(self, labels: Iterable[str]) -> AccessRule:
        """The rule of a new row that carries `labels` beside the session's own."""
        return AccessRule.of(parse_access(labels) | self.own_labels)
