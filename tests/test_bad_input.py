"""Bad input: refused with a code before anything is written; odd but sound input: stored as it is and found again."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Any

import psycopg
import pytest

import muniment
from muniment.errors import (
    AccessDenied,
    BadFilter,
    BadScope,
    EmbedderFailed,
    InvalidInput,
    InvalidText,
    InvalidTime,
    MunimentError,
    NaiveDatetime,
    NotFound,
    UnknownSpan,
)
from muniment.model.evidence import AddReport, EvidenceDraft
from muniment.model.ids import new_id
from tests.conftest import Databases, HashEmbedder
from tests.helpers import at, single_valued

NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001 - without an offset on purpose
TEXT = "Janet drinks green tea in the morning."


@pytest.fixture
def note(session: muniment.Session) -> muniment.Evidence:
    single_valued(session, "drink")
    return session.add(TEXT, source_id="note", occurred_at=at("2026-01-01"))


@pytest.fixture
def claim(session: muniment.Session, note: muniment.Evidence) -> str:
    """A validated claim on the note."""
    return session.propose("janet", "drink", "green tea", evidence=note.quote("green tea")).claim_id


@pytest.fixture
def waiting(session: muniment.Session, note: muniment.Evidence) -> str:
    """A candidate on the note."""
    return session.propose("janet", "mood", "calm", evidence=note).claim_id


@pytest.fixture
def nothing_written(admin: psycopg.Connection, tenant: str) -> Callable[[], Any]:
    """A block after which the tenant has exactly the rows it had before."""
    tables = [
        name for (name,) in admin.execute(
            "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace "
            "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' "
            "WHERE n.nspname IN ('canonical', 'derived') AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
        )
    ]  # fmt: skip
    assert {"canonical.evidence", "canonical.claim_version", "canonical.activity", "derived.pin"} <= set(tables)
    counts = psycopg.sql.SQL(" UNION ALL ").join(
        psycopg.sql.SQL("SELECT {}, count(*) FROM {} WHERE tenant_id = {}").format(
            psycopg.sql.Literal(table), psycopg.sql.Identifier(*table.split(".")), psycopg.sql.Literal(tenant)
        )
        for table in tables
    )

    @contextmanager
    def block() -> Iterator[None]:
        before: dict[str, int] = dict(admin.execute(counts).fetchall())
        yield
        assert dict(admin.execute(counts).fetchall()) == before

    return block


# ---- times ----------------------------------------------------------------------------------------------------------

Call = Callable[[muniment.Session, muniment.Evidence, str, Any], Any]
READS: dict[str, Callable[..., Any]] = {
    "claims": lambda s, c, **clocks: s.claims("janet", **clocks),
    "why": lambda s, c, **clocks: s.why(c, **clocks),
    "timeline": lambda s, c, **clocks: s.timeline("janet", **clocks),
    "search": lambda s, c, **clocks: s.search("tea", **clocks),
    "recall": lambda s, c, **clocks: s.recall("tea", **clocks),
}
TIMES: dict[str, Call] = {
    "add, occurred_at": lambda s, n, c, t: s.add("x", occurred_at=t),
    "add, observed_at": lambda s, n, c, t: s.add("x", observed_at=t),
    "propose, valid_from": lambda s, n, c, t: s.propose("j", "drink", "x", evidence=n, valid_from=t),
    "propose, valid_to": lambda s, n, c, t: s.propose("j", "drink", "x", evidence=n, valid_to=t),
}
BAD_TIMES = {
    "naive": (NAIVE, NaiveDatetime),
    "text": ("2026-01-01T00:00:00Z", InvalidTime),
    "a number": (1767225600, InvalidTime),
    "before year 1": (datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))), InvalidTime),
    "after year 9999": (datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-12))), InvalidTime),
}


@pytest.mark.parametrize("time", BAD_TIMES)
@pytest.mark.parametrize("place", TIMES)
def test_a_time_that_is_no_moment_is_refused_by_every_write(
    session: muniment.Session, note: muniment.Evidence, nothing_written: Any, place: str, time: str
) -> None:
    value, error = BAD_TIMES[time]
    with nothing_written(), pytest.raises(error):
        TIMES[place](session, note, "", value)


@pytest.mark.parametrize("time", BAD_TIMES)
@pytest.mark.parametrize("verb", READS)
def test_a_time_that_is_no_moment_is_refused_by_every_read(session: muniment.Session, verb: str, time: str) -> None:
    value, error = BAD_TIMES[time]
    for clock in ("valid_at", "known_at", "as_of"):
        with pytest.raises(error):
            READS[verb](session, str(new_id()), **{clock: value})


@pytest.mark.parametrize("verb", READS)
def test_as_of_beside_another_clock_is_refused(session: muniment.Session, verb: str) -> None:
    for other in ("valid_at", "known_at"):
        with pytest.raises(InvalidInput):
            READS[verb](session, str(new_id()), **{"as_of": at("2026-01-01"), other: at("2026-01-01")})


FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)


@pytest.mark.parametrize(
    "moment",
    [
        FIRST, LAST,
        datetime(1, 1, 1, 14, tzinfo=timezone(timedelta(hours=14))),
        datetime(9999, 12, 31, 11, 59, tzinfo=timezone(timedelta(hours=-12))),
        datetime(1890, 1, 1, 12, tzinfo=timezone(timedelta(minutes=19, seconds=32))),
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=20))),
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=23, minutes=59, seconds=59))),
        datetime(2026, 1, 1, tzinfo=timezone(-timedelta(hours=23, minutes=59, seconds=59))),
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=45))),
    ],
    ids=str,
)  # fmt: skip
def test_times_at_the_ends_of_the_calendar_and_with_odd_offsets_are_kept(
    session: muniment.Session, moment: datetime
) -> None:
    single_valued(session, "drink")
    stored = session.add("Once upon a time there was tea.", source_id="old", occurred_at=moment)
    assert stored.occurred_at == moment
    again = session.evidence(stored.evidence_id)
    assert (again.occurred_at, again.to_json()["occurredAt"]) == (moment, stored.to_json()["occurredAt"])
    claim = session.propose("janet", "drink", "tea", evidence=stored.quote("tea"))
    (version,) = session.history(claim.claim_id)
    assert version.valid == ((moment, None),)
    (held,) = session.claims("janet", valid_at=moment).items
    assert held.valid_from == moment
    assert session.recall("what does janet drink?", subject="janet", valid_at=moment).claims


@pytest.mark.parametrize("verb", READS)
def test_reads_at_the_ends_of_the_calendar_answer(session: muniment.Session, claim: str, verb: str) -> None:
    for clock in ("valid_at", "known_at", "as_of"):
        assert READS[verb](session, claim, **{clock: LAST})
    assert READS[verb](session, claim, valid_at=FIRST) is not None
    for clock in ("known_at", "as_of"):
        if verb == "why":
            with pytest.raises(NotFound):
                session.why(claim, **{clock: FIRST})
        else:
            found = READS[verb](session, claim, **{clock: FIRST})
            assert not (found if isinstance(found, list) else found.claims if verb == "recall" else found.items)


def test_a_claim_of_one_microsecond_at_the_end_of_the_calendar_is_kept(
    session: muniment.Session, note: muniment.Evidence
) -> None:
    claim = session.propose(
        "janet", "drink", "green tea", evidence=note.quote("green tea"), valid_from=LAST - timedelta(microseconds=1),
        valid_to=LAST,
    )  # fmt: skip
    assert session.history(claim.claim_id)[0].valid == ((LAST - timedelta(microseconds=1), LAST),)


@pytest.mark.parametrize("end", ["2025-12-31", "2026-01-01"])
def test_a_claim_that_ends_before_it_begins_is_refused(
    session: muniment.Session, note: muniment.Evidence, nothing_written: Any, end: str
) -> None:
    quote = note.quote("green tea")
    with nothing_written(), pytest.raises(InvalidTime):
        session.propose("janet", "drink", "x", evidence=quote, valid_from=at("2026-01-01"), valid_to=at(end))
    with nothing_written(), pytest.raises(InvalidTime):
        session.propose("janet", "drink", "x", evidence=quote, valid_to=at(end))


def test_observed_at_in_the_future_is_refused(session: muniment.Session, nothing_written: Any) -> None:
    with nothing_written(), pytest.raises(InvalidTime):
        session.add("x", observed_at=datetime.now(UTC) + timedelta(hours=1))


@pytest.mark.parametrize("grants", [set(), {"import"}, {"muniment"}, {"muniment:imports"}, {"muniment:*"}])
def test_observed_at_without_the_import_right_is_refused(
    memory: muniment.Memory, tenant: str, nothing_written: Any, grants: set[str]
) -> None:
    session = memory.session(tenant=tenant, grants=grants)
    with nothing_written(), pytest.raises(AccessDenied):
        session.add("x", observed_at=at("2026-01-01"))
    report = session.add_many([{"content": "x", "observed_at": at("2026-01-01")}, {"content": "y"}])
    assert (report.stored, [(r.item, r.code) for r in report.rejected]) == (1, [("0", "access_denied")])


# ---- spans ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["black tea", "Green tea", "green  tea", "", TEXT + ".", "\x00", "\ud800"])
def test_words_that_are_not_there_cannot_be_quoted(note: muniment.Evidence, words: str) -> None:
    with pytest.raises(UnknownSpan):
        note.quote(words)


def test_an_occurrence_that_is_not_there_cannot_be_quoted(note: muniment.Evidence) -> None:
    first, second = note.quote("in", nth=1), note.quote("in", nth=2)
    assert first.start < second.start
    with pytest.raises(UnknownSpan):
        note.quote("in", nth=TEXT.count("in") + 1)


@pytest.mark.parametrize("nth", [0, -1])
def test_occurrences_are_counted_from_one(note: muniment.Evidence, nth: int) -> None:
    with pytest.raises(InvalidInput):
        note.quote("in", nth=nth)


OUTSIDE = [
    (-1, 3),
    (0, 0),
    (3, 3),
    (5, 3),
    (0, len(TEXT) + 1),
    (len(TEXT), len(TEXT) + 1),
    (0, 2**31),
    (-(2**63), 2**63),
]


@pytest.mark.parametrize(("start", "end"), OUTSIDE)
def test_a_range_that_is_not_inside_is_refused(
    session: muniment.Session, note: muniment.Evidence, waiting: str, nothing_written: Any, start: int, end: int
) -> None:
    with pytest.raises(UnknownSpan):
        note.span(start, end)
    by_hand = muniment.Span(evidence_id=note.evidence_id, start=start, end=end)
    with nothing_written():
        acts: list[Callable[[], Any]] = [
            lambda: session.propose("janet", "drink", "x", evidence=by_hand),
            lambda: session.propose("janet", "drink", "x", evidence=[note.quote("green"), by_hand]),
            lambda: session.confirm(waiting, by="me", evidence=by_hand),
            lambda: session.retract(waiting, reason="no", evidence=by_hand),
        ]
        for act in acts:
            with pytest.raises(UnknownSpan):
                act()


def test_a_span_of_longer_evidence_does_not_fit_a_shorter_one(
    session: muniment.Session, note: muniment.Evidence, nothing_written: Any
) -> None:
    longer = session.add(TEXT + " In the evening she drinks milk.")
    span = longer.quote("milk").model_copy(update={"evidence_id": note.evidence_id})
    with nothing_written(), pytest.raises(UnknownSpan):
        session.propose("janet", "drink", "milk", evidence=span)


@pytest.mark.parametrize("evidence", [[], (), None, "green tea", ["green tea"], 7, [None], {}])
def test_a_proposal_without_usable_evidence_is_refused(
    session: muniment.Session, note: muniment.Evidence, nothing_written: Any, evidence: Any
) -> None:
    with nothing_written(), pytest.raises(InvalidInput):
        session.propose("janet", "drink", "x", evidence=evidence)


def test_spans_count_characters_whatever_their_bytes(session: muniment.Session) -> None:
    text = "👩‍👩‍👧 Ζωή drinks 绿茶 — e\u0301clair"
    note = session.add(text)
    single_valued(session, "drink")
    claim = session.propose("zoe", "drink", "绿茶", evidence=note.quote("绿茶"))
    assert [quote.quote for quote in session.why(claim.claim_id).quotes] == ["绿茶"]


# ---- text in every argument -----------------------------------------------------------------------------------------

ARGUMENTS: dict[str, Call] = {
    "add, content": lambda s, n, c, x: s.add(x),
    "add, source": lambda s, n, c, x: s.add("t", source=x),
    "add, source_id": lambda s, n, c, x: s.add("t", source_id=x),
    "add, author": lambda s, n, c, x: s.add("t", author=x),
    "add, role": lambda s, n, c, x: s.add("t", role=x),
    "add, thread": lambda s, n, c, x: s.add("t", thread=x),
    "add, uri": lambda s, n, c, x: s.add("t", uri=x),
    "add, media_type": lambda s, n, c, x: s.add("t", media_type=x),
    "add, access": lambda s, n, c, x: s.add("t", access={x}),
    "add, kind": lambda s, n, c, x: s.add("t", kind=x),
    "add, trust": lambda s, n, c, x: s.add("t", trust=x),
    "add, replaces": lambda s, n, c, x: s.add("t", replaces=x),
    "propose, subject": lambda s, n, c, x: s.propose(x, "drink", "v", evidence=n),
    "propose, predicate": lambda s, n, c, x: s.propose("j", x, "v", evidence=n),
    "propose, scope": lambda s, n, c, x: s.propose("j", "drink", "v", evidence=n, scope=x),
    "propose, statement": lambda s, n, c, x: s.propose("j", "drink", "v", evidence=n, statement=x),
    "propose, memory_type": lambda s, n, c, x: s.propose("j", "drink", "v", evidence=n, memory_type=x),
    "propose, premises": lambda s, n, c, x: s.propose("j", "drink", "v", evidence=n, premises=[x]),
    "propose, supersedes": lambda s, n, c, x: s.propose("j", "drink", "v", evidence=n, supersedes=x),
    "propose, access": lambda s, n, c, x: s.propose("j", "drink", "v", evidence=n, access={x}),
    "confirm, claim": lambda s, n, c, x: s.confirm(x, by="me"),
    "confirm, by": lambda s, n, c, x: s.confirm(c, by=x),
    "confirm, reason": lambda s, n, c, x: s.confirm(c, by="me", reason=x),
    "reject, claim": lambda s, n, c, x: s.reject(x, by="me"),
    "reject, by": lambda s, n, c, x: s.reject(c, by=x),
    "reject, reason": lambda s, n, c, x: s.reject(c, by="me", reason=x),
    "retract, claim": lambda s, n, c, x: s.retract(x, reason="r"),
    "retract, reason": lambda s, n, c, x: s.retract(c, reason=x),
    "restore, claim": lambda s, n, c, x: s.restore(x, reason="r"),
    "restore, reason": lambda s, n, c, x: s.restore(c, reason=x),
    "correct, claim": lambda s, n, c, x: s.correct(x, "v", evidence=n),
    "correct, statement": lambda s, n, c, x: s.correct(c, "v", evidence=n, statement=x),
    "define, predicate": lambda s, n, c, x: s.define({"predicate": x}),
    "define, depends_on": lambda s, n, c, x: s.define({"predicate": "p", "depends_on": [x]}),
    "define, cardinality": lambda s, n, c, x: s.define({"predicate": "p", "cardinality": x}),
    "define, validation": lambda s, n, c, x: s.define({"predicate": "p", "validation": x}),
    "define, value_type": lambda s, n, c, x: s.define({"predicate": "p", "value_type": x}),
    "define, cost_of_error": lambda s, n, c, x: s.define({"predicate": "p", "cost_of_error": x}),
    "define, trust": lambda s, n, c, x: s.define({"predicate": "p", "trust": [x]}),
    "define, an unknown field": lambda s, n, c, x: s.define({"predicate": "p", x: x}),
    "claims, subject": lambda s, n, c, x: s.claims(x),
    "claims, predicate": lambda s, n, c, x: s.claims("janet", x),
    "claims, scope": lambda s, n, c, x: s.claims("janet", scope=x),
    "claims, memory_type": lambda s, n, c, x: s.claims("janet", memory_type=x),
    "claims, status": lambda s, n, c, x: s.claims("janet", status=x),
    "claims, cursor": lambda s, n, c, x: s.claims("janet", cursor=x),
    "history, claim": lambda s, n, c, x: s.history(x),
    "why, claim": lambda s, n, c, x: s.why(x),
    "timeline, subject": lambda s, n, c, x: s.timeline(x),
    "evidence, id": lambda s, n, c, x: s.evidence(x),
    "search, query": lambda s, n, c, x: s.search(x),
    "search, kinds": lambda s, n, c, x: s.search("tea", kinds=[x]),
    "search, routes": lambda s, n, c, x: s.search("tea", routes=[x]),
    "recall, request": lambda s, n, c, x: s.recall(x),
    "recall, subject": lambda s, n, c, x: s.recall("tea", subject=x),
    "recall, scope": lambda s, n, c, x: s.recall("tea", scope=x),
    "recall, routes": lambda s, n, c, x: s.recall("tea", routes=[x]),
    "recall, cursor": lambda s, n, c, x: s.recall("tea", cursor=x),
}  # fmt: skip
IDS = {"replaces", "premises", "supersedes", "claim", "id"}
CHOICES = {"kind", "trust", "cardinality", "validation", "value_type", "cost_of_error", "an unknown field"}
FILTERS = {"status", "cursor", "kinds", "routes"}


def refusal_of(place: str) -> type[MunimentError]:
    """Which error an unusable text is refused with: what is an id names nothing, what is a filter is a bad one."""
    argument = place.split(", ")[1]
    if argument in IDS:
        return NotFound
    if argument == "scope":
        return BadScope
    if place.startswith("define") or argument in CHOICES:
        return InvalidInput
    return BadFilter if argument in FILTERS else InvalidText


@pytest.mark.parametrize("place", ARGUMENTS)
def test_text_that_postgresql_cannot_hold_is_refused_wherever_it_is_given(
    session: muniment.Session, note: muniment.Evidence, waiting: str, nothing_written: Any, place: str
) -> None:
    with nothing_written():
        for bad in ("a\x00b", "a\ud800b", "\udcff"):
            with pytest.raises(refusal_of(place)) as raised:
                ARGUMENTS[place](session, note, waiting, bad)
            assert str(raised.value).encode(), "an error can be printed"


MAY_BE_EMPTY = {"propose, scope", "claims, scope", "recall, scope", "confirm, reason", "reject, reason"}
MAY_BE_EMPTY |= {"retract, reason", "restore, reason"}


@pytest.mark.parametrize("place", sorted(ARGUMENTS.keys() - MAY_BE_EMPTY))
def test_an_empty_or_blank_text_is_refused_wherever_it_is_given(
    session: muniment.Session, note: muniment.Evidence, waiting: str, nothing_written: Any, place: str
) -> None:
    with nothing_written():
        for blank in ("", " ", "\t\r\n", "\u3000"):
            with pytest.raises((InvalidInput, NotFound)):
                ARGUMENTS[place](session, note, waiting, blank)


MAY_BE_LONG = {"add, content", "propose, statement", "correct, statement", "search, query", "recall, request"}
MAY_BE_LONG |= {f"{verb}, reason" for verb in ("confirm", "reject", "retract", "restore")}
FINDS_NOTHING = {"claims, subject", "claims, predicate", "claims, memory_type", "recall, subject"}


@pytest.mark.parametrize("place", sorted(ARGUMENTS.keys() - MAY_BE_LONG - FINDS_NOTHING))
def test_a_name_of_ten_thousand_characters_is_refused(
    session: muniment.Session, note: muniment.Evidence, waiting: str, nothing_written: Any, place: str
) -> None:
    with nothing_written(), pytest.raises((InvalidInput, NotFound)):
        ARGUMENTS[place](session, note, waiting, "é" * 10_000)


@pytest.mark.parametrize("place", sorted(FINDS_NOTHING))
def test_a_filter_of_ten_thousand_characters_finds_nothing(
    session: muniment.Session, claim: str, note: muniment.Evidence, place: str
) -> None:
    found = ARGUMENTS[place](session, note, claim, "é" * 10_000)
    assert not (found.claims if place.startswith("recall") else found.items)


SEQUENCES = {"kinds", "routes", "premises", "an unknown field", "access", "depends_on"}


@pytest.mark.parametrize(
    "place", sorted(p for p in ARGUMENTS if p.split(", ")[1] not in SEQUENCES and p != "define, trust")
)
def test_what_is_not_text_is_refused_wherever_text_is_asked_for(
    session: muniment.Session, note: muniment.Evidence, waiting: str, nothing_written: Any, place: str
) -> None:
    with nothing_written():
        for wrong in (7, 1.5, True, ["list"], {"a": 1}, object()):
            with pytest.raises(MunimentError):
                ARGUMENTS[place](session, note, waiting, wrong)


@pytest.mark.parametrize("place", ["add, content", "add, source_id", "propose, subject", "define, predicate"])
def test_bytes_are_not_taken_for_text(
    session: muniment.Session, note: muniment.Evidence, nothing_written: Any, place: str
) -> None:
    with nothing_written(), pytest.raises(InvalidInput):
        ARGUMENTS[place](session, note, "", b"tea")


# ---- choices, numbers, cursors, ids ---------------------------------------------------------------------------------

UNKNOWN: dict[str, tuple[Callable[[muniment.Session], Any], type[MunimentError]]] = {
    "add, kind": (lambda s: s.add("x", kind="rumour"), InvalidInput),
    "add, trust": (lambda s: s.add("x", trust="absolute"), InvalidInput),
    "add, source_version 0": (lambda s: s.add("x", source_version=0), InvalidInput),
    "add, source_version -1": (lambda s: s.add("x", source_version=-1), InvalidInput),
    "add, source_version 2**31": (lambda s: s.add("x", source_version=2**31), InvalidInput),
    "add, source_version 1.5": (lambda s: s.add("x", source_version=1.5), InvalidInput),  # type: ignore[arg-type]
    "add, metadata NaN": (lambda s: s.add("x", metadata={"a": float("nan")}), InvalidInput),
    "add, metadata NUL": (lambda s: s.add("x", metadata={"a": ["\x00"]}), InvalidText),
    "add, metadata NUL key": (lambda s: s.add("x", metadata={"\x00": 1}), InvalidText),
    "add, metadata surrogate": (lambda s: s.add("x", metadata={"a": {"b": "\ud800"}}), InvalidText),
    "add, metadata object": (lambda s: s.add("x", metadata={"a": object()}), InvalidInput),
    "add, metadata list": (lambda s: s.add("x", metadata=["a"]), InvalidInput),  # type: ignore[arg-type]
    "add, metadata text": (lambda s: s.add("x", metadata="ab"), InvalidInput),  # type: ignore[arg-type]
    "add, access number": (lambda s: s.add("x", access=7), InvalidInput),  # type: ignore[arg-type]
    "define, cardinality": (lambda s: s.define({"predicate": "p", "cardinality": "two"}), InvalidInput),
    "define, unknown field": (lambda s: s.define({"predicate": "p", "colour": "red"}), InvalidInput),
    "define, no predicate": (lambda s: s.define({"cardinality": "one"}), InvalidInput),
    "define, no mapping": (lambda s: s.define(["predicate"]), InvalidInput),  # type: ignore[arg-type]
    "define, None": (lambda s: s.define(None), InvalidInput),  # type: ignore[arg-type]
    "claims, status": (lambda s: s.claims(status="true"), BadFilter),
    "claims, scope": (lambda s: s.claims(scope="a//b"), BadScope),
    "claims, scope padded": (lambda s: s.claims(scope="a/ b"), BadScope),
    "claims, scope open": (lambda s: s.claims(scope="a/"), BadScope),
    "search, route": (lambda s: s.search("x", routes=["telepathic"]), BadFilter),
    "search, routes text": (lambda s: s.search("x", routes="lexical"), BadFilter),
    "search, kind": (lambda s: s.search("x", kinds=["rumour"]), BadFilter),
    "search, kinds text": (lambda s: s.search("x", kinds="claim"), BadFilter),
    "recall, route": (lambda s: s.recall("x", routes=["lexical", "telepathic"]), BadFilter),
    "recall, scope": (lambda s: s.recall("x", scope="/a"), BadScope),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_unknown_choice_is_refused(session: muniment.Session, nothing_written: Any, case: str) -> None:
    act, error = UNKNOWN[case]
    with nothing_written(), pytest.raises(error):
        act(session)


@pytest.mark.parametrize("verb", ["search", "recall"])
def test_a_route_that_cannot_be_taken_is_refused_and_not_silently_left_out(
    databases: Databases, own_database: str, verb: str
) -> None:
    with muniment.open(databases.app(own_database), embedder="none") as memory:
        session = memory.session(tenant="t")
        session.add(TEXT)
        with pytest.raises((EmbedderFailed, BadFilter)):
            session.search("tea", routes=["semantic"]) if verb == "search" else session.recall(
                "tea", routes=["semantic"]
            )


def test_a_correction_that_names_no_claim_is_never_taken_for_a_change(
    session: muniment.Session, note: muniment.Evidence, claim: str
) -> None:
    later = session.add("No, it was never green tea, it is milk.", occurred_at=at("2026-02-01"))
    try:
        session.propose("janet", "drink", "milk", evidence=later.quote("milk"), correction=True)
    except InvalidInput:
        return
    assert [c.value for c in session.claims("janet", "drink", valid_at=at("2026-01-15")).items] != ["green tea"]


NOT_A_COUNT = [0, -1, 1001, True, False, "5", 5.0, None, 2**40]


@pytest.mark.parametrize("k", NOT_A_COUNT)
def test_a_k_that_is_no_count_is_refused(session: muniment.Session, k: Any) -> None:
    with pytest.raises(BadFilter):
        session.search("tea", k=k)


@pytest.mark.parametrize("limit", NOT_A_COUNT)
def test_a_limit_that_is_no_count_is_refused(session: muniment.Session, limit: Any) -> None:
    with pytest.raises(BadFilter):
        session.claims(limit=limit)


@pytest.mark.parametrize("budget", [0, -5, True, False, "800", 800.0, None])
def test_a_budget_that_is_no_count_is_refused(session: muniment.Session, budget: Any) -> None:
    with pytest.raises(InvalidInput):
        session.recall("tea", budget=budget)


def _cursor(*state: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(state).encode()).decode()


NOW = "2026-01-01T00:00:00+00:00"
CURSORS = {
    "words": "not a cursor",
    "empty": "",
    "beyond ASCII": "é",
    "an id": str(new_id()),
    "no list": base64.urlsafe_b64encode(b"7").decode(),
    "binary": base64.urlsafe_b64encode(b"\xff\xfe").decode(),
    "too short": _cursor(NOW, NOW, None),
    "too long": _cursor(NOW, NOW, None, 0, 0),
    "negative": _cursor(NOW, NOW, None, -1),
    "skip as text": _cursor(NOW, NOW, None, "0"),
    "naive clock": _cursor("2026-01-01T00:00:00", NOW, None, 0),
    "naive until": _cursor(NOW, NOW, "2026-01-01T00:00:00", 0),
    "clock outside the calendar": _cursor("0001-01-01T00:00:00+14:00", NOW, None, 0),
    "deep": base64.urlsafe_b64encode(b"[" * 100_000).decode(),
}


@pytest.mark.parametrize("case", CURSORS)
def test_a_cursor_that_no_payload_gave_out_is_refused(session: muniment.Session, claim: str, case: str) -> None:
    with pytest.raises(BadFilter):
        session.recall("tea", cursor=CURSORS[case])


@pytest.mark.parametrize("case", sorted(CURSORS.keys() - {"an id"}))
def test_a_cursor_that_no_page_gave_out_is_refused(session: muniment.Session, case: str) -> None:
    with pytest.raises(BadFilter):
        session.claims(cursor=CURSORS[case])


NO_IDS = ["", "x", "42", "01900000-0000-7000-8000-00000000000", "01900000-0000-7000-8000-0000000000000", "%", "None"]


@pytest.mark.parametrize("place", [place for place in ARGUMENTS if refusal_of(place) is NotFound])
def test_an_id_that_is_no_id_names_nothing(
    session: muniment.Session, note: muniment.Evidence, nothing_written: Any, place: str
) -> None:
    with nothing_written():
        for bad in NO_IDS:
            with pytest.raises(NotFound):
                ARGUMENTS[place](session, note, "", bad)


DEEP: Any = "x"
for _ in range(100_000):
    DEEP = [DEEP]
VALUES = {
    "None": None,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "nested NaN": {"a": [1, float("nan")]},
    "NUL": "a\x00",
    "nested NUL": {"a": [{"b": "\x00"}]},
    "NUL key": {"\x00": 1},
    "surrogate": ["\ud800"],
    "bytes": b"x",
    "a set": {1},
    "an object": object(),
    "a datetime": at("2026-01-01"),
    "deep": DEEP,
    "huge": "x" * 300_000,
}


@pytest.mark.parametrize("case", VALUES)
@pytest.mark.parametrize("verb", ["propose", "correct"])
def test_a_value_that_cannot_be_stored_is_refused(
    session: muniment.Session, note: muniment.Evidence, claim: str, nothing_written: Any, verb: str, case: str
) -> None:
    first = {"propose": partial(session.propose, "janet", "drink"), "correct": partial(session.correct, claim)}
    with nothing_written(), pytest.raises(InvalidInput):
        first[verb](VALUES[case], evidence=note.quote("green tea"))


@pytest.mark.parametrize("value", [0, False, "", [], {}, 10**30, 0.1, "a\n\t", {"a": {"b": [1, None, "é"]}}], ids=repr)
def test_an_odd_value_is_kept_as_it_is(session: muniment.Session, note: muniment.Evidence, value: Any) -> None:
    session.propose("janet", "drink", value, evidence=note.quote("green tea"))
    (claim,) = session.claims("janet", "drink").items
    assert (claim.value, type(claim.value)) == (value, type(value))


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan"), float("inf"), "0.5", []])
def test_a_confidence_that_is_no_share_is_refused(
    session: muniment.Session, note: muniment.Evidence, nothing_written: Any, confidence: Any
) -> None:
    with nothing_written(), pytest.raises(InvalidInput):
        session.propose("janet", "drink", "x", evidence=note.quote("green tea"), confidence=confidence)


# ---- text that is odd, and sound ------------------------------------------------------------------------------------

SPELLS = ["%", "_", "*", "100% of_them", "' OR '1'='1", '"; DROP TABLE canonical.evidence; --', "\\",
          "$1 $$ %s %(x)s {0}", "a & b | !c <-> d:*", "<b>&amp;</b>", "../../etc/passwd", "[red]x[/red]",
          "\x1b[31m", "\u202e\u200b", "NULL"]  # fmt: skip


@pytest.mark.parametrize("spell", SPELLS, ids=ascii)
def test_metacharacters_are_stored_as_they_are_and_match_nothing_else(session: muniment.Session, spell: str) -> None:
    plain = session.add("plain words, one hundred", source_id="plain")
    session.define({"predicate": "likes", "validation": "quoted"})
    session.propose("plain", "likes", "plain", evidence=plain.quote("plain words"))
    stored = session.add(
        f"say {spell} please", source=spell, source_id=spell, author=spell, role=spell, thread=spell, uri=spell,
        media_type=spell, metadata={spell: spell},
    )  # fmt: skip
    read = session.evidence(stored.evidence_id)
    assert [read.source, read.source_id, read.author, read.role, read.thread, read.uri, read.media_type] == [spell] * 7
    assert (read.content, read.metadata) == (f"say {spell} please", {spell: spell})
    session.define({"predicate": "said", "validation": "quoted", "trust": ["first_party"]})
    claim = session.propose(
        spell, spell, {spell: [spell]}, evidence=stored.quote(spell), statement=spell, memory_type=spell
    )
    session.confirm(claim.claim_id, by=spell, reason=spell)
    (held,) = session.claims(spell, spell, memory_type=spell).items
    assert (held.subject_id, held.predicate, held.value, held.statement) == (spell, spell, {spell: [spell]}, spell)
    assert [c.claim_id for c in session.claims(spell).items] == [claim.claim_id]
    assert [c.claim_id for c in session.timeline(spell)] == [claim.claim_id]
    assert spell in (session.history(claim.claim_id)[-1].reason or "")
    assert [c.subject_id for c in session.claims("plain").items] == ["plain"]
    payload = session.recall(spell, subject=spell)
    assert [c.claim_id for c in payload.claims] == [claim.claim_id]
    assert [hit for hit in session.search(spell, routes=["lexical"]) if "plain" in hit.text] == []


@pytest.mark.parametrize("scope", [s for s in SPELLS if "/" not in s], ids=ascii)
def test_a_scope_of_metacharacters_covers_only_itself(session: muniment.Session, scope: str) -> None:
    note = session.add("plain words")
    session.define({"predicate": "likes", "validation": "quoted"})
    session.propose("x", "likes", "wide", evidence=note.quote("plain"), scope="plain")
    session.propose("x", "likes", "odd", evidence=note.quote("words"), scope=scope)
    assert [c.value for c in session.claims("x", scope=scope).items] == ["odd"]
    assert [c.value for c in session.claims("x", scope=scope + "/inner").items] == ["odd"]
    assert [c.value for c in session.claims("x", scope="plain").items] == ["wide"]


PHRASES = {
    "Chinese": ("请在续约电话之前先发一份简短的书面摘要。", "书面摘要"),
    "Chinese, traditional": ("請先打電話給我，書面摘要可以稍後再寄。", "書面摘要"),
    "Japanese": ("更新の電話の前に、短い要約をメールで送ってください。", "短い要約"),
    "Japanese, kana": ("わたしはあたたかいおちゃがすきです", "おちゃ"),
    "Korean": ("갱신 통화 전에 짧은 서면 요약을 보내 주세요.", "서면 요약"),
    "Thai": ("กรุณาส่งสรุปสั้นๆ ก่อนโทรคุยเรื่องต่อสัญญา", "สรุปสั้น"),
    "Arabic": ("يرجى إرسال ملخص مكتوب قبل مكالمة التجديد", "ملخص مكتوب"),
    "Hebrew": ("נא לשלוח סיכום כתוב לפני השיחה", "סיכום כתוב"),
    "Hindi": ("कृपया नवीनीकरण कॉल से पहले लिखित सारांश भेजें", "लिखित सारांश"),
    "Russian": ("Пришлите короткое письменное резюме до звонка", "письменное резюме"),
    "Greek": ("Στείλτε μια γραπτή περίληψη πριν από την κλήση", "γραπτή περίληψη"),
    "emoji": ("The launch went 🚀🎉 and the server 🔥 afterwards", "launch 🚀🎉"),
    "accents": ("Le café crème coûte déjà trois euros", "cafe creme"),
    "combining": ("Le cafe\u0301 cre\u0300me cou\u0302te", "café"),
    "mixed": ("Das Kennwort 密码 steht in der 取扱説明書 auf Seite 7", "取扱説明書"),
}


def test_a_text_of_any_script_is_found_by_a_phrase_of_it(session: muniment.Session) -> None:
    for language, (text, _) in PHRASES.items():
        session.add(text, source_id=language)
    missing = []
    for language, (text, phrase) in PHRASES.items():
        found = {hit.source_id: hit.text for hit in session.search(phrase, k=3, routes=["lexical"])}
        quotes = [item.quote for item in session.recall(phrase, routes=["lexical"]).evidence]
        if found.get(language) != text or text not in quotes:
            missing.append(language)
    assert missing == []


def test_a_text_is_found_by_the_emoji_in_it(session: muniment.Session) -> None:
    session.add("Friday's release 🚢🎊 went well", source_id="ship")
    session.add("Monday's release 🔥 did not", source_id="fire")
    assert [hit.source_id for hit in session.search("🚢🎊", routes=["lexical"])] == ["ship"]


@pytest.fixture
def cheap(databases: Databases, own_database: str) -> Iterator[muniment.Session]:
    """A session in a database of its own whose vectors cost nothing."""
    with muniment.open(databases.app(own_database), embedder=HashEmbedder()) as memory:
        yield memory.session(tenant="t", grants={"muniment:import"})


def test_a_message_of_a_megabyte_is_stored_and_found_by_a_word_at_its_end(cheap: muniment.Session) -> None:
    text = "".join(f"Line {i} of the long log says that nothing happened.\n" for i in range(22_000)) + "zyzzyva at last"
    assert len(text) > 1_000_000
    stored = cheap.add(text)
    assert cheap.evidence(stored.evidence_id).content == text
    (hit,) = cheap.search("zyzzyva", routes=["lexical"])
    assert "zyzzyva at last" in hit.text
    assert len(hit.text) < 2000
    assert text[hit.start : hit.end] == hit.text
    payload = cheap.recall("zyzzyva", budget=500, routes=["lexical"])
    assert "zyzzyva" in payload.evidence[0].quote
    claim = cheap.propose("log", "ends_with", "zyzzyva", evidence=stored.quote("zyzzyva at last"))
    assert cheap.why(claim.claim_id).quotes[0].quote == "zyzzyva at last"


@pytest.mark.parametrize("unit", ["x", "字", "é", "👍", "x\u200b", "-", "\u0301"], ids=ascii)
def test_a_hundred_thousand_characters_without_a_space_are_stored(cheap: muniment.Session, unit: str) -> None:
    text = unit * 100_000
    stored = cheap.add(text, author="a" * 200)
    assert cheap.evidence(stored.evidence_id).content == text


# ---- batches --------------------------------------------------------------------------------------------------------

GOOD = {"content": "a good line about tea"}
BAD_ITEMS: dict[str, tuple[Any, str]] = {
    "blank": ({"content": " "}, "invalid_input"),
    "NUL": ({"content": "a\x00"}, "invalid_text"),
    "surrogate": ({"content": "a\ud800"}, "invalid_text"),
    "no content": ({"source_id": "7"}, "invalid_input"),
    "no mapping": (7, "invalid_input"),
    "a string": ("content", "invalid_input"),
    "None": (None, "invalid_input"),
    "content None": ({"content": None}, "invalid_input"),
    "unknown field": ({**GOOD, "colour": "red"}, "invalid_input"),
    "a field that is no name": ({**GOOD, 7: "red"}, "invalid_input"),
    "naive": ({**GOOD, "occurred_at": NAIVE}, "naive_datetime"),
    "naive observed": ({**GOOD, "observed_at": NAIVE}, "naive_datetime"),
    "time as text": ({**GOOD, "occurred_at": "2026-01-01"}, "invalid_time"),
    "future": ({**GOOD, "source_id": "future", "observed_at": LAST}, "invalid_time"),
    "kind": ({**GOOD, "kind": "rumour"}, "invalid_input"),
    "trust": ({**GOOD, "trust": "absolute"}, "invalid_input"),
    "version": ({**GOOD, "source_version": 0}, "invalid_input"),
    "huge version": ({**GOOD, "source_version": 10**12}, "invalid_input"),
    "long id": ({**GOOD, "source_id": "x" * 10_000}, "invalid_input"),
    "labels": ({**GOOD, "access": "secret"}, "invalid_input"),
    "labels None": ({**GOOD, "access": None}, "invalid_input"),
    "a right as label": ({**GOOD, "access": ["muniment:import"]}, "invalid_input"),
    "metadata": ({**GOOD, "metadata": {"a": float("nan")}}, "invalid_input"),
    "metadata list": ({**GOOD, "metadata": ["a"]}, "invalid_input"),
    "metadata number": ({**GOOD, "metadata": 7}, "invalid_input"),
    "replaces": ({**GOOD, "source_id": "r", "replaces": str(new_id())}, "not_found"),
    "replaces nothing": ({**GOOD, "source_id": "s", "replaces": "x"}, "not_found"),
    "conflict": ({"content": "other words", "source_id": "good 0"}, "version_conflict"),
    "draft": (EvidenceDraft(content="a\x00"), "invalid_text"),
}


def test_bad_items_of_each_sort_among_good_ones_are_reported_at_their_places_and_lose_nobody(
    session: muniment.Session,
) -> None:
    items: list[Any] = []
    expected = []
    for place, (item, code) in enumerate(BAD_ITEMS.values()):
        items += [{"content": f"good line {place}", "source_id": f"good {place}"}, item]
        expected.append((str(2 * place + 1), code))
    report = session.add_many(items)
    assert [(r.item, r.code) for r in sorted(report.rejected, key=lambda r: int(r.item))] == expected
    assert (report.stored, report.repeated) == (len(BAD_ITEMS), 0)
    again = session.add_many(items)
    assert (again.stored, again.repeated, len(again.rejected)) == (0, len(BAD_ITEMS), len(BAD_ITEMS))


@pytest.mark.parametrize("case", BAD_ITEMS)
def test_one_bad_item_loses_neither_the_one_before_nor_the_one_after(session: muniment.Session, case: str) -> None:
    item, code = BAD_ITEMS[case]
    report = session.add_many(
        [{"content": "apple pie", "source_id": "good 0"}, item, {"content": "pear tart", "source_id": "good 1"}]
    )
    assert (report.stored, [(r.item, r.code) for r in report.rejected]) == (2, [("1", code)])
    assert {hit.source_id for hit in session.search("apple pear", routes=["lexical"])} == {"good 0", "good 1"}


def test_an_item_may_be_a_draft_or_a_mapping_and_an_empty_batch_is_nothing(session: muniment.Session) -> None:
    report = session.add_many([EvidenceDraft(content="a draft"), {"content": "a mapping"}, {"content": "a mapping"}])
    assert (report.stored, report.repeated, report.rejected) == (2, 1, ())
    assert session.add_many([]) == AddReport(stored=0, repeated=0)


def test_a_time_with_an_offset_that_no_place_has_does_not_lose_the_batch(session: muniment.Session) -> None:
    odd = datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=20)))
    items: list[dict[str, Any]] = [
        {"content": "apple pie"},
        {"content": "odd", "occurred_at": odd},
        {"content": "pear"},
    ]
    report = session.add_many(items)
    assert report.stored + len(report.rejected) == 3
    assert {hit.text for hit in session.search("apple pear", routes=["lexical"])} == {"apple pie", "pear"}
