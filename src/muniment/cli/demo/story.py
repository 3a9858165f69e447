"""The story, told with the public verbs only. Telling it again stores nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.resources import as_file, files

from muniment.cli.render import print_json, print_rows, say, stdout
from muniment.memory import Memory
from muniment.model.access import IMPORT_RIGHT
from muniment.model.evidence import Evidence, EvidenceDraft, EvidenceKind
from muniment.readers.port import Read
from muniment.readers.registry import reader_for
from muniment.session import Session

TENANT = "demo"
JANET, HELIOS = "contact_1842", "Helios-RAG"
QUESTION = "How should I open the renewal with Janet?"
_DISCONNECTED_UNTIL = datetime(2026, 2, 2, 8, 41, tzinfo=UTC)
_PUBLISHED, _CORRECTED = datetime(2026, 3, 2, 9, 0, tzinfo=UTC), datetime(2026, 4, 13, 9, 0, tzinfo=UTC)


def tell(memory: Memory) -> None:
    """Ingests, proposes, asks, corrects, proves. Raises the coded errors of the verbs."""
    session = memory.session(tenant=TENANT, grants={"account_team", IMPORT_RIGHT}, actor="demo")
    _title("1. Evidence first: a mailbox, read as it is")
    mails = _ingest_mailbox(session)
    _title("2. Claims with quotes")
    _propose_preferences(session, mails)
    _title("3. One e-mail arrived three weeks late: what was known when, what was true when")
    _show_as_of_table(session)
    _title("4. A figure is corrected: 0.92 becomes 0.78")
    _correct_helios(session)
    _title("5. The payload an agent gets")
    payload = session.recall(QUESTION, subject=JANET, scope="renewal/2027", budget=800, as_of=_at("2026-08-27T10:00"))
    print_json(payload)
    _title("6. The derived layer can be thrown away")
    _prove_rebuild(memory, session)


def _title(text: str) -> None:
    stdout.print(f"\n{text}", style="bold", markup=False)


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _ingest_mailbox(session: Session) -> dict[str, Evidence]:
    """The mails by Message-ID. Those of January reached the system when the mailbox was connected again."""
    with as_file(files("muniment.cli.demo").joinpath("janet.mbox")) as path:
        drafts = list(_drafts(reader_for(path).read(path)))
    report = session.add_many(drafts)
    mails = [_store(session, draft) for draft in drafts]
    rows = [(m.occurred_at, m.observed_at, m.author, m.metadata.get("subject", "")) for m in mails]
    print_rows(("written", "learned", "from", "subject"), rows)
    say(f"{report.stored} mails stored, {report.repeated} were here already, {len(report.rejected)} refused.")
    return {mail.source_id: mail for mail in mails}


def _drafts(items: Iterator[object]) -> Iterator[EvidenceDraft]:
    for item in items:
        if isinstance(item, Read):
            written = item.draft.occurred_at or _DISCONNECTED_UNTIL
            learned = max(written + timedelta(seconds=64), _DISCONNECTED_UNTIL)
            yield item.draft.model_copy(update={"observed_at": learned, "access": frozenset({"account_team"})})


def _store(session: Session, draft: EvidenceDraft) -> Evidence:
    return session.add(**{name: getattr(draft, name) for name in EvidenceDraft.model_fields})


def _propose_preferences(session: Session, mails: dict[str, Evidence]) -> None:
    session.define({"predicate": "renewal_contact_order", "cardinality": "one", "validation": "quoted"})
    first = session.propose(
        JANET, "renewal_contact_order", "summary_before_call", scope="renewal",
        evidence=mails["summary-first@northwind.example"].quote("send a short written summary before we schedule"),
        statement="Janet wants a short written summary before a renewal call.",
    )  # fmt: skip
    second = session.propose(
        JANET, "renewal_contact_order", "call_before_summary", scope="renewal/2027",
        evidence=mails["call-first@northwind.example"].quote("For this renewal, call me first."),
        statement="For the 2027 renewal Janet wants a call first; the written summary can follow.",
    )  # fmt: skip
    for decision in (first, second):
        say(f"{decision.outcome.value}: {decision.reason}")


def _show_as_of_table(session: Session) -> None:
    rows = []
    for known, valid, scope in (
        ("2026-01-20T12:00", "2026-01-20T12:00", "renewal/2027"),
        ("2026-02-03T12:00", "2026-01-20T12:00", "renewal/2027"),
        ("2026-07-18T09:12:30", "2026-07-18T09:12:30", "renewal/2027"),
        ("2026-08-27T12:00", "2026-08-27T12:00", "renewal/2027"),
        ("2026-08-27T12:00", "2026-03-01T12:00", "renewal/2027"),
    ):
        payload = session.recall(QUESTION, subject=JANET, scope=scope, known_at=_at(known), valid_at=_at(valid))
        answer = ", ".join(f"{claim.value} ({claim.status.value})" for claim in payload.claims)
        rows.append((known, valid, answer or f"abstains: {payload.abstention.reason if payload.abstention else ''}"))
    print_rows(("as known at", "about", "answer"), rows)


def _correct_helios(session: Session) -> None:
    session.define({"predicate": "ndcg_at_10", "cardinality": "one", "validation": "quoted", "value_type": "number"})
    paper = _document(session, "helios-paper", "Helios-RAG achieves 0.92 nDCG@10 on the BEIR benchmark.", _PUBLISHED)
    notice = _document(
        session, "helios-correction",
        "Correction: a data contamination bug inflated our score. Helios-RAG achieves 0.78 nDCG@10 on BEIR.",
        _CORRECTED,
    )  # fmt: skip
    published = session.claims(HELIOS, "ndcg_at_10", known_at=_at("2026-04-01")).items
    figure = published[0].claim_id if published else _claim_figure(session, paper)
    decision = session.correct(
        figure,
        0.78,
        evidence=notice.quote("0.78 nDCG@10"),
        statement="Helios-RAG achieves 0.78 nDCG@10 on BEIR (corrected).",
    )
    say(f"{decision.outcome.value}: {decision.reason}")
    rows = []
    for label, moment in (("today", None), ("as known on 1 April", _at("2026-04-01"))):
        for query in ("Helios-RAG achieves 0.92 nDCG@10", "Helios-RAG achieves 0.78 nDCG@10"):
            hit = session.search(query, k=1, kinds=["claim"], known_at=moment)[0]
            rows.append((label, query, hit.text))
    print_rows(("asked", "in the words", "found"), rows)


def _claim_figure(session: Session, paper: Evidence) -> str:
    """The published figure; only the first telling has to claim it."""
    return session.propose(
        HELIOS, "ndcg_at_10", 0.92, evidence=paper.quote("0.92 nDCG@10"), statement=paper.content
    ).claim_id  # fmt: skip


def _document(session: Session, source_id: str, content: str, occurred_at: datetime) -> Evidence:
    return session.add(
        content, source="papers", source_id=source_id, kind=EvidenceKind.DOCUMENT, occurred_at=occurred_at,
        observed_at=occurred_at + timedelta(hours=1),
    )  # fmt: skip


def _prove_rebuild(memory: Memory, session: Session) -> None:
    before = [hit.to_json() for hit in session.search(QUESTION)]
    say(f"drift: {'none' if not memory.drift(full=True) else memory.drift(full=True).counts}")
    report = memory.rebuild()
    same = before == [hit.to_json() for hit in session.search(QUESTION)]
    say(f"rebuilt {sum(report.built.values())} artifacts in {report.seconds:.1f} s")
    truth, results = "unchanged" if report.canonical_unchanged else "CHANGED", "equal" if same else "DIFFER"
    say(f"canonical memory {truth}; search results {results}")
