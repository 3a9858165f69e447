"""Settling against the rules read moment by moment: who holds at this moment, asked of each claim in turn."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from muniment.errors import CyclicPremises
from muniment.promote.settle import Assertion, Settled, settle
from muniment.time import Intervals
from tests.unit.moments import LAST, MOMENTS, SPANS, Model, Span, intervals, model_of, spans_of

thorough = settings(max_examples=80, deadline=None)


@dataclass(frozen=True)
class Told:
    """A claim as a test tells it: where it belongs, what it asserts, what it rests on."""

    slot: int
    spans: tuple[Span, ...]
    premises: frozenset[str] = frozenset()

    @property
    def asserted(self) -> Model:
        return model_of(self.spans)


@dataclass(frozen=True)
class World:
    """Claims by name (names order claims that start together), and what holds outside of them."""

    claims: dict[str, Told]
    fixed: dict[str, tuple[Span, ...]] = field(default_factory=dict)

    def later(self, name: str) -> list[str]:
        """The rivals of a claim that started after it."""
        mine = self.claims[name]
        return [
            other for other, told in self.claims.items()
            if told.slot == mine.slot and (min(told.asserted), other) > (min(mine.asserted), name)
        ]  # fmt: skip

    def settled(self) -> dict[str, Settled[int]]:
        assertions = {
            name: Assertion(intervals(told.spans), told.premises, self.later(name))
            for name, told in self.claims.items()
        }
        return settle(assertions, {name: intervals(spans) for name, spans in self.fixed.items()})

    def without(self, name: str) -> World:
        return World({other: told for other, told in self.claims.items() if other != name}, self.fixed)


def holding(world: World) -> dict[str, tuple[Model, Model]]:
    """The naive model: each claim's valid and supported moments, by the rules, where no claim rests on itself."""

    @cache
    def supported(name: str, moment: int) -> bool:
        told = world.claims[name]
        return moment in told.asserted and all(true(premise, moment) for premise in told.premises)

    def true(premise: str, moment: int) -> bool:
        if premise in world.claims:
            return valid(premise, moment)
        return moment in model_of(world.fixed.get(premise, ()))

    def takes_over(rival: str, moment: int) -> bool:
        begun = any(supported(rival, earlier) for earlier in MOMENTS if earlier <= moment)
        return begun and moment in world.claims[rival].asserted

    @cache
    def valid(name: str, moment: int) -> bool:
        return supported(name, moment) and not any(takes_over(rival, moment) for rival in world.later(name))

    return {
        name: (
            frozenset(moment for moment in MOMENTS if valid(name, moment)),
            frozenset(moment for moment in MOMENTS if supported(name, moment)),
        )
        for name in world.claims
    }


def models(settled: Mapping[str, Settled[int]]) -> dict[str, tuple[Model, Model]]:
    return {name: (model(found.valid), model(found.supported)) for name, found in settled.items()}


def model(value: Intervals[int]) -> Model:
    return model_of(spans_of(value))


OUTSIDE = ["x", "y", "missing"]


@st.composite
def worlds(draw: st.DrawFn, *, circles: bool = False, slots: int = 3) -> World:
    """Rivals in a few slots, with premises across them. A claim rests on others of lower slots or on later rivals of
    its own, so that nothing leads back to it; with `circles`, on any others."""
    spans = st.lists(SPANS, min_size=1, max_size=2).map(tuple)
    count = draw(st.integers(1, 7))
    bare = [Told(draw(st.integers(0, slots - 1)), draw(spans)) for _ in range(count)]
    names = draw(st.permutations("abcdefg"[:count]))
    claims = dict(zip(names, bare, strict=True))
    by_rank = sorted(claims, key=lambda name: (claims[name].slot, -min(claims[name].asserted), -ord(name)))
    for rank, name in enumerate(by_rank):
        others = [other for other in names if other != name] if circles else by_rank[:rank]
        premises = draw(st.frozensets(st.sampled_from([*others, *OUTSIDE]), max_size=2))
        claims[name] = Told(claims[name].slot, claims[name].spans, premises if draw(st.booleans()) else frozenset())
    return World(claims, {"x": draw(spans), "y": draw(spans)})


