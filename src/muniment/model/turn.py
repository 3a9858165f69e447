"""One turn of an agent: what came in, what was read, done and promoted, and what went wrong on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from muniment.model.base import Instant, Record
from muniment.model.claim import Outcome
from muniment.model.payload import Payload

Step = Literal["ingest", "retrieve", "act", "evaluate", "promote", "record"]


class Call(Record):
    """A tool call, or a call of a model, that the agent made while it acted. `arguments` and `result` are JSON."""

    name: str
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    result: Any = None
    milliseconds: float | None = None


class Reply(Record):
    """What an agent gives back from `act`.

    `proposals`: claims that the message makes, each a mapping of `Session.propose` arguments with `quote` (exact words
    of the message) in place of `evidence`. `acted_on`: ids of claims, such as workflows, that the agent followed: what
    the evaluation says is reported as their outcome.
    """

    text: str
    calls: tuple[Call, ...] = ()
    proposals: tuple[Mapping[str, Any], ...] = ()
    acted_on: tuple[str, ...] = ()
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0


class Evaluation(Record):
    """What was made of a reply. One that is not `ok` promotes nothing that the agent proposed."""

    ok: bool
    reason: str = ""


class Promotion(Record):
    """What became of one claim: the outcome and the gate's reason; `code` when it was refused."""

    claim_id: str | None
    outcome: Outcome | None
    reason: str
    code: str | None = None


class TurnFailure(Record):
    """A step that failed: a stable `code`, and a reason for people."""

    step: Step
    code: str
    reason: str


class Flight(Record):
    """The flight recorder's envelope of one turn, as far as the session may see what it names.

    `read` are the claims and `sources` the evidences of the payload, which was read at `valid_at` and `known_at`;
    `milliseconds` are by step. Contents stand in the evidence: the message, and the reply with its calls in the
    metadata.
    """

    turn_id: str
    run: str | None
    thread: str | None
    started_at: Instant
    message_id: str
    reply_id: str | None = None
    read: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    conflicts: tuple[tuple[str, str], ...] = ()
    abstained: bool = False
    valid_at: Instant | None = None
    known_at: Instant | None = None
    called: tuple[str, ...] = ()
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    evaluation: bool | None = None
    promoted: tuple[Promotion, ...] = ()
    failures: tuple[TurnFailure, ...] = ()
    milliseconds: Mapping[str, float] = Field(default_factory=dict)


class TurnResult(Record):
    """A finished turn: the payload that was read, the reply, and the envelope."""

    payload: Payload
    reply: Reply
    evaluation: Evaluation | None
    flight: Flight


class FlightPage(Record):
    """Some envelopes, the newest first, and when there are more, the cursor that continues."""

    items: tuple[Flight, ...]
    next_cursor: str | None = None
