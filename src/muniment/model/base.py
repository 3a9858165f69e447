"""The base of every type that leaves the package: frozen, strict about names, camelCase in JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainSerializer
from pydantic.alias_generators import to_camel

from muniment.time import require_aware


def _rfc3339(value: datetime) -> str:
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


Instant = Annotated[
    datetime,
    AfterValidator(require_aware),
    PlainSerializer(_rfc3339, return_type=str, when_used="json"),
]
"""An aware datetime; RFC 3339 in UTC when written as JSON."""


class Record(BaseModel):
    """A frozen value. `to_json()` gives the public JSON shape: camelCase names, ISO times."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    def to_json(self) -> dict[str, Any]:
        """The public JSON shape as plain Python values."""
        return self.model_dump(mode="json", by_alias=True)
