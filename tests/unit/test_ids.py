"""Identifiers sort by when they were made, and what is no identifier names nothing."""

from __future__ import annotations

import itertools
from typing import Any
from uuid import UUID

import pytest

from muniment.errors import NotFound
from muniment.model.ids import new_id, parse_id


def test_ids_made_one_after_the_other_sort_in_that_order() -> None:
    """Claims that start together are ordered by them."""
    made = [new_id() for _ in range(5000)]
    assert all(before.bytes < after.bytes for before, after in itertools.pairwise(made))
    assert {each.version for each in made} == {7}


def test_an_id_is_read_back_from_its_text() -> None:
    made = new_id()
    assert parse_id(str(made), what="claim") == parse_id(made, what="claim") == made
    assert type(made) is UUID


@pytest.mark.parametrize("value", ["", "latest", "123", "*", "%", None, 7, b"x", ["a"]])
def test_what_is_no_id_names_nothing(value: Any) -> None:
    with pytest.raises(NotFound, match="claim"):
        parse_id(value, what="claim")
