"""Retrieval quality on LoCoMo: the share of each question's evidence turns in the top 5 and 10 of `search`.

Beside it, on the same texts in the same run: a textbook BM25, bare vectors, and both fused by reciprocal rank. The data
set is not part of the project; give its folder with --data.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import muniment
from benchmarks.floor import PlainBM25, rank_vectors, reciprocal_rank_fusion
from benchmarks.report import Table
from muniment.providers.local import LocalEmbedder
from muniment.readers import locomo
from muniment.readers.port import Read

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
DEPTHS = (5, 10)
_TURN = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")


@dataclass(frozen=True)
class Question:
    """One question with the source ids of its evidence turns."""

    text: str
    category: int
    wanted: frozenset[str]


def questions(sample: dict[str, Any], known: set[str]) -> Iterator[Question]:
    """Questions of categories 1 to 4 whose evidence exists; ids such as `D8:6; D9:17` or `D30:05` are normalised."""
    for item in sample["qa"]:
        turns = _TURN.findall(" ".join(item.get("evidence") or []))
        wanted = frozenset(f"{sample['sample_id']}:D{int(s)}:{int(t)}" for s, t in turns) & known
        if item["category"] in CATEGORIES and wanted:
            yield Question(item["question"], item["category"], wanted)


def run(memory: muniment.Memory, data: Path) -> None:
    """Ingests every conversation turn by turn as evidence, asks every question, prints the table."""
    embedder = LocalEmbedder()
    samples = {sample["sample_id"]: sample for sample in json.loads(data.read_text())}
    found: dict[tuple[str, int, int], list[float]] = defaultdict(list)
    drafts = [item.draft for item in locomo.read(data) if isinstance(item, Read)]
    for sample_id, sample in samples.items():
        mine = [draft for draft in drafts if (draft.source_id or "").startswith(f"{sample_id}:D")]
        session = memory.session(tenant=f"locomo {sample_id}")
        session.add_many(mine)
        ids = [str(draft.source_id) for draft in mine]
        texts = [f"{draft.author}: {draft.content}" for draft in mine]
        bm25, vectors = PlainBM25(texts), embedder.embed_passages(texts)
        for question in questions(sample, set(ids)):
            plain = bm25.rank(question.text)
            near = rank_vectors(vectors, np.asarray(embedder.embed_question(question.text)))
            rankings = {
                "floor: BM25": [ids[n] for n in plain],
                "floor: vectors": [ids[n] for n in near],
                "floor: both, RRF": [ids[n] for n in reciprocal_rank_fusion([plain[:100], near[:100]])],
                "search, lexical": _search(session, question.text, ["lexical"]),
                "search, semantic": _search(session, question.text, ["semantic"]),
                "search": _search(session, question.text, None),
            }
            for name, ranking in rankings.items():
                for depth in DEPTHS:
                    share = len(question.wanted & set(ranking[:depth])) / len(question.wanted)
                    found[(name, question.category, depth)].append(share)
    _print(found)


def _search(session: muniment.Session, text: str, routes: list[str] | None) -> list[str]:
    hits = session.search(text, k=max(DEPTHS), kinds=["evidence"], routes=routes)
    return [str(hit.source_id) for hit in hits]


def _print(found: dict[tuple[str, int, int], list[float]]) -> None:
    table = Table(
        "LoCoMo, share of the evidence turns found",
        "ranking",
        *(f"{n} @{d}" for n in CATEGORIES.values() for d in DEPTHS),
        "all @5",
        "all @10",
    )
    for name in dict.fromkeys(name for name, _, _ in found):
        cells = [_mean(found[(name, category, depth)]) for category in CATEGORIES for depth in DEPTHS]
        cells += [_mean([s for c in CATEGORIES for s in found[(name, c, depth)]]) for depth in DEPTHS]
        table.add(name, *(f"{cell:.3f}" for cell in cells))
    asked = sum(len(found[("search", category, 5)]) for category in CATEGORIES)
    table.show(f"{asked} questions of categories 1 to 4")


def _mean(shares: list[float]) -> float:
    return sum(shares) / len(shares) if shares else 0.0