@settings(max_examples=200, deadline=None)
@given(worlds())
def test_settling_follows_the_rules_at_every_moment(world: World) -> None:
    assert models(world.settled()) == holding(world)


@thorough
@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_in_which_claims_are_given_does_not_matter(world: World, chance: random.Random) -> None:
    shuffled = list(world.claims.items())
    chance.shuffle(shuffled)
    assert World(dict(shuffled), world.fixed).settled() == world.settled()


@thorough
@given(worlds(circles=True))
def test_no_two_claims_of_a_slot_hold_at_one_moment(world: World) -> None:
    try:
        settled = world.settled()
    except CyclicPremises:
        assume(False)
    holders = [(world.claims[name].slot, moment) for name, found in settled.items() for moment in model(found.valid)]
    assert len(holders) == len(set(holders))


@thorough
@given(worlds(slots=1))
def test_without_premises_the_last_started_of_those_who_assert_it_holds_a_moment(world: World) -> None:
    bare = World({name: Told(told.slot, told.spans) for name, told in world.claims.items()})
    settled = bare.settled()
    for moment in MOMENTS:
        asserting = [name for name, told in bare.claims.items() if moment in told.asserted]
        last = max(asserting, key=lambda name: (min(bare.claims[name].asserted), name), default=None)
        assert [name for name, found in settled.items() if moment in model(found.valid)] == ([last] if last else [])


@thorough
@given(worlds(slots=1), st.data())
def test_removing_a_claim_brings_back_what_it_superseded(world: World, data: st.DataObject) -> None:
    """Where no claim rests on the removed one, the others lose nothing, and gain only what it had asserted."""
    world = World({
        name: Told(told.slot, told.spans, told.premises - world.claims.keys()) for name, told in world.claims.items()
    }, world.fixed)  # fmt: skip
    gone = data.draw(st.sampled_from(sorted(world.claims)))
    before, after = models(world.settled()), models(world.without(gone).settled())
    for name, (valid, supported) in after.items():
        assert valid >= before[name][0]
        assert supported == before[name][1]
        assert valid - before[name][0] <= world.claims[gone].asserted


@thorough
@given(worlds(), st.data())
def test_a_claim_whose_premise_never_holds_might_as_well_not_be_there(world: World, data: st.DataObject) -> None:
    dead = data.draw(st.sampled_from(sorted(world.claims)))
    told = world.claims[dead]
    unsupported = Told(told.slot, told.spans, told.premises | {"missing"})
    settled = World({**world.claims, dead: unsupported}, world.fixed).settled()
    assert settled.pop(dead) == Settled(Intervals(), Intervals())
    assert settled == world.without(dead).settled()


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        ((1, 12), (3, 4), [(1, 3), (4, 12)]),
        ((1, None), (5, None), [(1, 5)]),
        ((1, 5), (5, 9), [(1, 5)]),
        ((1, 5), (7, 9), [(1, 5)]),
        ((None, None), (5, None), [(None, 5)]),
        ((None, 9), (2, 4), [(None, 2), (4, 9)]),
    ],
)
def test_the_earlier_claim_stays_true_for_its_own_period(old: Span, new: Span, left: list[Span]) -> None:
    settled = World({"old": Told(0, (old,)), "new": Told(0, (new,))}).settled()
    assert spans_of(settled["old"].valid) == left
    assert spans_of(settled["old"].supported) == [old]
    assert spans_of(settled["new"].valid) == [new]


