"""Scopes: where a claim holds. `''` is everywhere; `renewal/2027` lies inside `renewal`."""

from __future__ import annotations

from muniment.errors import BadScope
from muniment.model.text import MAX_NAME_BYTES

EVERYWHERE = ""


def parse_scope(scope: str) -> str:
    """`scope` if it is a clean path: segments joined by `/`, none empty, none blank-padded. Raises `BadScope`."""
    if scope == EVERYWHERE:
        return scope
    if not isinstance(scope, str) or "\x00" in scope:
        raise BadScope("a scope is text such as 'renewal/2027'")
    segments = scope.split("/")
    if any(not segment or segment != segment.strip() for segment in segments):
        raise BadScope(f"scope {scope!r} has an empty or padded segment; write it like 'renewal/2027'")
    try:
        size = len(scope.encode("utf-8"))
    except UnicodeEncodeError:
        raise BadScope("the scope has a lone surrogate; decode it properly first") from None
    if size > MAX_NAME_BYTES:
        raise BadScope(f"the scope has {size} bytes; at most {MAX_NAME_BYTES} are allowed")
    return scope


def covers(outer: str, inner: str) -> bool:
    """Whether what holds in `outer` also speaks about `inner` (equal, or `inner` lies inside `outer`)."""
    return outer in (EVERYWHERE, inner) or inner.startswith(outer + "/")


def depth(scope: str) -> int:
    """How specific a scope is: 0 for everywhere, the number of segments otherwise."""
    return 0 if scope == EVERYWHERE else scope.count("/") + 1


def covering(scope: str) -> list[str]:
    """The scope itself, then every wider one that covers it, down to everywhere."""
    parts = scope.split("/") if scope else []
    return ["/".join(parts[:size]) for size in range(len(parts), 0, -1)] + [EVERYWHERE]
