"""Commands about who is who: subject show, resolve, identify, unidentify, merge, unmerge."""

from __future__ import annotations

from typing import Annotated

import typer

from muniment.cli.options import Grants, Json, Target, Tenant, User, session
from muniment.cli.render import print_json, print_rows, say
from muniment.model.identity import Identity

SubjectId = Annotated[str, typer.Argument(metavar="SUBJECT")]
Provider = Annotated[str, typer.Argument(help="Whose identifier it is: email, crm, …; or name.")]
External = Annotated[str, typer.Argument(metavar="ID", help="The identifier, or the name.")]
Reason = Annotated[str, typer.Option("--reason", help="Why.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    subject = typer.Typer(help="Who is who: names, identifiers, subjects that are one.", no_args_is_help=True)
    subject.command(name="show")(show)
    subject.command(name="resolve")(resolve)
    subject.command(name="identify")(identify)
    subject.command(name="unidentify")(unidentify)
    subject.command(name="merge")(merge)
    subject.command(name="unmerge")(unmerge)
    app.add_typer(subject, name="subject")


def show(
    subject: SubjectId, target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Show what a subject goes by, and what is one with it."""
    with session(target, tenant, grants, user) as opened:
        found = opened.subject(subject)
    if as_json:
        print_json(found)
        return
    say("known as " + ", ".join(found.known_as))
    print_rows(
        ("provider", "id", "subject", "method"),
        [(i.provider, i.external_id, i.subject_id, i.method) for i in found.identities],
    )
    print_rows(
        ("merge", "subject", "into", "by"),
        [(m.merge_id, m.from_subject, m.into_subject, m.merged_by) for m in found.merges],
    )


def resolve(
    name: Annotated[str, typer.Argument(help="A name, an identifier, or a subject's id.")], target: Target = None,
    tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Find whom a name or an identifier means; several people with one name stay several."""
    with session(target, tenant, grants, user) as opened:
        found = opened.resolve(name)
    if as_json:
        print_json(found)
    elif not found.subjects:
        say("nobody that this session may see")
    else:
        print_rows(("subject",), [(subject,) for subject in found.subjects])


def identify(
    provider: Provider, external_id: External, subject: SubjectId, target: Target = None, tenant: Tenant = "default",
    grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Say that a subject goes by an identifier or a name."""
    with session(target, tenant, grants, user) as opened:
        _print(opened.identify(provider, external_id, subject), as_json=as_json)


def unidentify(
    provider: Provider, external_id: External, subject: SubjectId, target: Target = None, tenant: Tenant = "default",
    grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Say that a subject goes by an identifier or a name no more."""
    with session(target, tenant, grants, user) as opened:
        _print(opened.unidentify(provider, external_id, subject), as_json=as_json)


def merge(
    subject: SubjectId, into: Annotated[str, typer.Argument(metavar="INTO")], reason: Reason, target: Target = None,
    tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Say that two subjects are one. Nothing moves, and it can be taken back."""
    with session(target, tenant, grants, user) as opened:
        made = opened.merge(subject, into, reason=reason)
    if as_json:
        print_json(made)
        return
    say(f"{made.from_subject} is {made.into_subject} ({made.merge_id})")
    for review in made.reviews:
        say(f"both hold different values: review {review}")


def unmerge(
    merge_id: Annotated[str, typer.Argument(metavar="MERGE")], reason: Reason, target: Target = None,
    tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Take a merge back."""
    with session(target, tenant, grants, user) as opened:
        undone = opened.unmerge(merge_id, reason=reason)
    print_json(undone) if as_json else say(f"{undone.from_subject} and {undone.into_subject} are two subjects again")


def _print(found: Identity, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
    elif found.waits is not None:
        say(found.waits + ("" if found.review_id is None else f" (review {found.review_id})"))
    else:
        say(f"{found.subject_id} {found.provider} {found.external_id}")
