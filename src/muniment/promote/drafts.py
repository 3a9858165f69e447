"""From loose arguments to a draft, with coded errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from muniment.errors import InvalidInput
from muniment.model.access import parse_labels
from muniment.model.evidence import EvidenceDraft
from muniment.time import require_aware


def make_draft(
    *, content: str, access: Iterable[str] = (), metadata: Mapping[str, Any] | None = None,
    occurred_at: datetime | None = None, observed_at: datetime | None = None, **rest: Any,
) -> EvidenceDraft:  # fmt: skip
    """The draft of these arguments of `add`. Raises `InvalidInput`, `NaiveDatetime` or `InvalidTime`."""
    for moment in (occurred_at, observed_at):
        if moment is not None:
            require_aware(moment)
    if metadata is not None and not isinstance(metadata, Mapping):
        raise InvalidInput(f"metadata is a mapping, not {type(metadata).__name__}")
    for name, value in {"content": content, **rest}.items():
        # The types alone would take bytes for text and "2" for a number.
        wanted = int if name == "source_version" else str
        if value is not None and (not isinstance(value, wanted) or isinstance(value, bool)):
            raise InvalidInput(f"{name} must be {'a number' if wanted is int else 'text'}, not {type(value).__name__}")
    try:
        return EvidenceDraft(
            content=content, access=parse_labels(access, what="access"), metadata=dict(metadata or {}),
            occurred_at=occurred_at, observed_at=observed_at, **rest,
        )  # fmt: skip
    except ValidationError as error:
        raise InvalidInput(describe(error)) from None


def describe(error: ValidationError) -> str:
    """What is wrong, in one line, without the values that were given."""
    parts = (
        f"{'.'.join(str(part) for part in e['loc']) or 'item'}: {e['msg']}" for e in error.errors(include_url=False)
    )
    return "; ".join(parts)
