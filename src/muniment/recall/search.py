"""Ranked rows: ask the routes, verify what they found, fuse, cut to k."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from muniment.derive.engine import Engine
from muniment.errors import BadFilter, EmbedderFailed
from muniment.model.claim import Status
from muniment.model.payload import Hit
from muniment.model.text import require_text
from muniment.providers.embedder import Vectors
from muniment.recall.clocks import Clocks
from muniment.recall.fuse import fuse
from muniment.recall.routes import (
    KINDS,
    LEXICAL,
    SEMANTIC,
    Candidate,
    Kind,
    ask_lexical,
    ask_semantic,
    choose_routes,
)
from muniment.recall.verify import Verified, verify
from muniment.store.database import Tx

MAX_K = 1000
MAX_QUESTION_BYTES = 4 * 1024 * 1024
_POOL = 50
Key = tuple[UUID, int, int]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, with its vector computed before any transaction is open."""

    text: str
    kinds: tuple[Kind, ...]
    routes: tuple[str, ...]
    vector: Vectors | None


@dataclass(frozen=True, slots=True)
class Found:
    """A verified row with its fused score and the raw score of each route that found it."""

    row: Verified
    score: float
    routes: dict[str, float]
    coverage: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a search found, best first, and how many candidates canonical memory refused."""

    found: list[Found]
    dropped: int


def make_question(
    engine: Engine, text: str, *, kinds: Sequence[str] = KINDS, routes: Sequence[str] | None = None
) -> Question:
    """Raises `InvalidInput` for an unusable text, `BadFilter` for unknown kinds or routes, `EmbedderFailed`."""
    require_text(text, what="the question", max_bytes=MAX_QUESTION_BYTES)
    chosen = choose_routes(routes, engine)
    if isinstance(kinds, str) or not isinstance(kinds, Iterable):
        raise BadFilter(f"kinds is a collection of {', '.join(KINDS)}")
    for kind in kinds:
        if kind not in KINDS:
            raise BadFilter(f"no kind {kind!r}; there are {', '.join(KINDS)}")
    known: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind in kinds)
    if SEMANTIC not in chosen:
        return Question(text, known, chosen, None)
    try:
        return Question(text, known, chosen, engine.embed_question(text))
    except EmbedderFailed:
        if routes is not None or not engine.waits:
            raise
        # Writes go through without vectors then; so do questions, and the routes of the answer say so.
        return Question(text, known, (LEXICAL,), None)


def require_k(k: int) -> int:
    """Raises `BadFilter` unless 1 ≤ k ≤ 1000."""
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MAX_K:
        raise BadFilter(f"k lies between 1 and {MAX_K}; page through claims() for more")
    return k


def rank(
    tx: Tx, engine: Engine, clocks: Clocks, question: Question, k: int, *,
    alongside: Callable[[list[Candidate]], None] | None = None,
) -> Ranking:  # fmt: skip
    """The best `k` that hold. When canonical memory refuses so many that fewer are left, the pool is widened.

    `alongside` is told the candidates, and may send statements that share the round trip of their verification.
    """
    pool = max(_POOL, 3 * k)
    while True:
        by_route = _ask(tx, engine, clocks, question, pool)
        candidates = {c.key: c for found in by_route.values() for c in found}
        if alongside is not None:
            alongside(list(candidates.values()))
        verified = verify(tx, clocks, list(candidates.values()))
        dropped = len(candidates) - len(verified)
        full = any(len(found) == pool for found in by_route.values())
        if len(verified) >= k or not dropped or not full or pool > 100 * MAX_K:
            return Ranking(_fused(by_route, verified)[:k], dropped)
        pool *= 4


def _ask(tx: Tx, engine: Engine, clocks: Clocks, question: Question, pool: int) -> dict[str, list[Candidate]]:
    asked = {}
    if LEXICAL in question.routes:
        asked[LEXICAL] = ask_lexical(tx, engine, clocks, question.text, question.kinds, pool)
    if question.vector is not None:
        asked[SEMANTIC] = ask_semantic(tx, engine, clocks, question.vector, question.kinds, pool)
    return {route: answer.get() for route, answer in asked.items()}


def _fused(by_route: dict[str, list[Candidate]], verified: dict[Key, Verified]) -> list[Found]:
    scores = {route: {c.key: c.score for c in found if c.key in verified} for route, found in by_route.items()}
    coverage = {c.key: c.coverage for c in by_route.get(LEXICAL, [])}
    fused = fuse(scores)
    ranked = [
        Found(
            verified[key],
            score,
            {route: found[key] for route, found in scores.items() if key in found},
            coverage.get(key, 0.0),
        )
        for key, score in fused.items()
    ]
    ranked.sort(key=lambda f: (-f.score, str(f.row.candidate.source_id), f.row.candidate.start))
    return _ended_behind_heirs(ranked)


def _ended_behind_heirs(ranked: list[Found]) -> list[Found]:
    """Words whose claims have ended stand behind the claims that took their place, when those were found too."""
    claims = {
        str(f.row.candidate.source_id): place for place, f in enumerate(ranked) if f.row.candidate.kind == "claim"
    }

    def place(item: tuple[int, Found]) -> float:
        own, found = item
        heirs = [claims[heir] for heir in found.row.superseded_by if heir in claims]
        return max([own, *(heir + 0.5 for heir in heirs)])

    return [found for _, found in sorted(enumerate(ranked), key=place)]


def to_hit(found: Found) -> Hit:
    """The public form of a row."""
    row, candidate = found.row, found.row.candidate
    how = " and ".join(f"{route} {score:.2f}" for route, score in found.routes.items())
    note = "; its words were superseded" if row.ended else ""
    is_claim = candidate.kind == "claim"
    return Hit(
        id=str(candidate.source_id),
        version=candidate.version,
        kind="claim" if is_claim else "evidence",
        text=row.text,
        score=found.score,
        routes=tuple(found.routes),
        reason=f"found by {how}{note}",
        status=Status.VALIDATED if is_claim else (Status.SUPERSEDED if row.ended else None),
        source=row.source,
        source_id=row.source_id,
        start=None if is_claim else candidate.start,
        end=None if is_claim else candidate.end,
        occurred_at=row.occurred_at,
        superseded_by=row.superseded_by,
    )
