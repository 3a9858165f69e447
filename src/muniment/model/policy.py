"""Predicate policies: how many values a predicate holds, what it rests on, and what makes a claim of it valid."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from muniment.errors import InvalidInput
from muniment.model.access import parse_labels
from muniment.model.base import Record
from muniment.model.evidence import Trust
from muniment.model.text import require_json, require_name
from muniment.model.validation import AllOf, Backing, Person, Requirement, Validation, require_shallow, unmet

MAX_SCHEMA_BYTES = 64 * 1024
_SCHEMA_WORDS = {"type", "enum", "const", "properties", "items", "allOf", "anyOf", "oneOf", "$ref"}
_SPAN = re.compile(r"\s*(\d{1,6})\s*(hour|day|week)s?\s*", re.ASCII)
_TRUST_ORDER = tuple(Trust)


class Cardinality(StrEnum):
    """`one`: a slot holds one validated value at a time. `many`: each value is a slot of its own."""

    ONE = "one"
    MANY = "many"


class ValueType(StrEnum):
    """How values are normalised before they are compared."""

    TEXT = "text"
    NUMBER = "number"
    MONEY = "money"
    DATE = "date"
    BOOLEAN = "boolean"
    SUBJECT = "subject"
    LIST = "list"


class Cost(StrEnum):
    """What a wrong claim costs: the dearer, the more a claim needs where its policy declares no validation."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


_BY_COST: Mapping[Cost, Requirement] = {
    Cost.LOW: Validation.QUOTED,
    Cost.MEDIUM: Validation.CONFIRMATION,
    Cost.HIGH: Validation.REVIEW,
    Cost.CRITICAL: AllOf(all=(Validation.AUTHORITATIVE, Validation.REVIEW)),
}


