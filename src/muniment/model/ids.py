"""Identifiers: UUIDv7 (RFC 9562), so that rows written together lie together."""

from __future__ import annotations

from uuid import UUID

import uuid_utils.compat as uuid_utils

from muniment.errors import NotFound


def new_id() -> UUID:
    """A fresh UUIDv7."""
    return uuid_utils.uuid7()


def parse_id(value: str | UUID, *, what: str) -> UUID:
    """The UUID in `value`. Raises `NotFound` for anything else: an id nobody issued names nothing."""
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except (ValueError, AttributeError, TypeError):
        raise NotFound(f"no {what} with this id that this session may see") from None
