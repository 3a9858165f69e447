"""Fitting what was found into a token budget: the best item always goes in, and nothing is left out silently."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from muniment.errors import BadFilter, InvalidInput
from muniment.model.claim import Claim
from muniment.model.payload import Abstention, Payload, PayloadClaim, PayloadEvidence, Retrieval
from muniment.recall.clocks import AsOf, Clocks
from muniment.recall.context import Context
from muniment.recall.search import Found
from muniment.recall.tokens import TokenCounter
from muniment.store.answer import Row
from muniment.time import require_aware

MAX_QUOTES = 3
_CUT = " …"


@dataclass(frozen=True, slots=True)
class _Item:
    """One thing that goes in whole or not at all: a claim with its quotes, or a span of evidence."""

    claim: PayloadClaim | None
    evidence: tuple[PayloadEvidence, ...]


@dataclass(slots=True)
class _Packed:
    items: list[_Item] = field(default_factory=list)
    tokens: int = 0
    taken: int = 0
    left_out: int = 0


def require_budget(budget: int) -> int:
    """Raises `InvalidInput` unless `budget` is at least one token."""
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise InvalidInput("budget is a number of tokens, at least 1; 800 is a usual one")
    return budget


def assemble(
    context: Context, clocks: Clocks, *, request: str, subject: str | None, routes: Sequence[str], budget: int,
    skip: int, count: TokenCounter,
) -> Payload:  # fmt: skip
    """The payload: what fits, what was left out, the conflicts, and an abstention when nothing may be asserted."""
    items = _items(context)
    packed = _pack(items[skip:], budget, count)
    evidence = {(e.evidence_id, e.quote): e for item in packed.items for e in item.evidence}
    claims = [item.claim for item in packed.items if item.claim is not None]
    rest = skip + packed.taken
    return Payload(
        request=request,
        subject=None if subject is None else {"contactId": subject},
        authoritative_state=None,
        evidence=tuple(evidence.values()),
        claims=tuple(claims),
        conflicts=tuple(context.conflicts),
        summary=None,
        missing=tuple(context.missing),
        freshness=max((e.observed_at for e in evidence.values()), default=None),
        abstention=_abstention(context, bool(items), subject),
        retrieval=Retrieval(
            routes=tuple(routes),
            as_of=clocks.valid_at,
            valid_at=clocks.valid_at,
            known_at=clocks.known_at,
            conflicts_returned=len(context.conflicts),
            budget=budget,
            tokens_used=packed.tokens,
            left_out=packed.left_out,
            dropped_stale=context.dropped,
            next_cursor=_cursor(clocks, rest) if rest < len(items) else None,
        ),
    )


def _items(context: Context) -> list[_Item]:
    rows = [quote for quotes in context.quotes.values() for quote in quotes]
    quoted = {(str(row["evidence_id"]), row["start"], row["stop"]) for row in rows}
    items = [
        _Item(
            _claim(claim, context.reasons[claim.claim_id]),
            tuple(_quote(row) for row in context.quotes.get(claim.claim_id, [])[:MAX_QUOTES]),
        )
        for claim in context.claims
    ]
    return items + [_Item(None, (_span(found),)) for found in context.evidence if not _repeats(found, quoted)]


def _repeats(found: Found, quoted: set[tuple[str, int, int]]) -> bool:
    """Whether a quote already gives most of this span's words."""
    candidate = found.row.candidate
    return any(
        evidence_id == str(candidate.source_id)
        and (min(stop, candidate.end) - max(start, candidate.start)) * 2 > candidate.end - candidate.start
        for evidence_id, start, stop in quoted
    )


def _claim(claim: Claim, reason: str) -> PayloadClaim:
    shared = claim.model_dump(include=set(PayloadClaim.model_fields) - {"retrieval_reason"})
    return PayloadClaim(**shared, retrieval_reason=reason)


