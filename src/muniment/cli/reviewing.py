"""Commands of a reviewer: review list, show, approve, reject, edit, merge, undo."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Annotated, Any

import typer

from muniment.cli.options import Grants, Json, Target, Tenant, User, parse_value, session
from muniment.cli.render import print_json, print_rows, say
from muniment.model.claim import Claim
from muniment.model.review import Review
from muniment.session import Session

ReviewId = Annotated[str, typer.Argument(metavar="REVIEW")]
By = Annotated[str, typer.Option("--by", help="Who decides.")]
Reason = Annotated[str, typer.Option("--reason", help="Why.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    review = typer.Typer(help="Decide what waits for a person.", no_args_is_help=True)
    review.command(name="list")(list_reviews)
    review.command(name="show")(show_review)
    review.command(name="approve")(approve)
    review.command(name="reject")(reject_review)
    review.command(name="edit")(edit_review)
    review.command(name="merge")(merge_review)
    review.command(name="undo")(undo_review)
    app.add_typer(review, name="review")


def list_reviews(
    state: Annotated[str, typer.Option(help="open, decided or all.")] = "open", target: Target = None,
    tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """List what waits for a decision, oldest first."""
    with session(target, tenant, grants, user) as opened:
        page = opened.reviews(None if state == "all" else state)
    if as_json:
        print_json(page)
        return
    rows = [
        (r.review_id, " = ".join(r.subjects) if r.claim is None else r.claim.statement, r.reason, r.verdict or "open")
        for r in page.items
    ]
    print_rows(("review", "claim", "why it waits", "state"), rows)


def show_review(
    review: ReviewId, target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Show both sides of a review, and what approving would change."""
    with session(target, tenant, grants, user) as opened:
        found = opened.review(review)
    print_json(found) if as_json else _print(found)


def _print(found: Review) -> None:
    say(f"{found.reason} ({found.verdict or 'open'})")
    sides = [("claim", found.claim), *(("against", rival) for rival in found.rivals)]
    print_rows(("", "claim", "says", "status"), [_side(name, claim) for name, claim in sides if claim is not None])
    for change in found.consequences:
        what = f"{change.status_before.value} -> {change.status_after.value} ({change.reason})"
        say(f"approving: {change.statement}: {what}")


def _side(name: str, claim: Claim) -> tuple[str, str, str, str]:
    return name, claim.claim_id, claim.statement, claim.status.value


def approve(
    review: ReviewId, by: By, reason: Reason = "", target: Target = None, tenant: Tenant = "default",
    grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """The claim holds, and takes over from what stands against it."""
    _decide(session(target, tenant, grants, user), review, "approve", by, reason, as_json=as_json)


def reject_review(
    review: ReviewId, by: By, reason: Reason = "", target: Target = None, tenant: Tenant = "default",
    grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """The claim does not hold; what stands against it stays. Of two subjects: they are not one."""
    _decide(session(target, tenant, grants, user), review, "reject", by, reason, as_json=as_json)


def edit_review(
    review: ReviewId, value: Annotated[str, typer.Argument(help="What the evidence says: JSON, or text.")], by: By,
    reason: Reason = "", target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """The evidence gives another value: a new claim with it holds."""
    opening = session(target, tenant, grants, user)
    _decide(opening, review, "edit", by, reason, as_json=as_json, value=parse_value(value))


def merge_review(
    review: ReviewId, by: By,
    into: Annotated[str | None, typer.Option(help="Which of the claims against it says the same.")] = None,
    reason: Reason = "", target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """The claim says the same as one against it, or the two subjects are one."""
    _decide(session(target, tenant, grants, user), review, "merge", by, reason, as_json=as_json, into=into)


def undo_review(
    review: ReviewId, by: By, reason: Reason = "", target: Target = None, tenant: Tenant = "default",
    grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Take back what was decided: the review is open again."""
    _decide(session(target, tenant, grants, user), review, "undo", by, reason, as_json=as_json)


def _decide(
    opening: AbstractContextManager[Session], review: str, verdict: str, by: str, reason: str, *, as_json: bool,
    value: Any = None, into: str | None = None,
) -> None:  # fmt: skip
    with opening as opened:
        decided = opened.decide(review, verdict, by=by, reason=reason, value=value, into=into)
    if as_json:
        print_json(decided)
    elif decided.decision is not None:
        decision = decided.decision
        say(f"{decision.outcome.value}: {decision.reason} ({decision.claim_id} v{decision.version})")
    else:
        say(f"{decided.verdict}: {decided.reason}")