class PredicatePolicy(Record):
    """The rules of one predicate, of a pattern such as `pref_*`, or of a memory type and a pattern: `persona:*`.

    `depends_on` names predicates of the same subject: a claim rests on the ones that hold when it starts, and ends
    with them. `trust` lists the trust classes whose quotes validate. `sources` names sources by authority, the highest
    first: what a lower one says never takes over from a higher one. `reconfirm_after` is how long a claim passes as
    current after it was last said or confirmed. `hedged` says whether "I think …" waits or is accepted. `widen_after`:
    on how many drafts feedback must say the same to hold where it was given, and in how many scopes side by side it
    must hold to hold around them; None: only on somebody's word.
    `value_type` may be a JSON schema (draft 2020-12).
    """

    predicate: str
    cardinality: Cardinality = Cardinality.MANY
    value_type: ValueType | dict[str, Any] | None = None
    unit: str | None = None
    depends_on: tuple[str, ...] = ()
    cost_of_error: Cost = Cost.MEDIUM
    validation: Requirement | None = None
    trust: tuple[Trust, ...] = (Trust.AUTHORITATIVE, Trust.FIRST_PARTY)
    sources: tuple[str, ...] = ()
    reconfirm_after: timedelta | None = None
    hedged: Literal["wait", "accept"] = "wait"
    widen_after: int | None = Field(default=None, ge=2, le=1000)
    version: int = Field(default=0, description="set by the store; 0 is the built-in default")

    @field_validator("predicate", "unit", mode="before")
    @classmethod
    def _named(cls, value: Any) -> str | None:
        return None if value is None else require_name(value, what="predicate or unit")

    @field_validator("depends_on", mode="before")
    @classmethod
    def _all_named(cls, values: Any) -> tuple[str, ...]:
        return tuple(sorted(parse_labels(values, what="depends_on")))

    @field_validator("sources", mode="before")
    @classmethod
    def _in_order(cls, values: Any) -> tuple[str, ...]:
        named = parse_labels(values, what="sources")
        if isinstance(values, set | frozenset) or len(named) != len(list(values)):
            raise InvalidInput("sources is a list in order of authority, each source once")
        return tuple(values)

    @field_validator("validation", mode="before")
    @classmethod
    def _shallow(cls, value: Any) -> Any:
        return require_shallow(value)

    @field_validator("value_type", mode="after")
    @classmethod
    def _is_schema(cls, value: Any) -> Any:
        if isinstance(value, dict):
            from jsonschema import Draft202012Validator, SchemaError  # slow to import, and rarely declared

            require_json(value, what="value_type", max_bytes=MAX_SCHEMA_BYTES)
            if not _SCHEMA_WORDS & set(value):
                raise InvalidInput(f"value_type is no JSON schema: it has none of {', '.join(sorted(_SCHEMA_WORDS))}")
            try:
                Draft202012Validator.check_schema(value)
            except SchemaError as error:
                raise InvalidInput(f"value_type is no JSON schema: {error.message[:200]}") from None
        return value

    @field_validator("reconfirm_after", mode="before")
    @classmethod
    def _spelled(cls, value: Any) -> Any:
        match = _SPAN.fullmatch(value) if isinstance(value, str) else None
        return timedelta(**{match[2] + "s": int(match[1])}) if match else value

    @field_validator("reconfirm_after", mode="after")
    @classmethod
    def _positive(cls, value: timedelta | None) -> timedelta | None:
        if value is not None and not timedelta(hours=1) <= value <= timedelta(days=36525):
            raise InvalidInput("reconfirm_after lies between 1 hour and 100 years; write it like '180 days'")
        return value

    @model_validator(mode="after")
    def _unit_of_numbers(self) -> PredicatePolicy:
        if self.unit is not None and self.value_type is not ValueType.NUMBER:
            raise InvalidInput("a unit needs value_type = 'number'; money carries its currency in the value")
        return self

    def applies_to(self, predicate: str, memory_type: str | None = None) -> bool:
        """Whether this policy speaks about `predicate` (exact, or a `*` pattern), with its memory type before it or
        not."""
        pattern = ".*".join(re.escape(part) for part in self.predicate.split("*"))
        names = [predicate] if memory_type is None else [predicate, f"{memory_type}:{predicate}"]
        return any(re.fullmatch(pattern, name, re.DOTALL) is not None for name in names)

    def definition(self) -> dict[str, Any]:
        """What is stored: everything but the version."""
        return self.model_dump(mode="json", exclude={"version"})

    @property
    def requirement(self) -> Requirement:
        """What validates a claim: as declared, else by what an error costs."""
        return self.validation if self.validation is not None else _BY_COST[self.cost_of_error]

    def waits_for(self, backings: Collection[Backing], *, person: Person | None = None) -> str | None:
        """None when this evidence, or this person's decision, validates a claim; otherwise what it waits for."""
        return unmet(self.requirement, backings, trusted=self.trust, person=person)

    def authority(self, source: str, trust: Trust) -> int:
        """The rank of a source; a higher number has more authority, and all have the same where nothing is declared.

        By `sources` where it is given; else by trust class where an error is dear.
        """
        if self.sources:
            return len(self.sources) - self.sources.index(source) if source in self.sources else 0
        if self.cost_of_error in (Cost.HIGH, Cost.CRITICAL):
            return len(_TRUST_ORDER) - _TRUST_ORDER.index(trust)
        return 0


DEFAULT_POLICY = PredicatePolicy(predicate="*")
TYPE_POLICIES: Mapping[str, PredicatePolicy] = {
    "guideline": PredicatePolicy(
        predicate="guideline:*", cardinality=Cardinality.ONE, validation=Validation.AUTHORITATIVE
    ),
    "persona": PredicatePolicy(predicate="persona:*", cardinality=Cardinality.ONE),
    "workflow": PredicatePolicy(predicate="workflow:*", cardinality=Cardinality.ONE),
    "tool": PredicatePolicy(predicate="tool:*", cardinality=Cardinality.ONE),
    "episode": PredicatePolicy(predicate="episode:*", validation=Validation.PINNED),
}
"""What rules where a tenant declares nothing for a memory type."""


def policy_for(predicate: str, policies: Iterable[PredicatePolicy], memory_type: str | None = None) -> PredicatePolicy:
    """The policy of `predicate`: the exact one, else the longest pattern that matches, else the default
    of the memory type."""
    exact = (predicate, f"{memory_type}:{predicate}")
    matching = [policy for policy in policies if policy.applies_to(predicate, memory_type)]
    return max(
        matching,
        key=lambda p: (p.predicate in exact, len(p.predicate)),
        default=TYPE_POLICIES.get(memory_type or "", DEFAULT_POLICY),
    )
