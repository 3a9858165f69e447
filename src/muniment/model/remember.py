"""What remembering gave: the evidence, what became of the claims read out of it, and what that cost."""

from __future__ import annotations

from typing import Literal

from muniment.model.base import Record
from muniment.model.claim import Decision
from muniment.model.evidence import Evidence

FeedbackKind = Literal["edit", "comment", "thumb_up", "thumb_down"]


class Refusal(Record):
    """What could not be taken, or why reading failed: a stable `code`, and a reason for people."""

    code: str
    reason: str


class Remembered(Record):
    """The stored evidence with a decision for each claim that was read out of it, in the order of the text.

    `refused`: what the extractor offered and could not be proposed. `failure`: reading failed; the evidence is stored
    and `Session.retry` tries again. `repeated`: this extractor had read this evidence before, so nothing was done now;
    what came of it then is in `claims`. `widened`: what feedback, repeated often enough, now says in wider scopes.
    `calls` and the tokens are what it cost this time.
    """

    evidence: Evidence
    decisions: tuple[Decision, ...] = ()
    refused: tuple[Refusal, ...] = ()
    failure: Refusal | None = None
    repeated: bool = False
    widened: tuple[Decision, ...] = ()
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class RetryReport(Record):
    """What trying again gave. `tried` = those that are `done` and those in `failed`; the evidences still failed are
    named in `failed` with why. `more`: others wait beyond the limit."""

    tried: int = 0
    done: int = 0
    failed: tuple[tuple[str, Refusal], ...] = ()
    decisions: tuple[Decision, ...] = ()
    refused: tuple[Refusal, ...] = ()
    more: bool = False
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
