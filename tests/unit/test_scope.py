"""Scopes are paths: what is refused as one, what lies inside what."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.errors import BadScope
from muniment.model.scope import EVERYWHERE, covering, covers, depth, parse_scope

PATHS = st.lists(st.sampled_from(["a", "ab", "b"]), max_size=4).map(tuple)


@pytest.mark.parametrize("scope", ["", "renewal", "renewal/2027", "a b/c d", "更新/2027", "x" * 256, "a/" * 127 + "ab"])
def test_a_clean_path_is_a_scope(scope: str) -> None:
    assert parse_scope(scope) == scope


@pytest.mark.parametrize(
    "scope",
    [
        "/", "/renewal", "renewal/", "renewal//2027", " ", " renewal", "renewal ", "renewal/ 2027", "renewal /2027",
        "renewal\n", "\u3000renewal", "renewal/\t", "re\x00newal", "\ud800", "a/\udfff", "x" * 257, "更" * 86,
        None, 7, b"renewal", ["renewal"],
    ],
)  # fmt: skip
def test_anything_else_is_refused(scope: Any) -> None:
    with pytest.raises(BadScope):
        parse_scope(scope)


@settings(max_examples=200, deadline=None)
@given(PATHS, PATHS)
def test_a_scope_covers_the_paths_that_begin_with_its_segments(outer: tuple[str, ...], inner: tuple[str, ...]) -> None:
    inside = inner[: len(outer)] == outer
    assert covers("/".join(outer), "/".join(inner)) == inside
    assert ("/".join(outer) in covering("/".join(inner))) == inside


@settings(max_examples=50, deadline=None)
@given(PATHS)
def test_depth_counts_the_segments_and_the_most_specific_scope_comes_first(path: tuple[str, ...]) -> None:
    assert depth("/".join(path)) == len(path)
    assert [depth(scope) for scope in covering("/".join(path))] == list(range(len(path), -1, -1))


@pytest.mark.parametrize(
    ("outer", "inner", "inside"),
    [
        (EVERYWHERE, "renewal/2027", True),
        ("renewal", "renewal/2027", True),
        ("renewal/2027", "renewal/2027", True),
        ("renewal/2027", "renewal", False),
        ("renewal", EVERYWHERE, False),
        ("renewal", "renewals/2027", False),
        ("renewal", "Renewal/2027", False),
        ("renewa_", "renewal/2027", False),
        ("%", "renewal", False),
        ("2027", "renewal/2027", False),
    ],
)
def test_names_that_share_letters_or_look_like_patterns_cover_nothing(outer: str, inner: str, inside: bool) -> None:
    assert covers(outer, inner) is inside
