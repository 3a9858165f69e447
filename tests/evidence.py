"""Evidence as it would read if it were stored, for what needs no database."""

from __future__ import annotations

from typing import Any

from muniment.model.evidence import Evidence, EvidenceKind, Trust
from tests.helpers import at


def evidence(content: str, **fields: Any) -> Evidence:
    """A message by Jane, with `fields` of your own."""
    given: dict[str, Any] = {
        "evidence_id": "00000000-0000-7000-8000-000000000001", "source": "test", "source_id": "1", "source_version": 1,
        "kind": EvidenceKind.MESSAGE, "content": content, "author": "Jane", "role": "user", "thread": None,
        "trust": Trust.FIRST_PARTY, "uri": None, "media_type": "text/plain", "metadata": {}, "occurred_at": None,
        "utc_offset": None, "observed_at": at("2026-01-01"), "recorded_at": at("2026-01-01"), "content_sha256": "",
        "replaces": None, "authorization_scope": None,
    }  # fmt: skip
    return Evidence(**given | fields)
