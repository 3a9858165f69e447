"""Access rules against the plain question: does somebody who holds exactly these labels see the row?"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.errors import InvalidInput, InvalidText, NoTenant
from muniment.model.access import (
    IMPORT_RIGHT,
    PUBLIC,
    PUBLIC_ID,
    Access,
    AccessRule,
    Labels,
    parse_access,
    parse_labels,
)

NOBODY = AccessRule.of()
thorough = settings(max_examples=100, deadline=None)


def subsets(labels: Iterable[str]) -> list[Labels]:
    held = list(labels)
    return [frozenset(chosen) for size in range(len(held) + 1) for chosen in itertools.combinations(held, size)]


PEOPLE = subsets("abcd")
"""Everybody there can be: one person for each set of labels."""

ALTERNATIVES = st.lists(st.sampled_from(PEOPLE), max_size=5)


def who_satisfies(alternatives: Iterable[Labels]) -> set[Labels]:
    """The naive evaluator: whoever holds all labels of one alternative."""
    return {person for person in PEOPLE if any(all(label in person for label in a) for a in alternatives)}


def who_sees(rule: AccessRule) -> set[Labels]:
    return {person for person in PEOPLE if rule.allows(person)}


@thorough
@given(ALTERNATIVES)
def test_a_rule_allows_whoever_holds_all_labels_of_one_alternative(alternatives: list[Labels]) -> None:
    assert who_sees(AccessRule.of(*alternatives)) == who_satisfies(alternatives)


@thorough
@given(ALTERNATIVES, ALTERNATIVES)
def test_either_widens_and_both_narrows(a: list[Labels], b: list[Labels]) -> None:
    first, second = AccessRule.of(*a), AccessRule.of(*b)
    assert who_sees(first.either(second)) == who_satisfies(a) | who_satisfies(b)
    assert who_sees(first.both(second)) == who_satisfies(a) & who_satisfies(b)


@thorough
@given(ALTERNATIVES, ALTERNATIVES)
def test_rules_that_the_same_people_satisfy_are_equal_and_share_an_id(a: list[Labels], b: list[Labels]) -> None:
    first, second = AccessRule.of(*a), AccessRule.of(*b)
    same = who_satisfies(a) == who_satisfies(b)
    assert (first == second) == same
    assert (first.access_id == second.access_id) == same


def test_three_labels_make_twenty_rules_with_twenty_ids() -> None:
    """Every way to write a rule over three labels: the monotone functions of three variables are 20."""
    labels = subsets("abc")
    written = [
        AccessRule.of(*itertools.compress(labels, mask)) for mask in itertools.product((0, 1), repeat=len(labels))
    ]
    assert len(set(written)) == len({rule.access_id for rule in written}) == 20


@thorough
@given(ALTERNATIVES)
def test_no_alternative_contains_another(alternatives: list[Labels]) -> None:
    rule = AccessRule.of(*alternatives)
    assert not any(a < b for a, b in itertools.permutations(rule.alternatives, 2))


LAWS: dict[str, Callable[[AccessRule, AccessRule, AccessRule], tuple[AccessRule, AccessRule]]] = {
    "absorption by both": lambda a, b, c: (a.both(a.either(b)), a),
    "absorption by either": lambda a, b, c: (a.either(a.both(b)), a),
    "both distributes": lambda a, b, c: (a.both(b.either(c)), a.both(b).either(a.both(c))),
    "either distributes": lambda a, b, c: (a.either(b.both(c)), a.either(b).both(a.either(c))),
    "both is associative": lambda a, b, c: (a.both(b).both(c), a.both(b.both(c))),
    "everyone adds no demand": lambda a, b, c: (a.both(PUBLIC), a),
    "everyone or some is everyone": lambda a, b, c: (a.either(PUBLIC), PUBLIC),
    "nobody and some is nobody": lambda a, b, c: (a.both(NOBODY), NOBODY),
    "nobody adds no one": lambda a, b, c: (a.either(NOBODY), a),
}


@pytest.mark.parametrize("law", LAWS)
@settings(max_examples=40, deadline=None)
@given(alternatives=st.tuples(ALTERNATIVES, ALTERNATIVES, ALTERNATIVES))
def test_the_laws_of_rules_hold(law: str, alternatives: tuple[list[Labels], list[Labels], list[Labels]]) -> None:
    a, b, c = (AccessRule.of(*each) for each in alternatives)
    left, right = LAWS[law](a, b, c)
    assert left == right


CONFUSABLE = ["a", "b", "ab", "a b", "a,b", 'a","b', "a + b", "a | b", "A", "é", "e\u0301", "\\", "[]"]


@pytest.mark.parametrize("other", [{"a,b"}, {'a","b'}, {"a + b"}, {"ab"}, {"a"}, {"A", "b"}])
def test_labels_that_look_alike_are_not_taken_for_each_other(other: set[str]) -> None:
    assert AccessRule.of(other).access_id != AccessRule.of({"a", "b"}).access_id
    assert not AccessRule.of(other).allows(set(CONFUSABLE) - other)


@thorough
@given(st.lists(st.frozensets(st.sampled_from(CONFUSABLE), max_size=3), max_size=4))
def test_an_id_fits_a_bigint_and_is_zero_for_everyone_only(alternatives: list[Labels]) -> None:
    rule = AccessRule.of(*alternatives)
    assert -(2**63) <= rule.access_id < 2**63
    assert (rule.access_id == PUBLIC_ID) == rule.allows(()) == (rule == PUBLIC)


def test_ids_are_the_same_in_every_release() -> None:
    """Stored rows carry them."""
    assert AccessRule.of({"team:b", "a"}, {"c"}).access_id == -6055150860396873161
    assert AccessRule.of({"é"}).access_id == 1399398117461157254
    assert NOBODY.access_id == 5716138445788391948
    assert PUBLIC.access_id == 0


def test_everyone_sees_a_public_row_and_nobody_sees_one_without_alternatives() -> None:
    assert who_sees(PUBLIC) == set(PEOPLE)
    assert who_sees(NOBODY) == set()


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (AccessRule.of({"b", "a"}, {"c"}), "a + b | c"),
        (AccessRule.of({"a"}), "a"),
        (AccessRule.of({"a"}, set()), None),
        (PUBLIC, None),
        (NOBODY, ""),
    ],
)
def test_a_rule_is_described_as_people_write_it(rule: AccessRule, words: str | None) -> None:
    assert rule.describe() == words


@pytest.mark.parametrize(
    ("labels", "error"),
    [
        ("team", InvalidInput),
        ("", InvalidInput),
        ([""], InvalidInput),
        ([" \t"], InvalidInput),
        ([7], InvalidInput),
        ([None], InvalidInput),
        (b"team", InvalidInput),
        (["team\x00"], InvalidText),
        (["\ud800"], InvalidText),
        (["x" * 257], InvalidInput),
        (["é" * 129], InvalidInput),
    ],
)
def test_labels_that_cannot_be_meant_are_refused(labels: Any, error: type[InvalidInput]) -> None:
    for ask in (
        lambda: parse_labels(labels, what="labels"),
        lambda: parse_access(labels),
        lambda: Access.open(tenant="acme", grants=labels),
        lambda: Access.open(tenant="acme").rule_for(labels),
    ):
        with pytest.raises(error) as refused:
            ask()
        assert type(refused.value) is error


def test_a_label_may_fill_its_256_bytes() -> None:
    assert parse_labels(["é" * 128, "a"], what="labels") == {"é" * 128, "a"}


@pytest.mark.parametrize("tenant", ["", "  ", "\n", None, 7, b"acme"])
def test_no_tenant_no_session(tenant: Any) -> None:
    with pytest.raises(NoTenant):
        Access.open(tenant=tenant)


@pytest.mark.parametrize("named", [{"user": ""}, {"agent": " "}, {"thread": "\x00"}, {"actor": ""}, {"user": 7}])
def test_a_session_refuses_names_that_name_nobody(named: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Access.open(tenant="acme", **named)


def test_whom_a_session_names_it_holds_and_writes_for() -> None:
    access = Access.open(tenant="acme", grants=["team"], user="jane", agent="scout", thread="t1")
    own = {"user:jane", "agent:scout", "thread:t1"}
    assert access.own_labels == own
    assert access.grants == {"team"} | own
    assert access.rule_for(["team"]) == AccessRule.of({"team"} | own)
    assert access.rule_for(()).allows(own)
    assert not access.rule_for(()).allows(own - {"user:jane"})


def test_what_a_session_without_names_writes_is_for_the_whole_tenant() -> None:
    access = Access.open(tenant="acme", grants=["team"])
    assert access.own_labels == frozenset()
    assert access.rule_for(()) == PUBLIC


@pytest.mark.parametrize("label", [IMPORT_RIGHT, "muniment:anything", "muniment:"])
def test_a_right_is_no_access_label(label: str) -> None:
    access = Access.open(tenant="acme", grants=[label])
    with pytest.raises(InvalidInput, match="rights"):
        access.rule_for(["team", label])
    with pytest.raises(InvalidInput, match="rights"):
        parse_access([label])


@pytest.mark.parametrize(
    ("grants", "may"),
    [
        ([IMPORT_RIGHT], True),
        (["team", IMPORT_RIGHT], True),
        ([], False),
        (["import"], False),
        (["muniment:"], False),
        (["MUNIMENT:IMPORT"], False),
        (["muniment:import "], False),
    ],
)
def test_only_the_import_right_lets_a_session_state_the_past(grants: list[str], may: bool) -> None:
    assert Access.open(tenant="acme", grants=grants).may_import is may


def test_nobody_gets_the_import_right_by_their_name() -> None:
    assert not Access.open(tenant="acme", user=IMPORT_RIGHT, agent="import", thread=IMPORT_RIGHT).may_import
