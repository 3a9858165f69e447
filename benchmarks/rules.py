"""How fast declared rules read text, beside `re` with the same number of plain patterns: the floor."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime

from benchmarks.report import Table
from muniment.extract.dates import find_dates
from muniment.extract.echo import without_echoes
from muniment.extract.rules import RulesExtractor
from muniment.extract.stance import sentences, stance_of
from muniment.model.evidence import Evidence, EvidenceKind, Trust

CHARACTERS = 2_000_000
SAID = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
PLAIN = (
    "We went through the plan for the next quarter and found nothing to change.",
    "The meeting on 3 May was moved to last week, so the notes are in the folder.",
    "Is the report ready, or should we wait for the figures?",
    "Thank you for the call; the team will send the numbers in March.",
    "If the rate goes above 4.5 %, the board has to decide again.",
)
VERBS = ("likes", "prefers", "allergic", "works", "lives", "name", "birthday", "weighs")
SAYING = ("Janet works at Acme and manages billing.", "I prefer tea to coffee.", "Patient Rossi weighs 70 kg.")


def run() -> None:
    """Prints characters a second for text in which one sentence of forty, or one of two, says something."""
    table = Table("rules: reading generated text", "what", "sparse, MB/s", "dense, MB/s")
    texts = [_text(0.025), _text(0.5)]
    rules = RulesExtractor.basic()
    floor = [re.compile(rf"\b\w+ {verb}\b") for verb in VERBS]
    for name, work in (
        ("eight plain patterns of re, no groups (floor)", lambda text: [list(one.finditer(text)) for one in floor]),
        ("RulesExtractor.basic()", lambda text: rules.extract([_evidence(text)])),
        ("sentences", lambda text: list(sentences(text))),
        ("without_echoes", without_echoes),
        ("find_dates", lambda text: find_dates(text, SAID)),
    ):
        table.add(name, *(f"{_speed(work, text):.2f}" for text in texts))
    calls = 2_000
    began = time.perf_counter()
    for place in range(0, calls * 50, 50):
        stance_of(texts[0], place, place + 20)
    each = (time.perf_counter() - began) / calls
    table.show(f"stance_of: {each * 1e6:.0f} µs a span; candidates in the dense text: {_candidates(rules, texts[1])}")


def _text(share: float) -> str:
    chance = random.Random(7)  # the same text in each run
    parts: list[str] = []
    size = 0
    while size < CHARACTERS:
        parts.append(chance.choice(SAYING if chance.random() < share else PLAIN))
        size += len(parts[-1]) + 1
    return " ".join(parts)


def _speed(work: Callable[[str], object], text: str) -> float:
    began = time.perf_counter()
    work(text)
    return len(text) / 1e6 / (time.perf_counter() - began)


def _candidates(rules: RulesExtractor, text: str) -> int:
    return len(rules.extract([_evidence(text)])[0].candidates)


def _evidence(text: str) -> Evidence:
    return Evidence(
        evidence_id="e", source="bench", source_id="1", source_version=1, kind=EvidenceKind.MESSAGE, content=text,
        author="ann", role="user", thread=None, trust=Trust.FIRST_PARTY, uri=None, media_type="text/plain", metadata={},
        occurred_at=SAID, utc_offset=0, observed_at=SAID, recorded_at=SAID, content_sha256="", replaces=None,
        authorization_scope=None,
    )  # fmt: skip
