"""The agent loop: ingest → retrieve → act → evaluate → promote, with a flight recorder.

The message is durable before anything else happens. What the agent reads is what was known just before the message, so
a turn never reads itself. What fails after the agent has acted is recorded and never breaks the turn; what fails
before, or in the agent itself, is recorded and raised.
"""

from __future__ import annotations

import inspect
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from muniment.errors import InvalidInput, MunimentError
from muniment.model.claim import Decision
from muniment.model.evidence import Evidence
from muniment.model.ids import new_id
from muniment.model.payload import Payload
from muniment.model.remember import Remembered
from muniment.model.text import storable
from muniment.model.turn import Call, Evaluation, Flight, Promotion, Reply, Step, TurnFailure, TurnResult

Act = Callable[[Payload], Reply | str]
Evaluate = Callable[[Payload, Reply], Evaluation | bool | None]
_MAX_REASON = 500
_MAX_KEPT = 1000
_MAX_AUTHOR = 200
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Verbs:
    """What a turn needs of a session: its methods of these names."""

    add: Callable[..., Evidence]
    remember: Callable[..., Remembered]
    recall: Callable[..., Payload]
    propose: Callable[..., Decision]
    report: Callable[..., Evidence]


@dataclass(slots=True)
class _Log:
    """What is noted on the way."""

    flight: Flight
    milliseconds: dict[str, float] = field(default_factory=dict)
    promoted: list[Promotion] = field(default_factory=list)
    failures: list[TurnFailure] = field(default_factory=list)

    @contextmanager
    def step(self, step: Step, *, breaks: bool) -> Iterator[None]:
        """Times a step, and notes what goes wrong in it; `breaks`: raises it too."""
        began = time.monotonic()
        try:
            yield
        except Exception as error:
            self.failures.append(_failure(step, error))
            if breaks:
                raise
        finally:
            self.milliseconds[step] = round((time.monotonic() - began) * 1000, 1)

    def note(self, **more: Any) -> None:
        self.flight = self.flight.model_copy(update=more)

    def decided(self, decision: Decision) -> None:
        self.promoted.append(Promotion(claim_id=decision.claim_id, outcome=decision.outcome, reason=decision.reason))

    def refused(self, code: str, reason: str) -> None:
        self.promoted.append(Promotion(claim_id=None, outcome=None, reason=reason[:_MAX_REASON], code=code))

    def finished(self) -> Flight:
        return self.flight.model_copy(
            update={
                "promoted": tuple(self.promoted), "failures": tuple(self.failures),
                "milliseconds": dict(self.milliseconds),
            }
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Order:
    """What a turn is asked to do: the message with the arguments it is stored with, and how to read for it."""

    message: str
    stored_with: Mapping[str, Any]
    read_with: Mapping[str, Any]
    act: Act
    evaluate: Evaluate | None
    run: str | None
    extracts: bool


def take_turn(verbs: Verbs, order: Order, record: Callable[[Flight], None]) -> TurnResult:
    """Runs one turn. `record` stores the envelope. Raises what storing the message, reading or acting raises."""
    message = verbs.add(order.message, **order.stored_with)
    log = _Log(
        Flight(
            turn_id=str(new_id()), run=order.run, thread=message.thread, started_at=datetime.now(UTC),
            message_id=message.evidence_id,
        )
    )  # fmt: skip
    try:
        with log.step("retrieve", breaks=True):
            payload = verbs.recall(order.message, known_at=message.observed_at - _TICK, **order.read_with)
            _note_read(log, payload)
        with log.step("act", breaks=True):
            reply = _as_reply(order.act(payload))
            _note_reply(log, reply)
        evaluation = _evaluated(log, order, payload, reply)
        with log.step("promote", breaks=False):
            _promote(log, verbs, order, message, reply, evaluation)
        _keep_reply(log, verbs, order, message, reply, evaluation)
    finally:
        flight = log.finished()
        with log.step("record", breaks=False):
            record(flight)
    return TurnResult(payload=payload, reply=reply, evaluation=evaluation, flight=log.finished())


def _note_read(log: _Log, payload: Payload) -> None:
    log.note(
        read=tuple(claim.claim_id for claim in payload.claims),
        sources=tuple(evidence.evidence_id for evidence in payload.evidence),
        conflicts=payload.conflicts, abstained=payload.abstention is not None,
        valid_at=payload.retrieval.valid_at, known_at=payload.retrieval.known_at,
    )  # fmt: skip


def _note_reply(log: _Log, reply: Reply) -> None:
    log.note(
        called=tuple(call.name for call in reply.calls), model=reply.model, input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
    )  # fmt: skip


def _as_reply(given: object) -> Reply:
    if isinstance(given, Reply):
        return Reply.model_validate(storable(given.model_dump()))
    if isinstance(given, str):
        return Reply(text=storable(given))
    if inspect.isawaitable(given):
        if inspect.iscoroutine(given):
            given.close()
        raise InvalidInput("act is a coroutine function: use AsyncSession.turn, which awaits it")
    raise InvalidInput(f"act gives a Reply or text, not {type(given).__name__}")


def _evaluated(log: _Log, order: Order, payload: Payload, reply: Reply) -> Evaluation | None:
    """The verdict on the reply. One that fails to come leaves nothing of the agent's to be promoted."""
    if order.evaluate is None:
        return None
    evaluation: Evaluation | None = Evaluation(ok=False, reason="the evaluation failed")
    with log.step("evaluate", breaks=False):
        given = order.evaluate(payload, reply)
        if not isinstance(given, Evaluation | bool | None):
            raise InvalidInput(f"evaluate gives an Evaluation, True or False, not {type(given).__name__}")
        evaluation = Evaluation(ok=given) if isinstance(given, bool) else given
    log.note(evaluation=None if evaluation is None else evaluation.ok)
    return evaluation


def _promote(
    log: _Log, verbs: Verbs, order: Order, message: Evidence, reply: Reply, evaluation: Evaluation | None
) -> None:
    """What the message says, by the extractor; what the agent read in it, unless its reply was found wanting; and what
    came of the claims that it acted on. Each by itself: one that is refused loses no other."""
    if order.extracts:
        read = verbs.remember(order.message, **order.stored_with)
        for decision in read.decisions:
            log.decided(decision)
        for refusal in read.refused:
            log.refused(refusal.code, refusal.reason)
        if read.failure is not None:
            log.failures.append(TurnFailure(step="promote", code=read.failure.code, reason=read.failure.reason))
    if evaluation is None or evaluation.ok:
        for proposal in reply.proposals:
            with _noting_refusals(log):
                log.decided(_propose(verbs, message, proposal))
    if evaluation is not None:
        result = "success" if evaluation.ok else "failure"
        for claim_id in reply.acted_on:
            with _noting_refusals(log):
                verbs.report(claim_id, result, note=evaluation.reason, run=order.run or log.flight.turn_id)


def _propose(verbs: Verbs, message: Evidence, proposal: Mapping[str, Any]) -> Decision:
    arguments = dict(proposal)
    quote = arguments.pop("quote", None)
    if not isinstance(quote, str):
        raise InvalidInput("a proposal of a turn needs the exact words of the message: quote=…")
    try:
        return verbs.propose(**arguments, evidence=message.quote(quote))
    except TypeError as error:
        raise InvalidInput(f"a proposal of a turn takes the arguments of propose: {error}") from None


@contextmanager
def _noting_refusals(log: _Log) -> Iterator[None]:
    try:
        yield
    except MunimentError as error:
        log.refused(error.code, str(error))


def _keep_reply(
    log: _Log, verbs: Verbs, order: Order, message: Evidence, reply: Reply, evaluation: Evaluation | None
) -> None:
    """The reply is evidence of what was said, never of what is so: an assistant's words validate nothing."""
    with log.step("record", breaks=False):
        kept = {name: order.stored_with[name] for name in ("access", "thread") if name in order.stored_with}
        stored = verbs.add(
            reply.text or "(no text)", source="turn", source_id=log.flight.turn_id, role="assistant", trust="model",
            author=reply.model and reply.model[:_MAX_AUTHOR], **kept,
            metadata={
                "turn": log.flight.turn_id, "answers": message.evidence_id, "run": order.run,
                "calls": [_kept(call) for call in reply.calls],
                "evaluation": None if evaluation is None else evaluation.model_dump(mode="json"),
            },
        )  # fmt: skip
        log.note(reply_id=stored.evidence_id)


def _kept(call: Call) -> dict[str, Any]:
    """A call as the metadata keeps it: what is long is cut, what is no JSON is written as text."""
    arguments, result = _as_text(dict(call.arguments)), call.result
    text = result if isinstance(result, str | None) else _as_text(result)
    return {
        "name": call.name,
        "arguments": json.loads(arguments) if len(arguments) <= _MAX_KEPT else {"cut": arguments[:_MAX_KEPT]},
        "result": text if text is None or len(text) <= _MAX_KEPT else text[:_MAX_KEPT] + " … (cut)",
        "milliseconds": call.milliseconds,
    }


def _as_text(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    """JSON, with what is none (a NaN, a date, an object) as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)


def _failure(step: Step, error: Exception) -> TurnFailure:
    """Of an error that is not ours only the type: its message might repeat the text, and the envelope holds none."""
    if isinstance(error, MunimentError):
        return TurnFailure(step=step, code=error.code, reason=str(error)[:_MAX_REASON])
    return TurnFailure(step=step, code="error", reason=f"{step} raised {type(error).__name__}")
