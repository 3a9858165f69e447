"""When two values are the same, and what is no value. Never by similarity."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.errors import InvalidInput, InvalidText
from muniment.model.policy import DEFAULT_POLICY, Cardinality, PredicatePolicy, ValueType
from muniment.promote.values import default_statement, normalise, require_value, slot_of

thorough = settings(max_examples=150, deadline=None)


def policy(value_type: ValueType | None = None, cardinality: Cardinality = Cardinality.ONE) -> PredicatePolicy:
    return PredicatePolicy(predicate="*", value_type=value_type, cardinality=cardinality)


def same(a: Any, b: Any, value_type: ValueType | None = None) -> bool:
    return normalise(a, policy(value_type)) == normalise(b, policy(value_type))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("0.78", "0.92"),
        ("100 rps", "200 rps"),
        ("October 15th", "October 16th"),
        ("deployment is allowed", "deployment is not allowed"),
        ("enabled", "disabled"),
        ("PR #260", "PR #480"),
        ("purple", "cyan"),
        ("resume", "résumé"),
        ("green tea", "greentea"),
        ("は", "ば"),
        ("0.78", 0.78),
        ("true", True),
        (True, 1),
        (False, 0),
        ([True], [1]),
        (0.78, 0.92),
        (0.1 + 0.2, 0.3),
        (1, -1),
        (10**30 + 1, 10**30 + 2),
        (12345678901234567890123456789012345, 12345678901234567890123456789012346),
        (2**53 + 1, float(2**53)),
        (1e-300, 0),
        ([1, 2], [2, 1]),
        ([1], 1),
        ([[1], 2], [1, [2]]),
        (["a", "b"], ["a b"]),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 1}),
        ({"a": 1}, ["a", 1]),
        ({}, []),
        ([], ""),
        ({"phone": None}, {}),
        ({"phone": None}, {"phone": "null"}),
        ({"phone": None}, {"phone": "None"}),
        (1, ["number", "1e0"]),
        (0, ["number", "0"]),
        ([2], [["number", "2e0"]]),
    ],
    ids=ascii,
)
def test_different_values_are_never_the_same(a: Any, b: Any) -> None:
    assert not same(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (100, 100.0),
        (0.78, 78e-2),
        (-0.0, 0),
        (10**23, 1e23),
        ("Green  Tea", "green tea"),
        (" green\u00a0tea\n", "green\ttea"),
        ("Ａｃｍｅ　１２", "acme 12"),
        ("ﬁne", "FINE"),
        ("Straße", "STRASSE"),
        ("é", "e\u0301"),
        ("É", "e\u0301"),
        ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
        ("ﾃｽﾄ", "テスト"),
        ("ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς"),
        ("πρωτεΐνη", "ΠΡΩΤΕΪ\u0301ΝΗ"),
        ([100, "A"], (100.0, "a")),
        ({"a": 1, "b": "X"}, {"b": "x", "a": 1.0}),
    ],
    ids=ascii,
)
def test_equal_values_are_the_same_however_they_are_written(a: Any, b: Any) -> None:
    assert same(a, b)


@thorough
@given(st.integers(-(2**53), 2**53))
def test_a_whole_number_is_the_same_as_integer_float_and_text_under_a_number_policy(number: int) -> None:
    assert same(number, float(number))
    assert same(number, str(number), ValueType.NUMBER)
    assert same(float(number), f" {number}.00e0 ", ValueType.NUMBER)


DECIMALS = st.decimals(allow_nan=False, allow_infinity=False)


@st.composite
def two_decimals(draw: st.DrawFn) -> tuple[Decimal, Decimal]:
    """Any two, the same one written with more digits, or two that differ in the last digit only."""
    first = draw(DECIMALS)
    sign, digits, exponent = first.as_tuple()
    assert isinstance(exponent, int)
    longer = Decimal((sign, (*digits, 0), exponent - 1))
    beside = Decimal((sign, (*digits[:-1], (digits[-1] + 1) % 10), exponent))
    return first, draw(st.one_of(DECIMALS, st.just(longer), st.just(beside)))


@thorough
@given(two_decimals())
def test_numbers_are_the_same_exactly_when_their_decimals_are_equal(pair: tuple[Decimal, Decimal]) -> None:
    a, b = pair
    assert same(str(a), str(b), ValueType.NUMBER) == (a == b)


@thorough
@given(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 2))
def test_floats_are_the_same_exactly_when_they_are_equal(pair: tuple[float, float]) -> None:
    a, b = pair
    assert same(a, b) == (a == b)


WORDS = st.sampled_from(["number", "1e0", "0", "2e0", "date", "true", "none", "null", ""])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.integers(0, 2) | st.sampled_from([0.0, 1.0, 0.5]) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)


def spelled(value: Any) -> object:
    """The naive model: a value beside the name of its kind."""
    match value:
        case bool() | str():
            return (type(value).__name__, value)
        case int() | float():
            return ("number", Decimal(value))
        case list():
            return ("list", tuple(map(spelled, value)))
        case _:
            return ("object", frozenset((key, spelled(item)) for key, item in value.items()))


@thorough
@given(VALUES, VALUES)
def test_json_values_are_the_same_exactly_when_kind_and_content_are(a: Any, b: Any) -> None:
    assert same(a, b) == (spelled(a) == spelled(b))


@pytest.mark.parametrize(
    ("value_type", "a", "b"),
    [
        (ValueType.NUMBER, "0.78", 0.78),
        (ValueType.NUMBER, " 7.8E-1 ", 0.78),
        (ValueType.NUMBER, "+1e2", 100),
        (ValueType.NUMBER, "-0.0", 0),
        (ValueType.NUMBER, "１００", 100),
        (ValueType.DATE, " 2027-01-15 ", "2027-01-15"),
        (ValueType.BOOLEAN, True, True),
        (ValueType.TEXT, "Green  Tea", "green tea"),
        (ValueType.LIST, ["A"], ("a",)),
        (ValueType.SUBJECT, "contact_1842", "contact_1842"),
    ],
)
def test_a_declared_type_decides_what_is_the_same(value_type: ValueType, a: Any, b: Any) -> None:
    assert same(a, b, value_type)


@pytest.mark.parametrize(
    ("value_type", "a", "b"),
    [
        (ValueType.NUMBER, "0.78", "0.92"),
        (ValueType.NUMBER, "0.3", 0.1 + 0.2),
        (ValueType.DATE, "2027-10-15", "2027-10-16"),
        (ValueType.BOOLEAN, True, False),
        (ValueType.SUBJECT, "contact_1842", "Contact_1842"),
        (ValueType.SUBJECT, "acme", "acme "),
    ],
)
def test_a_declared_type_keeps_different_values_apart(value_type: ValueType, a: Any, b: Any) -> None:
    assert not same(a, b, value_type)


OTHER_TYPES: dict[ValueType, list[Any]] = {
    ValueType.NUMBER: ["100 rps", "", "nan", "sNaN", "-Infinity", "0x10", "1,5", True, [1], {}],
    ValueType.DATE: [
        "2027-02-30",
        "15 Jan 2027",
        "2027",
        "2027-01-15T09:00:00",
        "0000-01-01",
        "12027-01-15",
        "",
        7,
        True,
    ],
    ValueType.BOOLEAN: [1, 0, "true", [True]],
    ValueType.SUBJECT: ["", " ", 7, ["acme"], "x" * 257],
    ValueType.LIST: ["ab", {"a": 1}, 1],
    ValueType.TEXT: [1, True, ["a"], {"a": "b"}],
}


@pytest.mark.parametrize(
    ("value_type", "value"),
    [(value_type, value) for value_type, values in OTHER_TYPES.items() for value in values],
    ids=ascii,
)
def test_a_value_of_another_type_than_declared_is_refused(value_type: ValueType, value: Any) -> None:
    with pytest.raises(InvalidInput):
        require_value(value, policy(value_type))


NOT_JSON: list[Any] = [None, float("nan"), float("inf"), -float("inf"), b"x", {1, 2}, 10**5000]


def kind(value: object) -> str:
    return type(value).__name__


@pytest.mark.parametrize("value_type", [None, *ValueType])
@pytest.mark.parametrize("value", NOT_JSON, ids=kind)
def test_what_json_cannot_hold_is_refused_whatever_is_declared(value_type: ValueType | None, value: Any) -> None:
    with pytest.raises(InvalidInput):
        require_value(value, policy(value_type))


def circle() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "value", [[float("nan")], {"a": [float("inf")]}, {"a": {1, 2}}, [b"x"], circle(), {(1, 2): "a"}, "x" * 300_000]
)
def test_what_json_cannot_hold_is_refused_at_any_depth(value: Any) -> None:
    with pytest.raises(InvalidInput):
        require_value(value, DEFAULT_POLICY)


@pytest.mark.parametrize("bad", ["\x00", "a\x00b", "\ud800", "\udfff tail"])
@pytest.mark.parametrize(
    "wrap",
    [lambda s: s, lambda s: [s], lambda s: {"a": s}, lambda s: {s: "a"}, lambda s: [{"a": [{"b": (s,)}]}]],
    ids=["bare", "in a list", "in an object", "as a key", "deep"],
)
def test_text_that_postgresql_cannot_hold_is_refused_at_any_depth(bad: str, wrap: Callable[[str], Any]) -> None:
    with pytest.raises(InvalidText):
        require_value(wrap(bad), DEFAULT_POLICY)


@pytest.mark.parametrize(
    "value",
    [
        0, -0.0, False, "a", "\U0001f469\u200d\U0001f469", 10**400,
        [], {}, [[]], {"a": [{"b": 1.5}]}, {"phone": None}, [None],
    ],
)  # fmt: skip
def test_plain_json_is_kept_as_it_is(value: Any) -> None:
    assert require_value(value, DEFAULT_POLICY) is value


def nested(layers: int, *, in_objects: bool) -> Any:
    value: Any = 1
    for _ in range(layers):
        value = {"a": value} if in_objects else [value]
    return value


def stored(value: Any) -> bool:
    try:
        require_value(value, DEFAULT_POLICY)
    except InvalidInput:
        return False
    return True


@pytest.mark.parametrize("in_objects", [False, True], ids=["lists", "objects"])
def test_nesting_is_stored_up_to_some_depth_and_refused_with_a_code_beyond_it(in_objects: bool) -> None:
    depths = (10, 200, 320, 480, 500, 700, 900, 960, 980, 1_000, 2_000, 100_000)
    fits = [stored(nested(depth, in_objects=in_objects)) for depth in depths]
    assert fits == sorted(fits, reverse=True)
    assert fits[0]
    assert not fits[-1]


def slot(
    value: Any = "x", cardinality: Cardinality = Cardinality.ONE, *, subject: str = "contact_1842",
    predicate: str = "contact_order", scope: str = "renewal/2027", value_type: ValueType | None = None,
) -> str:  # fmt: skip
    return str(slot_of(subject, predicate, scope, value, policy(value_type, cardinality)))


def test_one_value_at_a_time_means_one_slot_for_all_values() -> None:
    assert slot("call first") == slot("summary first") == slot(7)


def test_many_values_have_a_slot_each_and_equal_ones_share_it() -> None:
    many = Cardinality.MANY
    assert len({slot(value, many) for value in ("French", "German", 1, "1", True)}) == 5
    assert slot("French", many) == slot(" FRENCH ", many)
    assert slot(100, many) == slot(1e2, many)
    assert slot("0.78", many, value_type=ValueType.NUMBER) == slot(0.78, many, value_type=ValueType.NUMBER)


def test_subject_predicate_scope_and_cardinality_keep_slots_apart() -> None:
    names = ["", "a", "b", "a/b", 'a", "b']
    placed = [
        slot("x", cardinality, subject=subject, predicate=predicate, scope=scope)
        for subject, predicate, scope in itertools.product(names, repeat=3)
        for cardinality in Cardinality
    ]
    assert len(set(placed)) == len(placed)


def test_slots_are_the_same_in_every_release() -> None:
    """Stored claims carry them."""
    assert slot() == "43077b9a-3f60-1b05-2146-d825f2561c16"


@pytest.mark.parametrize(
    ("value", "scope", "sentence"),
    [
        ("call first", "renewal/2027", "contact_1842 contact order: call first (renewal/2027)"),
        (0.78, "", "contact_1842 contact order: 0.78"),
        (["电话", True], "", 'contact_1842 contact order: ["电话", true]'),
    ],
)
def test_a_claim_without_words_gets_a_sentence_that_says_value_and_scope(value: Any, scope: str, sentence: str) -> None:
    assert default_statement("contact_1842", "contact_order", value, scope) == sentence
