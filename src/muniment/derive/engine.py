"""Keeps the derived layer in step: the slow work before the transaction, the rows inside it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from psycopg.types.json import Jsonb

from muniment.canonical.rows import Changes, EvidenceRow
from muniment.derive.pins import Pin
from muniment.derive.recipes import ActiveRecipes
from muniment.derive.texts import Text, claim_text, evidence_texts, input_hash
from muniment.derive.words import index_text
from muniment.errors import EmbedderFailed
from muniment.providers.embedder import Embedder, Vectors
from muniment.store.database import Tx
from muniment.store.statements import sql

log = logging.getLogger("muniment.derive")
_MAX_ERROR = 1000


@dataclass(frozen=True, slots=True)
class Prepared:
    """Vectors by text, computed while no transaction was open; `error` says why there are none."""

    vectors: dict[str, Vectors]
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """One source with the version its artifacts are pinned to."""

    kind: str
    source_id: Any
    version: int
    texts: list[Text]


class Engine:
    """Implements the gate's `Follower`. Holds the embedder and the recipes in use; nothing of any tenant."""

    def __init__(self, recipes: ActiveRecipes, embedder: Embedder | None, *, waits: bool = False) -> None:
        self.recipes = recipes
        self.embedder = embedder
        self.waits = waits
        """Whether a write goes through when the embedder fails: its vectors are marked stale, and made up later."""

    def prepare(self, *, evidence: Sequence[EvidenceRow] = (), statements: Sequence[str] = ()) -> Prepared:
        """Embeds what the texts need. Raises `EmbedderFailed`, unless writes are to go through then."""
        texts = [text.text for row in evidence for text in evidence_texts(row)]
        try:
            return Prepared(self.embed([*texts, *statements]))
        except EmbedderFailed as error:
            if not self.waits:
                raise
            log.warning("stored without vectors, which are made up later: %s", error)
            return Prepared({}, f"the embedder failed when it was written: {error}"[:_MAX_ERROR])

    def embed(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """A vector for each different text; none without an embedder."""
        different = list(dict.fromkeys(texts))
        if self.embedder is None or not different:
            return {}
        try:
            vectors = self.embedder.embed_passages(different)
        except EmbedderFailed:
            raise
        except Exception as error:  # any embedder may be behind the port; nothing is being written here
            raise EmbedderFailed(f"the embedder raised {type(error).__name__}: {error}; nothing was stored") from error
        expected = (len(different), self.embedder.dimension)
        if vectors.shape != expected or not np.isfinite(vectors).all():
            raise EmbedderFailed(
                f"the embedder gave {vectors.shape} or unusable numbers, not {expected}; nothing was stored"
            )
        return dict(zip(different, vectors, strict=True))

    def embed_question(self, text: str) -> Vectors:
        """The vector of a question. Raises `EmbedderFailed`, also when there is no embedder."""
        if self.embedder is None:
            raise EmbedderFailed("no embedder is attached; take the lexical route, or pip install 'muniment[local]'")
        try:
            return self.embedder.embed_question(text)
        except EmbedderFailed:
            raise
        except Exception as error:  # any embedder may be behind the port; nothing is being written here
            raise EmbedderFailed(
                f"the embedder raised {type(error).__name__}: {error}; ask with routes=['lexical']"
            ) from error

    def follow(self, tx: Tx, changes: Changes, prepared: object) -> None:
        """Writes the derived rows of `changes`. Waits while a rebuild writes back a page of the same tenant."""
        assert isinstance(prepared, Prepared)
        tx.execute(sql("share_derived"))
        sources = [Source("evidence", row.evidence_id, row.version, evidence_texts(row)) for row in changes.evidence]
        sources += [
            Source("claim", claim.claim_id, claim.version, claim_text(claim.claim_id, claim.statement))
            for claim in changes.claims
        ]
        new = {source.source_id for source in sources}
        repinned = {
            row.claim_id: row.version for row in changes.versions if row.known_to is None and row.claim_id not in new
        }
        pins = [*map(Pin.of_evidence, changes.evidence), *map(Pin.of_version, changes.versions)]
        self.write(
            tx, sources, pins, prepared.vectors, repinned=repinned, covered=changes.new_tenant, error=prepared.error
        )

    def write(
        self, tx: Tx, sources: Sequence[Source], pins: Sequence[Pin], vectors: dict[str, Vectors], *,
        repinned: Mapping[UUID, int] | None = None, covered: bool = False, error: str | None = None,
    ) -> None:  # fmt: skip
        """Pins, words, vectors and artifacts of sources that have none yet. Where no vector is to be had (no embedder
        is attached), the artifact is marked stale: `work` makes it up. `repinned` are sources that only moved on."""
        texts = [text for source in sources for text in source.texts]
        batch = {
            "pins": [pin.to_json() for pin in pins],
            "words": {"recipe": self.recipes.words, "rows": [_words(text) for text in texts]},
            "artifacts": [artifact for source in sources for artifact in self._artifacts(source, vectors, error)],
            "repinned": [{"id": str(key), "version": version} for key, version in (repinned or {}).items()],
            "covered": self.recipes.ids if covered else [],
        }
        tx.execute(sql("write_batch"), {"batch": Jsonb(batch)})
        if self.recipes.vectors is not None:
            self._put_vectors(tx, [text for text in texts if text.text in vectors], vectors)

    def _artifacts(self, source: Source, vectors: dict[str, Vectors], error: str | None) -> list[dict[str, Any]]:
        """One for each recipe, pinned to the version and the hash of what was read."""
        embedded = all(text.text in vectors for text in source.texts)
        shared = {
            "kind": source.kind,
            "id": str(source.source_id),
            "version": source.version,
            "hash": input_hash(source.texts).hex(),
        }
        stale = {"state": "stale", "error": error}
        return [
            {**shared, "recipe": recipe, **({"state": "fresh"} if recipe == self.recipes.words or embedded else stale)}
            for recipe in self.recipes.ids
        ]

    def _put_vectors(self, tx: Tx, texts: Sequence[Text], vectors: dict[str, Vectors]) -> None:
        if texts:
            tx.execute(
                sql("put_vectors"),
                {
                    "recipe": self.recipes.vectors,
                    "kinds": [t.kind for t in texts],
                    "ids": [t.source_id for t in texts],
                    "parts": [t.part for t in texts],
                    "starts": [t.start for t in texts],
                    "ends": [t.end for t in texts],
                    "vectors": [vectors[t.text] for t in texts],
                },
            )


def _words(text: Text) -> dict[str, Any]:
    return {
        "kind": text.kind,
        "id": str(text.source_id),
        "part": text.part,
        "start": text.start,
        "end": text.end,
        "text": index_text(text.text),
    }
