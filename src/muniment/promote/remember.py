"""Remembering: the evidence first, then what an extractor reads out of it, each claim through the gate.

The evidence and the note that it waits to be read are one transaction, so a process that is killed at any moment leaves
either nothing or something that `retry` finds. No transaction is open while the extractor works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from muniment.canonical import activity, extractions
from muniment.canonical import evidence as evidence_rows
from muniment.canonical.extractions import Attempt
from muniment.errors import EmbedderFailed, EngineUnavailable, ExtractionFailed, InvalidInput, MunimentError
from muniment.extract.port import Candidate, Extraction, Extractor
from muniment.model.claim import Decision
from muniment.model.evidence import Evidence, EvidenceDraft
from muniment.model.remember import Refusal, Remembered, RetryReport
from muniment.model.text import is_name
from muniment.promote.ports import Desk
from muniment.promote.preserve import preserve, read_back
from muniment.promote.proposal import Proposal, make_proposal
from muniment.promote.propose import propose
from muniment.promote.who import Meant, who_is

MAX_LIMIT, MAX_ATTEMPTS = 10_000, 1000
_MAX_ERROR = 500
_WAITING = ("pending", "failed")


@dataclass(slots=True)
class _Read:
    """What reading one evidence gave."""

    extraction: Extraction
    decisions: list[Decision] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    failure: Refusal | None = None


def remember(desk: Desk, draft: EvidenceDraft) -> Remembered:
    """Stores the draft, reads it and proposes what was read. Raises what `add` raises, and `InvalidInput` without an
    extractor, before anything is stored; what goes wrong with reading is returned as the `failure`."""
    extractor = require_extractor(desk)
    (outcome,) = preserve(desk, [draft], reader=extractor.name)
    if outcome.error is not None:
        raise outcome.error
    assert outcome.evidence_id is not None
    evidence = read_back(desk, outcome)
    refusal, done = _begin(desk, extractor, outcome.evidence_id)
    if refusal is not None or done:
        return Remembered(evidence=evidence, failure=refusal, repeated=done)
    read = _read(desk, extractor, evidence)
    return Remembered(
        evidence=evidence, decisions=tuple(read.decisions), refused=tuple(read.refused), failure=read.failure,
        calls=read.extraction.calls, input_tokens=read.extraction.input_tokens,
        output_tokens=read.extraction.output_tokens,
    )  # fmt: skip


def retry(desk: Desk, *, limit: int, attempts: int) -> RetryReport:
    """Reads again what failed or was interrupted, as far as the session may see it; each evidence by itself, and
    durable when it is done. Raises `InvalidInput`, `EngineUnavailable`."""
    extractor = require_extractor(desk)
    for name, value, most in (("limit", limit, MAX_LIMIT), ("attempts", attempts, MAX_ATTEMPTS)):
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise InvalidInput(f"{name} lies between 1 and {most}")
    with desk.database.transaction(desk.access) as tx:
        found = extractions.waiting(tx, extractor.name, attempts=attempts, most=limit + 1).get()
    report = RetryReport(more=len(found) > limit)
    for evidence_id in found[:limit]:
        evidence = _still_waiting(desk, extractor, evidence_id)
        if evidence is not None:
            report = _counted(report, evidence, _read(desk, extractor, evidence))
    return report


def require_extractor(desk: Desk) -> Extractor:
    """The memory's extractor. Raises `InvalidInput` when it has none."""
    if desk.extractor is None:
        raise InvalidInput(
            "this memory has no extractor to read claims with: open it with muniment.open(extractor=…), a "
            "ModelExtractor (muniment.extract.model) or rules of your own; or add() the text and propose() its claims"
        )
    return desk.extractor


def _begin(desk: Desk, extractor: Extractor, evidence_id: UUID) -> tuple[Refusal | None, bool]:
    """Sees that the evidence is noted as waiting: why it cannot be read now, and whether it has been read already."""
    with desk.database.transaction(desk.access) as tx:
        asked_now, asked_visible = activity.server_now(tx), evidence_rows.visible_ids(tx, [evidence_id])
        standing = extractions.standing(tx, evidence_id, extractor.name).get()
        if not asked_visible.get():
            reason = "the session may not see what it stored; a session with these labels can retry()"
            return Refusal(code=ExtractionFailed.code, reason=reason), False
        if not standing.done and standing.latest not in _WAITING:
            extractions.begin(tx, evidence_id, extractor.name, actor=desk.access.actor, at=asked_now.get())
        return None, standing.done