def _quote(row: Row) -> PayloadEvidence:
    stance = "supports a claim" if row["stance"] == "supports" else "contradicts a claim"
    return PayloadEvidence(
        evidence_id=str(row["evidence_id"]), source_id=f"{row['source']}:{row['source_id']}", quote=row["quote"],
        occurred_at=row["occurred_at"], observed_at=row["observed_at"], trust=row["trust"],
        authorization_scope=row["authorization_scope"], retrieval_reason=stance, author=row["author"],
    )  # fmt: skip


def _span(found: Found) -> PayloadEvidence:
    row = found.row
    assert row.observed_at is not None
    assert row.trust is not None
    note = "; superseded by " + ", ".join(row.superseded_by) if row.superseded_by else ""
    return PayloadEvidence(
        evidence_id=str(row.candidate.source_id), source_id=f"{row.source}:{row.source_id}", quote=row.text,
        occurred_at=row.occurred_at, observed_at=row.observed_at, trust=row.trust,
        authorization_scope=row.authorization_scope, author=row.author,
        retrieval_reason="found by " + " and ".join(found.routes) + note,
    )  # fmt: skip


def _pack(items: Sequence[_Item], budget: int, count: TokenCounter) -> _Packed:
    """Takes items in order while they fit. The first one goes in even when it must be cut to fit."""
    packed = _Packed()
    for place, item in enumerate(items):
        cost = _cost(item, count)
        if place == 0 and cost > budget:
            item = _cut(item, budget, count)
            cost = _cost(item, count)
        elif packed.tokens + cost > budget:
            packed.left_out = len(items) - place
            break
        packed.items.append(item)
        packed.tokens += cost
        packed.taken += 1
    return packed


def _cost(item: _Item, count: TokenCounter) -> int:
    parts = ([item.claim] if item.claim else []) + list(item.evidence)
    return sum(count(json.dumps(part.to_json(), ensure_ascii=False)) for part in parts)


def _cut(item: _Item, budget: int, count: TokenCounter) -> _Item:
    """The claim with one quote, or the span, with as many of its words as fit; at least a few are left."""
    quote = item.evidence[0] if item.evidence else None
    if quote is None:
        return item
    bare = _cost(_Item(item.claim, (quote.model_copy(update={"quote": ""}),)), count)
    room = max(budget - bare, 8)
    words, low, high = quote.quote, 0, len(quote.quote)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(words[:middle] + _CUT) <= room else (low, middle - 1)
    cut = words if low == len(words) else words[:low].rstrip() + _CUT
    return _Item(item.claim, (quote.model_copy(update={"quote": cut}),))


def _abstention(context: Context, anything: bool, subject: str | None) -> Abstention | None:
    about = f" about {subject}" if subject else ""
    if anything and not context.answered and subject is not None and not context.conflicts:
        reason = f"nothing known{about} answers this; what holds about it is listed"
        return Abstention(reason=reason, ask=f"What about {subject} do you want to know?")
    if context.conflicts:
        return Abstention(
            reason="the sources conflict and no rule settles it", ask="Which of the conflicting values holds?"
        )
    if not anything:
        reason = "; ".join(context.missing) or f"nothing that answers this is known{about} at the time asked about"
        return Abstention(reason=reason, ask="Where could this be learned, or whom may I ask?")
    return None


def _cursor(clocks: Clocks, skip: int) -> str:
    named = clocks.until_occurred is not None
    state = [clocks.valid_at.isoformat(), clocks.known_at.isoformat(), named, skip]
    return base64.urlsafe_b64encode(json.dumps(state).encode()).decode()


def read_cursor(cursor: str) -> tuple[AsOf, int]:
    """The clocks of a payload and the place at which it stopped. Raises `BadFilter` for anything that is no cursor."""
    try:
        valid_at, known_at, named, skip = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        moments = [datetime.fromisoformat(moment) for moment in (valid_at, known_at)]
        if not isinstance(skip, int) or skip < 0 or not isinstance(named, bool):
            raise ValueError(skip)
        for moment in moments:
            require_aware(moment)
    except (ValueError, TypeError, AttributeError, RecursionError, InvalidInput):
        raise BadFilter("this is no cursor that recall gave out; start without one") from None
    return AsOf(moments[0], moments[1], names_moment=bool(named)), skip
