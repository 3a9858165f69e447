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
    standardised = {name: _standardise(scores) for name, scores in routes.items() if scores}
    floors = {name: min(scores.values()) for name, scores in standardised.items()}
    keys = {key for scores in standardised.values() for key in scores}
    return {key: sum(scores.get(key, floors[name]) for name, scores in standardised.items()) for key in keys}


def _standardise(scores: Mapping[K, float]) -> dict[K, float]:
    mean, spread = fmean(scores.values()), pstdev(scores.values())
    return {key: (score - mean) / spread if spread > 0 else 1.0 for key, score in scores.items()}
