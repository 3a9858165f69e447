"""Recipes: how each derivation is made. The hash of a recipe covers everything that could change its output."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from muniment.derive.chunks import MAX_CHARACTERS, MIN_CHARACTERS
from muniment.errors import EmbeddingDimension
from muniment.model.payload import Recipe
from muniment.providers.embedder import Embedder
from muniment.store.database import Database
from muniment.store.statements import sql

WORDS, VECTORS = "words", "vectors"

_CHUNKS = {"chunker": "semantic-text-splitter", "min_characters": MIN_CHARACTERS, "max_characters": MAX_CHARACTERS}
_WORDS = {"configuration": "english, unaccent", "unspaced": "NFKC, characters and pairs", **_CHUNKS}


@dataclass(frozen=True, slots=True)
class ActiveRecipes:
    """The ids of the recipes in use; `vectors` is None until an embedder was ever given."""

    words: int
    vectors: int | None

    @property
    def ids(self) -> list[int]:
        return list(self.names)

    @property
    def names(self) -> dict[int, str]:
        """The derivation that each id stands for."""
        return {self.words: WORDS} if self.vectors is None else {self.words: WORDS, self.vectors: VECTORS}


def activate(database: Database, embedder: Embedder | None, *, adopt: bool) -> ActiveRecipes:
    """The active recipes, created where there are none.

    Raises `EmbeddingDimension` when the active vectors were made by another model or dimension, unless `adopt`, which
    retires them in favour of this embedder's (then `rebuild` has to make the new ones).
    """
    active = {recipe.derivation: recipe for recipe in list_recipes(database) if recipe.state == "active"}
    words = _ensure(database, WORDS, _WORDS, activate=True)
    standing = active.get(VECTORS)
    if embedder is None:
        return ActiveRecipes(words, standing.recipe_id if standing else None)
    parameters = {**embedder.parameters, "dimension": embedder.dimension, "text": "author: chunk", **_CHUNKS}
    if standing is not None and standing.recipe_hash != _hash(parameters) and not adopt:
        raise EmbeddingDimension(
            f"the stored vectors were made by {_name(standing.parameters)}, this embedder is {_name(parameters)}; "
            "their vectors cannot be compared. Open with the old one, or run: muniment rebuild --adopt-embedder"
        )
    return ActiveRecipes(words, _ensure(database, VECTORS, parameters, activate=True))


def list_recipes(database: Database) -> list[Recipe]:
    """Every recipe that this database knows, active or not."""
    with database.outside() as connection:
        rows = connection.execute(sql("recipes")).fetchall()
    names = ("recipe_id", "derivation", "recipe_hash", "parameters", "state")
    return [Recipe(**dict(zip(names, row, strict=True))) for row in rows]


def _ensure(database: Database, derivation: str, parameters: Mapping[str, Any], *, activate: bool) -> int:
    with database.outside() as connection:
        row = connection.execute(
            sql("ensure_recipe"),
            {
                "derivation": derivation,
                "hash": _hash(parameters),
                "parameters": Jsonb(dict(parameters)),
                "activate": activate,
            },
        ).fetchone()
    assert row is not None
    return int(row[0])


def _hash(parameters: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(dict(parameters), sort_keys=True).encode()).hexdigest()


def _name(parameters: Mapping[str, Any]) -> str:
    return f"{parameters.get('model', 'an unnamed model')} ({parameters.get('dimension')} dimensions)"
