"""Predicate policies: how many values a predicate holds, what it rests on, and what makes a claim of it valid."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any, Literal, assert_never

from pydantic import Field, field_validator

from muniment.model.access import parse_labels
from muniment.model.base import Record
from muniment.model.evidence import Trust
from muniment.model.text import require_name


class Cardinality(StrEnum):
    """`one`: a slot holds one validated value at a time. `many`: each value is a slot of its own."""

    ONE = "one"
    MANY = "many"


class ValueType(StrEnum):
    """How values are normalised before they are compared."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    BOOLEAN = "boolean"
    SUBJECT = "subject"
    LIST = "list"


class Validation(StrEnum):
    """What validates a claim. `quoted`: a checked span in evidence of an allowed trust class is enough.
    `confirmation`: it stays a candidate until somebody confirms it."""

    QUOTED = "quoted"
    CONFIRMATION = "confirmation"


class PredicatePolicy(Record):
    """The rules of one predicate, or of a pattern of predicates such as `persona:*`.

    `depends_on` names predicates of the same subject: a claim rests on the ones that hold when it starts, and ends
    with them. `trust` lists the trust classes whose quotes validate under `quoted`.
    """

    predicate: str
    cardinality: Cardinality = Cardinality.MANY
    value_type: ValueType | None = None
    depends_on: tuple[str, ...] = ()
    cost_of_error: Literal["low", "medium", "high", "critical"] = "medium"
    validation: Validation = Validation.CONFIRMATION
    trust: tuple[Trust, ...] = (Trust.AUTHORITATIVE, Trust.FIRST_PARTY)
    version: int = Field(default=0, description="set by the store; 0 is the built-in default")

    @field_validator("predicate", mode="before")
    @classmethod
    def _named(cls, value: Any) -> str:
        return require_name(value, what="predicate")

    @field_validator("depends_on", mode="before")
    @classmethod
    def _all_named(cls, values: Any) -> tuple[str, ...]:
        return tuple(sorted(parse_labels(values, what="depends_on")))

    def applies_to(self, predicate: str) -> bool:
        """Whether this policy speaks about `predicate` (exact, or a `*` pattern)."""
        pattern = ".*".join(re.escape(part) for part in self.predicate.split("*"))
        return re.fullmatch(pattern, predicate, re.DOTALL) is not None

    def definition(self) -> dict[str, Any]:
        """What is stored: everything but the version."""
        return self.model_dump(mode="json", exclude={"version"})

    def validates(self, *, quoted: bool, trust: Trust, role: str) -> str | None:
        """None when evidence of this kind validates a claim at once; otherwise what it waits for."""
        match self.validation:
            case Validation.CONFIRMATION:
                return "waits for confirmation"
            case Validation.QUOTED:
                if not quoted:
                    return "waits for confirmation: no exact quote was given"
                if role in ("assistant", "tool", "system"):
                    return f"waits for confirmation: the words are the {role}'s, not a person's"
                if trust not in self.trust:
                    return f"waits for confirmation: {trust.value} sources do not validate {self.predicate}"
                return None
            case unhandled:
                assert_never(unhandled)


DEFAULT_POLICY = PredicatePolicy(predicate="*")


def policy_for(predicate: str, policies: list[PredicatePolicy]) -> PredicatePolicy:
    """The policy of `predicate`: the exact one, else the longest pattern that matches, else the default."""
    matching = [policy for policy in policies if policy.applies_to(predicate)]
    return max(matching, key=lambda p: (p.predicate == predicate, len(p.predicate)), default=DEFAULT_POLICY)
