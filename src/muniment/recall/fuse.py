"""Bringing the routes together: scores are standardised within one question and summed.

Ranks alone throw away how much better the first hit is than the second; raw scores of different routes do not compare.
What only one route found counts as that route's weakest hit in the others, so a double hit is never behind the same
hits found singly.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from statistics import fmean, pstdev
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def fuse(routes: Mapping[str, Mapping[K, float]]) -> dict[K, float]:
    """The fused score of every key that any route scored; higher is better."""
    standardised = [_standardise(scores) for scores in routes.values() if scores]
    keys = {key for scores, _ in standardised for key in scores}
    return {key: sum(scores.get(key, floor) for scores, floor in standardised) for key in keys}


def _standardise(scores: Mapping[K, float]) -> tuple[dict[K, float], float]:
    """Standardised scores, and what a key that the route did not find counts as. Hits that all score the same, a
    single one above all, count one standard deviation more than what was not found."""
    mean, spread = fmean(scores.values()), pstdev(scores.values())
    if spread == 0:
        return dict.fromkeys(scores, 1.0), 0.0
    found = {key: (score - mean) / spread for key, score in scores.items()}
    return found, min(found.values())