def test_three_changes_are_three_periods_whatever_order_they_arrived_in() -> None:
    claims = {"coffee": (1, None), "tea": (5, None), "coffee again": (8, None)}
    told = {name: Told(0, (span,)) for name, span in reversed(claims.items())}
    valid = {name: spans_of(found.valid) for name, found in World(told).settled().items()}
    assert valid == {"coffee": [(1, 5)], "tea": [(5, 8)], "coffee again": [(8, None)]}
    told.pop("tea")
    assert spans_of(World(told).settled()["coffee"].valid) == [(1, 8)]


def test_what_rests_on_a_claim_ends_with_it_and_what_that_had_ended_comes_back_no_earlier() -> None:
    world = World({
        "home in Kyoto": Told(0, ((1, None),)), "home in Lyon": Told(0, ((6, None),)),
        "commute of an hour": Told(1, ((0, None),)),
        "commute of 20 minutes": Told(1, ((2, None),), frozenset({"home in Kyoto"})),
    })  # fmt: skip
    settled = world.settled()
    assert spans_of(settled["commute of 20 minutes"].valid) == [(2, 6)]
    # The later commute still asserts itself, so the earlier one is not taken for true again: unknown since 6.
    assert spans_of(settled["commute of an hour"].valid) == [(0, 2)]


def test_a_claim_that_is_supported_late_takes_over_only_from_then() -> None:
    world = World(
        {"old": Told(0, ((1, None),)), "new": Told(0, ((3, None),), frozenset({"x"}))}, {"x": ((5, 7),)}
    )  # fmt: skip
    settled = world.settled()
    assert spans_of(settled["old"].valid) == [(1, 5)]
    assert spans_of(settled["new"].valid) == [(5, 7)]


@thorough
@given(worlds(circles=True))
def test_circles_of_premises_settle_by_the_rules_or_are_named(world: World) -> None:
    try:
        settled = world.settled()
    except CyclicPremises:
        return
    true = {name: model_of(spans) for name, spans in world.fixed.items()}
    true |= {name: model(found.valid) for name, found in settled.items()}
    for name, told in world.claims.items():
        supported = told.asserted.intersection(*(true.get(premise, frozenset()) for premise in told.premises))
        assert model(settled[name].supported) == supported
        lost = set()
        for rival in world.later(name):
            begun = model(settled[rival].supported)
            lost |= {moment for moment in world.claims[rival].asserted if begun and moment >= min(begun)}
        assert true[name] == supported - lost


def test_a_claim_that_would_end_its_own_premise_never_settles() -> None:
    claims = {
        "home": Told(0, ((1, None),)), "move": Told(0, ((5, None),), frozenset({"plan"})),
        "plan": Told(1, ((1, None),), frozenset({"home"})),
    }  # fmt: skip
    with pytest.raises(CyclicPremises):
        World(claims).settled()
    # The same circle is harmless while the move begins after the plan is over.
    claims["plan"] = Told(1, ((1, 5),), frozenset({"home"}))
    assert spans_of(World(claims).settled()["home"].valid) == [(1, None)]


@pytest.mark.parametrize("step", [1, -1], ids=["premises first", "premises last"])
def test_a_long_chain_of_premises_reaches_its_end(step: int) -> None:
    names = [f"{number:02}" for number in range(30)]
    chain = {name: Told(slot, ((0, None),), frozenset({f"{slot - 1:02}"})) for slot, name in enumerate(names)}
    chain["00"] = Told(0, ((2, 5),))
    settled = World({name: chain[name] for name in names[::step]}).settled()
    assert {tuple(spans_of(found.valid)) for found in settled.values()} == {((2, 5),)}


def test_a_large_circle_is_named_quickly() -> None:
    names = [f"{number:02}" for number in range(40)]
    ring = {
        name: Told(0, ((min(number, LAST - 1), None),), frozenset({names[(number + 7) % len(names)]}))
        for number, name in enumerate(names)
    }
    begun = time.perf_counter()
    with pytest.raises(CyclicPremises):
        World(ring).settled()
    assert time.perf_counter() - begun < 5


def test_nothing_settles_to_nothing() -> None:
    assert settle({}, {}) == {}
