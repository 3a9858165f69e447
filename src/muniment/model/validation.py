"""What makes a claim valid: requirements over its evidence, and who may fulfil them by a decision instead."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import Field

from muniment.errors import InvalidInput
from muniment.model.base import Record
from muniment.model.evidence import Trust

MAX_NESTING = 8
NOT_A_PERSON = ("assistant", "tool", "system")
"""Roles whose words are nobody's own claim."""


class Validation(StrEnum):
    """A single requirement.

    `quoted`: a checked span, meant as a statement, in a person's words, in evidence of an allowed trust class.
    `confirmed_by_subject`: such a quote whose author is the subject itself. `authoritative`: evidence of the trust
    class `authoritative`, which no person's decision replaces. `confirmation`: somebody confirms it. `review`: as
    `confirmation`, and a review opens at once. `pinned`: any evidence, whoever's words it holds; for what happened in a
    run, never for what is true.
    """

    QUOTED = "quoted"
    CONFIRMATION = "confirmation"
    CONFIRMED_BY_SUBJECT = "confirmed_by_subject"
    AUTHORITATIVE = "authoritative"
    REVIEW = "review"
    PINNED = "pinned"


class IndependentSources(Record):
    """So many different sources say it, each in a quote that would do by itself."""

    independent_sources: int = Field(ge=1, le=100)


class AllOf(Record):
    """Every one of these."""

    all: tuple[Requirement, ...] = Field(min_length=1)


class AnyOf(Record):
    """At least one of these."""

    any: tuple[Requirement, ...] = Field(min_length=1)


Requirement = Validation | IndependentSources | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class Backing:
    """One cited evidence, as far as validation asks. `origin` is whom the words come from: the same for all that one
    author, or one source without authors, says. `waits_for` tells why the words are no statement (a question, …)."""

    origin: str
    quoted: bool
    trust: Trust
    role: str
    by_subject: bool
    waits_for: str | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who decides, and whether it is the subject of the claim."""

    name: str
    is_subject: bool = False


def unmet(
    requirement: Requirement, backings: Collection[Backing], *, trusted: Collection[Trust], person: Person | None = None
) -> str | None:
    """None when the requirement is fulfilled; otherwise what it waits for."""

    def judge(part: Requirement) -> str | None:
        return unmet(part, backings, trusted=trusted, person=person)

    if isinstance(requirement, AllOf):
        return next((missing for missing in map(judge, requirement.all) if missing is not None), None)
    if isinstance(requirement, AnyOf):
        missing = [judge(part) for part in requirement.any]
        return None if None in missing else " or ".join(dict.fromkeys(text for text in missing if text is not None))
    reasons = [_no_quote(backing, trusted) for backing in backings]
    if isinstance(requirement, IndependentSources):
        good = {backing.origin for backing, reason in zip(backings, reasons, strict=True) if reason is None}
        wanted = requirement.independent_sources
        if person is not None or len(good) >= wanted:
            return None
        return f"waits for {wanted} independent sources: {len(good)} so far"
    return _SINGLE[requirement](list(backings), reasons, person)


def _no_quote(backing: Backing, trusted: Collection[Trust]) -> str | None:
    """Why this evidence alone does not validate by its words; None when it does."""
    if not backing.quoted:
        return "waits for confirmation: no exact quote was given"
    if backing.role in NOT_A_PERSON:
        return f"waits for confirmation: the words are the {backing.role}'s, not a person's"
    if backing.trust not in trusted:
        return f"waits for confirmation: {backing.trust.value} sources do not validate it"
    if backing.waits_for is not None:
        return f"waits for confirmation: {backing.waits_for}"
    return None


def _quoted(backings: list[Backing], reasons: list[str | None], person: Person | None) -> str | None:
    if person is not None or None in reasons:
        return None
    return reasons[0] if reasons else "waits for evidence"


def _confirmed_by_subject(backings: list[Backing], reasons: list[str | None], person: Person | None) -> str | None:
    said = any(b.by_subject and reason is None for b, reason in zip(backings, reasons, strict=True))
    return None if said or (person is not None and person.is_subject) else "waits for the subject's own confirmation"


def _authoritative(backings: list[Backing], reasons: list[str | None], person: Person | None) -> str | None:
    found = any(b.trust is Trust.AUTHORITATIVE and b.role != "assistant" and b.waits_for is None for b in backings)
    return None if found else "waits for an authoritative source"


def _pinned(backings: list[Backing], reasons: list[str | None], person: Person | None) -> str | None:
    return None if backings or person is not None else "waits for evidence"


def _decided(what: str) -> Callable[[list[Backing], list[str | None], Person | None], str | None]:
    return lambda backings, reasons, person: None if person is not None else what


_SINGLE: dict[Validation, Callable[[list[Backing], list[str | None], Person | None], str | None]] = {
    Validation.QUOTED: _quoted,
    Validation.CONFIRMATION: _decided("waits for confirmation"),
    Validation.CONFIRMED_BY_SUBJECT: _confirmed_by_subject,
    Validation.AUTHORITATIVE: _authoritative,
    Validation.REVIEW: _decided("waits for review"),
    Validation.PINNED: _pinned,
}


def asks_for_review(requirement: Requirement) -> bool:
    """Whether `review` stands anywhere in it."""
    if isinstance(requirement, AllOf):
        return any(map(asks_for_review, requirement.all))
    if isinstance(requirement, AnyOf):
        return any(map(asks_for_review, requirement.any))
    return requirement is Validation.REVIEW


def require_shallow(value: Any, levels: int = MAX_NESTING) -> Any:
    """Raises `InvalidInput` when a requirement, as written, is nested too deeply."""
    if levels < 0:
        raise InvalidInput(f"validation is nested more than {MAX_NESTING} levels deep")
    if isinstance(value, dict):
        for part in value.values():
            require_shallow(part, levels - 1)
    elif isinstance(value, list | tuple):
        for part in value:
            require_shallow(part, levels)
    return value
