"""What is left of each claim once its rivals and its premises are taken into account. Pure.

The rules, for claims that share a slot (one value at a time):
- a claim can hold only where it was asserted and while all its premises hold: its *supported* part;
- from the first moment of that part it takes over from every claim that started earlier, for as long as it asserts;
- what is left is its validity. A claim whose premises leave it nothing is unsupported, and takes over from nobody.

Settling is a function of what was asserted, so taking a claim away brings back what it had superseded.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from muniment.errors import CyclicPremises
from muniment.time import Intervals, Ordered

K = TypeVar("K")
T = TypeVar("T", bound=Ordered)


@dataclass(frozen=True, slots=True)
class Assertion(Generic[K, T]):
    """One live claim: what it asserts, what it rests on, and what takes over from it.

    `slot` and `order`: of the claims of one slot, each takes over from those of lower order. `superseded_by` names
    further ones, by explicit links.
    """

    asserted: Intervals[T]
    premises: Collection[K] = ()
    superseded_by: Collection[K] = ()
    slot: Hashable = None
    order: Any = None


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
            taken: Intervals[T] = Intervals()
            for key in line:
                valid[key] = supported[key] - taken
                taken = taken | _takes_over(claims[key], supported[key])
        for key, claim in claims.items():
            for rival in claim.superseded_by:
                valid[key] = valid[key] - _takes_over(claims[rival], supported[rival])
        if valid == previous:
            return {key: Settled(valid[key], supported[key]) for key in claims}
    raise CyclicPremises("these claims rest on each other in a circle; name other premises")


def _latest_first(claims: Mapping[K, Assertion[K, T]]) -> list[list[K]]:
    """The claims of each slot, the one that takes over from all others first; a claim without a slot stands alone."""
    slots: dict[Hashable, list[K]] = {}
    alone = []
    for key, claim in claims.items():
        if claim.slot is None:
            alone.append([key])
        else:
            slots.setdefault(claim.slot, []).append(key)
    return alone + [sorted(line, key=lambda key: claims[key].order, reverse=True) for line in slots.values()]


def _supported(
    claim: Assertion[K, T], valid: Mapping[K, Intervals[T]], fixed: Mapping[K, Intervals[T]]
) -> Intervals[T]:
    left = claim.asserted
    for premise in claim.premises:
        left = left & (valid[premise] if premise in valid else fixed.get(premise, Intervals()))
    return left


def _takes_over(claim: Assertion[K, T], supported: Intervals[T]) -> Intervals[T]:
    return claim.asserted.since(supported.start) if supported else Intervals()
