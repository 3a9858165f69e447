"""One turn of an agent: the message first, then what was known before it, the reply, and what is promoted; all on record."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

import muniment
from muniment import Call, Evaluation, Reply
from muniment.errors import BadFilter, ExtractionFailed, InvalidInput, NotFound
from muniment.extract.port import Candidate, Extraction
from muniment.extract.rules import RulesExtractor
from muniment.model.evidence import Evidence
from muniment.model.payload import Payload
from muniment.providers.local import LocalEmbedder
from tests.conftest import Databases, HashEmbedder
from tests.helpers import single_valued, tell, values


class Failing:
    name = "failing"

    def extract(self, batch: Sequence[Evidence]) -> list[Extraction]:
        return [Extraction(failure=ExtractionFailed("timeout: no answer")) for _ in batch]


class Raising(Failing):
    def extract(self, batch: Sequence[Evidence]) -> list[Extraction]:
        raise RuntimeError("secret words of the text")


class Cities(Failing):
    """Reads "I live in X"."""

    def extract(self, batch: Sequence[Evidence]) -> list[Extraction]:
        found = []
        for evidence in batch:
            start = evidence.content.index("I live in ")
            city = evidence.content[start + 10 :].split(".")[0]
            candidate = Candidate(str(evidence.author), "city", city, start, start + 10 + len(city))
            found.append(Extraction(candidates=(candidate,)))
        return found


@pytest.fixture
def reading(databases: Databases, database_name: str, embedder: LocalEmbedder) -> Any:
    opened = []

    def with_extractor(extractor: Any) -> muniment.Memory:
        opened.append(muniment.open(databases.app(database_name), embedder=embedder, extractor=extractor))
        return opened[-1]

    yield with_extractor
    for memory in opened:
        memory.close()


def answer(payload: Payload) -> Reply:
    return Reply(
        text=f"I know {len(payload.claims)} things.", calls=(Call(name="crm", arguments={"id": 7}, result="ok"),)
    )


def test_a_turn_stores_the_message_reads_acts_and_leaves_an_envelope(session: muniment.Session) -> None:
    single_valued(session, "city")
    held = tell(session, "jane", "city", "Bergen", "2026-01-01")
    result = session.turn("Where does jane live?", answer, run="run-1", author="tom", thread="t-1", subject="jane")
    flight = result.flight
    assert (flight.read, flight.called, flight.failures) == ((held.claim_id,), ("crm",), ())
    message, reply = session.evidence(flight.message_id), session.evidence(flight.reply_id or "")
    assert (message.content, message.author, message.thread) == ("Where does jane live?", "tom", "t-1")
    assert (reply.content, reply.role, reply.trust, reply.thread) == ("I know 1 things.", "assistant", "model", "t-1")
    assert reply.metadata["answers"] == message.evidence_id
    assert reply.metadata["calls"] == [{"name": "crm", "arguments": {"id": 7}, "result": "ok", "milliseconds": None}]
    assert set(flight.milliseconds) >= {"retrieve", "act", "promote"}
    kept = session.turn_record(flight.turn_id)
    assert kept.model_dump(exclude={"milliseconds"}) == flight.model_dump(exclude={"milliseconds"})
    assert [f.turn_id for f in session.turns(run="run-1").items] == [flight.turn_id]
    assert session.turns(thread="other").items == ()


def test_a_turn_does_not_read_its_own_message(session: muniment.Session) -> None:
    first = session.turn("The launch code word is pelican.", lambda payload: "noted")
    assert first.payload.evidence == ()
    second = session.turn("What is the launch code word?", lambda payload: payload.evidence[0].quote)
    assert "pelican" in second.reply.text


def test_what_the_message_says_is_promoted_by_the_extractor_and_read_in_the_next_turn(
    reading: Any, tenant: str
) -> None:
    session = reading(Cities()).session(tenant=tenant)
    single_valued(session, "city")
    first = session.turn("I live in Bergen. What now?", answer, author="jane")
    assert [(p.outcome, p.code) for p in first.flight.promoted] == [("validated", None)]
    assert first.payload.claims == ()
    second = session.turn("Where do I live? I live in Oslo.", answer, author="jane", subject="jane")
    assert values(second.payload.claims) == ["Bergen"]
    assert [p.outcome for p in second.flight.promoted] == ["superseded_other"]


@pytest.mark.parametrize("extractor", [Failing(), Raising()])
def test_a_failure_in_promotion_is_recorded_and_never_breaks_the_turn(
    reading: Any, tenant: str, extractor: Any
) -> None:
    session = reading(extractor).session(tenant=tenant)
    result = session.turn("I live in Bergen.", answer, author="jane")
    (failure,) = result.flight.failures
    assert (result.reply.text, failure.step, failure.code) == ("I know 0 things.", "promote", "extraction_failed")
    assert "secret" not in failure.reason
    assert session.turn_record(result.flight.turn_id).failures == (failure,)
    assert session.retry(attempts=5).tried == 1


def test_proposals_of_the_reply_are_quoted_from_the_message_and_one_bad_one_loses_no_other(
    session: muniment.Session,
) -> None:
    single_valued(session, "city")
    good = {"subject": "jane", "predicate": "city", "value": "Bergen", "quote": "I live in Bergen"}
    reply = Reply(
        text="Noted.",
        proposals=(
            good | {"quote": "I live in Oslo"}, good | {"colour": "red"}, {"subject": "jane"}, good,
        ),
    )  # fmt: skip
    flight = session.turn("I live in Bergen.", lambda payload: reply, author="jane").flight
    assert [p.code for p in flight.promoted] == ["unknown_span", "invalid_input", "invalid_input", None]
    assert values(session.claims("jane", "city")) == ["Bergen"]


@pytest.mark.parametrize("verdict", [False, Evaluation(ok=False, reason="not grounded")])
def test_a_reply_that_was_found_wanting_promotes_nothing_of_its_own(session: muniment.Session, verdict: Any) -> None:
    single_valued(session, "city")
    proposal = {"subject": "jane", "predicate": "city", "value": "Bergen", "quote": "I live in Bergen"}
    reply = Reply(text="Noted.", proposals=(proposal,))
    result = session.turn("I live in Bergen.", lambda payload: reply, evaluate=lambda payload, reply: verdict)
    assert (result.flight.evaluation, result.flight.promoted) == (False, ())
    assert session.claims("jane").items == ()


def test_an_evaluation_that_fails_is_recorded_and_counts_as_not_ok(session: muniment.Session) -> None:
    def judge(payload: Payload, reply: Reply) -> bool:
        raise ValueError("secret")

    result = session.turn("hello there", answer, evaluate=judge)
    assert result.flight.evaluation is False
    assert [(f.step, f.code, f.reason) for f in result.flight.failures] == [
        ("evaluate", "error", "evaluate raised ValueError")
    ]


def test_what_the_agent_acted_on_gets_its_outcome_from_the_evaluation(session: muniment.Session) -> None:
    steps = {"description": "Renew a contract", "steps": ["call"]}
    note = session.add("how we renew", trust="authoritative")
    workflow = session.propose("agents", "renewal", steps, evidence=note, memory_type="workflow")
    session.confirm(workflow.claim_id, by="ada")
    reply = Reply(text="Called.", acted_on=(workflow.claim_id, "nonsense"))
    verdicts = iter((True, False, True))
    for _ in range(3):
        flight = session.turn("Renew it.", lambda payload: reply, evaluate=lambda payload, reply: next(verdicts)).flight
        assert [p.code for p in flight.promoted] == ["not_found"]
    outcomes = session.outcomes(workflow.claim_id)
    assert (outcomes.successes, outcomes.failures) == (2, 1)


def test_an_agent_that_fails_is_on_record_and_raises_and_the_message_is_kept(session: muniment.Session) -> None:
    def act(payload: Payload) -> str:
        raise RuntimeError("secret")

    with pytest.raises(RuntimeError):
        session.turn("Do it.", act, run="r")
    (flight,) = session.turns(run="r").items
    assert [(f.step, f.reason) for f in flight.failures] == [("act", "act raised RuntimeError")]
    assert (session.evidence(flight.message_id).content, flight.reply_id) == ("Do it.", None)


@pytest.mark.parametrize("given", [None, 7, b"x", {"text": "x"}])
def test_what_is_no_reply_is_refused(session: muniment.Session, given: Any) -> None:
    with pytest.raises(InvalidInput):
        session.turn("Do it.", lambda payload: given)


def test_a_huge_call_is_cut_and_the_reply_is_kept(session: muniment.Session) -> None:
    calls = tuple(Call(name="dump", arguments={"q": "x" * 10**5}, result="y" * 10**6) for _ in range(5))
    flight = session.turn("Do it.", lambda payload: Reply(text="", calls=calls)).flight
    assert flight.failures == ()
    kept = session.evidence(flight.reply_id or "")
    assert kept.content == "(no text)"
    assert kept.metadata["calls"][0]["result"].endswith("(cut)")


def test_envelopes_are_seen_by_those_who_may_see_the_message_and_come_in_pages(
    memory: muniment.Memory, tenant: str
) -> None:
    jane, tom = memory.session(tenant=tenant, user="jane"), memory.session(tenant=tenant, user="tom")
    for number in range(5):
        jane.turn(f"message {number}", answer, run="r")
    first = jane.turns(run="r", limit=3)
    rest = jane.turns(run="r", limit=3, cursor=first.next_cursor)
    assert [len(first.items), len(rest.items), rest.next_cursor] == [3, 2, None]
    assert [session_message(jane, f) for f in (*first.items, *rest.items)] == [f"message {n}" for n in range(4, -1, -1)]
    assert tom.turns().items == ()
    with pytest.raises(NotFound):
        tom.turn_record(first.items[0].turn_id)
    with pytest.raises(BadFilter):
        jane.turns(limit=0)
    with pytest.raises(BadFilter):
        jane.turns(cursor="x")


def session_message(session: muniment.Session, flight: Any) -> str:
    return session.evidence(flight.message_id).content


def test_the_recalled_payload_sent_back_as_a_message_adds_no_claim(reading: Any, tenant: str) -> None:
    session = reading(RulesExtractor.basic()).session(tenant=tenant)
    single_valued(session, "lives_in")
    session.turn("I live in Bergen.", answer, author="jane")
    before = session.claims(status=None, limit=1000).items
    payload = session.recall("where does jane live", subject="jane")
    flight = session.turn(payload.to_prompt(), answer, author="jane").flight
    assert flight.promoted == ()
    assert [c.claim_id for c in session.claims(status=None, limit=1000).items] == [c.claim_id for c in before]


def test_an_agent_of_coroutines_takes_its_turn(databases: Databases, own_database: str, tenant: str) -> None:
    async def act(payload: Payload) -> str:
        await asyncio.sleep(0)
        return f"{len(payload.claims)}"

    async def judge(payload: Payload, reply: Reply) -> bool:
        return reply.text == "0"

    async def work() -> Any:
        async with await muniment.open_async(databases.app(own_database), embedder=HashEmbedder()) as memory:
            return await memory.session(tenant=tenant).turn("hello", act, evaluate=judge)  # type: ignore[arg-type]

    result = asyncio.run(work())
    assert (result.reply.text, result.flight.evaluation) == ("0", True)


def test_a_coroutine_given_to_the_synchronous_face_is_refused_with_the_way_out(session: muniment.Session) -> None:
    async def act(payload: Payload) -> str:
        return "x"

    with pytest.raises(InvalidInput, match="AsyncSession"):
        session.turn("hello", act)  # type: ignore[arg-type]


@pytest.mark.parametrize("odd", ["yes", 0.7, [True], {"ok": True}])
def test_an_evaluation_of_the_wrong_type_is_recorded_and_counts_as_not_ok(session: muniment.Session, odd: Any) -> None:
    result = session.turn("hello there", answer, evaluate=lambda payload, reply: odd)
    assert result.flight.evaluation is False
    assert [(f.step, f.code) for f in result.flight.failures] == [("evaluate", "invalid_input")]
    assert result.flight.reply_id is not None


def test_what_text_cannot_hold_is_replaced_in_the_record_and_loses_nothing(session: muniment.Session) -> None:
    calls = (Call(name="a\x00b\ud800", arguments={"k\x00": ["\ud800"]}, result={"rows": [1, "\x00"]}),)
    flight = session.turn("hello", lambda payload: Reply(text="x\x00y\ud800", calls=calls, model="m\x00")).flight
    assert flight.failures == ()
    kept = session.evidence(flight.reply_id or "")
    assert (kept.content, kept.author) == ("x\ufffdy?", "m\ufffd")
    assert session.turn_record(flight.turn_id).called == ("a\ufffdb?",)
    odd = Call(name="odd", arguments={"x": float("nan"), "y": object, "z": "NaN"}, result=[b"bytes", float("inf")])
    flight = session.turn("hello", lambda payload: Reply(text="x", calls=(odd,), model="m" * 5000)).flight
    assert flight.failures == ()
    call = session.evidence(flight.reply_id or "").metadata["calls"][0]
    assert (call["arguments"]["x"], call["arguments"]["z"], call["result"]) == ("nan", "NaN", '["b\'bytes\'", "inf"]')


def test_many_agents_that_await_verbs_while_they_act_do_not_wait_for_each_other(
    databases: Databases, own_database: str
) -> None:
    async def work() -> list[str]:
        async with await muniment.open_async(databases.app(own_database), embedder="none") as memory:
            session = memory.session(tenant="acme")

            async def act(payload: Payload) -> str:
                return f"{len((await session.claims()).items)} claims"

            turns = (session.turn(f"message {n}", act) for n in range(40))  # type: ignore[arg-type]
            return [done.reply.text for done in await asyncio.wait_for(asyncio.gather(*turns), 60)]

    assert set(asyncio.run(work())) == {"0 claims"}


def test_a_cancelled_turn_ends_what_it_waits_for_and_is_on_record(databases: Databases, own_database: str) -> None:
    async def work() -> Any:
        async with await muniment.open_async(databases.app(own_database), embedder="none") as memory:
            session = memory.session(tenant="acme")
            acting = asyncio.Event()

            async def act(payload: Payload) -> str:
                acting.set()
                await asyncio.sleep(3600)
                return "never"

            turn = asyncio.ensure_future(session.turn("wait for it", act, run="r"))  # type: ignore[arg-type]
            await asyncio.wait_for(acting.wait(), 30)
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
            for _ in range(300):
                if found := (await session.turns(run="r")).items:
                    return found[0]
                await asyncio.sleep(0.02)
        return None

    flight = asyncio.run(work())
    assert [f.step for f in flight.failures] == ["act"]


def test_an_envelope_names_what_its_reader_may_see(memory: muniment.Memory, tenant: str) -> None:
    board, everyone = memory.session(tenant=tenant, grants={"board"}), memory.session(tenant=tenant)
    single_valued(board, "city")
    tell(board, "jane", "city", "Bergen", "2026-01-01", access={"board"})
    flight = board.turn("Where does jane live?", answer, subject="jane", run="r").flight
    assert len(flight.read) == 1
    (seen,) = everyone.turns(run="r").items
    assert (seen.message_id, seen.read, seen.sources) == (flight.message_id, (), ())
    assert board.turn_record(flight.turn_id).read == flight.read


class Junk(Failing):
    name = "junk"

    def extract(self, batch: Sequence[Evidence]) -> Any:
        return [5]


def test_an_extractor_that_gives_something_else_is_a_failure_like_any_other(reading: Any, tenant: str) -> None:
    session = reading(Junk()).session(tenant=tenant)
    assert session.remember("I live in Bergen.").failure.code == "extraction_failed"
    assert session.retry().tried == 1
