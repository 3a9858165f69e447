"""Which policy speaks about a predicate, and what validates a claim of it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from muniment.errors import InvalidInput
from muniment.model.evidence import Trust
from muniment.model.policy import DEFAULT_POLICY, PredicatePolicy, policy_for
from muniment.model.validation import Backing, Validation


@pytest.mark.parametrize(
    ("predicate", "chosen"),
    [
        ("persona:tone", "persona:tone"),
        ("persona:tone:formal", "persona:tone:*"),
        ("persona:name", "persona:*"),
        ("Persona:name", "*"),
        ("price", "*"),
    ],
)
def test_the_exact_policy_speaks_first_then_the_longest_pattern(predicate: str, chosen: str) -> None:
    policies = [
        PredicatePolicy(predicate=p) for p in ("persona:*", "persona:tone", "*", "persona:tone*", "persona:tone:*")
    ]
    for order in itertools.permutations(policies):
        assert policy_for(predicate, list(order)).predicate == chosen


def test_a_predicate_without_a_policy_has_many_values_and_waits_for_confirmation() -> None:
    assert policy_for("price", [PredicatePolicy(predicate="persona:*")]) is DEFAULT_POLICY
    assert DEFAULT_POLICY.cardinality == "many"
    assert DEFAULT_POLICY.waits_for([Backing("crm", True, Trust.AUTHORITATIVE, "user", True)])


@pytest.mark.parametrize("predicate", ["price[usd]", "ok?", "[a-z]", "a.b", "a+b", "\\d", "价格"])
def test_only_the_asterisk_is_a_pattern(predicate: str) -> None:
    declared = PredicatePolicy(predicate=predicate)
    assert declared.applies_to(predicate)
    assert not any(declared.applies_to(other) for other in ("priceu", "okx", "q", "axb", "aab", "7"))


@pytest.mark.parametrize("predicate", ["", " ", "a\x00", "\ud800", "x" * 257])
def test_a_policy_names_its_predicate(predicate: Any) -> None:
    with pytest.raises(InvalidInput):
        PredicatePolicy(predicate=predicate)


@pytest.mark.parametrize(
    ("validation", "quoted", "trust", "role", "waits"),
    [
        (Validation.QUOTED, True, Trust.FIRST_PARTY, "user", False),
        (Validation.QUOTED, True, Trust.AUTHORITATIVE, "author", False),
        (Validation.QUOTED, False, Trust.AUTHORITATIVE, "user", True),
        (Validation.QUOTED, True, Trust.THIRD_PARTY, "user", True),
        (Validation.QUOTED, True, Trust.MODEL, "user", True),
        (Validation.QUOTED, True, Trust.FIRST_PARTY, "assistant", True),
        (Validation.QUOTED, True, Trust.AUTHORITATIVE, "tool", True),
        (Validation.QUOTED, True, Trust.AUTHORITATIVE, "system", True),
        (Validation.CONFIRMATION, True, Trust.AUTHORITATIVE, "user", True),
    ],
)
def test_only_a_trusted_persons_own_words_validate_a_claim_at_once(
    validation: Validation, quoted: bool, trust: Trust, role: str, waits: bool
) -> None:
    backing = Backing("ken", quoted, trust, role, by_subject=False)
    reason = PredicatePolicy(predicate="p", validation=validation).waits_for([backing])
    assert (reason is not None) == waits
