"""Claims as a language model reads them, any model that pydantic-ai or an OpenAI-compatible endpoint serves.

What the model says is a proposal. A claim whose quote does not stand in the evidence, or whose subject the text does
not name, is refused here; what becomes of the others is the gate's to decide.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from muniment.errors import ExtractionFailed, InvalidInput, MissingExtra
from muniment.extract import failures
from muniment.extract.courier import Closing, Courier
from muniment.extract.echo import without_echoes
from muniment.extract.port import Candidate, Extraction, Refused
from muniment.extract.prompt import Answer, ProposedClaim, digest, instructions, render
from muniment.extract.quotes import Range, find_quote
from muniment.extract.subjects import resolve_subject
from muniment.model.evidence import Evidence, Trust

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

MAX_SECONDS, MAX_RETRIES, MAX_TEXTS = 600.0, 3, 32
MAX_CHARACTERS, MAX_OUTPUT_TOKENS = 400_000, 65_536
_GAP = "\n[…]\n"
_SHOWN = 80


class ModelExtractor:
    """Reads claims with a language model. Thread-safe; `close` ends the thread that its client lives on.

    Each evidence is part of one call at most, and of `retries` more when the answer is not the JSON asked for. Small
    texts of one `batch` share a call when the same people may see them. Whatever goes wrong is the `failure` of the
    evidences that were in the call: nothing is raised.
    """

    def __init__(
        self, model: Model | str, *, seconds: float = 60, retries: int = 1, max_characters: int = 12_000,
        max_texts: int = 8, max_output_tokens: int = 2048, roles: Collection[str] = ("user",),
        predicates: Sequence[str] = (), closing: Closing | None = None, output: str = "auto",
    ) -> None:  # fmt: skip
        """`model`: a pydantic-ai model, or its name such as `openai:gpt-5-mini`, whose key is in its own environment
        variable.

        `seconds` (above 0, at most 600) bounds the whole exchange with its retries; `retries` 0 to 3;
        `max_characters` of text in a call (at most 400,000): what is longer is cut there, with a note in `refused`;
        `max_texts` that may share a call (1 to 32). Evidence of a role that is not in `roles` is not read, and evidence
        with trust `model` never is. With `predicates` the model may use only those. `output`: how JSON is asked for:
        `auto` as pydantic-ai knows the model, `native` (`response_format`), `tool` or `prompted`.

        Raises `MissingExtra`, and `InvalidInput` for a bound out of range or a model that pydantic-ai cannot make.
        """
        _require("seconds", seconds, 0.001, MAX_SECONDS)
        _require("retries", retries, 0, MAX_RETRIES)
        _require("max_characters", max_characters, 1, MAX_CHARACTERS)
        _require("max_texts", max_texts, 1, MAX_TEXTS)
        _require("max_output_tokens", max_output_tokens, 1, MAX_OUTPUT_TOKENS)
        self._seconds, self._retries = float(seconds), int(retries)
        self._max_characters, self._max_texts = int(max_characters), int(max_texts)
        self._roles = frozenset([roles] if isinstance(roles, str) else roles)
        self._predicates = tuple(dict.fromkeys(_predicate(name) for name in predicates))
        self._agent, model_name = _make_agent(model, output, self._predicates, retries, max_output_tokens)
        self._name = f"model:{model_name}:{digest(self._predicates)}"
        self._courier = Courier(closing)

    @classmethod
    def openai_compatible(
        cls, base_url: str, model: str, api_key: str | None = None, *, output: str = "native", **options: Any
    ) -> ModelExtractor:
        """Of any endpoint that speaks OpenAI's chat completions, such as `http://127.0.0.1:8080/v1`. No key of the
        environment is ever sent to it: only `api_key`. `options` as for the constructor; raises as it does."""
        if not isinstance(base_url, str) or not base_url.startswith(("http://", "https://")):
            raise InvalidInput("base_url is an address such as http://127.0.0.1:8080/v1")
        if not isinstance(model, str) or not model.strip():
            raise InvalidInput("model is the name under which the endpoint serves it")
        try:
            from openai import AsyncOpenAI
            from pydantic_ai.models.openai import OpenAIChatModel
            from pydantic_ai.providers.openai import OpenAIProvider
        except ImportError as error:
            raise _missing() from error
        client = AsyncOpenAI(
            base_url=base_url, api_key=api_key or "none", organization="", project="", max_retries=0,
            timeout=float(options.get("seconds", 60)),
        )  # fmt: skip
        served = OpenAIChatModel(model, provider=OpenAIProvider(openai_client=client))
        return cls(served, output=output, closing=client.close, **options)

    @property
    def name(self) -> str:
        """The model, with a hash of what it is asked."""
        return self._name

    def close(self) -> None:
        """Ends the thread and closes the client."""
        self._courier.close()

    def extract(self, batch: Sequence[Evidence]) -> list[Extraction]:
        """One extraction for each evidence, in order; see `Extractor.extract`."""
        found = [Extraction()] * len(batch)
        readings = [
            reading for place, evidence in enumerate(batch) if (reading := self._reading(place, evidence)) is not None
        ]
        for group in self._groups(readings):
            for reading, extraction in zip(group, self._read(group), strict=True):
                found[reading.place] = extraction
        return found

    def _reading(self, place: int, evidence: Evidence) -> _Reading | None:
        """What of an evidence goes to the model; None when nothing does."""
        if evidence.role not in self._roles or evidence.trust is Trust.MODEL:
            return None
        left, ranges = self._max_characters, list[Range]()
        spoken = [(start, end) for start, end in self._speakable(evidence.content) if start < end]
        for start, end in spoken:
            if left > 0:
                ranges.append((start, min(end, start + left)))
                left -= end - start
        text = _GAP.join(evidence.content[start:end] for start, end in ranges)
        if not text.strip():
            return None
        return _Reading(place, evidence, tuple(ranges), text, cut=sum(e - s for s, e in spoken) - self._max_characters)

    def _speakable(self, content: str) -> list[Range]:
        """The ranges of `content` that somebody really said, as against what muniment had put into a prompt."""
        return without_echoes(content)

    def _groups(self, readings: Iterable[_Reading]) -> Iterator[list[_Reading]]:
        """Readings that share a call: few, small, and visible to the same people, since what a model has read in one
        text may show in the values that it gives for another."""
        by_rule: dict[str | None, list[_Reading]] = {}
        for reading in readings:
            group = by_rule.setdefault(reading.evidence.authorization_scope, [])
            if group and (
                len(group) == self._max_texts
                or sum(len(r.text) for r in group) + len(reading.text) > self._max_characters
            ):
                yield group
                group = by_rule[reading.evidence.authorization_scope] = []
            group.append(reading)
        yield from by_rule.values()

    def _read(self, group: Sequence[_Reading]) -> list[Extraction]:
        prompt, mark = render([(reading.evidence, reading.text) for reading in group])
        answered = self._ask(prompt, mark)
        shares = zip(
            *(_shares(total, len(group)) for total in (answered.calls, answered.input_tokens, answered.output_tokens)),
            strict=True,
        )
        found = []
        for number, (reading, (calls, sent, received)) in enumerate(zip(group, shares, strict=True), start=1):
            notes = reading.notes()
            if number == 1:
                notes += (Refused("unknown_text", "a claim names a delimiter, not words of a text"),) * answered.marked
            extraction = Extraction(
                failure=answered.failure, calls=calls, input_tokens=sent, output_tokens=received, refused=notes
            )
            found.append(self._sorted(extraction, reading, number, len(group), answered.claims))
        return found

    def _sorted(
        self, extraction: Extraction, reading: _Reading, number: int, texts: int, claims: Sequence[ProposedClaim]
    ) -> Extraction:
        """`extraction` with the claims of text `number`; those of a text that was not sent are noted with the first."""
        candidates, refused = list[Candidate](), list(extraction.refused)
        for claim in claims:
            if claim.text == number:
                outcome = self._checked(claim, reading)
                if isinstance(outcome, Candidate):
                    candidates.append(outcome)
                else:
                    refused.append(outcome)
            elif number == 1 and not 1 <= claim.text <= texts:
                refused.append(Refused("unknown_text", f"a claim names text {claim.text}, of {texts} that were sent"))
        return replace(extraction, candidates=tuple(_distinct(candidates)), refused=tuple(refused))

    def _checked(self, claim: ProposedClaim, reading: _Reading) -> Candidate | Refused:
        evidence = reading.evidence
        span = find_quote(evidence.content, claim.quote, reading.ranges)
        if span is None:
            return Refused("unknown_span", f"the quote {claim.quote[:_SHOWN]!r} is not in the text")
        subject = resolve_subject(claim.subject, evidence, reading.ranges)
        if subject is None:
            return Refused("unknown_subject", f"the text does not say who {claim.subject[:_SHOWN]!r} is")
        predicate = _predicate(claim.predicate)
        if not predicate or (self._predicates and predicate not in self._predicates):
            return Refused("unknown_predicate", f"{claim.predicate[:_SHOWN]!r} is none of the predicates asked for")
        return Candidate(
            subject=subject, predicate=predicate, value=claim.value, start=span[0], end=span[1], scope=claim.scope,
            confidence=claim.confidence,
        )  # fmt: skip

    def _ask(self, prompt: str, mark: str) -> _Answered:
        from pydantic_ai import capture_run_messages
        from pydantic_ai.exceptions import UnexpectedModelBehavior, UsageLimitExceeded
        from pydantic_ai.usage import RunUsage, UsageLimits

        usage, messages = RunUsage(), list[Any]()

        async def exchange() -> Answer:
            with capture_run_messages() as captured:
                try:
                    limits = UsageLimits(request_limit=1 + self._retries)
                    return (await self._agent.run(prompt, usage=usage, usage_limits=limits)).output
                finally:
                    messages.extend(captured)

        claims: list[ProposedClaim] = []
        failure: ExtractionFailed | None = None
        unanswered = 0
        try:
            claims = self._courier.run(exchange(), self._seconds).claims
        except Exception as error:  # noqa: BLE001 - whatever a client or a model does is this call's failure
            failure = ExtractionFailed(_kind(error, messages, self._seconds))
            # What was sent and got no answer is not in the usage; what got a useless one is.
            unanswered = not isinstance(error, UnexpectedModelBehavior | UsageLimitExceeded)
        # A small model may take the delimiter for a name or a scope.
        sound = tuple(claim for claim in claims if mark not in claim.model_dump_json())
        return _Answered(
            sound,
            len(claims) - len(sound),
            failure,
            usage.requests + unanswered,
            usage.input_tokens,
            usage.output_tokens,
        )


@dataclass(frozen=True, slots=True)
class _Reading:
    """One evidence as it is sent: the ranges of its content, and their text."""

    place: int
    evidence: Evidence
    ranges: tuple[Range, ...]
    text: str
    cut: int

    def notes(self) -> tuple[Refused, ...]:
        if self.cut <= 0:
            return ()
        return (Refused("text_cut", f"the last {self.cut} characters were not read; split long texts before storing"),)


@dataclass(frozen=True, slots=True)
class _Answered:
    """What a call gave, and what it cost."""

    claims: tuple[ProposedClaim, ...]
    marked: int
    failure: ExtractionFailed | None
    calls: int
    input_tokens: int
    output_tokens: int


def _make_agent(
    model: Model | str, output: str, predicates: Sequence[str], retries: int, max_output_tokens: int
) -> tuple[Agent[object, Answer], str]:
    try:
        from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import Model, infer_model
    except ImportError as error:
        raise _missing() from error
    shapes: dict[str, Any] = {"auto": Answer}
    shapes |= {"native": NativeOutput(Answer), "tool": ToolOutput(Answer), "prompted": PromptedOutput(Answer)}
    if output not in shapes:
        raise InvalidInput(f"output is one of {', '.join(shapes)}")
    if not isinstance(model, str | Model):
        raise InvalidInput(f"model is a pydantic-ai model or the name of one, not {type(model).__name__}")
    try:
        made = infer_model(model)
    except (UserError, ValueError, ImportError) as error:
        raise InvalidInput(f"pydantic-ai cannot make this model: {error}") from None
    agent: Agent[object, Answer] = Agent(
        made, output_type=shapes[output], system_prompt=instructions(predicates), retries=retries,
        model_settings={"temperature": 0.0, "max_tokens": max_output_tokens},
    )  # fmt: skip
    return agent, made.model_name


def _kind(error: Exception, messages: Sequence[ModelMessage], seconds: float) -> str:
    """What went wrong, without a word of what was read or answered."""
    from pydantic_ai import exceptions

    if isinstance(error, TimeoutError | exceptions.ModelTimeoutError):
        return f"timeout: the model did not answer within {seconds:g} seconds"
    if isinstance(error, exceptions.ModelHTTPError):
        return f"http: the endpoint answered with status {error.status_code}"
    if isinstance(error, exceptions.ModelConnectionError):
        return "http: the endpoint cannot be reached"
    if isinstance(error, exceptions.ContentFilterError):
        return "refusal: the model refused"
    if isinstance(error, exceptions.UnexpectedModelBehavior):
        answer, finish = _last_answer(messages)
        cut_short = finish == "length" or isinstance(error, exceptions.OutputTokenLimitExceeded)
        return f"unparsable: {failures.unparsable(answer, cut_short=cut_short)}"
    return f"error: the model's client raised {type(error).__name__}"


def _last_answer(messages: Sequence[ModelMessage]) -> tuple[str, str | None]:
    """The text of the last answer, and why it ended."""
    for message in reversed(messages):
        if message.kind == "response":
            parts = [getattr(part, "content", None) or getattr(part, "args", None) or "" for part in message.parts]
            return "".join(part for part in parts if isinstance(part, str)), message.finish_reason
    return "", None


def _distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Without repetitions: a small model may say the same again and again. Values may be lists, so they do not hash."""
    return [candidate for place, candidate in enumerate(candidates) if candidate not in candidates[:place]]


def _shares(total: int, parts: int) -> list[int]:
    """Whole numbers that add up to `total`, as even as can be."""
    return [total // parts + (place < total % parts) for place in range(parts)]


def _predicate(name: str) -> str:
    return re.sub(r"\W+", "_", name.casefold()).strip("_")


def _require(name: str, value: float, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise InvalidInput(f"{name} lies between {least:g} and {most:g}")


def _missing() -> MissingExtra:
    return MissingExtra("reading claims with a model needs pydantic-ai; run: pip install 'muniment[llm]'")
