"""What text may be stored, and how long a name may be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from muniment.errors import InvalidInput, InvalidText

# A btree entry holds at most 2,704 bytes; these limits keep every unique key below it, whatever the alphabet.
MAX_NAME_BYTES = 256
MAX_SOURCE_ID_BYTES = 1024
MAX_CONTENT_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 64


def require_text(value: str, *, what: str, max_bytes: int = MAX_CONTENT_BYTES, allow_empty: bool = False) -> str:
    """`value` unchanged, or a coded error.

    Raises `InvalidText` for a NUL character or a lone surrogate, and `InvalidInput` for what is not text, is empty,
    or is longer than `max_bytes` of UTF-8.
    """
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be text, not {type(value).__name__}")
    if not allow_empty and not value.strip():
        raise InvalidInput(f"{what} is empty; there is nothing to store")
    nul = value.find("\x00")
    if nul >= 0:
        raise InvalidText(f"{what} has a NUL character at position {nul}; replace it, PostgreSQL text cannot hold it")
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise InvalidText(f"{what} has a lone surrogate at position {error.start}; decode it properly first") from None
    if size > max_bytes:
        raise InvalidInput(f"{what} has {size} bytes; at most {max_bytes} are allowed")
    return value


def require_name(value: str, *, what: str, max_bytes: int = MAX_NAME_BYTES) -> str:
    """A short, non-empty text used as a key: see `require_text`."""
    return require_text(value, what=what, max_bytes=max_bytes)


def storable(value: Any) -> Any:
    """JSON of any depth with what PostgreSQL text cannot hold (NUL, lone surrogates) replaced by U+FFFD: for records of
    what happened, which must not be lost over it."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
    if isinstance(value, Mapping):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return value


def is_name(value: object) -> bool:
    """Whether `require_name` would take it."""
    try:
        require_name(value, what="a name")  # type: ignore[arg-type]
    except InvalidInput:
        return False
    return True


def require_json(value: Any, *, what: str, max_bytes: int) -> Any:
    """`value` unchanged if PostgreSQL can hold it as JSON, or a coded error as in `require_text`. It may be nested 64
    levels deep."""
    try:
        _require_parts(value, what, MAX_DEPTH)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{what} is not plain JSON ({error}); give text, finite numbers, booleans, lists or objects"
        ) from None
    require_text(text, what=what, max_bytes=max_bytes)
    return value


def _require_parts(value: Any, what: str, levels: int) -> None:
    if levels < 0:
        raise InvalidInput(f"{what} is nested more than {MAX_DEPTH} levels deep; store it as evidence and quote it")
    if isinstance(value, str):
        require_text(value, what=what, allow_empty=True)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidInput(f"{what} has a key that is not text: {key!r}")
            _require_parts(key, what, levels)
            _require_parts(item, what, levels - 1)
    elif isinstance(value, list | tuple):
        for item in value:
            _require_parts(item, what, levels - 1)