def _still_waiting(desk: Desk, extractor: Extractor, evidence_id: UUID) -> Evidence | None:
    """The evidence, unless somebody else has read it in the meantime."""
    with desk.database.transaction(desk.access) as tx:
        standing = extractions.standing(tx, evidence_id, extractor.name).get()
        return evidence_rows.load(tx, [evidence_id]).get(evidence_id) if standing.latest in _WAITING else None


def _read(desk: Desk, extractor: Extractor, evidence: Evidence) -> _Read:
    """Extracts, proposes and records. Raises only what concerns the database as a whole; then it still waits."""
    read = _Read(_extract(extractor, evidence))
    read.refused = [_refusal(refused.code, refused.reason) for refused in read.extraction.refused]
    if read.extraction.failure is not None:
        read.failure = _refusal(read.extraction.failure.code, str(read.extraction.failure))
    else:
        _propose_all(desk, evidence, read)
    _record(desk, extractor, evidence, read)
    return read


def _extract(extractor: Extractor, evidence: Evidence) -> Extraction:
    given: Any
    try:
        (given,) = extractor.extract([evidence])
    except ExtractionFailed as error:
        return Extraction(failure=error)
    except Exception as error:  # noqa: BLE001 - code of others; its message might repeat the text
        return Extraction(failure=ExtractionFailed(f"error: the extractor raised {type(error).__name__}"))
    if not isinstance(given, Extraction):
        return Extraction(failure=ExtractionFailed(f"error: the extractor gave a {type(given).__name__}"))
    return given


def _propose_all(desk: Desk, evidence: Evidence, read: _Read) -> None:
    """Each candidate by itself: a bad one is refused and loses no other. What is wrong with the embedder is no fault of
    a candidate: reading failed then, and proposing again what is held already changes nothing."""
    names = {one.subject for one in read.extraction.candidates if isinstance(one.subject, str) and one.subject}
    meant = who_is(desk, filter(is_name, names))
    for candidate in read.extraction.candidates:
        try:
            read.decisions.append(propose(desk, _proposal(evidence, candidate, meant)))
        except EngineUnavailable:
            raise
        except EmbedderFailed as error:
            read.failure = _refusal(error.code, str(error))
            return
        except MunimentError as error:
            read.refused.append(_refusal(error.code, str(error)))


def _proposal(evidence: Evidence, candidate: Candidate, meant: Mapping[str, Meant]) -> Proposal:
    who = meant.get(candidate.subject, Meant(candidate.subject))
    try:
        proposal = make_proposal(
            subject=who.subject, predicate=candidate.predicate,
            value=candidate.value,
            evidence=evidence.span(candidate.start, candidate.end), scope=candidate.scope,
            statement=candidate.statement, memory_type=candidate.memory_type, valid_from=candidate.valid_from,
            valid_to=candidate.valid_to, confidence=candidate.confidence, premises=(), supersedes=None,
            correction=False, access=None,
        )  # fmt: skip
        # Who may not know whom the name means may not read it off the claim.
        return replace(proposal, within=who.within)
    except (AttributeError, TypeError, ValueError) as error:
        raise InvalidInput(f"the extractor gave a candidate of the wrong types ({type(error).__name__})") from None


def _record(desk: Desk, extractor: Extractor, evidence: Evidence, read: _Read) -> None:
    extraction = read.extraction
    attempt = Attempt(
        extractor=extractor.name,
        state="done" if read.failure is None else "failed",
        error=None if read.failure is None else f"{read.failure.code}: {read.failure.reason}",
        calls=extraction.calls,
        input_tokens=extraction.input_tokens,
        output_tokens=extraction.output_tokens,
        candidates=len(extraction.candidates),
        refused=Counter(refused.code for refused in read.refused),
    )
    with desk.database.transaction(desk.access) as tx:
        now = activity.server_now(tx).get()
        extractions.record(tx, UUID(evidence.evidence_id), attempt, actor=desk.access.actor, at=now)


def _refusal(code: object, reason: object) -> Refusal:
    """As it can be stored and shown: no NUL, no lone surrogate, not endless."""
    code, reason = (
        str(text).encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd") for text in (code, reason)
    )
    return Refusal(code=code[:64], reason=reason[:_MAX_ERROR])


def _counted(report: RetryReport, evidence: Evidence, read: _Read) -> RetryReport:
    failed = () if read.failure is None else ((evidence.evidence_id, read.failure),)
    return report.model_copy(
        update={
            "tried": report.tried + 1,
            "done": report.done + (read.failure is None),
            "failed": report.failed + failed,
            "decisions": report.decisions + tuple(read.decisions),
            "refused": report.refused + tuple(read.refused),
            "calls": report.calls + read.extraction.calls,
            "input_tokens": report.input_tokens + read.extraction.input_tokens,
            "output_tokens": report.output_tokens + read.extraction.output_tokens,
        }
    )
