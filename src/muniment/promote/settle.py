"""What is left of each claim once its rivals and its premises are taken into account. Pure.

The rules, for claims that share a slot (one value at a time):
- a claim can hold only where it was asserted and while all its premises hold: its *supported* part;
- from the first moment of that part it takes over from every claim that started earlier, for as long as it asserts;
- what is left is its validity. A claim whose premises leave it nothing is unsupported, and takes over from nobody.

Settling is a function of what was asserted, so taking a claim away brings back what it had superseded.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from muniment.errors import CyclicPremises
from muniment.time import Intervals, Ordered

K = TypeVar("K")
T = TypeVar("T", bound=Ordered)


@dataclass(frozen=True, slots=True)
class Turned(Generic[T]):
    """One time that a claim was asserted: its place among its rivals, and from when it says that it holds."""

    order: Any
    start: T | None


@dataclass(frozen=True, slots=True)
class Assertion(Generic[K, T]):
    """One live claim: what it asserts, what it rests on, and what takes over from it.

    `slot` and `turns`: of everything asserted in one slot, each takes over from what has a lower order; a claim that
    was asserted again takes over again from then on. `superseded_by` names further claims, by explicit links.
    """

    asserted: Intervals[T]
    premises: Collection[K] = ()
    superseded_by: Collection[K] = ()
    slot: Hashable = None
    turns: Sequence[Turned[T]] = ()


@dataclass(frozen=True, slots=True)
class Settled(Generic[T]):
    """What is left of a claim (`valid`), and what its premises alone would leave it (`supported`)."""

    valid: Intervals[T]
    supported: Intervals[T]


def settle(claims: Mapping[K, Assertion[K, T]], fixed: Mapping[K, Intervals[T]]) -> dict[K, Settled[T]]:
    """Settles every claim in `claims`. `fixed` holds the validity of premises outside of them; a premise in
    neither holds never. Raises `CyclicPremises` when the claims never settle."""
    supported = {key: claim.asserted for key, claim in claims.items()}
    valid = dict(supported)
    lines = _latest_first(claims)
    for _ in range(2 * len(claims) + 2):
        previous = dict(valid)
        for key, claim in claims.items():
            supported[key] = _supported(claim, valid, fixed)
        for line in lines:
            _share(line, claims, supported, valid)
        for key, claim in claims.items():
            for rival in claim.superseded_by:
                valid[key] = valid[key] - _takes_over(claims[rival].asserted, supported[rival])
        if valid == previous:
            return {key: Settled(valid[key], supported[key]) for key in claims}
    raise CyclicPremises("these claims rest on each other in a circle; name other premises")


def _latest_first(claims: Mapping[K, Assertion[K, T]]) -> list[list[tuple[Turned[T], K]]]:
    """What was asserted in each slot, what takes over from all the rest first; a claim without a slot stands alone."""
    slots: dict[Hashable, list[tuple[Turned[T], K]]] = {}
    alone: list[list[tuple[Turned[T], K]]] = []
    for key, claim in claims.items():
        if claim.slot is None:
            alone.append([(Turned(None, None), key)])
        else:
            slots.setdefault(claim.slot, []).extend((turn, key) for turn in claim.turns)
    return alone + [sorted(line, key=lambda item: item[0].order, reverse=True) for line in slots.values()]


def _share(
    line: Sequence[tuple[Turned[T], K]], claims: Mapping[K, Assertion[K, T]], supported: Mapping[K, Intervals[T]],
    valid: dict[K, Intervals[T]],
) -> None:  # fmt: skip
    """Gives each moment of a slot to the claim that was asserted for it with the highest order."""
    for _, key in line:
        valid[key] = Intervals()
    taken: Intervals[T] = Intervals()
    for turn, key in line:
        said = claims[key].asserted.since(turn.start)
        valid[key] = valid[key] | ((supported[key] & said) - taken)
        taken = taken | _takes_over(said, supported[key])


def _supported(
    claim: Assertion[K, T], valid: Mapping[K, Intervals[T]], fixed: Mapping[K, Intervals[T]]
) -> Intervals[T]:
    left = claim.asserted
    for premise in claim.premises:
        left = left & (valid[premise] if premise in valid else fixed.get(premise, Intervals()))
    return left


def _takes_over(said: Intervals[T], supported: Intervals[T]) -> Intervals[T]:
    """What the claim takes from others: all that it says, from the first moment on at which it was itself supported."""
    return said.since(supported.start) if supported else Intervals()
