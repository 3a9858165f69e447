"""What two routes found, in one order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.recall.fuse import fuse

SCORES = st.floats(-1000, 1000, allow_nan=False)
FOUND = st.dictionaries(st.sampled_from("abcdef"), SCORES, max_size=6)
ROUTES = st.dictionaries(st.sampled_from(["lexical", "semantic", "graph"]), FOUND, max_size=3)
thorough = settings(max_examples=100, deadline=None)


@thorough
@given(ROUTES)
def test_everything_that_a_route_found_is_fused_and_nothing_else(routes: dict[str, dict[str, float]]) -> None:
    assert fuse(routes).keys() == {key for scores in routes.values() for key in scores}


@thorough
@given(FOUND, FOUND, SCORES, SCORES, st.booleans())
def test_a_double_hit_is_never_behind_the_same_hit_found_once(
    one: dict[str, float], other: dict[str, float], score: float, extra: float, swapped: bool
) -> None:
    routes = {"lexical": {**one, "double": score, "single": score}, "semantic": {**other, "double": extra}}
    fused = fuse(dict(reversed(routes.items())) if swapped else routes)
    assert fused["double"] >= fused["single"]


def test_what_a_route_did_not_find_counts_as_its_weakest_hit() -> None:
    fused = fuse({"lexical": {"a": 5.0, "b": 5.0, "c": 1.0}, "semantic": {"a": 0.2, "c": 0.9}})
    assert fused["a"] == fused["b"]


@thorough
@given(FOUND, FOUND, st.tuples(SCORES, SCORES), st.tuples(SCORES, SCORES))
def test_what_is_better_in_every_route_is_not_behind(
    one: dict[str, float], other: dict[str, float], first: tuple[float, float], second: tuple[float, float]
) -> None:
    better, worse = (max(first), max(second)), (min(first), min(second))
    fused = fuse({
        "lexical": {**one, "better": better[0], "worse": worse[0]},
        "semantic": {**other, "better": better[1], "worse": worse[1]},
    })  # fmt: skip
    assert fused["better"] >= fused["worse"]


@thorough
@given(FOUND.filter(bool))
def test_one_route_keeps_its_own_order(scores: dict[str, float]) -> None:
    fused = fuse({"lexical": scores})
    assert all(fused[a] >= fused[b] for a in scores for b in scores if scores[a] >= scores[b])


@thorough
@given(ROUTES)
def test_a_route_that_found_nothing_changes_nothing(routes: dict[str, dict[str, float]]) -> None:
    assert fuse({**routes, "corpus": {}}) == fuse(routes)


@thorough
@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(-50, 50), min_size=1),
    FOUND, st.sampled_from([0.125, 3, 1000]), st.integers(-50, 50),
)  # fmt: skip
def test_the_scale_of_a_route_does_not_matter(
    scores: dict[str, int], other: dict[str, float], factor: float, shift: int
) -> None:
    plain: dict[str, dict[str, float]] = {"lexical": dict(scores), "semantic": other}
    scaled = {**plain, "lexical": {key: score * factor + shift for key, score in scores.items()}}
    assert fuse(scaled) == pytest.approx(fuse(plain), abs=1e-6)


def test_how_much_better_a_hit_is_counts_and_not_only_that_it_is() -> None:
    lexical = {"exact": 30.0, "vague": 2.0, "vaguer": 1.9, "vaguest": 1.8}
    semantic = {"vague": 0.62, "exact": 0.61, "vaguer": 0.30, "vaguest": 0.29}
    fused = fuse({"lexical": lexical, "semantic": semantic})
    assert max(fused, key=lambda key: fused[key]) == "exact"


@pytest.mark.parametrize("routes", [{}, {"lexical": {}}, {"lexical": {}, "semantic": {}}])
def test_nothing_found_is_nothing_fused(routes: dict[str, dict[str, float]]) -> None:
    assert fuse(routes) == {}


@pytest.mark.parametrize("score", [0.0, -3.5, 7.0, 0.1, 1e-300])
def test_a_single_result_and_equal_results_are_fused_without_a_spread(score: float) -> None:
    assert fuse({"lexical": {"a": score}}).keys() == {"a"}
    assert len(set(fuse({"lexical": dict.fromkeys("abc", score)}).values())) == 1
    both = fuse({"lexical": dict.fromkeys("abc", score), "semantic": {"a": 0.9, "b": 0.5}})
    assert both["a"] > both["b"] >= both["c"]
