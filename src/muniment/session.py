"""A session: one principal's reads and writes. One short method a verb; the work is done elsewhere."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, get_args

from muniment.agent import Act, Evaluate, Order, Verbs, take_turn
from muniment.canonical import activity
from muniment.canonical.policies import open_policies
from muniment.derive.engine import Engine
from muniment.errors import InvalidInput, MunimentError, VersionConflict
from muniment.extract.port import Extractor
from muniment.model.access import Access, parse_access
from muniment.model.claim import Claim, ClaimPage, ClaimVersion, Decision, Status, Why, Withdrawal
from muniment.model.evidence import AddReport, Evidence, EvidenceDraft, Rejection
from muniment.model.identity import Identity, Merge, Resolution, Subject
from muniment.model.ids import new_id, parse_id
from muniment.model.memory_type import Outcomes, Pin
from muniment.model.payload import Hit, Payload
from muniment.model.policy import PredicatePolicy
from muniment.model.remember import FeedbackKind, Remembered, RetryReport
from muniment.model.review import Review, ReviewPage, Verdict
from muniment.model.scope import parse_scope
from muniment.model.text import require_json, require_name, require_text
from muniment.model.trial import PolicyTrial
from muniment.model.turn import Flight, FlightPage, TurnResult
from muniment.promote import decide as deciding
from muniment.promote import define as defining
from muniment.promote import redecide
from muniment.promote.drafts import make_draft
from muniment.promote.feedback import Note, feedback, widen
from muniment.promote.identify import identify, unidentify
from muniment.promote.merge import merge, unmerge
from muniment.promote.ports import Desk
from muniment.promote.preserve import Preserved, preserve, read_back
from muniment.promote.proposal import (
    MAX_STATEMENT_BYTES,
    Support,
    cite,
    make_proposal,
    require_confidence,
)
from muniment.promote.propose import propose
from muniment.promote.remember import remember, retry
from muniment.promote.review import decide_review, preview
from muniment.promote.values import MAX_VALUE_BYTES
from muniment.promote.verdicts import Ruling
from muniment.promote.withdraw import withdraw
from muniment.recall import read
from muniment.recall.assemble import assemble, read_cursor, require_budget
from muniment.recall.clocks import AsOf
from muniment.recall.context import gather_context
from muniment.recall.reviews import read_review, read_reviews
from muniment.recall.routes import KINDS
from muniment.recall.search import make_question, rank, require_k, to_hit
from muniment.recall.subjects import read_subject, resolve
from muniment.recall.tokens import TokenCounter, estimate_tokens
from muniment.recall.turns import read_turn, read_turns
from muniment.recall.types import enumerate_type, read_outcomes, read_pins
from muniment.store.database import Database
from muniment.store.statements import sql

BATCH_ITEMS = 64
BULK_ITEMS = 2000
BATCH_CHARACTERS = 256 * 1024
Progress = Callable[[int], None]


class Session:
    """Reads and writes of one tenant, as one principal. Access is fixed when it is opened by `Memory.session`.

    Safe to use from several threads. Every read takes `valid_at` (when in the world), `known_at` (as known when), or
    `as_of` (both); the default is now for both. Only aware datetimes are taken (`NaiveDatetime`).
    """

    def __init__(self, database: Database, engine: Engine, access: Access, extractor: Extractor | None = None) -> None:
        self._database = database
        self._engine = engine
        self._access = access
        self._desk = Desk(database, access, engine, extractor)

    @property
    def access(self) -> Access:
        """Who this session is."""
        return self._access

    # ---- write ----------------------------------------------------------------------------------------------------

    def add(
        self, content: str, *, source: str = "api", source_id: str | None = None, source_version: int = 1,
        kind: str = "message", occurred_at: datetime | None = None, observed_at: datetime | None = None,
        author: str | None = None, role: str = "user", thread: str | None = None, trust: str = "first_party",
        access: Iterable[str] = (), uri: str | None = None, media_type: str = "text/plain",
        metadata: Mapping[str, Any] | None = None, replaces: str | None = None,
    ) -> Evidence:  # fmt: skip
        """Stores one version of a source; when this returns, it is durable and findable.

        The same (source, source_id, source_version) with the same content is the same Evidence, and nothing is written.
        `source_id` defaults to a hash of the content, author, thread, `occurred_at` and labels: in a conversation give
        each turn an id or its time, or the same words said again are the same evidence. `access` adds labels to the
        session's own. `observed_at` (when this system learned of it) needs the grant `muniment:import` and lies in the
        past.

        Raises `InvalidInput`, `InvalidText`, `NaiveDatetime`, `InvalidTime`, `AccessDenied`, `VersionConflict` (other
        content or labels under that key), `NotFound` (`replaces`), `EmbedderFailed`.
        """
        draft = make_draft(
            content=content, source=source, source_id=source_id, source_version=source_version, kind=kind,
            occurred_at=occurred_at, observed_at=observed_at, author=author, role=role, thread=thread, trust=trust,
            access=access, uri=uri, media_type=media_type, metadata=metadata, replaces=replaces,
        )  # fmt: skip
        (outcome,) = preserve(self._desk, [self._in_thread(draft)])
        if outcome.error is not None:
            raise outcome.error
        return read_back(self._desk, outcome)

    def add_many(
        self, items: Iterable[Mapping[str, Any] | EvidenceDraft], *, progress: Progress | None = None
    ) -> AddReport:
        """Stores many items in batches, each durable when `progress` is called with the number just finished.

        A bad item is reported in `rejected` with its place, and never loses the others. An item is a mapping of the
        arguments of `add`, or an `EvidenceDraft`. Interrupted, it can be run again: what is stored is only counted.
        """
        stored = repeated = 0
        rejected: list[Rejection] = []
        for batch in _batches(enumerate(items)):
            for place, outcome in self._add_batch(batch):
                stored += outcome.stored
                repeated += not outcome.stored and outcome.error is None
                if outcome.error is not None:
                    rejected.append(Rejection(item=str(place), code=outcome.error.code, message=str(outcome.error)))
            if progress is not None:
                progress(len(batch))
        if stored >= BULK_ITEMS:
            with self._database.outside() as connection:
                connection.execute(sql("refresh_statistics"))
        return AddReport(stored=stored, repeated=repeated, rejected=tuple(rejected))

    def _add_batch(self, batch: Sequence[tuple[int, Any]]) -> Iterator[tuple[int, Preserved]]:
        drafts: dict[int, EvidenceDraft] = {}
        for place, item in batch:
            try:
                draft = item if isinstance(item, EvidenceDraft) else make_draft(**_as_arguments(item))
                drafts[place] = self._in_thread(draft)
            except MunimentError as error:
                yield place, Preserved(None, False, error)
        yield from zip(drafts, preserve(self._desk, list(drafts.values())), strict=True)

    def _in_thread(self, draft: EvidenceDraft) -> EvidenceDraft:
        if draft.thread is not None or self._access.thread is None:
            return draft
        return draft.model_copy(update={"thread": self._access.thread})

    def propose(
        self, subject: str, predicate: str, value: Any, *, evidence: Support | Sequence[Support], scope: str = "",
        statement: str | None = None, memory_type: str = "entity", valid_from: datetime | None = None,
        valid_to: datetime | None = None, confidence: float | None = None, premises: Sequence[str] = (),
        supersedes: str | None = None, correction: bool = False, access: Iterable[str] | None = None,
    ) -> Decision:  # fmt: skip
        """Proposes a typed claim with its evidence: a `Span`, a whole `Evidence`, or several that support it together.

        The policy of the predicate decides whether it holds at once. The same value again is one more support; another
        value from a later moment ends the earlier one (a change); `correction=True` says that the claim in `supersedes`
        never held. In a narrower `scope` the wider claim keeps holding elsewhere. `valid_from` defaults to the earliest
        `occurred_at` of the evidence. Repeating a call changes nothing.

        Raises `InvalidInput`, `BadScope`, `UnknownSpan`, `NotFound`, `NaiveDatetime`, `InvalidTime`, `ClaimMovedOn`,
        `RivalTruth`, `CyclicPremises`, `EmbedderFailed`.
        """
        proposal = make_proposal(
            subject=subject, predicate=predicate, value=value, evidence=evidence, scope=scope, statement=statement,
            memory_type=memory_type, valid_from=valid_from, valid_to=valid_to, confidence=confidence, premises=premises,
            supersedes=supersedes, correction=correction,
            access=None if access is None else parse_access(access),
        )  # fmt: skip
        return propose(self._desk, proposal)

    def remember(
        self, content: str, *, source: str = "api", source_id: str | None = None, source_version: int = 1,
        kind: str = "message", occurred_at: datetime | None = None, observed_at: datetime | None = None,
        author: str | None = None, role: str = "user", thread: str | None = None, trust: str = "first_party",
        access: Iterable[str] = (), uri: str | None = None, media_type: str = "text/plain",
        metadata: Mapping[str, Any] | None = None, replaces: str | None = None,
    ) -> Remembered:  # fmt: skip
        """Adds the text, reads claims out of it with the memory's extractor, and proposes each, quoted.

        The evidence is durable before the extractor is asked, and no transaction is open while it works. When reading
        fails, that is the `failure` of the result, and `retry` tries again. What this extractor has read already is not
        read again (`repeated`); after a failure it is. A claim that cannot be proposed is in `refused`.

        Raises what `add` raises, and `InvalidInput` when the memory was opened without an extractor.
        """
        draft = make_draft(
            content=content, source=source, source_id=source_id, source_version=source_version, kind=kind,
            occurred_at=occurred_at, observed_at=observed_at, author=author, role=role, thread=thread, trust=trust,
            access=access, uri=uri, media_type=media_type, metadata=metadata, replaces=replaces,
        )  # fmt: skip
        return remember(self._desk, self._in_thread(draft))

    def feedback(
        self, about: str, *, kind: FeedbackKind, content: str, claims: Sequence[Mapping[str, Any]] = (),
        scope: str | None = None, author: str | None = None, thread: str | None = None, source: str = "feedback",
        source_id: str | None = None, occurred_at: datetime | None = None, access: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> Remembered:  # fmt: skip
        """Stores feedback on `about` (a draft, an evidence, a claim: its id) and claims narrowly what it means.

        `kind`: "edit" (`content` is the text as it was sent), "comment", "thumb_up", "thumb_down". Each of `claims` is
        a mapping with subject, predicate, value, and perhaps statement and memory_type (default: persona). They are
        candidates in `scope` (default: `thread/…` of this thread) until confirmed, or repeated as the policy's
        `widen_after` says; `widened` are those that now hold around it. Raises `BadScope`, `InvalidInput`, and as `add`
        and `propose` do.
        """
        require_name(about, what="about")
        # The same words about two drafts are two pieces of feedback.
        words = hashlib.sha256(f"{kind}\n{content}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
        draft = make_draft(
            content=content, source=source, source_id=source_id or f"{about}#{words}", kind="feedback",
            occurred_at=occurred_at,
            author=author, role="user", thread=thread, access=access, metadata=metadata,
        )  # fmt: skip
        draft = self._in_thread(draft)
        if kind not in get_args(FeedbackKind):
            raise InvalidInput(f"there is no feedback of kind {kind!r}; there are {', '.join(get_args(FeedbackKind))}")
        given = scope if scope is not None else "" if draft.thread is None else f"thread/{draft.thread}"
        if isinstance(claims, str | Mapping) or not isinstance(claims, Iterable):
            raise InvalidInput("claims is a collection of mappings with subject, predicate and value")
        return feedback(self._desk, draft, Note(about, kind, given, tuple(claims)))

    def widen(self, claim_id: str, scope: str, *, by: str, reason: str = "") -> Decision:
        """Says that what a claim says holds in a wider scope: a claim there with the same evidence, on `by`'s word.
        Raises `NotFound`, `BadScope`, `RivalTruth`, `PolicyUnmet`."""
        return widen(self._desk, _claim(claim_id), scope, by=require_name(by, what="by"), reason=_reason(reason))

    def report(
        self, claim_id: str, result: str, *, note: str = "", run: str | None = None,
        occurred_at: datetime | None = None, access: Iterable[str] = (),
    ) -> Evidence:  # fmt: skip
        """Stores what came of acting on a claim, "success" or "failure", as evidence of kind `outcome`; `outcomes`
        counts it. The same report of one `run` is stored once. Raises `InvalidInput`, `NotFound`, `VersionConflict`
        (that run reported otherwise), and as `add` does."""
        if result not in ("success", "failure"):
            raise InvalidInput("a result is 'success' or 'failure'")
        with self._database.transaction(self._access) as tx:
            about = read.read_why(tx, AsOf(), claim_id).claim
        key = f"{about.claim_id}#{require_name(run, what='run') if run is not None else new_id()}"
        try:
            return self.add(
                f"{result}: {note or about.statement}", source="outcome", source_id=key, kind="outcome", role="system",
                occurred_at=occurred_at, access=access,
                metadata={"claim": about.claim_id, "result": result, "run": run},
            )  # fmt: skip
        except VersionConflict:
            raise VersionConflict(
                f"run {run!r} reported on this claim before, and otherwise; withdraw that report, or name another run"
            ) from None

    def turn(
        self, message: str, act: Act, *, evaluate: Evaluate | None = None, run: str | None = None,
        subject: str | None = None, scope: str | None = None, budget: int = 1500, source: str = "turn-message",
        source_id: str | None = None, author: str | None = None, role: str = "user", thread: str | None = None,
        occurred_at: datetime | None = None, access: Iterable[str] = (), metadata: Mapping[str, Any] | None = None,
    ) -> TurnResult:  # fmt: skip
        """One turn of an agent: the message is stored, what is known is recalled for it, `act(payload)` gives the
        reply, `evaluate(payload, reply)` judges it, and what the message says is promoted: by the memory's extractor,
        and by the reply's `proposals`, unless the evaluation is not ok.

        The agent reads what was known just before the message. The reply is kept as an assistant's words, which
        validate nothing. The envelope (what was read, called and promoted, and why, with what failed) is kept too:
        `turns`. What fails after `act` is in `flight.failures` and breaks nothing. `run` and `source_id` make a
        repeated turn store its message once.

        Raises what `add` and `recall` raise, and what `act` raises; the message is stored and the failure recorded.
        """
        if not callable(act) or not (evaluate is None or callable(evaluate)):
            raise InvalidInput("act and evaluate are functions: act(payload), evaluate(payload, reply)")
        stored_with = {
            "source": source, "source_id": source_id, "author": author, "role": role, "thread": thread,
            "occurred_at": occurred_at, "access": parse_access(access), "metadata": metadata,
        }  # fmt: skip
        order = Order(
            message=message, stored_with=stored_with,
            read_with={"subject": subject, "scope": scope, "budget": budget}, act=act, evaluate=evaluate,
            run=_text(run, "run"), extracts=self._desk.extractor is not None,
        )  # fmt: skip
        verbs = Verbs(self.add, self.remember, self.recall, self.propose, self.report)
        return take_turn(verbs, order, self._record_turn)

    def _record_turn(self, flight: Flight) -> None:
        with self._database.transaction(self._access) as tx:
            activity.record(
                tx, "turn", actor=self._access.actor, at=flight.started_at, used=flight.model_dump(mode="json"),
                activity_id=parse_id(flight.turn_id, what="turn"),
            )  # fmt: skip

    def turns(
        self, *, run: str | None = None, thread: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> FlightPage:
        """The envelopes of turns whose message this session may see, the newest first. Raises `BadFilter`."""
        with self._database.transaction(self._access) as tx:
            return read_turns(tx, run=_text(run, "run"), thread=_text(thread, "thread"), limit=limit, cursor=cursor)

    def turn_record(self, turn_id: str) -> Flight:
        """The envelope of one turn. Raises `NotFound`."""
        with self._database.transaction(self._access) as tx:
            return read_turn(tx, turn_id)

    def retry(self, limit: int = 100, *, attempts: int = 5) -> RetryReport:
        """Reads again what `remember` stored and could not read, or was interrupted at: at most `limit` evidences that
        this session may see, longest waiting first, without those at which this extractor failed `attempts` times.

        Raises `InvalidInput`, also when the memory was opened without an extractor, and `EngineUnavailable`; what was
        read until then is kept.
        """
        return retry(self._desk, limit=limit, attempts=attempts)

    def confirm(
        self, claim_id: str, *, by: str, reason: str = "", evidence: Support | Sequence[Support] | None = None
    ) -> Decision:
        """Validates a candidate. Raises `NotFound`, `ClaimMovedOn`, `RivalTruth`."""
        require_name(by, what="by")
        return deciding.confirm(
            self._desk,
            _claim(claim_id),
            by=by,
            reason=_reason(reason),
            citations=() if evidence is None else cite(evidence),
        )

    def reject(self, claim_id: str, *, by: str, reason: str = "") -> Decision:
        """Turns a candidate down; it stays in the history. Raises `NotFound`, `ClaimMovedOn`."""
        return deciding.reject(self._desk, _claim(claim_id), by=require_name(by, what="by"), reason=_reason(reason))

    def retract(self, claim_id: str, *, reason: str, evidence: Support | Sequence[Support] | None = None) -> Decision:
        """Says that a claim should not have been held: what it had superseded comes back. Raises `NotFound`,
        `ClaimMovedOn`."""
        citations = () if evidence is None else cite(evidence)
        return deciding.retract(self._desk, _claim(claim_id), reason=_reason(reason), citations=citations)

    def restore(self, claim_id: str, *, reason: str) -> Decision:
        """Holds a retracted or rejected claim again. Raises `NotFound`, `ClaimMovedOn`, `RivalTruth`."""
        return deciding.restore(self._desk, _claim(claim_id), reason=_reason(reason))

    def withdraw(self, evidence_id: str, *, reason: str) -> Withdrawal:
        """Says that evidence no longer counts. It stays readable by its id; claims go on by what else supports them, or
        wait again, or are unsupported. Raises `NotFound`."""
        return withdraw(self._desk, parse_id(evidence_id, what="evidence"), reason=_reason(reason))

    def correct(
        self, claim_id: str, value: Any, *, evidence: Support | Sequence[Support], statement: str | None = None
    ) -> Decision:
        """Says what the claim should have said all along: the old one never was, as known from now on. Asked as known
        before, the old one still answers. Raises as `propose` does."""
        with self._database.transaction(self._access) as tx:
            why = read.read_why(tx, AsOf(), claim_id).claim
        return self.propose(
            why.subject_id, why.predicate, value, evidence=evidence, scope=why.scope, statement=statement,
            memory_type=why.memory_type, supersedes=claim_id, correction=True,
        )  # fmt: skip

    def decide(
        self, review_id: str, verdict: str, *, by: str, reason: str = "", value: Any = None, into: str | None = None
    ) -> Verdict:  # fmt: skip
        """Decides a review: "approve" (the claim holds, and takes over from its rivals), "reject", "edit" (the evidence
        gives another `value`: a new claim holds), "merge" (it says the same as the claim `into`, or the subject is the
        one `into`), or "undo" what was decided. `Review` says which verdicts fit. Raises `NotFound`, `ClaimMovedOn`
        (somebody was faster, or decided about the claim otherwise), `PolicyUnmet`, `RivalTruth`, `InvalidInput`."""
        wanted = parse_id(review_id, what="review")
        if value is not None:
            require_json(value, what="the value", max_bytes=MAX_VALUE_BYTES)
        ruling = Ruling(
            require_name(verdict, what="verdict"), require_name(by, what="by"), _reason(reason), value,
            _text(into, "into"),
        )  # fmt: skip
        return decide_review(self._desk, wanted, ruling)

    def identify(
        self, provider: str, external_id: str, subject: str, *, method: str = "given", confidence: float | None = None,
        evidence: Support | Sequence[Support] | None = None,
    ) -> Identity:  # fmt: skip
        """Says that a subject goes by an identifier of some provider ("email", "crm"), or by a "name".

        Several subjects may share a name. Any other identifier belongs to one: when it is another one's, nothing moves,
        `waits` says so, and a review asks whether the two are one. Raises `InvalidInput`, `NotFound`, `UnknownSpan`.
        """
        return identify(
            self._desk, require_name(provider, what="provider"), require_name(external_id, what="external_id"),
            require_name(subject, what="subject"), method=require_name(method, what="method"),
            confidence=require_confidence(confidence), citations=() if evidence is None else cite(evidence),
        )  # fmt: skip

    def unidentify(self, provider: str, external_id: str, subject: str) -> Identity:
        """Says that a subject does not go by an identifier any more. Raises `NotFound`."""
        return unidentify(
            self._desk, require_name(provider, what="provider"), require_name(external_id, what="external_id"),
            require_name(subject, what="subject"),
        )  # fmt: skip

    def merge(
        self, from_subject: str, into_subject: str, *, reason: str, method: str = "given",
        confidence: float | None = None, evidence: Support | Sequence[Support] | None = None,
    ) -> Merge:  # fmt: skip
        """Says that two subjects are one, known from now on. No claim moves: reads of one read both, and what is
        proposed about one is compared with what is held about the other. Rival values stay, in conflict, each with a
        review. Merging again changes nothing. Raises `NotFound`, `InvalidInput`, `AccessDenied`."""
        return merge(
            self._desk, require_name(from_subject, what="subject"), require_name(into_subject, what="subject"),
            method=require_name(method, what="method"), reason=_reason(reason),
            confidence=require_confidence(confidence), citations=() if evidence is None else cite(evidence),
        )  # fmt: skip

    def unmerge(self, merge_id: str, *, reason: str) -> Merge:
        """Takes a merge back, known from now on: what one subject had ended of the other comes back. Asked as known
        before, they are still one. Raises `NotFound`."""
        return unmerge(self._desk, parse_id(merge_id, what="merge"), reason=_reason(reason))

    def define(self, policy: PredicatePolicy | Mapping[str, Any]) -> PredicatePolicy:
        """Declares how a predicate behaves, from now on; the same again changes nothing. Raises `InvalidInput`."""
        return defining.define(self._desk, defining.parse_policy(policy))

    def try_policy(self, policy: PredicatePolicy | Mapping[str, Any]) -> PolicyTrial:
        """What a policy would decide otherwise: claims made so far are judged again under it, beside the decisions in
        force. Writes nothing. Raises `InvalidInput`."""
        return redecide.try_policy(self._desk, defining.parse_policy(policy))

    def apply_policy(self, policy: PredicatePolicy | Mapping[str, Any]) -> PolicyTrial:
        """Puts a policy in force, and decides again what was decided before it, as new versions known from now on.
        Raises `InvalidInput`, `RivalTruth`."""
        return redecide.apply_policy(self._desk, defining.parse_policy(policy))

    def policies(self) -> list[PredicatePolicy]:
        """The policies in force."""
        with self._database.transaction(self._access) as tx:
            return open_policies(tx).get()

    # ---- read -----------------------------------------------------------------------------------------------------

    def claims(
        self, subject: str | None = None, predicate: str | None = None, *, scope: str | None = None,
        memory_type: str | None = None, status: str | None = "validated", limit: int = 100, cursor: str | None = None,
        valid_at: datetime | None = None, known_at: datetime | None = None, as_of: datetime | None = None,
    ) -> ClaimPage:  # fmt: skip
        """Claims that hold, in id order. With `scope`, those that cover it: the most specific one wins, and the others
        are marked `superseded` with `superseded_by` and the moment at which they yield. `status=None` lists every
        status, holding or not. Raises `BadFilter`, `BadScope`, `NaiveDatetime`."""
        asked = AsOf.of(valid_at, known_at, as_of)
        with self._database.transaction(self._access) as tx:
            return read.read_claims(
                tx, asked, subject=_text(subject, "subject"), predicate=_text(predicate, "predicate"), scope=scope,
                memory_type=_text(memory_type, "memory_type"), status=status, limit=limit, cursor=cursor,
            )  # fmt: skip

    def reviews(self, state: str | None = "open", *, limit: int = 100, cursor: str | None = None) -> ReviewPage:
        """What waits for a person ("open"), what was "decided", or both (None), oldest first. Raises `BadFilter`."""
        with self._database.transaction(self._access) as tx:
            return read_reviews(tx, state, limit=limit, cursor=cursor)

    def review(self, review_id: str) -> Review:
        """One review; while it is open, with what approving would change. Raises `NotFound`."""
        with self._database.transaction(self._access) as tx:
            found = read_review(tx, review_id)
        if found.verdict is not None or found.claim is None:
            return found
        if found.kind == "claim" and found.claim.status is not Status.CANDIDATE:
            return found
        consequences = preview(self._desk, parse_id(review_id, what="review"), by=self._access.actor)
        return found.model_copy(update={"consequences": consequences})

    def enumerate(
        self, memory_type: str, *, subject: str | None = None, scope: str | None = None,
        valid_at: datetime | None = None, known_at: datetime | None = None, as_of: datetime | None = None,
    ) -> list[Claim]:  # fmt: skip
        """Every claim of an enumerated type (guideline, persona, tool) that holds, in full and in its order: guidelines
        by priority, the others by predicate. With `scope`, those in force there. Raises `BadFilter`, `BadScope`,
        `NaiveDatetime`."""
        asked = AsOf.of(valid_at, known_at, as_of)
        with self._database.transaction(self._access) as tx:
            return enumerate_type(
                tx, asked, require_name(memory_type, what="memory_type"), subject=_text(subject, "subject"), scope=scope
            )

    def outcomes(self, claim_id: str, *, known_at: datetime | None = None) -> Outcomes:
        """How often what a claim says was acted on with success, and how often without. Raises `NotFound`."""
        asked = AsOf.of(None, known_at, None)
        with self._database.transaction(self._access) as tx:
            return read_outcomes(tx, asked, claim_id)

    def pins(self, claim_id: str, *, known_at: datetime | None = None) -> list[Pin]:
        """The evidence versions that a claim, such as an episode, rests on, and by how much their sources have moved on
        since. Raises `NotFound`."""
        asked = AsOf.of(None, known_at, None)
        with self._database.transaction(self._access) as tx:
            return read_pins(tx, asked, claim_id)

    def history(self, claim_id: str) -> list[ClaimVersion]:
        """What was ever held about a claim, oldest first. Raises `NotFound`."""
        with self._database.transaction(self._access) as tx:
            return read.read_history(tx, claim_id)

    def why(
        self,
        claim_id: str,
        *,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
        as_of: datetime | None = None,
    ) -> Why:
        """What a claim rests on and what rests on it. Raises `NotFound`."""
        asked = AsOf.of(valid_at, known_at, as_of)
        with self._database.transaction(self._access) as tx:
            return read.read_why(tx, asked, claim_id)

    def timeline(
        self,
        subject: str,
        *,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
        as_of: datetime | None = None,
    ) -> list[Claim]:
        """Everything that was validated about a subject, by predicate and then by when it began to hold."""
        asked = AsOf.of(valid_at, known_at, as_of)
        with self._database.transaction(self._access) as tx:
            return read.read_timeline(tx, asked, require_name(subject, what="subject"))

    def subject(self, subject: str, *, known_at: datetime | None = None) -> Subject:
        """What a subject goes by, and what is one with it. Raises `NotFound`, `NaiveDatetime`."""
        asked = AsOf.of(None, known_at, None)
        with self._database.transaction(self._access) as tx:
            return read_subject(tx, require_name(subject, what="subject"), known_at=asked.known_at)

    def resolve(self, name: str, *, provider: str | None = None, known_at: datetime | None = None) -> Resolution:
        """Whom a name or an identifier means: by id, by identifier, by name (without case). With several, nobody is
        guessed. Raises `InvalidInput`, `NaiveDatetime`."""
        asked = AsOf.of(None, known_at, None)
        with self._database.transaction(self._access) as tx:
            found = require_name(name, what="name")
            return resolve(tx, found, provider=_text(provider, "provider"), known_at=asked.known_at)

    def evidence(self, evidence_id: str) -> Evidence:
        """One stored evidence. Raises `NotFound`."""
        with self._database.transaction(self._access) as tx:
            return read.read_evidence(tx, evidence_id)

    def search(
        self, query: str, *, k: int = 10, kinds: Sequence[str] = KINDS, routes: Sequence[str] | None = None,
        valid_at: datetime | None = None, known_at: datetime | None = None, as_of: datetime | None = None,
    ) -> list[Hit]:  # fmt: skip
        """The `k` best rows, each checked against canonical memory. Words whose claims were superseded say so. Raises
        `InvalidInput`, `BadFilter`, `NaiveDatetime`, `EmbedderFailed`."""
        asked, k = AsOf.of(valid_at, known_at, as_of), require_k(k)
        question = make_question(self._engine, query, kinds=kinds, routes=routes)
        with self._database.transaction(self._access) as tx:
            return [to_hit(found) for found in rank(tx, self._engine, asked.start(tx), question, k).found]

    def recall(
        self, request: str, *, subject: str | None = None, scope: str | None = None, budget: int = 1500,
        routes: Sequence[str] | None = None, cursor: str | None = None, count_tokens: TokenCounter = estimate_tokens,
        valid_at: datetime | None = None, known_at: datetime | None = None, as_of: datetime | None = None,
    ) -> Payload:  # fmt: skip
        """A bounded, cited context for `request`: current claims with their quotes, what explains them, and evidence.

        `budget` is in tokens as `count_tokens` counts them; the best item always goes in, cut to fit if need be. When
        nothing answers, or the sources conflict, `abstention` says why and what to ask. `cursor` continues a payload at
        its own clocks. Raises `InvalidInput`, `BadFilter`, `BadScope`, `NaiveDatetime`, `EmbedderFailed`.
        """
        asked, skip = AsOf.of(valid_at, known_at, as_of), 0
        if cursor is not None:
            asked, skip = read_cursor(cursor)
        require_budget(budget)
        subject = _text(subject, "subject")
        if scope is not None:
            parse_scope(scope)
        question = make_question(self._engine, request, routes=routes)
        with self._database.transaction(self._access) as tx:
            clocks = asked.start(tx)
            context = gather_context(tx, self._engine, clocks, question, subject=subject, scope=scope)
            return assemble(
                context, clocks, request=request, subject=subject, routes=question.routes, budget=budget, skip=skip,
                count=count_tokens,
            )  # fmt: skip


def _batches(items: Iterator[tuple[int, Any]]) -> Iterator[list[tuple[int, Any]]]:
    """Batches of at most 64 items, cut earlier when their texts grow large: memory stays bounded."""
    batch: list[tuple[int, Any]] = []
    size = 0
    for place, item in items:
        content = item.content if isinstance(item, EvidenceDraft) else _as_mapping(item).get("content", "")
        batch.append((place, item))
        size += len(content) if isinstance(content, str) else 0
        if len(batch) == BATCH_ITEMS or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _as_mapping(item: Any) -> Mapping[str, Any]:
    return item if isinstance(item, Mapping) else {}


def _as_arguments(item: Any) -> dict[str, Any]:
    if not isinstance(item, Mapping) or "content" not in item or not all(isinstance(key, str) for key in item):
        raise InvalidInput("an item is a mapping of the arguments of add(), with 'content'")
    return dict(item)


def _claim(claim_id: str) -> Any:
    return parse_id(claim_id, what="claim")


def _reason(reason: str) -> str:
    return require_text(reason, what="reason", max_bytes=MAX_STATEMENT_BYTES, allow_empty=True)


def _text(value: str | None, what: str) -> str | None:
    return None if value is None else require_text(value, what=what, max_bytes=MAX_STATEMENT_BYTES)
