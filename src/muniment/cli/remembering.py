"""Commands that read claims out of texts: remember, retry."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from muniment.cli.options import Grants, Json, Labels, Moment, Target, Tenant, User, parse_moment, session
from muniment.cli.render import print_json, say
from muniment.cli.writing import standard_input
from muniment.errors import InvalidInput
from muniment.extract.port import Extractor
from muniment.extract.rules import RulesExtractor
from muniment.model.claim import Decision
from muniment.model.remember import Refusal

Model = Annotated[
    str | None,
    typer.Option(
        "--model", envvar="MUNIMENT_MODEL", show_default=False,
        help="The model that reads claims: a pydantic-ai name such as openai:gpt-5-mini, or with --base-url the name "
        "under which the endpoint serves it.",
    ),
]  # fmt: skip
Rules = Annotated[
    Path | None,
    typer.Option(
        "--rules", metavar="FILE", show_default=False,
        help="TOML with [[rule]] tables. [default: the rules that come with muniment]",
    ),
]  # fmt: skip
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url", envvar="MUNIMENT_BASE_URL", show_default=False,
        help="An OpenAI-compatible endpoint. Its key, if it wants one, is $MUNIMENT_API_KEY.",
    ),
]  # fmt: skip
Key = Annotated[str | None, typer.Option(envvar="MUNIMENT_API_KEY", hidden=True, show_default=False)]
Seconds = Annotated[float, typer.Option("--seconds", help="How long a model may take for one text.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(remember)
    app.command()(retry)


@contextmanager
def reader(
    rules: Path | None, model: str | None, base_url: str | None, key: str | None, seconds: float
) -> Iterator[Extractor]:
    """The extractor that the options ask for, closed at the end: rules from a file, a model, or the rules that come
    with muniment. Raises `InvalidInput` when they name both."""
    if rules is not None and model is not None:
        raise InvalidInput("give --rules FILE or --model NAME, not both: one extractor reads a text")
    if model is None:
        yield RulesExtractor.basic() if rules is None else RulesExtractor.load(rules)
        return
    from muniment.extract.model import ModelExtractor

    if base_url is None:
        extractor = ModelExtractor(model, seconds=seconds)
    else:
        extractor = ModelExtractor.openai_compatible(base_url, model, key, seconds=seconds)
    try:
        yield extractor
    finally:
        extractor.close()


def remember(
    content: Annotated[str, typer.Argument(metavar="TEXT", help="The text, or - to read it from standard input.")],
    source: str = "cli",
    source_id: Annotated[str | None, typer.Option(show_default=False)] = None,
    author: Annotated[str | None, typer.Option(help="Who says it: the \"I\" of the text.", show_default=False)] = None,
    occurred_at: Moment = None, labels: Labels = None, rules: Rules = None, model: Model = None,
    base_url: BaseUrl = None, key: Key = None, seconds: Seconds = 60, target: Target = None,
    tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Store one text and propose the claims that rules or a model read in it. Exit code 1 when reading failed."""
    text = standard_input() if content == "-" else content
    with (
        reader(rules, model, base_url, key, seconds) as extractor,
        session(target, tenant, grants, user, extractor=extractor) as opened,
    ):
        done = opened.remember(
            text, source=source, source_id=source_id, author=author, occurred_at=parse_moment(occurred_at),
            access=labels or (),
        )  # fmt: skip
    if as_json:
        print_json(done)
    else:
        say(done.evidence.evidence_id + (" (read before; nothing changed)" if done.repeated else ""))
        _say_outcomes(done.decisions, done.refused, done.calls, done.input_tokens, done.output_tokens)
        if done.failure is not None:
            say(f"not read: {done.failure.reason} [{done.failure.code}]; it is stored, `muniment retry` tries again")
    if done.failure is not None:
        raise typer.Exit(1)


def retry(
    limit: Annotated[int, typer.Option(help="At most so many texts.")] = 100,
    attempts: Annotated[int, typer.Option(help="Leave alone what failed so often.")] = 5,
    rules: Rules = None, model: Model = None, base_url: BaseUrl = None, key: Key = None, seconds: Seconds = 60,
    target: Target = None, tenant: Tenant = "default", grants: Grants = None, user: User = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Read again what remember stored and could not read. Exit code 1 when some of it failed again."""
    with (
        reader(rules, model, base_url, key, seconds) as extractor,
        session(target, tenant, grants, user, extractor=extractor) as opened,
    ):
        report = opened.retry(limit, attempts=attempts)
    if as_json:
        print_json(report)
    else:
        say(f"{report.tried} tried, {report.done} read" + ("; more wait" if report.more else ""))
        _say_outcomes(report.decisions, report.refused, report.calls, report.input_tokens, report.output_tokens)
        for evidence_id, failure in report.failed:
            say(f"not read: {evidence_id}: {failure.reason} [{failure.code}]")
    if report.failed:
        raise typer.Exit(1)


def _say_outcomes(
    decisions: tuple[Decision, ...], refused: tuple[Refusal, ...], calls: int, sent: int, received: int
) -> None:
    for decision in decisions:
        say(f"{decision.outcome.value}: {decision.reason} ({decision.claim_id} v{decision.version})")
    for refusal in refused:
        say(f"refused: {refusal.reason} [{refusal.code}]")
    if calls:
        say(f"{calls} calls, {sent} + {received} tokens")
