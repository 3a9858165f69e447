"""The port between the gate and whatever reads claims out of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from muniment.errors import ExtractionFailed
from muniment.model.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Candidate:
    """A claim as read out of one evidence: characters [start, end) of its content say it.

    Times are aware; None means that the text does not say. `statement` None lets the gate make one.
    """

    subject: str
    predicate: str
    value: Any
    start: int
    end: int
    scope: str = ""
    statement: str | None = None
    memory_type: str = "entity"
    confidence: float | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that an extractor offered and that cannot be a candidate, such as a quote that is not in the text."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one evidence gave. With a `failure` nothing else counts, and the evidence waits to be tried again.

    `calls` and the tokens are what this evidence cost; an evidence that shared a call carries its share.
    """

    candidates: tuple[Candidate, ...] = ()
    refused: tuple[Refused, ...] = ()
    failure: ExtractionFailed | None = None
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class Extractor(Protocol):
    """Reads candidates out of evidence. Thread-safe; holds nothing of any tenant."""

    @property
    def name(self) -> str:
        """What it is, with its version: recorded with everything that came from it."""
        ...

    def extract(self, batch: Sequence[Evidence]) -> list[Extraction]:
        """One extraction for each evidence, in order. Never raises for what a text or a model does: that is the
        `failure` of its evidence."""
        ...
