"""Commands that read: recall, search, claims, enumerate, outcomes, history, why, timeline."""

from __future__ import annotations

from typing import Annotated

import typer

from muniment.cli.options import Grants, Json, Moment, Target, Tenant, User, parse_moment, session
from muniment.cli.render import print_json, print_payload, print_rows, say
from muniment.model.claim import Claim

Subject = Annotated[str | None, typer.Option("--subject", help="Whom or what it is about.", show_default=False)]
Scope = Annotated[
    str | None, typer.Option("--scope", help="Where it must hold, e.g. renewal/2027.", show_default=False)
]
ClaimId = Annotated[str, typer.Argument(metavar="CLAIM")]
LINE_CHARACTERS = 160


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    for command in (recall, search, claims, outcomes, history, why, timeline):
        app.command()(command)
    app.command(name="enumerate")(enumerate_type)


def recall(
    question: str, subject: Subject = None, scope: Scope = None,
    budget: Annotated[int, typer.Option(help="Tokens.")] = 1500,
    cursor: Annotated[str | None, typer.Option(help="Go on where a payload stopped.", show_default=False)] = None,
    valid_at: Moment = None, known_at: Moment = None, as_of: Moment = None,
    target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Answer a question with claims, quotes and sources. Exit code 1 when it abstains."""
    with session(target, tenant, grants, user) as opened:
        payload = opened.recall(
            question, subject=subject, scope=scope, budget=budget, cursor=cursor, valid_at=parse_moment(valid_at),
            known_at=parse_moment(known_at), as_of=parse_moment(as_of),
        )  # fmt: skip
    print_json(payload) if as_json else print_payload(payload)
    if payload.abstention is not None:
        raise typer.Exit(1)


def search(
    query: str, k: Annotated[int, typer.Option("-k", help="How many rows.")] = 10,
    kind: Annotated[list[str] | None, typer.Option(help="claim, evidence; repeatable.", show_default=False)] = None,
    route: Annotated[list[str] | None, typer.Option(help="lexical, semantic; repeatable.", show_default=False)] = None,
    valid_at: Moment = None, known_at: Moment = None, as_of: Moment = None,
    target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """List the best matching claims and passages. Exit code 1 when there are none."""
    with session(target, tenant, grants, user) as opened:
        hits = opened.search(
            query, k=k, kinds=kind or ("claim", "evidence"), routes=route, valid_at=parse_moment(valid_at),
            known_at=parse_moment(known_at), as_of=parse_moment(as_of),
        )  # fmt: skip
    if as_json:
        print_json(hits)
    else:
        print_rows(
            ("score", "kind", "text", "source", "id"),
            [
                (f"{h.score:.2f}", h.kind, _line(h.text), f"{h.source}:{h.source_id}" if h.source else "", h.id)
                for h in hits
            ],
        )
    if not hits:
        raise typer.Exit(1)


def claims(
    subject: Subject = None,
    predicate: Annotated[str | None, typer.Option(help="Which property.", show_default=False)] = None,
    scope: Scope = None,
    status: Annotated[str, typer.Option(help="validated, candidate, retracted …, or all.")] = "validated",
    limit: int = 100,
    cursor: Annotated[str | None, typer.Option(help="Go on after a page.", show_default=False)] = None,
    valid_at: Moment = None, known_at: Moment = None, as_of: Moment = None,
    target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """List the claims that hold. Exit code 1 when there are none."""
    with session(target, tenant, grants, user) as opened:
        page = opened.claims(
            subject, predicate, scope=scope, status=None if status == "all" else status, limit=limit, cursor=cursor,
            valid_at=parse_moment(valid_at), known_at=parse_moment(known_at), as_of=parse_moment(as_of),
        )  # fmt: skip
    print_json(page) if as_json else _print_claims(page.items)
    if page.next_cursor and not as_json:
        say(f"more: --cursor {page.next_cursor}")
    if not page.items:
        raise typer.Exit(1)


def enumerate_type(
    memory_type: Annotated[str, typer.Argument(metavar="TYPE", help="guideline, persona or tool.")],
    subject: Subject = None, scope: Scope = None, valid_at: Moment = None, known_at: Moment = None,
    as_of: Moment = None, target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """List every claim of a type that holds, in full and in order."""
    with session(target, tenant, grants, user) as opened:
        found = opened.enumerate(
            memory_type, subject=subject, scope=scope, valid_at=parse_moment(valid_at),
            known_at=parse_moment(known_at), as_of=parse_moment(as_of),
        )  # fmt: skip
    print_json(found) if as_json else _print_claims(tuple(found))
    if not found:
        raise typer.Exit(1)


def outcomes(
    claim: ClaimId, target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Show how often what a claim says was acted on with success, and how often without."""
    with session(target, tenant, grants, user) as opened:
        found = opened.outcomes(claim)
    print_json(found) if as_json else say(f"{found.successes} succeeded, {found.failures} failed")


def history(
    claim: ClaimId,
    target: Target = None,
    tenant: Tenant = "default",
    grants: Grants = None,
    user: User = None,
    as_json: Json = False,
) -> None:
    """Show every version of what was held about a claim."""
    with session(target, tenant, grants, user) as opened:
        versions = opened.history(claim)
    if as_json:
        print_json(versions)
        return
    print_rows(
        ("version", "status", "known", "valid", "by", "reason"),
        [
            (
                v.version,
                v.status.value,
                _period(v.known_from, v.known_to),
                "; ".join(_period(*p) for p in v.valid),
                v.decided_by,
                v.reason or "",
            )
            for v in versions
        ],
    )


def why(
    claim: ClaimId,
    target: Target = None,
    tenant: Tenant = "default",
    grants: Grants = None,
    user: User = None,
    as_json: Json = False,
) -> None:
    """Show the quotes, links and premises behind a claim, and what rests on it."""
    with session(target, tenant, grants, user) as opened:
        found = opened.why(claim)
    if as_json:
        print_json(found)
        return
    say(f"[{found.claim.status.value}] {found.claim.statement}")
    for quote in found.quotes:
        say(f"  {quote.stance}: “{_line(quote.quote)}” ({quote.source}:{quote.source_id})")
    for link in found.links:
        say(f"  {link.state} {link.kind.value}: {link.from_claim} → {link.to_claim} {link.scope}")
    for title, others in (("rests on", found.premises), ("carries", found.dependants)):
        for other in others:
            say(f"  {title}: [{other.status.value}] {other.statement} ({other.claim_id})")


def timeline(
    subject: str, valid_at: Moment = None, known_at: Moment = None, as_of: Moment = None, target: Target = None,
    tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Show what was held about a subject, by property and then by when it began."""
    with session(target, tenant, grants, user) as opened:
        found = opened.timeline(
            subject, valid_at=parse_moment(valid_at), known_at=parse_moment(known_at), as_of=parse_moment(as_of)
        )
    print_json(found) if as_json else _print_claims(found)
    if not found:
        raise typer.Exit(1)


def _print_claims(found: list[Claim] | tuple[Claim, ...]) -> None:
    print_rows(
        ("status", "statement", "valid", "claim"),
        [(c.status.value, _line(c.statement), _period(c.valid_from, c.valid_to), c.claim_id) for c in found],
    )


def _period(start: object, end: object) -> str:
    return f"{start or '…'} → {end or '…'}"


def _line(text: str) -> str:
    one = " ".join(text.split())
    return one if len(one) <= LINE_CHARACTERS else one[: LINE_CHARACTERS - 1] + "…"
