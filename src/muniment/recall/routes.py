"""The two search routes: each sends its statement, and answers with candidates that are still to be verified."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from muniment.derive.engine import Engine
from muniment.derive.words import index_text
from muniment.errors import BadFilter, EmbedderFailed
from muniment.providers.embedder import Vectors
from muniment.recall.clocks import Clocks
from muniment.store.answer import Answer, Row
from muniment.store.database import Tx

LEXICAL, SEMANTIC = "lexical", "semantic"
ROUTES = (LEXICAL, SEMANTIC)
Kind = Literal["claim", "evidence"]
KINDS: tuple[Kind, ...] = ("claim", "evidence")


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a route found: a version of a source, a span of it, how well it matches.

    `coverage` is the share of the question's rare words that it holds (lexical), or 1.
    """

    kind: str
    source_id: UUID
    version: int
    part: int
    start: int
    end: int
    score: float
    coverage: float

    @property
    def key(self) -> tuple[UUID, int, int]:
        return (self.source_id, self.start, self.end)


def choose_routes(routes: Sequence[str] | None, engine: Engine) -> tuple[str, ...]:
    """The routes to take: all that are available, or those asked for. Raises `BadFilter` for one that does not exist,
    `EmbedderFailed` for the semantic one where there is no embedder."""
    if routes is None:
        return ROUTES if engine.embedder is not None else (LEXICAL,)
    if isinstance(routes, str) or not isinstance(routes, Iterable):
        raise BadFilter(f"routes is a collection of {', '.join(ROUTES)}")
    for route in routes:
        if route not in ROUTES:
            raise BadFilter(f"no route {route!r}; there are {', '.join(ROUTES)}")
    if SEMANTIC in routes and engine.embedder is None:
        raise EmbedderFailed("no embedder is attached; take the lexical route, or pip install 'muniment[local]'")
    return tuple(route for route in ROUTES if route in routes)


def ask_lexical(
    tx: Tx, engine: Engine, clocks: Clocks, question: str, kinds: Sequence[str], k: int
) -> Answer[list[Candidate]]:
    """BM25 over stems."""
    parameters = {
        "recipe": engine.recipes.words, "kinds": list(kinds), "question": index_text(question), "k": k,
        **clocks.parameters(),
    }  # fmt: skip
    return Answer(tx, "search_words", parameters, _candidates)


def ask_semantic(
    tx: Tx, engine: Engine, clocks: Clocks, question: Vectors, kinds: Sequence[str], k: int
) -> Answer[list[Candidate]]:
    """Cosine similarity to the question."""
    parameters = {
        "recipe": engine.recipes.vectors,
        "kinds": list(kinds),
        "question": question,
        "k": k,
        **clocks.parameters(),
    }
    return Answer(tx, "search_vectors", parameters, _candidates)


def _candidates(rows: list[Row]) -> list[Candidate]:
    return [
        Candidate(
            row["source_kind"], row["source_id"], row["version"], row["part"], row["span"].lower, row["span"].upper,
            row["score"], row["coverage"],
        )
        for row in rows
    ]  # fmt: skip
